#include "host/functional/cublas/kernels.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "host/functional/cublas/handle.h"

namespace nearwarp::cublas {

namespace embedded {
extern const char* const gemm_ptx;
extern const char* const gemm_bf16_ptx;
extern const char* const vector_ptx;
}  // namespace embedded

namespace {

constexpr int kOldestOfBf16 = 8;

int major() {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != 0 ||
      cudaDeviceGetAttribute(&value, kComputeCapabilityMajor, device) != 0)
    throw Failure{kNotInitialized};
  return value;
}

enum Module { kGemm, kGemmBf16, kVector, kModules };

/// Which module has a kernel.
Module module_of(const std::string& name) {
  if (!name.starts_with("cublas_gemm_")) return kVector;
  return name.starts_with("cublas_gemm_bf16") && !name.ends_with("_fma") ? kGemmBf16 : kGemm;
}

/// Kernels by name, of modules that are loaded when one of theirs is wanted.
class Kernels {
 public:
  void* find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    void*& kernel = kernels_[name];
    if (kernel != nullptr) return kernel;
    const Module module = module_of(name);
    const char* const texts[kModules] = {embedded::gemm_ptx, embedded::gemm_bf16_ptx,
                                         embedded::vector_ptx};
    void*& library = libraries_[module];
    if (library == nullptr &&
        cudaLibraryLoadData(&library, texts[module], nullptr, nullptr, 0, nullptr, nullptr, 0) != 0)
      throw Failure{kInternalError};
    if (cudaLibraryGetKernel(&kernel, library, name.c_str()) != 0) throw Failure{kInternalError};
    return kernel;
  }

 private:
  std::mutex mutex_;
  void* libraries_[kModules] = {};
  std::unordered_map<std::string, void*> kernels_;
};

/// Never destroyed: applications may call when the library's objects would be gone.
Kernels& kernels() {
  static Kernels* const all = new Kernels;
  return *all;
}

}  // namespace

void launch(const char* name, Dim grid, Dim block, void* args, Stream stream) {
  void* const kernel = kernels().find(name);
  void* pointers[] = {args};
  if (cudaLaunchKernel(kernel, grid, block, pointers, 0, stream) != 0)
    throw Failure{kExecutionFailed};
}

bool multiplies_bf16() { return major() >= kOldestOfBf16; }

}  // namespace nearwarp::cublas
