// Programs in the manner of a toolkit's samples.
#include "tests/suite/program.h"

using namespace suite;

__global__ void add_vectors(const float* a, const float* b, float* c, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
PROGRAM(vector_add) {
  const int n = 50000;
  const std::vector<float> a = numbers(n, 1), b = numbers(n, 2);
  std::printf("[Vector addition of %d elements]\n", n);
  float *d_a = upload(a), *d_b = upload(b), *d_c = device<float>(n);
  const int threads = 256, blocks = (n + threads - 1) / threads;
  std::printf("CUDA kernel launch with %d blocks of %d threads\n", blocks, threads);
  add_vectors<<<blocks, threads>>>(d_a, d_b, d_c, n);
  CUDA(cudaGetLastError());
  const std::vector<float> c = download(d_c, n);
  for (int i = 0; i < n; ++i)
    if (a[i] + b[i] != c[i]) return std::printf("Result verification failed at element %d!\n", i), EXIT_FAILURE;
  std::printf("Test PASSED\nDone\n");
  return EXIT_SUCCESS;
}

template <int kTile>
__global__ void multiply_tiles(float* c, const float* a, const float* b, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
PROGRAM(matrix_mul) {
  const int n = count > 0 ? std::atoi(arguments[0]) : 64;
  std::vector<float> a = numbers(n * n, 3), b = numbers(n * n, 4), want(n * n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      for (int k = 0; k < n; ++k) want[y * n + x] += a[y * n + k] * b[k * n + x];
  float *d_a = upload(a), *d_b = upload(b), *d_c = device<float>(n * n);
  multiply_tiles<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d_c, d_a, d_b, n);
  return compare("product", download(d_c, n * n), want, 1e-5);
}

__global__ void transpose_tile(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
PROGRAM(transpose) {
  const int width = 100, height = 70;
  const std::vector<float> in = numbers(width * height, 5);
  std::vector<float> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) want[x * height + y] = in[y * width + x];
  float *d_in = upload(in), *d_out = device<float>(in.size());
  transpose_tile<<<dim3(4, 3), dim3(32, 8)>>>(d_in, d_out, width, height);
  return same("transposed", download(d_out, in.size()), want);
}

template <unsigned kThreads>
__global__ void reduce(const int* in, int* out, unsigned n) {
  extern __shared__ int shared[];
  int sum = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kThreads * gridDim.x) sum += in[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = kThreads / 2; s > 32; s /= 2) {
    if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    sum = shared[threadIdx.x] + shared[threadIdx.x + 32];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}
PROGRAM(reduction) {
  const int n = 1 << 18;
  std::vector<int> in(n);
  long long want = 0;
  for (int i = 0; i < n; ++i) want += in[i] = i % 1000 - 300;
  int *d_in = upload(in), *d_out = device<int>(64);
  reduce<128><<<64, 128, 128 * sizeof(int)>>>(d_in, d_out, n);
  long long sum = 0;
  for (const int part : download(d_out, 64)) sum += part;
  std::printf("GPU sum %lld, CPU sum %lld\n", sum, want);
  return sum == want ? 0 : 1;
}

__global__ void count_bytes(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
PROGRAM(histogram) {
  const int n = 100000;
  std::vector<unsigned char> in;
  std::vector<unsigned> want(256);
  for (const float v : numbers(n, 6)) in.push_back(static_cast<unsigned char>(v * v * 256)), ++want[in.back()];
  unsigned char* const d_in = upload(in);
  unsigned* const d_out = device<unsigned>(256);
  count_bytes<<<16, 256>>>(d_in, d_out, n);
  return same("bins", download(d_out, 256), want);
}

/// Sums before each element of 2 * blockDim.x, by an up- and a downward sweep.
__global__ void blelloch(int* data) {
  extern __shared__ int s[];
  const int t = threadIdx.x, n = 2 * blockDim.x;
  s[2 * t] = data[2 * t], s[2 * t + 1] = data[2 * t + 1];
  int offset = 1;
  for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, v = s[left];
      s[left] = s[right], s[right] += v;
    }
  }
  __syncthreads();
  data[2 * t] = s[2 * t], data[2 * t + 1] = s[2 * t + 1];
}
PROGRAM(scan) {
  const int n = 1024;
  std::vector<int> in(n), want(n);
  for (int i = 0, sum = 0; i < n; ++i) in[i] = i * 7 % 13, want[i] = sum, sum += in[i];
  int* const d = upload(in);
  blelloch<<<1, n / 2, n * sizeof(int)>>>(d);
  std::printf("last sum %d\n", download(d, n)[n - 1]);
  return same("sums", download(d, n), want);
}

__global__ void bitonic_step(unsigned* keys, int j, int k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  const unsigned a = keys[i], b = keys[other];
  if ((a > b) == ((i & k) == 0)) keys[i] = b, keys[other] = a;
}
PROGRAM(bitonic_sort) {
  const int n = 4096;
  std::vector<unsigned> keys;
  for (const float v : numbers(n, 7)) keys.push_back(static_cast<unsigned>(v * 1e6f));
  unsigned* const d = upload(keys);
  int launches = 0;
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2, ++launches) bitonic_step<<<n / 256, 256>>>(d, j, k);
  const std::vector<unsigned> sorted = download(d, n);
  unsigned long long sum = 0, want = 0;
  for (const unsigned k : keys) want += k;
  int wrong = 0;
  for (int i = 0; i < n; ++i) sum += sorted[i], wrong += i > 0 && sorted[i - 1] > sorted[i];
  std::printf("%d launches, %d out of order, sums %s\n", launches, wrong, sum == want ? "equal" : "differ");
  return wrong == 0 && sum == want ? 0 : 1;
}

