// Usual ways to work together in a block and in a warp: `nearwarp check` has nothing to say about them.
// With argument "bugs": the same with an initialisation left out.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

#include <cstring>

#include "tests/cudart/apps/check.h"

namespace cg = cooperative_groups;

template <int kThreads>
__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ float sums[kThreads / 32];
  float v = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kThreads * gridDim.x) v += in[i];
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  v = threadIdx.x < kThreads / 32 ? sums[threadIdx.x] : 0;
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x == 0) atomicAdd(out, v);
}

__global__ void scan(int* d, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = t < n ? d[t] : 0;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    const int v = t >= o ? s[t - o] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t < n) d[t] = s[t];
}

template <bool kEnds>
__global__ void stencil(const float* in, float* out, int n) {
  __shared__ float s[128 + 2];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t + 1] = g < n ? in[g] : 0;
  if (kEnds && t == 0) s[0] = g > 0 ? in[g - 1] : 0;
  if (t == 127) s[129] = g + 1 < n ? in[g + 1] : 0;
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 1] + s[t + 2];
}

template <bool kClears>
__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned h[256];
  for (int i = threadIdx.x; kClears && i < 256; i += blockDim.x) h[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&h[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], h[i]);
}

__global__ void append(int* counter, int* out) {
  if (threadIdx.x % 3 == 0) return;
  const auto group = cg::coalesced_threads();
  int base = 0;
  if (group.thread_rank() == 0) base = atomicAdd(counter, group.size());
  base = group.shfl(base, 0);
  out[base + group.thread_rank()] = threadIdx.x;
}

__global__ void group_sum(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  __shared__ int s[8];
  int v = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
  if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = v;
  block.sync();
  if (warp.meta_group_rank() != 0 || warp.thread_rank() >= 8) return;
  const auto tile = cg::tiled_partition<8>(warp);
  v = cg::reduce(tile, s[tile.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) *out = v;
}

__global__ void two_buffers(const float4* in, float4* out, int n) {
  __shared__ float4 s[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], in + t, 16);
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], in + (k + 1) * 64 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * 64 + t] = s[k & 1][63 - t];
    __syncthreads();
  }
}

__global__ void copy_together(const int* in, int* out) {
  __shared__ int s[100];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(s));
  cg::wait(block);
  if (threadIdx.x < 100) out[threadIdx.x] = s[99 - threadIdx.x];
}

__global__ void take_turns(int* lock, int* out) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    *static_cast<volatile int*>(out) += 1;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
  __syncthreads();
  out[1 + threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
}

__global__ void compact(const int* in, int* out, int n) {
  for (int i = threadIdx.x; __any_sync(~0u, i < n); i += 32) {
    const bool mine = i < n && in[i] > 3;
    const unsigned all = __ballot_sync(~0u, mine);
    if (mine) out[i] = __popc(all & ((1u << threadIdx.x) - 1));
  }
}

int main(int argc, char** argv) {
  constexpr size_t kBytes = 1 << 14;
  float *f = nullptr, *g = nullptr;
  int *a = nullptr, *b = nullptr;
  for (void** p : {(void**)&f, (void**)&g, (void**)&a, (void**)&b}) {
    CUDA(cudaMalloc(p, kBytes));
    CUDA(cudaMemset(*p, 0, kBytes));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(a);
  auto* counts = reinterpret_cast<unsigned*>(b);
  if (argc > 1 && std::strcmp(argv[1], "bugs") == 0) {
    stencil<false><<<8, 128>>>(f, g, 1000);
    histogram<false><<<1, 128>>>(bytes, counts, 1000);
  } else {
    block_sum<256><<<4, 256>>>(f, g, 1000);
    scan<<<1, 256>>>(a, 200);
    stencil<true><<<8, 128>>>(f, g, 1000);
    histogram<true><<<1, 128>>>(bytes, counts, 1000);
    append<<<2, 96>>>(a, b);
    group_sum<<<1, 256>>>(a, b);
    two_buffers<<<1, 64>>>(reinterpret_cast<float4*>(f), reinterpret_cast<float4*>(g), 8);
    copy_together<<<1, 128>>>(a, b);
    CUDA(cudaMemset(a, 0, kBytes));
    take_turns<<<1, 64>>>(a, b);
    CUDA(cudaMemset(a, 9, kBytes));
    compact<<<1, 32>>>(a, b, 75);
  }
  CUDA(cudaDeviceSynchronize());
  std::printf("passed\n");
  return 0;
}
