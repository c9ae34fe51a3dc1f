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
  // A product of sparse factors, which is refused.
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, %6, 0, p, 1, 1, 0, 0; }"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "l"(0ull), "l"(0ull), "r"(0));
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
