// Scalar products with consecutive elements of a pair for each warp, begun in different rounds, and a
// running sum per thread (pim-tuning, section 3.2). Sums take any order: nothing is laid out anew.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kBlock = 256;

// The length is a multiple of kBlock.
extern "C" __global__ void scalarprod_consecutive(const float* a, const float* b, float* products,
                                                  unsigned num_vectors, unsigned length) {
  __shared__ float sums[kBlock];
  const unsigned rounds = length / kBlock, warp = threadIdx.x / 32;
  for (unsigned vector = blockIdx.x; vector < num_vectors; vector += gridDim.x) {
    const unsigned begin = vector * length + warp * rounds * 32 + threadIdx.x % 32;
    unsigned at = first_round(vector * (kBlock / 32) + warp, rounds);
    float sum = 0.0f;
    for (unsigned round = 0; round < rounds; ++round) {
      const unsigned i = begin + at * 32;
      sum += a[i] * b[i];
      at = at + 1 < rounds ? at + 1 : 0;
    }
    sums[threadIdx.x] = sum;
    for (int half = kBlock / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) products[vector] = sums[0];
    __syncthreads();  // the next pair's sums must not overtake the store
  }
}
