// Largest of every 2 x 2 values, which lie in four planes: for cores below banks of their own
// (bench/workloads/common/mpu_layout.h).
extern "C" __global__ void max_pool_mpu(const float* planes, float* pooled, int n) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    pooled[i] = fmaxf(fmaxf(planes[i], planes[n + i]), fmaxf(planes[2 * n + i], planes[3 * n + i]));
}
