// Texture and surface objects of all resources, each fetch against the host's own arithmetic.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace {

constexpr int kWidth = 37, kHeight = 19, kDepth = 5;

float element(int x, int y = 0, int z = 0) {
  return static_cast<float>((x * 7 + y * 13 + z * 29) % 101);
}

cudaTextureDesc plain() {
  cudaTextureDesc d = {};
  for (cudaTextureAddressMode& mode : d.addressMode) mode = cudaAddressModeClamp;
  return d;
}

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

cudaTextureObject_t texture(const cudaResourceDesc& resource, const cudaTextureDesc& desc) {
  cudaTextureObject_t t = 0;
  CUDA(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
  CHECK(t != 0);
  return t;
}

/// An array of floats filled by element().
cudaArray_t make_array(int width, int height, int depth, unsigned flags = 0) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags));
  const int rows = std::max(height, 1), slices = std::max(depth, 1);
  std::vector<float> h;
  for (int z = 0; z < slices; ++z)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < width; ++x) h.push_back(element(x, y, z));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(h.data(), width * sizeof(float), width, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, rows, slices);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  return array;
}

float* results(int n) {
  float* p;
  CUDA(cudaMallocManaged(&p, n * sizeof(float)));
  return p;
}

// --- Linear memory -------------------------------------------------------------------------------

__global__ void fetch(cudaTextureObject_t t, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, n - 1 - i);
}
__global__ void fetch_bytes(cudaTextureObject_t raw, cudaTextureObject_t real, int4* ints,
                            float4* floats) {
  const uchar4 v = tex1Dfetch<uchar4>(raw, threadIdx.x);
  ints[threadIdx.x] = make_int4(v.x, v.y, v.z, v.w);
  floats[threadIdx.x] = tex1Dfetch<float4>(real, threadIdx.x);
}

void linear_memory() {
  constexpr int n = 1000;
  float *data = results(n), *out = results(n);
  for (int i = 0; i < n; ++i) data[i] = element(i);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = data;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = n * sizeof(float);
  const cudaTextureObject_t t = texture(r, plain());
  fetch<<<8, 128>>>(t, out, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(out[i] == element(n - 1 - i));
  CUDA(cudaDestroyTextureObject(t));

  unsigned char* bytes;
  int4* ints;
  float4* floats;
  CUDA(cudaMallocManaged(&bytes, 128));
  CUDA(cudaMallocManaged(&ints, 32 * sizeof(int4)));
  CUDA(cudaMallocManaged(&floats, 32 * sizeof(float4)));
  for (int i = 0; i < 128; ++i) bytes[i] = static_cast<unsigned char>(2 * i);
  r.res.linear.devPtr = bytes;
  r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  r.res.linear.sizeInBytes = 128;
  cudaTextureDesc normalized = plain();
  normalized.readMode = cudaReadModeNormalizedFloat;
  fetch_bytes<<<1, 32>>>(texture(r, plain()), texture(r, normalized), ints, floats);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    CHECK(ints[i].x == 8 * i && ints[i].w == 8 * i + 6);
    CHECK(floats[i].y == static_cast<float>(8 * i + 2) / 255.0f);
  }
}

// --- Two dimensions ------------------------------------------------------------------------------

__global__ void sample_2d(cudaTextureObject_t t, float* out, int count, float step, float start,
                          float scale_x, float scale_y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * count;
       i += gridDim.x * blockDim.x)
    out[i] =
        tex2D<float>(t, (start + i % count * step) * scale_x, (start + i / count * step) * scale_y);
}

int inside(int i, int n, cudaTextureAddressMode mode, bool normalized) {
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeBorder) return -1;
  if (mode == cudaAddressModeClamp || !normalized) return i < 0 ? 0 : n - 1;
  if (mode == cudaAddressModeWrap) return (i % n + n) % n;
  const int p = (i % (2 * n) + 2 * n) % (2 * n);
  return p < n ? p : 2 * n - 1 - p;
}

