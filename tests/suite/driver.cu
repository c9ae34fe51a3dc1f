// Programs of the driver's API: modules of PTX as text, contexts, memory mapped by hand.
#include <cuda.h>

#include "tests/suite/program.h"

using namespace suite;

static void driver(CUresult status, const char* call) {
  const char* name = nullptr;
  if (status == CUDA_SUCCESS) return;
  cuGetErrorName(status, &name);
  std::printf("%s: %s\n", call, name != nullptr ? name : "?");
  std::exit(4);
}
#define DRIVER(call) driver(call, #call)

static const char* const kTriple = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry triple(.param .u64 p, .param .u32 n) {
  .reg .u64 %a, %o; .reg .u32 %i, %c, %b, %n, %v; .reg .pred %q;
  ld.param.u64 %a, [p]; ld.param.u32 %n, [n];
  mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %c, %b, %i;
  setp.ge.u32 %q, %i, %n; @%q ret;
  mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; ld.global.u32 %v, [%a];
  mul.lo.u32 %v, %v, 3; st.global.u32 [%a], %v; ret;
})";

static CUfunction triple() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  DRIVER(cuModuleLoadData(&module, kTriple));
  DRIVER(cuModuleGetFunction(&function, module, "triple"));
  return function;
}

PROGRAM(module) {
  CUfunction function = triple();
  unsigned n = 1000;
  std::vector<unsigned> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = i;
  CUdeviceptr p;
  DRIVER(cuMemAlloc(&p, n * 4));
  DRIVER(cuMemcpyHtoD(p, host.data(), n * 4));
  void* parameters[] = {&p, &n};
  DRIVER(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(host.data(), p, n * 4));
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i) wrong += host[i] != 3 * i;
  std::printf("%u wrong\n", wrong);
  CUmodule none;
  const char* name = nullptr;
  cuGetErrorName(cuModuleLoadData(&none, ".version 7.0\n.target sm_75\n.address_size 64\nnonsense"), &name);
  std::printf("nonsense: %s\n", name);
  return int(wrong);
}

PROGRAM(mapped_by_hand) {
  CUfunction function = triple();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t grain = 0;
  DRIVER(cuMemGetAllocationGranularity(&grain, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range;
  DRIVER(cuMemAddressReserve(&range, 4 * grain, 0, 0, 0));
  CUmemGenericAllocationHandle halves[2];
  CUmemAccessDesc access = {};
  access.location = properties.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int i = 0; i < 2; ++i) {  // the range grows as an allocator for tensors lets it
    DRIVER(cuMemCreate(&halves[i], grain, &properties, 0));
    DRIVER(cuMemMap(range + i * grain, grain, 0, halves[i], 0));
    DRIVER(cuMemSetAccess(range + i * grain, grain, &access, 1));
  }
  unsigned n = 2048;
  CUdeviceptr middle = range + grain - n * 2;
  DRIVER(cuMemsetD32(middle, 14, n));
  void* parameters[] = {&middle, &n};
  DRIVER(cuLaunchKernel(function, 16, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  std::vector<unsigned> host(n);
  DRIVER(cuMemcpyDtoH(host.data(), middle, n * 4));
  std::printf("across both: %u %u\n", host[0], host[n - 1]);
  for (int i = 0; i < 2; ++i) {
    DRIVER(cuMemUnmap(range + i * grain, grain));
    DRIVER(cuMemRelease(halves[i]));
  }
  DRIVER(cuMemAddressFree(range, 4 * grain));
  return host[0] == 42 && host[n - 1] == 42 ? 0 : 1;
}
