// Code that is linked while the program runs, and launches by a program without -lcuda, which loads
// the driver's library itself.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      std::printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

const char* const kHelper = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .func (.param .b32 result) helper(.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  ld.global.u32 %r2, [step];
  mul.lo.u32 %r3, %r1, %r2;
  st.param.b32 [result], %r3;
  ret;
}
)";
const char* const kKernel = R"(
.version 7.5
.target sm_75
.address_size 64
.extern .func (.param .b32 result) helper(.param .b32 x);
.visible .entry fill(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), helper, (a);
    ld.param.b32 %r2, [b]; }
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

void* library = nullptr;

template <class Function>
Function* find(const char* name) {
  void* const address = dlsym(library, name);
  if (address == nullptr) std::printf("FAILED: no %s\n", name);
  CHECK(address != nullptr);
  return reinterpret_cast<Function*>(address);
}
// The name with its version, as the macros of cuda.h make it.
#define TEXT_OF(name) #name
#define CALL(name, ...)                                                                 \
  do {                                                                                  \
    const CUresult status = find<decltype(name)>(TEXT_OF(name))(__VA_ARGS__);           \
    if (status != CUDA_SUCCESS) {                                                       \
      std::printf("FAILED %s:%d: %s: %d\n", __FILE__, __LINE__, TEXT_OF(name), status); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  CALL(cuInit, 0);
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);

  char log[400] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUlinkState state;
  CALL(cuLinkCreate, 2, options, values, &state);
  CALL(cuLinkAddData, state, CU_JIT_INPUT_PTX, const_cast<char*>(kKernel), std::strlen(kKernel) + 1,
       "kernel", 0, nullptr, nullptr);
  std::string path = "/tmp/driver_link-XXXXXX";
  std::FILE* file = fdopen(mkstemp(path.data()), "w");
  std::fwrite(kHelper, 1, std::strlen(kHelper), file);
  std::fclose(file);
  CALL(cuLinkAddFile, state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr);
  std::remove(path.c_str());
  void* image = nullptr;
  size_t bytes = 0;
  CALL(cuLinkComplete, state, &image, &bytes);
  CHECK(image != nullptr && bytes > 100 && log[0] == '\0');
  const std::string copy(static_cast<const char*>(image), bytes);
  CALL(cuLinkDestroy, state);
  CHECK(find<decltype(cuLinkDestroy)>("cuLinkDestroy")(state) == CUDA_ERROR_INVALID_HANDLE);

  CUmodule module;
  CUfunction fill;
  CUdeviceptr p, step;
  CALL(cuModuleLoadData, &module, copy.data());
  CALL(cuModuleGetFunction, &fill, module, "fill");
  CALL(cuMemAlloc, &p, 128);
  void* args[] = {&p};
  CALL(cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr);
  unsigned host[32];
  CALL(cuMemcpyDtoH, host, p, sizeof(host));
  for (unsigned i = 0; i < 32; ++i) CHECK(host[i] == 3 * i);
  CALL(cuModuleGetGlobal, &step, &bytes, module, "step");
  CALL(cuMemsetD32, step, 5, 1);
  CALL(cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr);
  CALL(cuMemcpyDtoH, host, p, sizeof(host));
  for (unsigned i = 0; i < 32; ++i) CHECK(host[i] == 5 * i);

  // A function that is there twice: the log says so.
  values[1] = reinterpret_cast<void*>(sizeof(log));
  CALL(cuLinkCreate, 2, options, values, &state);
  for (int i = 0; i < 2; ++i)
    CALL(cuLinkAddData, state, CU_JIT_INPUT_PTX, const_cast<char*>(kHelper),
         std::strlen(kHelper) + 1, "helper", 0, nullptr, nullptr);
  CHECK(find<decltype(cuLinkComplete)>("cuLinkComplete")(state, &image, &bytes) ==
        CUDA_ERROR_INVALID_PTX);
  CHECK(std::strlen(log) > 10 && reinterpret_cast<size_t>(values[1]) == std::strlen(log));
  CALL(cuLinkDestroy, state);

  // Inputs that cannot be linked.
  const auto refused = [&](CUjitInputType type, const void* data, size_t size) {
    return find<decltype(cuLinkAddData)>(TEXT_OF(cuLinkAddData_v2))(
        state, type, const_cast<void*>(data), size, "", 0, nullptr, nullptr);
  };
  CALL(cuLinkCreate, 0, nullptr, nullptr, &state);
  const unsigned container[] = {0xba55ed50, 0x00100001, 1000000, 0};
  CHECK(refused(CU_JIT_INPUT_FATBINARY, container, sizeof(container)) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(refused(CU_JIT_INPUT_PTX,
                "\x7f"
                "ELF and so on",
                10) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(refused(CU_JIT_INPUT_CUBIN, container, sizeof(container)) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(refused(CU_JIT_INPUT_OBJECT, container, sizeof(container)) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(refused(CU_JIT_INPUT_PTX, kHelper, 0) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(find<decltype(cuLinkComplete)>("cuLinkComplete")(state, &image, &bytes) ==
        CUDA_ERROR_INVALID_VALUE);
  CALL(cuLinkDestroy, state);
  CALL(cuMemFree, p);
  CALL(cuModuleUnload, module);
  CALL(cuDevicePrimaryCtxRelease, 0);
  std::puts("passed");
  return 0;
}
