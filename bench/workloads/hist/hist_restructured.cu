// The counting kernel of HIST with consecutive words for each warp, begun in different rounds
// (pim-tuning, section 3.2). Counts do not depend on the order: nothing is laid out anew.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kBins = 256;
constexpr int kWarps = 6;
constexpr int kThreads = kWarps * 32;
constexpr int kMergeThreads = 256;

// A warp takes `rounds` rounds of 32 words.
extern "C" __global__ void hist_count_consecutive(const unsigned* words, unsigned* partial,
                                                  unsigned num_words, unsigned rounds) {
  __shared__ unsigned counts[kWarps * kBins];
  unsigned* mine = counts + threadIdx.x / 32 * kBins;
  for (int i = threadIdx.x; i < kWarps * kBins; i += kThreads) counts[i] = 0;
  __syncthreads();
  const unsigned warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  unsigned at = first_round(warp, rounds);
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned i = (warp * rounds + at) * 32 + threadIdx.x % 32;
    if (i < num_words) {
      const unsigned word = words[i];
      atomicAdd(mine + (word & 0xff), 1u);
      atomicAdd(mine + (word >> 8 & 0xff), 1u);
      atomicAdd(mine + (word >> 16 & 0xff), 1u);
      atomicAdd(mine + (word >> 24), 1u);
    }
    at = at + 1 < rounds ? at + 1 : 0;
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
    unsigned sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += counts[w * kBins + bin];
    partial[blockIdx.x * kBins + bin] = sum;
  }
}

// A block per bin.
extern "C" __global__ void hist_merge(const unsigned* partial, unsigned* histogram,
                                      int num_partial) {
  __shared__ unsigned sums[kMergeThreads];
  unsigned sum = 0;
  for (int i = threadIdx.x; i < num_partial; i += kMergeThreads)
    sum += partial[i * kBins + blockIdx.x];
  sums[threadIdx.x] = sum;
  for (int half = kMergeThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) histogram[blockIdx.x] = sums[0];
}
