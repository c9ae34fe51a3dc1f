// libcu++: atomics, barriers, semaphores, pipelines of asynchronous copies, complex numbers.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/complex>

#include "tests/cudart/apps/check.h"

namespace cg = cooperative_groups;

// init() and make_pipeline() initialise the objects in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init

using Counter = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void count(Counter* counter, cuda::std::atomic<unsigned long long>* wide, float* sum) {
  counter->fetch_add(1, cuda::memory_order_relaxed);
  wide->fetch_add(2);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
}

__global__ void barriers(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[128];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    values[t] = t + round;
    auto token = barrier.arrive();
    barrier.wait(cuda::std::move(token));
    out[t] = values[127 - t];
    barrier.arrive_and_wait();
  }
}

__device__ cuda::binary_semaphore<cuda::thread_scope_device> semaphore(1);

__global__ void locked(volatile int* p) {
  if (threadIdx.x != 0) return;
  semaphore.acquire();
  *p = *p + 1;
  __threadfence();
  semaphore.release();
}

/// A pipeline: stages of 64 numbers are copied while earlier ones are used.
__global__ void staged(const int* in, int* out, int n) {
  constexpr int kStages = 2;
  __shared__ int buffer[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int i = 0, fetched = 0; i < n; ++i) {
    for (; fetched < n && fetched < i + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % kStages], in + fetched * 64, sizeof(buffer[0]),
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[i * 64 + threadIdx.x] = 2 * buffer[i % kStages][63 - threadIdx.x];
    pipeline.consumer_release();
  }
}

__global__ void multiply(cuda::std::complex<float>* out) {
  using Complex = cuda::std::complex<float>;
  out[threadIdx.x] = Complex(1, static_cast<float>(threadIdx.x)) * Complex(2.5f, 1);
}

template <class T>
T* managed(int n) {
  T* p;
  CUDA(cudaMallocManaged(&p, n * sizeof(T)));
  CUDA(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

int main() {
  auto* const counter = managed<Counter>(1);
  auto* const wide = managed<cuda::std::atomic<unsigned long long>>(1);
  float* const sum = managed<float>(1);
  count<<<4, 128>>>(counter, wide, sum);
  CUDA(cudaDeviceSynchronize());
  CHECK(counter->load() == 512 && wide->load() == 1024 && *sum == 256);

  int *const in = managed<int>(512), *const out = managed<int>(512);
  barriers<<<1, 128>>>(out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) CHECK(out[i] == 127 - i + 2);
  out[0] = 0;
  locked<<<20, 32>>>(out);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 20);

  for (int i = 0; i < 512; ++i) in[i] = i;
  staged<<<1, 64>>>(in, out, 8);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 512; ++i) CHECK(out[i] == 2 * (i / 64 * 64 + 63 - i % 64));

  auto* const numbers = managed<cuda::std::complex<float>>(32);
  multiply<<<1, 32>>>(numbers);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    CHECK(numbers[i].real() == 2.5f - i && numbers[i].imag() == 1 + 2.5f * i);
  return passed();
}