__host__ __device__ inline float call_price(float s, float x, float t) {
  const float r = 0.02f, v = 0.3f, root = sqrtf(t);
  const float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
  return s * 0.5f * erfcf(-d1 * 0.70710678f) - x * expf(-r * t) * 0.5f * erfcf(-d2 * 0.70710678f);
}
__global__ void prices(const float* s, const float* x, const float* t, float* call, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) call[i] = call_price(s[i], x[i], t[i]);
}
PROGRAM(black_scholes) {
  const int n = 2000;
  std::vector<float> s = numbers(n, 8), x = numbers(n, 9), t = numbers(n, 10), want(n);
  for (int i = 0; i < n; ++i) {
    s[i] = 5 + 25 * s[i], x[i] = 1 + 99 * x[i], t[i] = 0.25f + 9.75f * t[i];
    want[i] = call_price(s[i], x[i], t[i]);
  }
  float* const d = device<float>(n);
  prices<<<16, 128>>>(upload(s), upload(x), upload(t), d, n);
  return compare("call prices", download(d, n), want, 1e-4);
}

__global__ void accelerate(const float4* bodies, float3* out, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 own = bodies[i];
  float3 sum = {0, 0, 0};
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), s = tile[j].w * inverse * inverse * inverse;
      sum.x += x * s, sum.y += y * s, sum.z += z * s;
    }
    __syncthreads();
  }
  out[i] = sum;
}
PROGRAM(nbody) {
  const int n = 256;
  const std::vector<float> v = numbers(4 * n, 11);
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i) bodies[i] = {v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]};
  float3* const d = device<float3>(n);
  accelerate<<<n / 128, 128>>>(upload(bodies), d, n);
  double momentum = 0, size = 0;  // of all forces: action is reaction
  const std::vector<float3> a = download(d, n);
  for (int i = 0; i < n; ++i) momentum += double(bodies[i].w) * a[i].x, size += std::fabs(bodies[i].w * a[i].x);
  std::printf("forces %s\n", std::fabs(momentum) < 1e-5 * size ? "balance" : "DO NOT BALANCE");
  return std::fabs(momentum) < 1e-5 * size ? 0 : 1;
}