float expected_2d(double x, double y, const cudaTextureDesc& d) {
  const bool normalized = d.normalizedCoords != 0;
  const auto at = [&](int i, int j) {
    i = inside(i, kWidth, d.addressMode[0], normalized);
    j = inside(j, kHeight, d.addressMode[1], normalized);
    return i < 0 || j < 0 ? d.borderColor[0] : element(i, j);
  };
  if (d.filterMode == cudaFilterModePoint)
    return at(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)));
  x -= 0.5, y -= 0.5;
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  const double a = x - i, b = y - j;
  return static_cast<float>((1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) +
                            (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1));
}

/// Point and linear filters, four address modes, both kinds of coordinates; from before the array
/// to behind it.
void two_dimensions(const cudaResourceDesc& resource) {
  constexpr int kCount = 64;
  constexpr float kStart = -20.125f, kStep = 1.25f;
  float* out = results(kCount * kCount);
  for (const bool normalized : {false, true})
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                              cudaAddressModeMirror}) {
        if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) continue;
        cudaTextureDesc d = plain();
        d.addressMode[0] = d.addressMode[1] = mode;
        d.filterMode = filter;
        d.normalizedCoords = normalized;
        d.borderColor[0] = 1000;
        const cudaTextureObject_t t = texture(resource, d);
        sample_2d<<<4, 128>>>(t, out, kCount, kStep, kStart, normalized ? 1.0f / kWidth : 1.0f,
                              normalized ? 1.0f / kHeight : 1.0f);
        CUDA(cudaDeviceSynchronize());
        for (int i = 0; i < kCount * kCount; ++i) {
          const float expected =
              expected_2d(kStart + i % kCount * kStep, kStart + i / kCount * kStep, d);
          // Scaled coordinates are rounded: weights of 8 bits may differ by one.
          const float largest = mode == cudaAddressModeBorder ? 1000.0f : 100.0f;
          const float tolerance =
              normalized && filter == cudaFilterModeLinear ? largest / 256 * 2 : 1e-3f;
          CHECK(std::fabs(out[i] - expected) <= tolerance);
        }
        CUDA(cudaDestroyTextureObject(t));
      }
}

void pitch_linear() {
  float* data;
  size_t pitch;
  CUDA(cudaMallocPitch(&data, &pitch, kWidth * sizeof(float), kHeight));
  std::vector<float> h;
  for (int i = 0; i < kWidth * kHeight; ++i) h.push_back(element(i % kWidth, i / kWidth));
  CUDA(cudaMemcpy2D(data, pitch, h.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                    cudaMemcpyDefault));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = data;
  r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  r.res.pitch2D.width = kWidth;
  r.res.pitch2D.height = kHeight;
  r.res.pitch2D.pitchInBytes = pitch;
  two_dimensions(r);
  r.res.pitch2D.pitchInBytes = pitch + 4;
  cudaTextureObject_t t;
  const cudaTextureDesc d = plain();
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, nullptr));
  CUDA(cudaFree(data));
}

// --- Three dimensions, layers, faces, levels
// -------------------------------------------------------

__global__ void sample_3d(cudaTextureObject_t t, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * gridDim.x + y) * blockDim.x + x] = tex3D<float>(t, x + 0.75f, y + 0.5f, z + 1.0f);
}
__global__ void sample_layers(cudaTextureObject_t t, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * gridDim.x + y) * blockDim.x + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, z);
}
__global__ void sample_rows(cudaTextureObject_t t, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      tex1DLayered<float>(t, threadIdx.x + 0.5f, blockIdx.x);
}
__global__ void sample_faces(cudaTextureObject_t t, float* out) {
  const float d[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const int f = threadIdx.x;
  out[f] = texCubemap<float>(t, d[f][0], d[f][1], d[f][2]);
}
__global__ void sample_levels(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x * 0.5f);
}

