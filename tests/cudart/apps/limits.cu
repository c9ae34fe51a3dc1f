// Bounds of launches, the stack's limit, and what a reset brings back.
#include "tests/cudart/apps/check.h"

/// Keeps many values at once, more than its bounds leave registers for.
__global__ void __launch_bounds__(256, 4) bounded(const float* in, float* out) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = in[threadIdx.x + 256 * i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += v[i] * v[63 - i] * static_cast<float>(i + 1);
  out[threadIdx.x] = sum;
}

/// As above, but without launch bounds: blocks of 1024 threads cannot have so many registers.
__global__ void greedy(const float* in, float* out) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = in[threadIdx.x % 256 + 256 * i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += v[i] * v[63 - i] * static_cast<float>(i + 1);
  out[threadIdx.x] = sum;
}
/// Reverses an array in shared memory, as large as the launch makes it.
__global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int held[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = held[n - 1 - i];
}

__device__ int counter = 5;
__device__ int zero;
__constant__ int table[3] = {1, 2, 3};

__global__ void change(int* seen) {
  seen[0] = counter;
  seen[1] = zero;
  seen[2] = table[1];
  counter = 77;
  zero = 78;
}

/// A recursion that the compiler cannot turn into a loop, as it is no tail call.
__device__ __noinline__ int depth(volatile int* stop, int n) {
  return n == *stop ? 0 : 1 + depth(stop, n + 1) * (n >= 0);
}
__global__ void recurse(int* stop, int* out) { *out = depth(stop, 0); }

static void bounds() {
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, bounded));
  CHECK(a.maxThreadsPerBlock == 256);
  CHECK(a.numRegs >= 16 && a.numRegs * 1024 <= p.regsPerMultiprocessor);
  int blocks = 0, block = 0, grid = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
  CHECK(blocks >= 4);
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 512, 0));
  CHECK(blocks == 0);
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
  CHECK(block > 0 && block <= 256 && grid >= p.multiProcessorCount);
  float *in, *out;
  CUDA(cudaMallocManaged(&in, 64 * 256 * sizeof(float)));
  CUDA(cudaMallocManaged(&out, 256 * sizeof(float)));
  for (int i = 0; i < 64 * 256; ++i) in[i] = static_cast<float>(i % 7);
  const auto launch = [&](int threads) {
    bounded<<<1, threads>>>(in, out);
    return cudaPeekAtLastError();
  };
  CUDA(launch(256));
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < 256; ++t) {
    float sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += in[t + 256 * i] * in[t + 256 * (63 - i)] * static_cast<float>(i + 1);
    CHECK(out[t] == sum);
  }
  FAILS(cudaErrorInvalidValue, launch(288));
}

/// Code for GPUs whose SMs have more registers and shared memory runs, too.
static void larger_than_an_sm() {
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, greedy));
  CHECK(a.numRegs * 1024 > p.regsPerMultiprocessor && a.maxThreadsPerBlock < 1024);
  float *in, *out;
  CUDA(cudaMallocManaged(&in, 64 * 256 * sizeof(float)));
  CUDA(cudaMallocManaged(&out, 1024 * sizeof(float)));
  for (int i = 0; i < 64 * 256; ++i) in[i] = static_cast<float>(i % 7);
  greedy<<<1, 1024>>>(in, out);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < 1024; ++t) {
    float sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += in[t % 256 + 256 * i] * in[t % 256 + 256 * (63 - i)] * static_cast<float>(i + 1);
    CHECK(out[t] == sum);
  }
  const int n = (96 << 10) / sizeof(int);
  int *numbers, *reversed;
  CUDA(cudaMallocManaged(&numbers, n * sizeof(int)));
  CUDA(cudaMallocManaged(&reversed, n * sizeof(int)));
  for (int i = 0; i < n; ++i) numbers[i] = i * 3;
  const auto launch = [&] {
    reverse<<<1, 256, n * sizeof(int)>>>(numbers, reversed, n);
    return cudaPeekAtLastError();
  };
  CHECK(n * sizeof(int) > p.sharedMemPerBlockOptin);
  FAILS(cudaErrorInvalidValue, launch());  // so much memory has not been asked for
  CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10));
  CUDA(launch());
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(reversed[i] == numbers[n - 1 - i]);
  FAILS(cudaErrorInvalidValue,
        cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10));
}

static void reset() {
  for (int round = 0; round < 2; ++round) {
    int* seen;
    CUDA(cudaMallocManaged(&seen, 3 * sizeof(int)));
    change<<<1, 1>>>(seen);
    CUDA(cudaDeviceSynchronize());
    CHECK(seen[0] == 5 && seen[1] == 0 && seen[2] == 2);
    change<<<1, 1>>>(seen);
    CUDA(cudaDeviceSynchronize());
    CHECK(seen[0] == 77 && seen[1] == 78);
    const int other[3] = {7, 8, 9};
    CUDA(cudaMemcpyToSymbol(table, other, sizeof(other)));
    CUDA(cudaDeviceReset());
  }
}

static void stack(int wanted) {
  int *stop, *out;
  CUDA(cudaMallocManaged(&stop, sizeof(int)));
  CUDA(cudaMallocManaged(&out, sizeof(int)));
  *stop = wanted;
  recurse<<<1, 1>>>(stop, out);
  if (wanted < 0) {
    CHECK(cudaDeviceSynchronize() == cudaErrorHardwareStackError);
    CHECK(cudaDeviceReset() == cudaSuccess);
    return;
  }
  CUDA(cudaDeviceSynchronize());
  CHECK(*out == wanted);
}

int main() {
  bounds();
  larger_than_an_sm();
  reset();
  stack(10);
  stack(-1);
  size_t bytes = 0;
  CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 256 << 10));
  CUDA(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  CHECK(bytes == 256 << 10);
  stack(2000);  // more than fits by default
  FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
  return passed();
}
