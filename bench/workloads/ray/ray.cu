// Ray tracing of spheres over a textured plane with shadows and reflections, in the manner of the
// RAY benchmark that GPGPU-Sim uses. One thread follows one pixel's ray through its reflections.
// The floor's texture lies in global memory: where a ray meets it is as good as random.

namespace {

struct Vec {
  float x, y, z;
};

__device__ __forceinline__ Vec add_scaled(Vec a, Vec b, float s) {
  return {a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}
__device__ __forceinline__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vec unit(Vec a) {
  const float s = 1.0f / sqrtf(dot(a, a));
  return {a.x * s, a.y * s, a.z * s};
}

constexpr float kFar = 1.0e30f;
constexpr float kNear = 1.0e-3f;  // a reflected ray does not meet the surface it starts from

// Distance at which the ray enters the sphere, kFar if it does not. spheres[i] = centre, radius.
__device__ __forceinline__ float meet(float4 sphere, Vec origin, Vec direction) {
  const Vec to = {sphere.x - origin.x, sphere.y - origin.y, sphere.z - origin.z};
  const float along = dot(to, direction);
  const float d = along * along - dot(to, to) + sphere.w * sphere.w;
  if (d <= 0.0f) return kFar;
  const float t = along - sqrtf(d);
  return t > kNear ? t : kFar;
}

}  // namespace

// texture: texture_size (a power of two) squared grey values, eight per unit of length.
extern "C" __global__ void ray_trace(const float4* spheres, const float* colours,
                                     const float* texture, float* image, int width, int height,
                                     int num_spheres, int texture_size, int max_reflections) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const Vec light = {0.48f, 0.8f, -0.36f};
  Vec origin = {0.0f, 1.5f, -6.0f};
  const float scale = 2.0f / height;
  Vec direction =
      unit({(px - 0.5f * width) * scale, (0.5f * height - py) * scale - 0.2f, 1.5f});
  float value = 0.0f, weight = 1.0f;
  for (int bounce = 0; bounce <= max_reflections; ++bounce) {
    float nearest = kFar;
    int hit = -1;
    for (int s = 0; s < num_spheres; ++s) {
      const float t = meet(spheres[s], origin, direction);
      if (t < nearest) {
        nearest = t;
        hit = s;
      }
    }
    if (direction.y < 0.0f) {
      const float t = -origin.y / direction.y;
      if (t > kNear && t < nearest) {
        nearest = t;
        hit = num_spheres;
      }
    }
    if (hit < 0) {  // the sky
      value += weight * (0.3f + 0.5f * direction.y);
      break;
    }
    origin = add_scaled(origin, direction, nearest);
    Vec normal = {0.0f, 1.0f, 0.0f};
    float colour;
    if (hit == num_spheres) {
      const int u = static_cast<int>(floorf(fminf(fmaxf(origin.x, -1.0e6f), 1.0e6f) * 8.0f));
      const int v = static_cast<int>(floorf(fminf(fmaxf(origin.z, -1.0e6f), 1.0e6f) * 8.0f));
      colour = texture[(v & (texture_size - 1)) * texture_size + (u & (texture_size - 1))];
    } else {
      const float4 sphere = spheres[hit];
      normal = unit({origin.x - sphere.x, origin.y - sphere.y, origin.z - sphere.z});
      colour = colours[hit];
    }
    float lit = fmaxf(dot(normal, light), 0.0f);
    for (int s = 0; s < num_spheres && lit > 0.0f; ++s) {
      if (meet(spheres[s], origin, light) < kFar) lit = 0.0f;
    }
    value += weight * 0.6f * colour * (0.2f + 0.8f * lit);
    weight *= 0.4f;
    direction = unit(add_scaled(direction, normal, -2.0f * dot(direction, normal)));
  }
  image[py * width + px] = value;
}
