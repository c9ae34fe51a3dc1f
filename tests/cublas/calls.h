// cuBLAS and the runtime's calls as an application makes them, without a CUDA toolkit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "host/functional/cublas/abi.h"
#include "tests/support/on_device.h"

extern "C" {
int cudaDeviceSynchronize();

int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
int cublasSetPointerMode_v2(void* handle, int mode);
int cublasSetStream_v2(void* handle, void* stream);
int cublasSetWorkspace_v2(void* handle, void* workspace, size_t bytes);
int cublasSetMathMode(void* handle, int mode);
int cublasGetMathMode(void* handle, int* mode);
const char* cublasGetStatusName(int status);
const char* cublasGetStatusString(int status);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
int cublasDgemm_v2(void*, int, int, int, int, int, const double*, const double*, int, const double*,
                   int, const double*, double*, int);
int cublasSgemm_v2_64(void*, int, int, int64_t, int64_t, int64_t, const float*, const float*,
                      int64_t, const float*, int64_t, const float*, float*, int64_t);
int cublasSgemmBatched(void*, int, int, int, int, int, const float*, const float* const*, int,
                       const float* const*, int, const float*, float* const*, int, int);
int cublasSgemmStridedBatched(void*, int, int, int, int, int, const float*, const float*, int,
                              long long, const float*, int, long long, const float*, float*, int,
                              long long, int);
int cublasHgemm(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                const void*, void*, int);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int);
int cublasCherk_v2(void*);
int cublasSgemv_v2(void*, int, int, int, const float*, const float*, int, const float*, int,
                   const float*, float*, int);
int cublasDger_v2(void*, int, int, const double*, const double*, int, const double*, int, double*,
                  int);
int cublasSgeam(void*, int, int, int, int, const float*, const float*, int, const float*,
                const float*, int, float*, int);
int cublasSaxpy_v2(void*, int, const float*, const float*, int, float*, int);
int cublasDscal_v2(void*, int, const double*, double*, int);
int cublasSscal_v2(void*, int, const float*, float*, int);
int cublasSswap_v2(void*, int, float*, int, float*, int);
int cublasDrot_v2(void*, int, double*, int, double*, int, const double*, const double*);
int cublasSdot_v2(void*, int, const float*, int, const float*, int, float*);
int cublasDasum_v2(void*, int, const double*, int, double*);
int cublasSnrm2_v2(void*, int, const float*, int, float*);
int cublasDnrm2_v2(void*, int, const double*, int, double*);
int cublasIsamax_v2(void*, int, const float*, int, int*);
int cublasIdamin_v2(void*, int, const double*, int, int*);
int cublasSetMatrix(int, int, int, const void*, int, void*, int);
int cublasGetVector(int, int, const void*, int, void*, int);

int cublasLtCreate(void** handle);
int cublasLtDestroy(void* handle);
int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns,
                               int64_t ld);
int cublasLtMatrixLayoutDestroy(void* layout);
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value, size_t bytes);
int cublasLtMatrixLayoutGetAttribute(const void* layout, int attribute, void* value, size_t bytes,
                                     size_t* written);
int cublasLtMatmulDescCreate(void** desc, int compute, int scale);
int cublasLtMatmulDescDestroy(void* desc);
int cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value, size_t bytes);
int cublasLtMatmulDescGetAttribute(const void* desc, int attribute, void* value, size_t bytes,
                                   size_t* written);
int cublasLtMatmulPreferenceCreate(void** preference);
int cublasLtMatmulPreferenceDestroy(void* preference);
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value,
                                         size_t bytes);
int cublasLtMatmulPreferenceGetAttribute(const void* preference, int attribute, void* value,
                                         size_t bytes, size_t* written);
const char* cublasLtGetStatusString(int status);
int cublasLtMatmulAlgoGetHeuristic(void* handle, void* desc, void* a, void* b, void* c, void* d,
                                   void* preference, int wanted, void* results, int* found);
int cublasLtMatmul(void* handle, void* desc, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                   void* d, void* d_layout, const void* algo, void* workspace, size_t bytes,
                   void* stream);
}

namespace nearwarp::cublas {

using cudalibs::kToDevice;
using cudalibs::kToHost;
using cudalibs::OnDevice;

/// A test with a handle.
class CublasTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cublasCreate_v2(&handle_), kSuccess); }
  void TearDown() override { EXPECT_EQ(cublasDestroy_v2(handle_), kSuccess); }
  void* handle_ = nullptr;
};

/// Small multiples of a power of two, so that f16 and bf16 have them exactly.
template <class T>
std::vector<T> numbers(size_t n, uint32_t seed, T scale = T(0.0625)) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(static_cast<int>(random() % 17) - 8) * scale;
  return values;
}

struct Half {
  uint16_t bits = 0;
};
struct Bf16 {
  uint16_t bits = 0;
};
inline double value(float v) { return v; }
inline double value(double v) { return v; }
inline double value(int8_t v) { return v; }
inline double value(int32_t v) { return v; }
inline double value(Half h) {
  const double size = (h.bits & 0x7c00) == 0
                          ? (h.bits & 1023) * 0x1p-24
                          : std::ldexp(1024 + (h.bits & 1023), (h.bits >> 10 & 31) - 25);
  return h.bits >> 15 != 0 ? -size : size;
}
inline double value(Bf16 b) {
  const uint32_t bits = static_cast<uint32_t>(b.bits) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}
/// The number in type T, which has it exactly.
template <class T>
T exactly(double v) {
  return static_cast<T>(v);
}
template <>
inline Half exactly(double v) {
  if (v == 0) return {};
  int exponent;
  const double fraction = std::frexp(std::abs(v), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<uint32_t>(std::lround((fraction * 2 - 1) * 1024));
  const Half h{static_cast<uint16_t>((v < 0 ? 0x8000u : 0u) |
                                     static_cast<uint32_t>(exponent + 14) << 10 | bits)};
  EXPECT_EQ(value(h), v);
  return h;
}
template <>
inline Bf16 exactly(double v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof(bits));
  EXPECT_EQ(bits & 0xffff, 0u) << v;
  return {static_cast<uint16_t>(bits >> 16)};
}

}  // namespace nearwarp::cublas