void more_dimensions() {
  constexpr int n = kWidth * kHeight * kDepth;
  float* out = results(n);
  cudaTextureDesc linear = plain();
  linear.filterMode = cudaFilterModeLinear;
  const cudaArray_t volume = make_array(kWidth, kHeight, kDepth);
  sample_3d<<<dim3(kHeight, kDepth), kWidth>>>(texture(of(volume), linear), out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const int x = i % kWidth, y = i / kWidth % kHeight, z = i / kWidth / kHeight;
    const int right = std::min(x + 1, kWidth - 1), above = std::min(z + 1, kDepth - 1);
    const float expected = 0.5f * (0.75f * element(x, y, z) + 0.25f * element(right, y, z)) +
                           0.5f * (0.75f * element(x, y, above) + 0.25f * element(right, y, above));
    CHECK(std::fabs(out[i] - expected) < 1e-3f);
  }
  const cudaArray_t layers = make_array(kWidth, kHeight, kDepth, cudaArrayLayered);
  sample_layers<<<dim3(kHeight, kDepth), kWidth>>>(texture(of(layers), linear), out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    CHECK(out[i] == element(i % kWidth, i / kWidth % kHeight, i / kWidth / kHeight));
  const cudaArray_t rows = make_array(kWidth, 0, kDepth, cudaArrayLayered);
  sample_rows<<<kDepth, kWidth>>>(texture(of(rows), linear), out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < kWidth * kDepth; ++i) CHECK(out[i] == element(i % kWidth, 0, i / kWidth));
  const cudaArray_t faces = make_array(9, 9, 6, cudaArrayCubemap);
  cudaTextureDesc normalized = plain();
  normalized.normalizedCoords = 1;
  sample_faces<<<1, 6>>>(texture(of(faces), normalized), out);
  CUDA(cudaDeviceSynchronize());
  for (int f = 0; f < 6; ++f) CHECK(out[f] == element(4, 4, f));
  for (const cudaArray_t a : {volume, layers, rows, faces}) CUDA(cudaFreeArray(a));
}

void levels() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmapped;
  CUDA(cudaMallocMipmappedArray(&mipmapped, &format, make_cudaExtent(16, 16, 0), 5));
  for (unsigned l = 0; l < 5; ++l) {
    cudaArray_t level;
    CUDA(cudaGetMipmappedArrayLevel(&level, mipmapped, l));
    cudaExtent extent;
    CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    CHECK(extent.width == 16u >> l && extent.height == 16u >> l);
    FAILS(cudaErrorInvalidValue, cudaFreeArray(level));
    const std::vector<float> same(256, 10.0f * static_cast<float>(l));
    CUDA(cudaMemcpy2DToArray(level, 0, 0, same.data(), extent.width * 4, extent.width * 4,
                             extent.height, cudaMemcpyHostToDevice));
  }
  cudaArray_t none;
  FAILS(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&none, mipmapped, 5));
  // Where some levels have no room, the others are not kept.
  size_t before, now, total;
  CUDA(cudaMemGetInfo(&before, &total));
  const cudaExtent nearly_all = make_cudaExtent(1024, before / 4096 - 1024, 0);
  cudaMipmappedArray_t large;
  FAILS(cudaErrorMemoryAllocation, cudaMallocMipmappedArray(&large, &format, nearly_all, 4));
  CUDA(cudaMemGetInfo(&now, &total));
  CHECK(now == before);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = mipmapped;
  cudaTextureDesc d = plain();
  d.normalizedCoords = 1;
  d.filterMode = d.mipmapFilterMode = cudaFilterModeLinear;
  d.maxMipmapLevelClamp = 3;
  float* out = results(10);
  sample_levels<<<1, 10>>>(texture(r, d), out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 10; ++i) CHECK(out[i] == 10 * std::min(0.5f * static_cast<float>(i), 3.0f));
  CUDA(cudaFreeMipmappedArray(mipmapped));
}

// --- Surfaces ------------------------------------------------------------------------------------

