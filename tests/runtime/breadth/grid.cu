// Blocks and warps that wait for one another.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(int* data, int rounds) {
  auto grid = cg::this_grid();
  const unsigned long long n = grid.size(), i = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    const int next = data[(i + 1) % n];
    grid.sync();
    data[i] += next;
    grid.sync();
  }
}

extern "C" __global__ void reduce(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (threadIdx.x % 3 == 0) {
    auto some = cg::coalesced_threads();
    out[block.thread_rank()] = sum * 100 + some.thread_rank() + some.size();
  }
}

// Lanes of one warp take turns in a critical section.
extern "C" __global__ void spin_lock(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Even lanes wait for what odd lanes of their warp write later.
extern "C" __global__ void hand_over(volatile int* flag, int* out) {
  if (threadIdx.x % 2 == 0) {
    while (flag[threadIdx.x] == 0) {
    }
    out[threadIdx.x] = flag[threadIdx.x];
  } else {
    flag[threadIdx.x - 1] = static_cast<int>(threadIdx.x);
  }
}

// One lane of each warp waits for the next block, for all lanes of its warp.
extern "C" __global__ void leaders_wait(volatile int* values, int* synchronised, int* shuffled) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x + 1 < gridDim.x) {
    volatile int* next = values + blockIdx.x + 1;
    if (threadIdx.x % 32 == 5) {
      while (*next == 0) {
      }
    }
    __syncwarp();
    synchronised[i] = *next;
    int value = 0;
    if (threadIdx.x % 32 == 7) {
      while ((value = next[gridDim.x]) == 0) {
      }
    }
    shuffled[i] = __shfl_sync(0xffffffff, value, 7);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    values[blockIdx.x] = static_cast<int>(blockIdx.x + 1);
    __threadfence();
    values[blockIdx.x + gridDim.x] = static_cast<int>(blockIdx.x + 1000);
  }
}

__device__ unsigned lanes_of_tile(unsigned width) {
  return (width == 32 ? 0xffffffffu : (1u << width) - 1) << (threadIdx.x % 32 & ~(width - 1));
}

// One lane of each part of a warp waits for the next block; parts have `width` lanes.
extern "C" __global__ void tiles_wait(volatile int* values, int* synchronised, int* shuffled,
                                      unsigned width) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x + 1 < gridDim.x) {
    volatile int* next = values + blockIdx.x + 1;
    if (threadIdx.x % width == 5) {
      while (*next == 0) {
      }
    }
    __syncwarp(lanes_of_tile(width));
    synchronised[i] = *next;
    int value = 0;
    if (threadIdx.x % width == 3) {
      while ((value = next[gridDim.x]) == 0) {
      }
    }
    shuffled[i] = __shfl_sync(lanes_of_tile(width), value, 3, static_cast<int>(width));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    values[blockIdx.x] = static_cast<int>(blockIdx.x + 1);
    __threadfence();
    values[blockIdx.x + gridDim.x] = static_cast<int>(blockIdx.x + 1000);
  }
}

// A lane of each part of a warp waits for what a lane of the part behind it does when all lanes of
// that part have met: no part may wait for another one.
extern "C" __global__ void tiles_in_turn(volatile int* flags, int* out, unsigned width) {
  const unsigned tile = threadIdx.x / width, tiles = blockDim.x / width;
  if (threadIdx.x % width == 1 && tile + 1 < tiles) {
    while (flags[tile + 1] == 0) {
    }
  }
  __syncwarp(lanes_of_tile(width));
  out[threadIdx.x] = tile + 1 < tiles ? flags[tile + 1] : 0;
  __syncwarp(lanes_of_tile(width));
  if (threadIdx.x % width == 0) flags[tile] = static_cast<int>(tiles - tile);
}

// Lane 0 waits for what lane 1 does just before all lanes meet.
extern "C" __global__ void before_meeting(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  if (threadIdx.x == 1) *flag = 1;
  __syncwarp();
  out[threadIdx.x] = *flag;
}

// The last block to finish adds up what the others left.
extern "C" __global__ void last_block(const int* in, int* partial, unsigned* done, int* out) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

// Every block waits, asleep, for the one before it (decoupled look-back).
extern "C" __global__ void chain(volatile int* state, int reversed) {
  const unsigned b = reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  if (threadIdx.x == 0) {
    int before = b == 0 ? 1 : 0;
    while (before == 0) {
      before = state[b - 1];
      __nanosleep(100);
    }
    __threadfence();
    state[b] = before + 1;
  }
}
