// The stepping kernel for batches: warps that take work until all systems have stopped.
#pragma once

#include "kernels/batch.h"
#include "kernels/run_teams.cuh"

namespace nearwarp::kernels::gpu {

/// One launch. Blocks need not be resident together: a warp that is there waits for none that is
/// not.
__global__ void __launch_bounds__(kMostWarps * 32, 1) run_batch(const Batch batch) {
  __shared__ uint32_t favourite;
  __shared__ uint64_t begun;
  if (threadIdx.x == 0) {
    favourite = blockIdx.x % kBatchTasks;
    begun = clock_ns();
  }
  __syncthreads();
  const WarpGroup g{cg::tiled_partition<32>(cg::this_thread_block())};
  const BatchWarp warp(batch, blockIdx.x, (blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const auto time_is_up = [&] { return clock_ns() - begun > batch.nanoseconds; };
  Turn turn;
  while ((turn = warp.turn(g, favourite, time_is_up)) != Turn::kOver)
    if (turn == Turn::kIdle) __nanosleep(100);
}

}  // namespace nearwarp::kernels::gpu
