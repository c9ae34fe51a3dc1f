// Ray tracing with the scene and the accesses of GPGPU-Sim's RAY: three spheres and a floor of one colour,
// all in constant memory with the view, a lamp, highlights, and colours along the ray in a stack in
// local memory. Global memory gets the image, every pixel twice, and nothing is read from it.

namespace {

constexpr int kObjects = 4;
constexpr int kLevels = 5;
constexpr float kFar = 10000.0f;
constexpr float kOff = 1.0e-4f;  // how far from a surface the next ray starts

struct Vec {
  float x, y, z;
};

struct Object {
  Vec centre;
  float radius;
  float colour[4];
  int is_floor;
};

}  // namespace

extern "C" {
__constant__ Object ray_objects[kObjects];
__constant__ float ray_view[12];  // rows ahead, up, right, each with a coordinate of the eye behind it
}

namespace {

__device__ __forceinline__ Vec plus(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vec minus(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vec times(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vec unit(Vec a) { return times(a, 1.0f / sqrtf(dot(a, a))); }
__device__ __forceinline__ Vec view(int row) {
  return {ray_view[4 * row], ray_view[4 * row + 1], ray_view[4 * row + 2]};
}

// Distance along the ray, 0 where it misses.
__device__ __forceinline__ float meet(const Object& object, Vec centre, Vec from, Vec along) {
  if (object.is_floor) {
    if (fabsf(along.y) < kOff) return 0.0f;
    const float t = -(from.y - centre.y) / along.y;
    return t > 0.0f ? t : 0.0f;
  }
  const Vec to = minus(centre, from);
  const float d = dot(to, along), squared = dot(to, to), radius = object.radius * object.radius;
  if (d < 0.0f && squared > radius) return 0.0f;
  const float aside = squared - d * d;
  if (aside > radius) return 0.0f;
  const float half = sqrtf(radius - aside);
  return squared > radius ? d - half : d + half;
}

__device__ __forceinline__ Vec moved(const Object& object, float shift) {
  return {object.centre.x + shift, object.centre.y, object.centre.z};
}

__device__ __forceinline__ bool lit(Vec at, Vec to_lamp, Vec lamp, float shift) {
  const float reach = dot(minus(lamp, at), minus(lamp, at));
  const Vec from = plus(at, times(to_lamp, kOff));
  float t = 0.0f;
  for (int j = 0; j < kObjects && t == 0.0f; ++j) {
    t = meet(ray_objects[j], moved(ray_objects[j], shift), from, to_lamp);
    if (t > 0.0f && t * t > reach) t = 0.0f;
  }
  return t == 0.0f;
}

__device__ __forceinline__ float highlight(float x) {  // x^48
  const float x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8;
  return x16 * x16 * x16;
}

__device__ __forceinline__ unsigned byte(float x) {
  return static_cast<unsigned>(__saturatef(x) * 255.0f);
}

}  // namespace

extern "C" __global__ void ray_original_render(unsigned* image, unsigned width, unsigned height,
                                               float shift, float ahead) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  float4 stack[kLevels];
  for (int i = 0; i < kLevels; ++i) stack[i] = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
  if (x >= width || y >= height) return;
  image[x + y * width] = 0;
  const Vec lamp = {10.0f, 10.0f, 10.0f};
  const float pixel = 2.0f / static_cast<float>(min(width, height));
  Vec from = {ray_view[3], ray_view[7], ray_view[11]};
  const float right = (static_cast<float>(x) - static_cast<float>(width) * 0.5f) * pixel;
  const float up = (static_cast<float>(y) - static_cast<float>(height) * 0.5f) * pixel;
  Vec along = unit(plus(plus(times(view(0), ahead), times(view(2), right)), times(view(1), up)));
  int hits = 0;
#pragma unroll 1
  for (int level = 0; level < kLevels && hits == level; ++level) {
    float nearest = kFar;
    int hit = 0;
    for (int j = 0; j < kObjects; ++j) {
      const float t = meet(ray_objects[j], moved(ray_objects[j], shift), from, along);
      if (t > 0.0f && t < nearest) {
        nearest = t;
        hit = j;
      }
    }
    if (nearest == kFar) break;
    ++hits;
    const Object& object = ray_objects[hit];
    const Vec at = plus(from, times(along, nearest));
    const Vec to_lamp = unit(minus(lamp, at)), to_eye = unit(minus(from, at));
    const Vec normal =
        object.is_floor ? Vec{0.0f, 1.0f, 0.0f} : unit(minus(at, moved(object, shift)));
    const Vec facing = dot(to_eye, normal) < 0.0f ? times(normal, -1.0f) : normal;
    const float4 colour =
        make_float4(object.colour[0], object.colour[1], object.colour[2], object.colour[3]);
    float weight = 0.05f, shine = 0.0f;
    if (dot(facing, to_lamp) > 0.0f && lit(at, to_lamp, lamp, shift)) {
      weight += 0.3f * fminf(1.0f, dot(facing, to_lamp));
      const Vec between = unit(plus(to_lamp, to_eye));
      shine = 0.8f * highlight(fmaxf(0.0f, fminf(1.0f, dot(facing, between))));
    }
    stack[level] = make_float4(weight * colour.x + shine, weight * colour.y + shine,
                               weight * colour.z + shine, weight * colour.w);
    along = unit(minus(times(normal, 2.0f * dot(normal, to_eye)), to_eye));
    from = plus(at, times(along, kOff));
  }
  for (int i = hits - 1; i > 0; --i) {
    stack[i - 1].x += 0.8f * stack[i].x;
    stack[i - 1].y += 0.8f * stack[i].y;
    stack[i - 1].z += 0.8f * stack[i].z;
    stack[i - 1].w += 0.8f * stack[i].w;
  }
  image[x + y * width] = byte(stack[0].w) << 24 | byte(stack[0].z) << 16 | byte(stack[0].y) << 8 |
                         byte(stack[0].x);
}
