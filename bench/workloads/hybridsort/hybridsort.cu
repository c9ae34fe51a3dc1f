// Sorting by buckets and then by merging after Rodinia's hybridsort (E. Sintorn and U. Assarsson,
// 2008): a histogram, from which the host makes limits of buckets of like size; counts of each
// block of threads for each bucket, their places, the elements into their buckets; then lists in
// each bucket are merged, a thread per pair of lists.

constexpr int kThreads = 256;     // of the kernels that place elements
constexpr int kPerThread = 8;     // elements
constexpr int kMaxBuckets = 1024;

// Counts of `bins` equal intervals from `least` on.
extern "C" __global__ void sort_histogram(const float* keys, unsigned* histogram, int count,
                                          int bins, float least, float per_width) {
  __shared__ unsigned counts[kMaxBuckets];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const int begin = blockIdx.x * kThreads * kPerThread;
  for (int i = 0; i < kPerThread; ++i) {
    const int at = begin + i * kThreads + threadIdx.x;
    if (at >= count) break;
    atomicAdd(counts + min(max(static_cast<int>((keys[at] - least) * per_width), 0), bins - 1), 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    if (counts[i] != 0) atomicAdd(histogram + i, counts[i]);
}

// The last bucket whose limit is not above `key`; limits[0] is the bucket of the least keys.
__device__ __forceinline__ int bucket_of(const float* limits, int buckets, float key) {
  int low = 0, high = buckets;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (limits[middle] <= key)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// Elements of each block of threads in each bucket: counts[bucket][block].
extern "C" __global__ void sort_count(const float* keys, const float* limits, unsigned* counts,
                                      int count, int buckets) {
  __shared__ unsigned mine[kMaxBuckets];
  for (int i = threadIdx.x; i < buckets; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const int begin = blockIdx.x * kThreads * kPerThread;
  for (int i = 0; i < kPerThread; ++i) {
    const int at = begin + i * kThreads + threadIdx.x;
    if (at >= count) break;
    atomicAdd(mine + bucket_of(limits, buckets, keys[at]), 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < buckets; i += blockDim.x) counts[i * gridDim.x + blockIdx.x] = mine[i];
}

// Sums of the counts before each one in its bucket, and of all of a bucket: a thread per bucket.
extern "C" __global__ void sort_places(unsigned* counts, unsigned* sizes, int buckets, int blocks) {
  const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
  if (bucket >= buckets) return;
  unsigned sum = 0;
  for (int i = 0; i < blocks; ++i) {
    const unsigned here = counts[bucket * blocks + i];
    counts[bucket * blocks + i] = sum;
    sum += here;
  }
  sizes[bucket] = sum;
}

// Puts the elements into their buckets, those of a block of threads in any order.
extern "C" __global__ void sort_scatter(const float* keys, const float* limits,
                                        const unsigned* counts, const unsigned* starts, float* out,
                                        int count, int buckets) {
  __shared__ unsigned next[kMaxBuckets];
  for (int i = threadIdx.x; i < buckets; i += blockDim.x)
    next[i] = starts[i] + counts[i * gridDim.x + blockIdx.x];
  __syncthreads();
  const int begin = blockIdx.x * kThreads * kPerThread;
  for (int i = 0; i < kPerThread; ++i) {
    const int at = begin + i * kThreads + threadIdx.x;
    if (at >= count) break;
    const float key = keys[at];
    out[atomicAdd(next + bucket_of(limits, buckets, key), 1u)] = key;
  }
}

// Sorts each four elements of a bucket: blocks in y are buckets, threads in x their fours.
extern "C" __global__ void sort_fours(float* keys, const unsigned* starts) {
  const unsigned begin = starts[blockIdx.y], end = starts[blockIdx.y + 1];
  const unsigned at = begin + 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= end) return;
  const int length = min(end - at, 4u);
  float four[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = i < length ? keys[at + i] : INFINITY;
  const auto order = [&](int a, int b) {
    const float low = fminf(four[a], four[b]), high = fmaxf(four[a], four[b]);
    four[a] = low;
    four[b] = high;
  };
  order(0, 1);
  order(2, 3);
  order(0, 2);
  order(1, 3);
  order(1, 2);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < length) keys[at + i] = four[i];
}

// Merges pairs of lists of `length` elements: blocks in y are buckets, threads in x their pairs.
extern "C" __global__ void sort_merge(const float* from, float* to, const unsigned* starts,
                                      unsigned length) {
  const unsigned begin = starts[blockIdx.y], end = starts[blockIdx.y + 1];
  unsigned left = begin + 2 * length * (blockIdx.x * blockDim.x + threadIdx.x);
  if (left >= end) return;
  const unsigned left_end = min(left + length, end), right_end = min(left + 2 * length, end);
  unsigned right = left_end, at = left;
  while (left < left_end && right < right_end) {
    const float a = from[left], b = from[right];
    const bool first = a <= b;
    to[at++] = first ? a : b;
    left += first;
    right += !first;
  }
  while (left < left_end) to[at++] = from[left++];
  while (right < right_end) to[at++] = from[right++];
}