__global__ void mirror(cudaSurfaceObject_t in, cudaSurfaceObject_t out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float2 v = surf2Dread<float2>(in, (blockDim.x - 1 - x) * sizeof(float2), y);
  surf2Dwrite(make_float2(v.y, v.x), out, x * sizeof(float2), y);
}
__global__ void outside(cudaSurfaceObject_t s, float2* out) {
  out[0] = surf2Dread<float2>(s, -8, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<float2>(s, -8, 0, cudaBoundaryModeClamp);
}

void surfaces() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t a, b;
  CUDA(cudaMallocArray(&a, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CUDA(cudaMallocArray(&b, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  std::vector<float2> h(kWidth * kHeight), back(h.size());
  for (int i = 0; i < kWidth * kHeight; ++i) h[i] = make_float2(element(i), -1 - element(i));
  constexpr size_t kRow = kWidth * sizeof(float2);
  CUDA(cudaMemcpy2DToArray(a, 0, 0, h.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  const cudaResourceDesc ra = of(a), rb = of(b);
  cudaSurfaceObject_t sa, sb;
  CUDA(cudaCreateSurfaceObject(&sa, &ra));
  CUDA(cudaCreateSurfaceObject(&sb, &rb));
  mirror<<<kHeight, kWidth>>>(sa, sb);
  CUDA(cudaMemcpy2DFromArray(back.data(), kRow, b, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const float2 v = h[i / kWidth * kWidth + kWidth - 1 - i % kWidth];
    CHECK(back[i].x == v.y && back[i].y == v.x);
  }
  float2* out;
  CUDA(cudaMallocManaged(&out, 2 * sizeof(float2)));
  outside<<<1, 1>>>(sa, out);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0].x == 0 && out[0].y == 0 && out[1].x == h[0].x && out[1].y == h[0].y);
  CUDA(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, kRow, kHeight));
  // Along the rows: row 1 from its element 16 on, and then row 2, go to the beginning.
  constexpr size_t kSkipped = 16 * sizeof(float2);
  CUDA(cudaMemcpyArrayToArray(a, 0, 0, b, kSkipped, 1, 2 * kRow - kSkipped,
                              cudaMemcpyDeviceToDevice));
  FAILS(cudaErrorInvalidValue,
        cudaMemcpyArrayToArray(a, 0, 0, b, 0, 0, ~size_t{0}, cudaMemcpyDeviceToDevice));
  std::vector<float2> moved(h.size());
  CUDA(cudaMemcpy2DFromArray(moved.data(), kRow, a, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const float2 v = back[i < 2 * kWidth - 16 ? i + kWidth + 16 : i];
    CHECK(moved[i].x == v.x && moved[i].y == v.y);
  }
  cudaResourceDesc told;
  CUDA(cudaGetSurfaceObjectResourceDesc(&told, sb));
  CHECK(told.resType == cudaResourceTypeArray && told.res.array.array == b);
  CUDA(cudaDestroySurfaceObject(sa));
  FAILS(cudaErrorInvalidValue, cudaDestroySurfaceObject(sa));
  CUDA(cudaFreeArray(a));
  const cudaResourceDesc gone = of(a);
  FAILS(cudaErrorInvalidResourceHandle, cudaCreateSurfaceObject(&sa, &gone));
}

void mistakes() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  format.y = 5;
  FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &format, 4, 4));
  format = cudaCreateChannelDesc<int>();
  FAILS(cudaErrorInvalidValue, cudaMallocArray(&array, &format, 0, 4));
  FAILS(cudaErrorInvalidValue,
        cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 9, 6), cudaArrayCubemap));
  CUDA(cudaMallocArray(&array, &format, 4, 4));
  const cudaResourceDesc r = of(array);
  cudaTextureDesc d = plain();
  cudaTextureObject_t t;
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(nullptr, &r, &d, nullptr));
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, nullptr, &d, nullptr));
  FAILS(cudaErrorInvalidValue, cudaCreateSurfaceObject(&t, &r));  // not allocated for it
  d.filterMode = cudaFilterModeLinear;
  FAILS(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&t, &r, &d, nullptr));
  d.readMode = cudaReadModeNormalizedFloat;
  FAILS(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = plain();
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = 4;
  view.height = 4;
  CUDA(cudaCreateTextureObject(&t, &r, &d, &view));
  cudaResourceViewDesc told;
  CUDA(cudaGetTextureObjectResourceViewDesc(&told, t));
  CHECK(told.format == cudaResViewFormatFloat1);
  cudaTextureDesc desc;
  CUDA(cudaGetTextureObjectTextureDesc(&desc, t));
  CHECK(desc.addressMode[1] == cudaAddressModeClamp);
  view.format = cudaResViewFormatFloat2;
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, &view));
  FAILS(cudaErrorInvalidValue, cudaDestroyTextureObject(12345));
  CUDA(cudaFreeArray(array));
}

}  // namespace

int main() {
  linear_memory();
  const cudaArray_t image = make_array(kWidth, kHeight, 0);
  two_dimensions(of(image));
  pitch_linear();
  more_dimensions();
  levels();
  surfaces();
  mistakes();
  return passed();
}
