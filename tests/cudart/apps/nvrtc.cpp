// Compiles a kernel's source while it runs (NVRTC), and launches the kernel through the driver API.
#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "tests/cudart/apps/driver_check.h"

const char* const kSource = R"(
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__constant__ int shift;
extern "C" __global__ void shifted(int* p) { p[threadIdx.x] = static_cast<int>(threadIdx.x) + shift; }
)";

#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

/// "ptx", or "cubin" for machine code.
int main(int argc, char** argv) {
  const bool machine_code = argc > 1 && std::string(argv[1]) == "cubin";
  nvrtcProgram program;
  NVRTC(nvrtcCreateProgram(&program, kSource, "kernels.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcAddNameExpression(program, "axpy<double>"));
  const char* options[] = {
      machine_code ? "--gpu-architecture=sm_90" : "--gpu-architecture=compute_75", "--std=c++17"};
  NVRTC(nvrtcCompileProgram(program, 2, options));
  size_t bytes = 0;
  NVRTC(nvrtcGetCUBINSize(program, &bytes));
  CHECK((bytes != 0) == machine_code);
  if (!machine_code) NVRTC(nvrtcGetPTXSize(program, &bytes));
  std::string code(bytes, '\0');
  if (machine_code)
    NVRTC(nvrtcGetCUBIN(program, code.data()));
  else
    NVRTC(nvrtcGetPTX(program, code.data()));
  const char* lowered = nullptr;
  NVRTC(nvrtcGetLoweredName(program, "axpy<double>", &lowered));
  const std::string name = lowered;
  NVRTC(nvrtcDestroyProgram(&program));

  CU(cuInit(0));
  CUcontext context;
  CU(cuDevicePrimaryCtxRetain(&context, 0));
  CU(cuCtxSetCurrent(context));
  CUmodule module;
  CU(cuModuleLoadData(&module, code.c_str()));
  CUfunction axpy, shifted;
  CU(cuModuleGetFunction(&axpy, module, name.c_str()));
  CU(cuModuleGetFunction(&shifted, module, "shifted"));

  int n = 500;
  double a = 0.5;
  std::vector<double> x(n), y(n, 1);
  for (int i = 0; i < n; ++i) x[i] = i;
  CUdeviceptr dx, dy, constant;
  CU(cuMemAlloc(&dx, n * 8));
  CU(cuMemAlloc(&dy, n * 8));
  CU(cuMemcpyHtoD(dx, x.data(), n * 8));
  CU(cuMemcpyHtoD(dy, y.data(), n * 8));
  void* args[] = {&a, &dx, &dy, &n};
  CU(cuLaunchKernel(axpy, 4, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(y.data(), dy, n * 8));
  for (int i = 0; i < n; ++i) CHECK(y[i] == 0.5 * i + 1);

  const int seven = 7;
  CU(cuModuleGetGlobal(&constant, &bytes, module, "shift"));
  CHECK(bytes == 4);
  CU(cuMemcpyHtoD(constant, &seven, 4));
  void* more[] = {&dx};
  CU(cuLaunchKernel(shifted, 1, 1, 1, 32, 1, 1, 0, nullptr, more, nullptr));
  int values[32];
  CU(cuMemcpyDtoH(values, dx, sizeof(values)));
  for (int i = 0; i < 32; ++i) CHECK(values[i] == i + 7);
  CU(cuMemFree(dx));
  CU(cuMemFree(dy));
  CU(cuModuleUnload(module));
  CU(cuDevicePrimaryCtxRelease(0));
  std::puts("passed");
  return 0;
}