__global__ void mandelbrot_rows(unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const double cx = -2.25 + 3.0 * x / width, cy = -1.25 + 2.5 * (y + 0.5) / height;
  double zx = 0, zy = 0;
  int rounds = 0;
  for (; rounds < 200 && zx * zx + zy * zy < 4; ++rounds) {
    const double next = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy, zx = next;
  }
  out[y * width + x] = rounds == 200 ? '#' : rounds > 8 ? '+' : rounds > 4 ? '.' : ' ';
}
PROGRAM(mandelbrot) {
  const int width = 32, height = 11;
  unsigned char* const d = device<unsigned char>(width * height);
  mandelbrot_rows<<<dim3(1, height), 32>>>(d, width, height);
  const std::vector<unsigned char> picture = download(d, width * height);
  for (int y = 0; y < height; ++y) std::printf("%.*s|\n", width, reinterpret_cast<const char*>(&picture[y * width]));
  return 0;
}

__constant__ float taps[17];
__global__ void convolve_rows(const float* in, float* out, int width) {
  __shared__ float row[128 + 16];
  const int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
  for (int i = threadIdx.x; i < 144; i += 128) {
    const int at = blockIdx.x * 128 + i - 8;
    row[i] = at >= 0 && at < width ? in[y * width + at] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 17; ++k) sum += taps[k] * row[threadIdx.x + k];
  if (x < width) out[y * width + x] = sum;
}
PROGRAM(convolution) {
  const int width = 300, height = 20;
  const std::vector<float> in = numbers(width * height, 12), weights = numbers(17, 13);
  std::vector<float> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < 17; ++k)
        if (x + k - 8 >= 0 && x + k - 8 < width) want[y * width + x] += weights[k] * in[y * width + x + k - 8];
  CUDA(cudaMemcpyToSymbol(taps, weights.data(), sizeof taps));
  float* const d = device<float>(in.size());
  convolve_rows<<<dim3(3, height), 128>>>(upload(in), d, width);
  return compare("rows", download(d, in.size()), want, 1e-5);
}

__global__ void relax(const float* in, float* out, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= side - 1 || y >= side - 1) return;
  out[y * side + x] = 0.25f * (in[y * side + x - 1] + in[y * side + x + 1] + in[(y - 1) * side + x] + in[(y + 1) * side + x]);
}
PROGRAM(jacobi) {
  const int side = 66;
  std::vector<float> grid(side * side);
  for (int i = 0; i < side; ++i) grid[i] = 100;
  float *a = upload(grid), *b = upload(grid);
  for (int step = 0; step < 100; ++step) relax<<<dim3(9, 9), dim3(8, 8)>>>(a, b, side), std::swap(a, b);
  std::vector<float> want = grid, last = grid;
  for (int step = 0; step < 100; ++step) {
    std::swap(want, last);
    for (int y = 1; y < side - 1; ++y)
      for (int x = 1; x < side - 1; ++x)
        want[y * side + x] = 0.25f * (last[y * side + x - 1] + last[y * side + x + 1] + last[(y - 1) * side + x] + last[(y + 1) * side + x]);
  }
  return compare("temperatures", download(a, grid.size()), want, 1e-6);
}

PROGRAM(device_query) {
  cudaDeviceProp p;
  int devices = 0;
  CUDA(cudaGetDeviceCount(&devices));
  CUDA(cudaGetDeviceProperties(&p, 0));
  std::printf("%d CUDA capable device\nwarps of %d, blocks of %d, %d of them in a dimension\n", devices, p.warpSize,
              p.maxThreadsPerBlock, p.maxThreadsDim[2]);
  std::printf("grids of %d, %d, %d\n", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
  std::printf("multiprocessors, registers, memory: %s\n",
              p.multiProcessorCount > 0 && p.regsPerBlock > 0 && p.totalGlobalMem > 0 ? "some" : "NONE");
  std::printf("unified addressing %d, managed memory %d, cooperative launch %d\n", p.unifiedAddressing, p.managedMemory,
              p.cooperativeLaunch);
  return 0;
}
