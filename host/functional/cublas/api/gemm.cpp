// Products of matrices, each in forms with sizes of 32 and of 64 bits.
#include "host/functional/cublas/gemm.h"

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/complex.h"

using namespace nearwarp::cublas;

namespace {

/// Everything that calls hand over.
struct Call {
  int transpose_a, transpose_b;
  int64_t m, n, k;
  const void *alpha, *beta;
  Matrix a, b, c;
  int64_t batch = 1;
};

Product product_of(const Handle& h, const Call& c, DataType a, DataType b, DataType to,
                   ComputeType compute) {
  Product p;
  p.a = a;
  p.b = b;
  p.c = to;
  p.compute = compute == kCompute32F && (h.math_mode & kMathModes) == kTf32Math
                  ? kCompute32FFastTf32
                  : compute;
  p.batch = c.batch;
  GemmArgs& g = p.args;
  g.m = size(c.m);
  g.n = size(c.n);
  g.k = size(c.k);
  g.transpose_a = transposes(c.transpose_a);
  g.transpose_b = transposes(c.transpose_b);
  g.a = c.a;
  g.b = c.b;
  g.c = g.d = c.c;
  const DataType scale = scale_type(compute, to);
  g.alpha = scalar_at(c.alpha, scale, h.pointer_mode);
  g.beta = scalar_at(c.beta, scale, h.pointer_mode);
  return p;
}

/// Multiplies matrices of complex numbers, whose sums are made in their own type.
void multiply_complex(const Handle& h, const Call& c, DataType type, int b, int to, int compute) {
  const bool fits = type == kC64
                        ? compute == kCompute64F || compute == kCompute64FPedantic
                        : compute == kCompute32F || compute == kCompute32FPedantic ||
                              compute == kCompute32FFast16F || compute == kCompute32FFast16Bf ||
                              compute == kCompute32FFastTf32;
  require(b == type && to == type && fits, kNotSupported);
  complex_multiply(h, type,
                   {size(c.m), size(c.n), size(c.k), c.transpose_a, c.transpose_b, 0, c.a, c.b, c.c,
                    complex_factor(h, c.alpha, type), complex_factor(h, c.beta, type)},
                   c.batch);
}

Status run(const char* name, const Handle* h, const Call& c, int a, int b, int to, int compute) {
  return call(name, h, [&] {
    if (a == kC32 || a == kC64) {
      multiply_complex(*h, c, static_cast<DataType>(a), b, to, compute);
      return;
    }
    multiply(product_of(*h, c, static_cast<DataType>(a), static_cast<DataType>(b),
                        static_cast<DataType>(to), static_cast<ComputeType>(compute)),
             h->stream);
  });
}

Matrix one(const void* data, int64_t ld, int64_t stride = 0) { return {data, nullptr, ld, stride}; }
Matrix several(const void* const* items, int64_t ld) { return {nullptr, items, ld, 0}; }

}  // namespace

