// y = A x with A in chunks of 128 columns, in which a row is a thread block's: for cores below banks of their
// own (bench/workloads/common/mpu_layout.h). A block has kRows rows, of which each is a grid from the next.
// Blocks begin at different chunks: else all of them want the same words of x, from one core, at once.

constexpr int kThreads = 128;
constexpr int kRows = 8;

extern "C" __global__ void gemv_mpu(const float* a, const float* x, float* y, int rows, int chunks) {
  __shared__ float sums[kRows][kThreads];
  float sum[kRows] = {};
#pragma unroll 1
  for (int i = 0; i < chunks; ++i) {
    const int c = (blockIdx.x + i) % chunks;
    const float value = x[c * kThreads + threadIdx.x];
#pragma unroll
    for (int k = 0; k < kRows; ++k)
      sum[k] += a[(c * rows + k * gridDim.x + blockIdx.x) * kThreads + threadIdx.x] * value;
  }
#pragma unroll
  for (int k = 0; k < kRows; ++k) sums[k][threadIdx.x] = sum[k];
#pragma unroll
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
#pragma unroll
      for (int k = 0; k < kRows; ++k) sums[k][threadIdx.x] += sums[k][threadIdx.x + half];
    }
  }
  __syncthreads();
  if (threadIdx.x < kRows) y[threadIdx.x * gridDim.x + blockIdx.x] = sums[threadIdx.x][0];
}
