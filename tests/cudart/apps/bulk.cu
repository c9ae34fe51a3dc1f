// Bulk copies between global and shared memory, and mbarriers that count their bytes (for 9.0).
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kTile = 256, kTiles = 12, kStages = 3;

/// Tiles come through a ring of stages, each with a barrier that counts its bytes; what is made of
/// them goes back by bulk copies.
__global__ void pipeline(const int* in, int* out) {
  __shared__ alignas(128) int stage[kStages][kTile];
  __shared__ alignas(128) int result[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ uint64_t full[kStages];
  const auto fetch = [&](int tile) {
    const int s = tile % kStages;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                   kTile * sizeof(int));
    for (int half = 0; half < 2; ++half)  // two copies for one phase
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s] + half * kTile / 2,
                         in + (tile * gridDim.x + blockIdx.x) * kTile + half * kTile / 2,
                         kTile / 2 * sizeof(int), &full[s]);
  };
  if (threadIdx.x == 0)
    for (uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int tile = 0; tile < kStages; ++tile) fetch(tile);
  for (int tile = 0; tile < kTiles; ++tile) {
    const int s = tile % kStages;
    while (!ptx::mbarrier_try_wait_parity(&full[s], tile / kStages & 1)) {
    }
    for (int i = threadIdx.x; i < kTile; i += blockDim.x) result[i] = 3 * stage[s][i] + tile;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared,
                         out + (tile * gridDim.x + blockIdx.x) * kTile, result,
                         kTile * sizeof(int));
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
      if (tile + kStages < kTiles) fetch(tile + kStages);
    }
    __syncthreads();
  }
}

/// Arrivals that are dropped count for no later phase; copies may come before they are expected.
__global__ void counts(const int* in, int* out) {
  __shared__ alignas(16) int data[32];
  __shared__ Barrier barrier;
  __shared__ uint64_t word;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    ptx::mbarrier_init(&word, 1);
  }
  __syncthreads();
  if (threadIdx.x >= 16) {
    barrier.arrive_and_drop();
  } else {
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();  // 16 threads are all that are left
  }
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data, in, sizeof(data), &word);
    out[0] = ptx::mbarrier_try_wait_parity(&word, 0);  // bytes are ahead, and nobody has arrived
    const uint64_t state = ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release, ptx::scope_cta, ptx::space_shared, &word, sizeof(data));
    while (!ptx::mbarrier_try_wait(&word, state)) {
    }
    out[1] = data[31];
    unsigned pending;  // before that arrival
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[2] = static_cast<int>(pending);
  }
}

int main() {
  const int blocks = 5, n = blocks * kTiles * kTile;
  int *in, *out;
  CUDA(cudaMallocManaged(&in, n * sizeof(int)));
  CUDA(cudaMallocManaged(&out, n * sizeof(int)));
  for (int i = 0; i < n; ++i) in[i] = i * 7;
  pipeline<<<blocks, 96>>>(in, out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(out[i] == 21 * i + i / kTile / blocks);
  counts<<<1, 64>>>(in, out);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 0 && out[1] == 31 * 7 && out[2] == 1);
  return passed();
}
