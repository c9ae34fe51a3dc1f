// A kernel with a race, the same without, and other ways to end: the argument chooses.
#include <cstring>

#include "tests/cudart/apps/check.h"

template <bool kBarrier>
__global__ void reverse(int* out, const int* in) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int *in, *out;
  CUDA(cudaMalloc(&in, 1024));
  CUDA(cudaMalloc(&out, 1024));
  CUDA(cudaMemset(in, 0, 1024));
  reverse<true><<<1, 256>>>(out, in);
  if (std::strcmp(how, "clean") != 0) reverse<false><<<1, 256>>>(out, in);
  if (std::strcmp(how, "fault") == 0) reverse<true><<<1, 256>>>(out, in + 1000);
  const cudaError_t error = cudaDeviceSynchronize();
  if (std::strcmp(how, "kill") == 0) std::abort();
  if (std::strcmp(how, "fail") == 0) return 5;
  CHECK((error != cudaSuccess) == (std::strcmp(how, "fault") == 0));
  return passed();
}
