// Thousands of launches of two kernels.
#include "tests/cudart/apps/check.h"

__global__ void add_one(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void add_two(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 2; }

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 1000;
  int* device;
  CUDA(cudaMalloc(&device, 4096 * sizeof(int)));
  CUDA(cudaMemset(device, 0, 4096 * sizeof(int)));
  for (int i = 0; i < times; ++i) {
    add_one<<<16, 256>>>(device);
    add_two<<<4, 256>>>(device);
  }
  static int host[4096];
  CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4096; ++i) CHECK(host[i] == times * (i < 1024 ? 3 : 1));
  return passed();
}
