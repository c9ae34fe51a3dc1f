// Launches that cannot be, and a kernel's fault, which stays.
#include "tests/cudart/apps/check.h"

__global__ void write(int* p) { *p = 1; }

/// Blocks without a check of bounds: the last one goes beyond the allocation.
__global__ void beside(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i];
  atomicMax(out + i, 2 * v + 1);
}

/// Accesses that a GPU lets pass, since its pages are larger: nothing is lost, and it is said once.
static int strays() {
  const int n = 200;
  int *in, *out, host[n];
  CUDA(cudaMalloc(&in, n * sizeof(int)));
  CUDA(cudaMalloc(&out, n * sizeof(int)));
  for (int i = 0; i < n; ++i) host[i] = i;
  CUDA(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  CUDA(cudaMemset(out, 0, sizeof(host)));
  for (int round = 0; round < 2; ++round) beside<<<2, 128>>>(in, out);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(host[i] == 2 * i + 1);
  return passed();
}

int main(int argc, char** argv) {
  if (argc == 4) return strays();
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
