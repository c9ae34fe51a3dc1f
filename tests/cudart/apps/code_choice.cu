// Tells which of its codes is executed: the architecture, and whether it may use what the device
// alone has. With an argument, it does use that.
#include <cstdio>

__global__ void which(int* out) {
#ifdef __CUDA_ARCH__
  out[0] = __CUDA_ARCH__;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  out[1] = 1;
#endif
}

__global__ void multiply(int* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  // A product of 4-bit integers by wmma, which is refused.
  asm volatile(
      "{ .reg .b32 a, b; mov.b32 a, 0; mov.b32 b, 0;"
      "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {a, b}, {a}, {b}, {a, b}; }");
#endif
  out[0] = 1;
}

int main(int argc, char**) {
  int* out;
  cudaMallocManaged(&out, 8);
  out[0] = out[1] = 0;
  if (argc > 1)
    multiply<<<1, 128>>>(out);
  else
    which<<<1, 1>>>(out);
  const cudaError_t error = cudaGetLastError();
  cudaDeviceSynchronize();
  std::printf("code %d own features %d %s\n", out[0], out[1], cudaGetErrorString(error));
  return 0;
}
