// Parallel sum with consecutive elements for each warp, begun in different rounds (pim-tuning, section
// 3.2). Sums take any order: nothing is laid out anew. The rest is that of reduction.cu.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kBlock = 256;

// A warp takes `rounds` rounds of 64 elements.
extern "C" __global__ void reduction_sum_consecutive(const int* in, int* out, unsigned n,
                                                     unsigned rounds) {
  __shared__ int partial[kBlock];
  const unsigned tid = threadIdx.x;
  const unsigned warp = (blockIdx.x * kBlock + tid) / 32;
  const unsigned begin = warp * rounds * 64 + tid % 32;
  unsigned at = first_round(warp, rounds);
  int sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned i = begin + at * 64;
    if (i < n) sum += in[i];
    if (i + 32 < n) sum += in[i + 32];
    at = at + 1 < rounds ? at + 1 : 0;
  }
  partial[tid] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned half = kBlock / 2; half >= 32; half /= 2) {
    if (tid < half) {
      sum += partial[tid + half];
      partial[tid] = sum;
    }
    __syncthreads();
  }
  if (tid < 32) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}
