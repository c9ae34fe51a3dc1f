// Ray tracing of spheres over a textured plane with shadows and reflections, after the RAY benchmark
// that GPGPU-Sim uses. One thread follows one pixel's ray through up to four reflections. As there,
// the scene lies in constant memory and each thread keeps the colours along its ray in a stack of
// its own (local memory), which is added up from its end: a reflection dims what comes after it.

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
__device__ __forceinline__ float4 scaled(float4 a, float s) {
  return make_float4(a.x * s, a.y * s, a.z * s, a.w * s);
}
__device__ __forceinline__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

constexpr int kMaxSpheres = 16;
constexpr int kLevels = 5;  // colours along a ray, as in the original
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

// 0 to 1 as 0 to 255, red in the lowest byte.
__device__ __forceinline__ unsigned packed(float4 colour) {
  const unsigned red = static_cast<unsigned>(__saturatef(colour.x) * 255.0f);
  const unsigned green = static_cast<unsigned>(__saturatef(colour.y) * 255.0f);
  const unsigned blue = static_cast<unsigned>(__saturatef(colour.z) * 255.0f);
  const unsigned alpha = static_cast<unsigned>(__saturatef(colour.w) * 255.0f);
  return alpha << 24 | blue << 16 | green << 8 | red;
}

}  // namespace

extern "C" {
__constant__ float4 ray_spheres[kMaxSpheres];
__constant__ float4 ray_colours[kMaxSpheres];
}

// texture: texture_size (a power of two) squared grey values, eight per unit of length.
extern "C" __global__ void ray_trace(const float* texture, unsigned* image, int width, int height,
                                     int num_spheres, int texture_size) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float4 stack[kLevels];
  for (int level = 0; level < kLevels; ++level) stack[level] = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
  const Vec light = {0.48f, 0.8f, -0.36f};
  Vec origin = {0.0f, 1.5f, -6.0f};
  const float scale = 2.0f / height;
  Vec direction =
      unit({(px - 0.5f * width) * scale, (0.5f * height - py) * scale - 0.2f, 1.5f});
  int depth = 0;
#pragma unroll 1
  while (depth < kLevels) {
    float nearest = kFar;
    int hit = -1;
    for (int s = 0; s < num_spheres; ++s) {
      const float t = meet(ray_spheres[s], origin, direction);
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
      const float grey = 0.3f + 0.5f * direction.y;
      stack[depth++] = make_float4(grey, grey, 1.2f * grey, 1.0f);
      break;
    }
    origin = add_scaled(origin, direction, nearest);
    Vec normal = {0.0f, 1.0f, 0.0f};
    float4 colour;
    if (hit == num_spheres) {
      const int u = static_cast<int>(floorf(fminf(fmaxf(origin.x, -1.0e6f), 1.0e6f) * 8.0f));
      const int v = static_cast<int>(floorf(fminf(fmaxf(origin.z, -1.0e6f), 1.0e6f) * 8.0f));
      const float grey =
          texture[(v & (texture_size - 1)) * texture_size + (u & (texture_size - 1))];
      colour = make_float4(grey, grey, grey, 1.0f);
    } else {
      const float4 sphere = ray_spheres[hit];
      normal = unit({origin.x - sphere.x, origin.y - sphere.y, origin.z - sphere.z});
      colour = ray_colours[hit];
    }
    stack[depth] = scaled(colour, 0.12f);  // ambient light
    float lit = dot(normal, light);
    for (int s = 0; s < num_spheres && lit > 0.0f; ++s) {
      if (meet(ray_spheres[s], origin, light) < kFar) lit = 0.0f;
    }
    if (lit > 0.0f) stack[depth] = plus(stack[depth], scaled(colour, 0.48f * lit));
    ++depth;
    direction = unit(add_scaled(direction, normal, -2.0f * dot(direction, normal)));
  }
  for (int level = depth - 1; level > 0; --level)
    stack[level - 1] = plus(stack[level - 1], scaled(stack[level], 0.4f));
  image[py * width + px] = packed(stack[0]);
}
