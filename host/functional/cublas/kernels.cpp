#include "host/functional/cublas/kernels.h"

#include <string>

#include "host/functional/cublas/handle.h"
#include "host/functional/cudalibs/own_kernels.h"

namespace nearwarp::cublas {

namespace embedded {
extern const char* const complex_ptx;
extern const char* const gemm_ptx;
extern const char* const gemm_bf16_ptx;
extern const char* const gemm_tf32_ptx;
extern const char* const matrix_ptx;
extern const char* const rotations_ptx;
extern const char* const sums_ptx;
extern const char* const vector_ptx;
}  // namespace embedded

namespace {

constexpr int kOldestOfBf16 = 8;  // and of tf32

int major() {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != 0 ||
      cudaDeviceGetAttribute(&value, kComputeCapabilityMajor, device) != 0)
    throw Failure{kNotInitialized};
  return value;
}

/// The module that has a kernel.
const char* ptx_of(const std::string& name) {
  struct Module {
    const char *prefix, *ptx;
  };
  const Module modules[] = {
      {"cublas_complex_", embedded::complex_ptx}, {"cublas_gemm_tf32", embedded::gemm_tf32_ptx},
      {"cublas_partial_", embedded::matrix_ptx},  {"cublas_rank_", embedded::matrix_ptx},
      {"cublas_solve_", embedded::matrix_ptx},    {"cublas_rotg_", embedded::rotations_ptx},
      {"cublas_rotm_", embedded::rotations_ptx},  {"cublas_sums_", embedded::sums_ptx}};
  for (const Module& m : modules)
    if (name.starts_with(m.prefix)) return m.ptx;
  if (!name.starts_with("cublas_gemm_")) return embedded::vector_ptx;
  const bool bf16 = name.starts_with("cublas_gemm_bf16") && !name.ends_with("_fma");
  return bf16 ? embedded::gemm_bf16_ptx : embedded::gemm_ptx;
}

}  // namespace

void launch(const char* name, Dim grid, Dim block, void* args, Stream stream) {
  void* const kernel = cudalibs::own_kernel(name, ptx_of(name));
  if (kernel == nullptr) throw Failure{kInternalError};
  void* pointers[] = {args};
  if (cudaLaunchKernel(kernel, grid, block, pointers, 0, stream) != 0)
    throw Failure{kExecutionFailed};
}

bool multiplies_bf16_and_tf32() { return major() >= kOldestOfBf16; }

}  // namespace nearwarp::cublas
