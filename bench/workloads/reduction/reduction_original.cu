// Sum of integers with the steps of the CUDA SDK's reduction number 6, as it was before shuffles: a
// block walks over its elements two at a time, its threads add their sums through shared memory, and
// all steps of that are unrolled; the last warp needs no barriers. The numbers of elements and of
// threads are powers of two, so that no access is checked.

namespace {

template <int kThreads>
__device__ __forceinline__ void sum(const int* in, int* out, unsigned n) {
  __shared__ int partial[2 * kThreads];  // the last warp reads beyond its own
  const unsigned tid = threadIdx.x;
  const unsigned stride = 2 * kThreads * gridDim.x;
  int mine = 0;
  for (unsigned i = blockIdx.x * (2 * kThreads) + tid; i < n; i += stride) {
    mine += in[i];
    mine += in[i + kThreads];
  }
  partial[tid] = mine;
  if (kThreads == 32) partial[tid + kThreads] = 0;  // nobody else writes there
  __syncthreads();
#pragma unroll
  for (int half = kThreads / 2; half > 32; half /= 2) {
    if (tid < half) partial[tid] = mine = mine + partial[tid + half];
    __syncthreads();
  }
  if (tid < 32) {
    volatile int* shared = partial;
#pragma unroll
    for (int half = kThreads >= 64 ? 32 : kThreads / 2; half > 0; half /= 2) {
      const int other = shared[tid + half];
      __syncwarp();
      shared[tid] = mine = mine + other;
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = partial[0];
}

}  // namespace

extern "C" __global__ void reduction_original_256(const int* in, int* out, unsigned n) {
  sum<256>(in, out, n);
}

// Adds up the 64 sums of a launch of 64 blocks.
extern "C" __global__ void reduction_original_32(const int* in, int* out, unsigned n) {
  sum<32>(in, out, n);
}
