// Parallel sum in the manner of the CUDA SDK's reduction: each thread adds elements a grid apart,
// a block reduces through shared memory, its last warp by shuffles. Launched until one value is
// left.

constexpr int kBlock = 256;

extern "C" __global__ void reduction_sum(const int* in, int* out, unsigned n) {
  __shared__ int partial[kBlock];
  const unsigned tid = threadIdx.x;
  const unsigned stride = 2 * kBlock * gridDim.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * (2 * kBlock) + tid; i < n; i += stride) {
    sum += in[i];
    if (i + kBlock < n) sum += in[i + kBlock];
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
