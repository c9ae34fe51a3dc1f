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

/// Not a tail call, and no loop in disguise.
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