/// cublas<T>gemm and its batches; `letter` S, D, H, C or Z.
#define NW_GEMM(letter, suffix, Scale, type, compute)                                             \
  NW_CUBLAS cublas##letter##gemm##suffix(                                                         \
      Handle* h, int ta, int tb, int m, int n, int k, const Scale* alpha, const void* a, int lda, \
      const void* b, int ldb, const Scale* beta, void* c, int ldc) {                              \
    return run("cublas" #letter "gemm", h,                                                        \
               {ta, tb, m, n, k, alpha, beta, one(a, lda), one(b, ldb), one(c, ldc)}, type, type, \
               type, compute);                                                                    \
  }                                                                                               \
  NW_CUBLAS cublas##letter##gemm##suffix##_64(Handle* h, int ta, int tb, int64_t m, int64_t n,    \
                                              int64_t k, const Scale* alpha, const void* a,       \
                                              int64_t lda, const void* b, int64_t ldb,            \
                                              const Scale* beta, void* c, int64_t ldc) {          \
    return run("cublas" #letter "gemm_64", h,                                                     \
               {ta, tb, m, n, k, alpha, beta, one(a, lda), one(b, ldb), one(c, ldc)}, type, type, \
               type, compute);                                                                    \
  }                                                                                               \
  NW_CUBLAS cublas##letter##gemmBatched(Handle* h, int ta, int tb, int m, int n, int k,           \
                                        const Scale* alpha, const void* const* a, int lda,        \
                                        const void* const* b, int ldb, const Scale* beta,         \
                                        void* const* c, int ldc, int batch) {                     \
    return run(                                                                                   \
        "cublas" #letter "gemmBatched", h,                                                        \
        {ta, tb, m, n, k, alpha, beta, several(a, lda), several(b, ldb), several(c, ldc), batch}, \
        type, type, type, compute);                                                               \
  }                                                                                               \
  NW_CUBLAS cublas##letter##gemmStridedBatched(                                                   \
      Handle* h, int ta, int tb, int m, int n, int k, const Scale* alpha, const void* a, int lda, \
      long long stride_a, const void* b, int ldb, long long stride_b, const Scale* beta, void* c, \
      int ldc, long long stride_c, int batch) {                                                   \
    return run("cublas" #letter "gemmStridedBatched", h,                                          \
               {ta, tb, m, n, k, alpha, beta, one(a, lda, stride_a), one(b, ldb, stride_b),       \
                one(c, ldc, stride_c), batch},                                                    \
               type, type, type, compute);                                                        \
  }
#define NW_GEMM_BATCHES_64(letter, Scale, type, compute)                                          \
  NW_CUBLAS cublas##letter##gemmBatched_64(                                                       \
      Handle* h, int ta, int tb, int64_t m, int64_t n, int64_t k, const Scale* alpha,             \
      const void* const* a, int64_t lda, const void* const* b, int64_t ldb, const Scale* beta,    \
      void* const* c, int64_t ldc, int64_t batch) {                                               \
    return run(                                                                                   \
        "cublas" #letter "gemmBatched_64", h,                                                     \
        {ta, tb, m, n, k, alpha, beta, several(a, lda), several(b, ldb), several(c, ldc), batch}, \
        type, type, type, compute);                                                               \
  }                                                                                               \
  NW_CUBLAS cublas##letter##gemmStridedBatched_64(                                                \
      Handle* h, int ta, int tb, int64_t m, int64_t n, int64_t k, const Scale* alpha,             \
      const void* a, int64_t lda, long long stride_a, const void* b, int64_t ldb,                 \
      long long stride_b, const Scale* beta, void* c, int64_t ldc, long long stride_c,            \
      int64_t batch) {                                                                            \
    return run("cublas" #letter "gemmStridedBatched_64", h,                                       \
               {ta, tb, m, n, k, alpha, beta, one(a, lda, stride_a), one(b, ldb, stride_b),       \
                one(c, ldc, stride_c), batch},                                                    \
               type, type, type, compute);                                                        \
  }

NW_GEMM_BATCHES_64(S, float, kF32, kCompute32F)
NW_GEMM_BATCHES_64(D, double, kF64, kCompute64F)
NW_GEMM_BATCHES_64(H, void, kF16, kCompute16F)
NW_GEMM(S, _v2, float, kF32, kCompute32F)
NW_GEMM(D, _v2, double, kF64, kCompute64F)
NW_GEMM(H, , void, kF16, kCompute16F)
NW_GEMM_BATCHES_64(C, void, kC32, kCompute32F)
NW_GEMM_BATCHES_64(Z, void, kC64, kCompute64F)
NW_GEMM(C, _v2, void, kC32, kCompute32F)
NW_GEMM(Z, _v2, void, kC64, kCompute64F)

/// Programs that ask for three multiplications in place of four get four.
#define NW_GEMM_3M(letter)                                                                   \
  NW_CUBLAS cublas##letter##gemm3m(Handle* h, int ta, int tb, int m, int n, int k,           \
                                   const void* alpha, const void* a, int lda, const void* b, \
                                   int ldb, const void* beta, void* c, int ldc) {            \
    return cublas##letter##gemm_v2(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
  }
