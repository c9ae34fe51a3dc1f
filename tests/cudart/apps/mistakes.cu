// Launches that cannot be, and a kernel's fault, which stays.
#include "tests/cudart/apps/check.h"

__global__ void write(int* p) { *p = 1; }

int main(int argc, char** argv) {
  int* device;
  CUDA(cudaMalloc(&device, 64));
  const auto launch = [&](dim3 grid, dim3 block, size_t shared = 0) {
    write<<<grid, block, shared>>>(device);
    return cudaPeekAtLastError();
  };
  FAILS(cudaErrorInvalidConfiguration, launch(0, 1));
  FAILS(cudaErrorInvalidConfiguration, launch(1, 0));
  FAILS(cudaErrorInvalidConfiguration, launch(1, 1025));
  FAILS(cudaErrorInvalidConfiguration, launch(1, dim3(1, 1, 65)));
  FAILS(cudaErrorInvalidConfiguration, launch(dim3(1, 65536), 1));
  FAILS(cudaErrorInvalidValue, launch(1, 1, 1 << 20));
  FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(device, dim3(1), dim3(1), nullptr, 0, 0));
  FAILS(cudaErrorInvalidResourceHandle,
        cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(device)));
  CUDA(launch(1, 1));
  if (argc == 2) write<<<1, 1>>>(reinterpret_cast<int*>(0x1000));
  if (argc == 3) write<<<1, 1>>>(reinterpret_cast<int*>(reinterpret_cast<char*>(device) + 1));
  const cudaError_t expected = argc == 1   ? cudaSuccess
                               : argc == 2 ? cudaErrorIllegalAddress
                                           : cudaErrorMisalignedAddress;
  CHECK(cudaDeviceSynchronize() == expected);
  CHECK(cudaGetLastError() == expected);
  CHECK(cudaGetLastError() == expected);
  CHECK(cudaMalloc(&device, 4) == expected);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA(cudaMalloc(&device, 4));
  CUDA(launch(1, 1));
  return passed();
}
