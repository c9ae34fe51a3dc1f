// y = a x + y in strides of the grid: for cores below banks of their own (bench/workloads/common/mpu_layout.h).
extern "C" __global__ void axpy_mpu(int n, float a, const float* x, float* y) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}
