// Histogram of bytes after the CUDA SDK's histogram256: a counter per byte value for each warp of
// a block in shared memory, then a sum over the blocks.

constexpr int kBins = 256;
constexpr int kWarps = 6;
constexpr int kThreads = kWarps * 32;
constexpr int kMergeThreads = 256;

// Counts the four bytes of each word; partial[block][bin].
extern "C" __global__ void hist_count(const unsigned* words, unsigned* partial,
                                      unsigned num_words) {
  __shared__ unsigned counts[kWarps * kBins];
  unsigned* mine = counts + threadIdx.x / 32 * kBins;
  for (int i = threadIdx.x; i < kWarps * kBins; i += kThreads) counts[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < num_words; i += kThreads * gridDim.x) {
    const unsigned word = words[i];
    atomicAdd(mine + (word & 0xff), 1u);
    atomicAdd(mine + (word >> 8 & 0xff), 1u);
    atomicAdd(mine + (word >> 16 & 0xff), 1u);
    atomicAdd(mine + (word >> 24), 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
    unsigned sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += counts[warp * kBins + bin];
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