NW_GEMM_3M(C)
NW_GEMM_3M(Z)

/// Types are named by the call. Algorithms are all the same one.
NW_CUBLAS cublasGemmEx(Handle* h, int ta, int tb, int m, int n, int k, const void* alpha,
                       const void* a, int type_a, int lda, const void* b, int type_b, int ldb,
                       const void* beta, void* c, int type_c, int ldc, int compute, int) {
  return run("cublasGemmEx", h,
             {ta, tb, m, n, k, alpha, beta, one(a, lda), one(b, ldb), one(c, ldc)}, type_a, type_b,
             type_c, compute);
}
NW_CUBLAS cublasGemmEx_64(Handle* h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                          const void* alpha, const void* a, int type_a, int64_t lda, const void* b,
                          int type_b, int64_t ldb, const void* beta, void* c, int type_c,
                          int64_t ldc, int compute, int) {
  return run("cublasGemmEx_64", h,
             {ta, tb, m, n, k, alpha, beta, one(a, lda), one(b, ldb), one(c, ldc)}, type_a, type_b,
             type_c, compute);
}
NW_CUBLAS cublasGemmBatchedEx(Handle* h, int ta, int tb, int m, int n, int k, const void* alpha,
                              const void* const* a, int type_a, int lda, const void* const* b,
                              int type_b, int ldb, const void* beta, void* const* c, int type_c,
                              int ldc, int batch, int compute, int) {
  return run(
      "cublasGemmBatchedEx", h,
      {ta, tb, m, n, k, alpha, beta, several(a, lda), several(b, ldb), several(c, ldc), batch},
      type_a, type_b, type_c, compute);
}
NW_CUBLAS cublasGemmStridedBatchedEx(Handle* h, int ta, int tb, int m, int n, int k,
                                     const void* alpha, const void* a, int type_a, int lda,
                                     long long stride_a, const void* b, int type_b, int ldb,
                                     long long stride_b, const void* beta, void* c, int type_c,
                                     int ldc, long long stride_c, int batch, int compute, int) {
  return run("cublasGemmStridedBatchedEx", h,
             {ta, tb, m, n, k, alpha, beta, one(a, lda, stride_a), one(b, ldb, stride_b),
              one(c, ldc, stride_c), batch},
             type_a, type_b, type_c, compute);
}
NW_CUBLAS cublasGemmBatchedEx_64(Handle* h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                                 const void* alpha, const void* const* a, int type_a, int64_t lda,
                                 const void* const* b, int type_b, int64_t ldb, const void* beta,
                                 void* const* c, int type_c, int64_t ldc, int64_t batch,
                                 int compute, int) {
  return run(
      "cublasGemmBatchedEx_64", h,
      {ta, tb, m, n, k, alpha, beta, several(a, lda), several(b, ldb), several(c, ldc), batch},
      type_a, type_b, type_c, compute);
}
NW_CUBLAS cublasGemmStridedBatchedEx_64(Handle* h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                                        const void* alpha, const void* a, int type_a, int64_t lda,
                                        long long stride_a, const void* b, int type_b, int64_t ldb,
                                        long long stride_b, const void* beta, void* c, int type_c,
                                        int64_t ldc, long long stride_c, int64_t batch, int compute,
                                        int) {
  return run("cublasGemmStridedBatchedEx_64", h,
             {ta, tb, m, n, k, alpha, beta, one(a, lda, stride_a), one(b, ldb, stride_b),
              one(c, ldc, stride_c), batch},
             type_a, type_b, type_c, compute);
}
/// Sums are f32, alpha and beta too.
NW_CUBLAS cublasSgemmEx(Handle* h, int ta, int tb, int m, int n, int k, const float* alpha,
                        const void* a, int type_a, int lda, const void* b, int type_b, int ldb,
                        const float* beta, void* c, int type_c, int ldc) {
  return run("cublasSgemmEx", h,
             {ta, tb, m, n, k, alpha, beta, one(a, lda), one(b, ldb), one(c, ldc)}, type_a, type_b,
             type_c, kCompute32F);
}
