// Code that is loaded while the application runs: from text and from a file.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/cudart/apps/check.h"

const char* const kText = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .global .align 4 .u32 offset = 40;
.visible .entry shift(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [offset];
  add.s32 %r3, %r1, %r2;
  st.global.u32 [%rd3], %r3;
  ret;
}
.visible .entry nothing() { ret; }
)";

void use(cudaLibrary_t library, int* device, int expected) {
  cudaKernel_t kernel;
  CUDA(cudaLibraryGetKernel(&kernel, library, "shift"));
  void* args[] = {&device};
  CUDA(
      cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(32), args, 0, nullptr));
  int host[32];
  CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(host[i] == i + expected);
}

int main() {
  int* device;
  CUDA(cudaMalloc(&device, 32 * sizeof(int)));
  cudaLibrary_t library;
  CUDA(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  use(library, device, 40);
  void* offset;
  size_t bytes;
  CUDA(cudaLibraryGetGlobal(&offset, &bytes, library, "offset"));
  CHECK(bytes == 4);
  const int two = 2;
  CUDA(cudaMemcpy(offset, &two, sizeof(two), cudaMemcpyHostToDevice));
  use(library, device, 2);
  unsigned count = 0;
  CUDA(cudaLibraryGetKernelCount(&count, library));
  CHECK(count == 2);
  cudaKernel_t kernels[2];
  CUDA(cudaLibraryEnumerateKernels(kernels, 2, library));
  cudaKernel_t missing;
  FAILS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&missing, library, "absent"));
  CUDA(cudaLibraryUnload(library));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));

  std::string path = "/tmp/libraries-XXXXXX";
  std::FILE* file = fdopen(mkstemp(path.data()), "w");
  std::fwrite(kText, 1, std::strlen(kText), file);
  std::fclose(file);
  CUDA(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  use(library, device, 40);
  // Files that end too early, or are no code at all.
  const auto damaged = [&](const void* bytes, size_t size) {
    std::FILE* out = std::fopen(path.c_str(), "w");
    std::fwrite(bytes, 1, size, out);
    std::fclose(out);
    const cudaError_t status =
        cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaGetLastError();
    return status;
  };
  const unsigned container[] = {0xba55ed50, 0x00100001, 1000000, 0};
  CHECK(damaged(container, sizeof(container)) == cudaErrorInvalidKernelImage);
  CHECK(damaged(container, 6) == cudaErrorInvalidKernelImage);
  CHECK(damaged(container, 0) == cudaErrorInvalidKernelImage);
  CHECK(damaged("\x7f"
                "ELF",
                4) == cudaErrorNoKernelImageForDevice);
  const unsigned wrapper[] = {0x466243b1, 1, 0x1000, 0};
  CHECK(damaged(wrapper, sizeof(wrapper)) == cudaErrorInvalidPtx);
  CHECK(damaged(kText, 300) == cudaErrorInvalidPtx);
  std::remove(path.c_str());
  FAILS(cudaErrorFileNotFound,
        cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  FAILS(cudaErrorInvalidPtx,
        cudaLibraryLoadData(&library, "no PTX", nullptr, nullptr, 0, nullptr, nullptr, 0));
  return passed();
}
