// Prints what events tell of three kernels and a copy, in microseconds.
#include "tests/cudart/apps/check.h"

__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}
__global__ void sum(const int* p, int* total, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(total, p[i] & 1);
}

int main() {
  const int n = 1 << 16;
  int *data, *total;
  CUDA(cudaMalloc(&data, n * sizeof(int)));
  CUDA(cudaMalloc(&total, sizeof(int)));
  CUDA(cudaMemset(total, 0, sizeof(int)));
  cudaEvent_t at[4];
  for (cudaEvent_t& e : at) CUDA(cudaEventCreate(&e));
  CUDA(cudaEventRecord(at[0]));
  fill<<<n / 256, 256>>>(data, n);
  CUDA(cudaEventRecord(at[1]));
  sum<<<16, 256>>>(data, total, n);
  CUDA(cudaEventRecord(at[2]));
  fill<<<n / 256, 256>>>(data, n);
  CUDA(cudaEventRecord(at[3]));
  CUDA(cudaEventSynchronize(at[3]));
  for (int i = 0; i < 3; ++i) {
    float milliseconds = 0;
    CUDA(cudaEventElapsedTime(&milliseconds, at[i], at[i + 1]));
    CHECK(milliseconds > 0);
    std::printf("%.3f us\n", milliseconds * 1000);
  }
  int result = 0;
  CUDA(cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(result == n / 2);
  return passed();
}
