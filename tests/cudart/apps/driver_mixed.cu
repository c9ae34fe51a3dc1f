// The runtime's and the driver's interfaces in one program: one device, one primary context.
#include <cuda.h>
#include <dlfcn.h>

#include <thread>

#include "tests/cudart/apps/check.h"
#include "tests/cudart/apps/driver_check.h"

__device__ int added = 10;

__global__ void add(int* p, int n) { p[threadIdx.x] += n + added; }

const char* const kPtx = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.s32 %r3, %r2, %r2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

int main() {
  CUcontext current = nullptr, primary;
  CUdevice device;
  int* p;
  CUDA(cudaMalloc(&p, 32 * sizeof(int)));  // makes the primary context current
  CU(cuCtxGetCurrent(&current));
  CHECK(current != nullptr);
  CU(cuCtxGetDevice(&device));
  CU(cuDevicePrimaryCtxRetain(&primary, device));
  CHECK(primary == current);
  CU(cuDevicePrimaryCtxRelease(device));

  const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(p);
  CU(cuMemsetD32(address, 1, 32));
  add<<<1, 32>>>(p, 4);
  // The runtime's kernel by the driver's call, and the other way round.
  cudaFunction_t by_symbol;
  cudaKernel_t kernel;
  CUDA(cudaGetFuncBySymbol(&by_symbol, reinterpret_cast<const void*>(add)));
  CUDA(cudaGetKernel(&kernel, reinterpret_cast<const void*>(add)));
  int n = 5;
  void* args[] = {&p, &n};
  CU(cuLaunchKernel(by_symbol, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  CUfunction function;
  CU(cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(kernel)));
  CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  CUmodule module;
  CU(cuModuleLoadData(&module, kPtx));
  CU(cuModuleGetFunction(&function, module, "twice"));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, args, nullptr));
  CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(1), dim3(32), args, 0,
                        stream));
  CU(cuStreamSynchronize(stream));
  int host[32];
  CUDA(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
  for (int value : host) CHECK(value == (1 + 14 + 15 + 15) * 4);

  // Errors of the driver's calls are not seen by cudaGetLastError().
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address, host, 4096));
  CUDA(cudaGetLastError());
  FAILS(cudaErrorInvalidValue, cudaMemcpy(p, host, 4096, cudaMemcpyHostToDevice));

  // The driver's entry points are found through the runtime, and through dlsym() without -lcuda.
  using Memset = CUresult (*)(CUdeviceptr, unsigned, size_t);
  Memset fill = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA(cudaGetDriverEntryPointByVersion("cuMemsetD32", reinterpret_cast<void**>(&fill), 13000,
                                        cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSuccess && fill != nullptr);
  CU(fill(address, 3, 32));
  CUDA(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK(host[0] == 3 && host[31] == 3);
  CUDA(cudaGetDriverEntryPointByVersion("cuNoSuchThing", reinterpret_cast<void**>(&fill), 13000,
                                        cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSymbolNotFound && fill == nullptr);
  CUDA(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", reinterpret_cast<void**>(&fill), 11000,
                                        cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointVersionNotSufficent && fill == nullptr);
  FAILS(cudaErrorInvalidValue,
        cudaGetDriverEntryPointByVersion("cuMemFree", reinterpret_cast<void**>(&fill), 99000,
                                         cudaEnableDefault, &found));
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library != nullptr);
  const auto free_memory =
      reinterpret_cast<CUresult (*)(CUdeviceptr)>(dlsym(library, "cuMemFree_v2"));
  CHECK(free_memory != nullptr);

  // A thread makes a driver context current, and the runtime uses it.
  std::thread([] {
    CUcontext mine, now;
    void* q;
    CU(cuCtxCreate(&mine, nullptr, 0, 0));
    CUDA(cudaMalloc(&q, 4));
    CU(cuCtxGetCurrent(&now));
    CHECK(now == mine);
    CUDA(cudaFree(q));
    CU(cuCtxDestroy(mine));
    CU(cuCtxGetCurrent(&now));
    CHECK(now == nullptr);
  }).join();
  CU(free_memory(address));
  CUDA(cudaStreamDestroy(stream));
  return passed();
}
