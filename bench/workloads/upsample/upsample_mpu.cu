// An image of twice the width and height in four planes, of which each has the values as they are:
// nearest neighbours, for cores below banks of their own (bench/workloads/common/mpu_layout.h).
extern "C" __global__ void upsample_mpu(const float* image, float* planes, int n) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float value = image[i];
    planes[i] = value;
    planes[n + i] = value;
    planes[2 * n + i] = value;
    planes[3 * n + i] = value;
  }
}
