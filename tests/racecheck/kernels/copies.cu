// (sm_80) Asynchronous copies into shared memory, waited for and not.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

template <bool kWait, bool kBarrier>
__device__ void copy(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (kWait) __pipeline_wait_prior(0);
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void copy_clean(int* out, const int* in) { copy<true, true>(out, in); }
extern "C" __global__ void copy_no_wait(int* out, const int* in) { copy<false, true>(out, in); }
extern "C" __global__ void copy_no_barrier(int* out, const int* in) { copy<true, false>(out, in); }

// A pipeline of two stages: the group before the last one is waited for.
template <int kStages>
__device__ void pipeline(int* out, const int* in, int steps) {
  __shared__ int tile[2][64];
  const int t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  int sum = 0;
  for (int s = 0; s < steps; ++s) {
    if (s + 1 < steps) __pipeline_memcpy_async(&tile[(s + 1) % 2][t], &in[(s + 1) * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(kStages);
    __syncthreads();
    sum += tile[s % 2][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
extern "C" __global__ void pipeline_clean(int* out, const int* in, int steps) {
  pipeline<1>(out, in, steps);
}
extern "C" __global__ void pipeline_early(int* out, const int* in, int steps) {
  pipeline<2>(out, in, steps);
}

// All threads of the grid wait for one another between writing and reading.
template <bool kFixed>
__device__ void rounds(int* data, int* next) {
  auto grid = cg::this_grid();
  const auto n = grid.size(), i = grid.thread_rank();
  for (int r = 0; r < 3; ++r) {
    next[i] = data[(i + 1) % n] + 1;
    if (kFixed) grid.sync();
    data[i] = next[(i + 1) % n];
    grid.sync();
  }
}
extern "C" __global__ void grid_clean(int* data, int* next) { rounds<true>(data, next); }
extern "C" __global__ void grid_race(int* data, int* next) { rounds<false>(data, next); }

// A tile of eight lanes exchanges values; other tiles are elsewhere.
template <bool kFixed>
__device__ void tiles(int* out) {
  __shared__ int data[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kFixed || tile.meta_group_rank() % 2 == 0) tile.sync();
  out[threadIdx.x] = data[threadIdx.x ^ 7];
}
extern "C" __global__ void tiles_clean(int* out) { tiles<true>(out); }
extern "C" __global__ void tiles_race(int* out) { tiles<false>(out); }
