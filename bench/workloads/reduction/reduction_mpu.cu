// A sum in strides of the grid, a partial one of each block: for cores below banks of their own
// (bench/workloads/common/mpu_layout.h).

constexpr int kThreads = 128;

extern "C" __global__ void reduction_mpu(const float* in, float* partial, int n) {
  __shared__ float sums[kThreads];
  float sum = 0.0f;
#pragma unroll 4
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += in[i];
  sums[threadIdx.x] = sum;
#pragma unroll
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
