// Levels 1 and 2, in f32 and f64, and copies of vectors and matrices.
#include "host/functional/cublas/vector.h"

#include <string>

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/runtime_calls.h"

using namespace nearwarp::cublas;

namespace {

template <class T>
void gemv(const Handle& h, const char* suffix, int transpose, int64_t m, int64_t n, const T* alpha,
          const void* a, int64_t lda, int64_t stride_a, const void* x, int64_t incx,
          int64_t stride_x, const T* beta, void* y, int64_t incy, int64_t stride_y, int64_t batch) {
  matrix_vector(h, suffix,
                {size(m), size(n), transposes(transpose), 0, a, x, y, lda, incx, incy, stride_a,
                 stride_x, stride_y, factor_at(h, alpha), factor_at(h, beta)},
                batch);
}

/// Rows of `bytes` at columns `to_pitch` and `from_pitch` apart.
void copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes,
          size_t columns, Stream stream, bool wait) {
  if (bytes == 0 || columns == 0) return;
  require(to != nullptr && from != nullptr);
  if (cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, columns, kCopyDefault, stream) !=
          0 ||
      (wait && cudaStreamSynchronize(stream) != 0))
    throw Failure{kMappingError};
}
void copy_matrix(int64_t rows, int64_t columns, int64_t bytes, const void* from, int64_t from_ld,
                 void* to, int64_t to_ld, Stream stream, bool wait) {
  require(rows >= 0 && columns >= 0 && bytes > 0 && from_ld >= rows && to_ld >= rows);
  copy(to, static_cast<size_t>(to_ld * bytes), from, static_cast<size_t>(from_ld * bytes),
       static_cast<size_t>(rows * bytes), static_cast<size_t>(columns), stream, wait);
}
void copy_vector(int64_t n, int64_t bytes, const void* from, int64_t from_increment, void* to,
                 int64_t to_increment, Stream stream, bool wait) {
  require(n >= 0 && bytes > 0 && from_increment > 0 && to_increment > 0);
  copy(to, static_cast<size_t>(to_increment * bytes), from,
       static_cast<size_t>(from_increment * bytes), static_cast<size_t>(bytes),
       static_cast<size_t>(n), stream, wait);
}

}  // namespace

// Every function of one type T with sizes of type I; `v2` and `i64` are what names end in.
#define NW_LEVELS(L, T, suffix, I, v2)                                                             \
  NW_CUBLAS cublas##L##axpy##v2(Handle* h, I n, const T* alpha, const T* x, I incx, T* y,          \
                                I incy) {                                                          \
    return call("cublas" #L "axpy", h, [&] {                                                       \
      over_elements(*h, suffix, kAxpy, n, x, incx, y, incy, factor_at(*h, alpha));                 \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##scal##v2(Handle* h, I n, const T* alpha, T* x, I incx) {                    \
    return call("cublas" #L "scal", h, [&] {                                                       \
      over_elements(*h, suffix, kScale, incx > 0 ? n : 0, x, incx, nullptr, 0,                     \
                    factor_at(*h, alpha));                                                         \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##copy##v2(Handle* h, I n, const T* x, I incx, T* y, I incy) {                \
    return call("cublas" #L "copy", h,                                                             \
                [&] { over_elements(*h, suffix, kCopy, n, x, incx, y, incy); });                   \
  }                                                                                                \
  NW_CUBLAS cublas##L##swap##v2(Handle* h, I n, T* x, I incx, T* y, I incy) {                      \
    return call("cublas" #L "swap", h,                                                             \
                [&] { over_elements(*h, suffix, kSwap, n, x, incx, y, incy); });                   \
  }                                                                                                \
  NW_CUBLAS cublas##L##rot##v2(Handle* h, I n, T* x, I incx, T* y, I incy, const T* c,             \
                               const T* s) {                                                       \
    return call("cublas" #L "rot", h, [&] {                                                        \
      over_elements(*h, suffix, kRotate, n, x, incx, y, incy, factor_at(*h, c), factor_at(*h, s)); \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##dot##v2(Handle* h, I n, const T* x, I incx, const T* y, I incy,             \
                               T* result) {                                                        \
    return call("cublas" #L "dot", h, [&] {                                                        \
      reduce(*h, "cublas_reduce_" suffix, kDot, n, x, incx, y, incy, result, sizeof(T));           \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##asum##v2(Handle* h, I n, const T* x, I incx, T* result) {                   \
    return call("cublas" #L "asum", h, [&] {                                                       \
      reduce(*h, "cublas_reduce_" suffix, kMagnitudes, incx > 0 ? n : 0, x, incx, nullptr, 0,      \
             result, sizeof(T));                                                                   \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##nrm2##v2(Handle* h, I n, const T* x, I incx, T* result) {                   \
    return call("cublas" #L "nrm2", h, [&] {                                                       \
      reduce(*h, "cublas_nrm2_" suffix, kMagnitudes, incx > 0 ? n : 0, x, incx, nullptr, 0,        \
             result, sizeof(T));                                                                   \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##gemv##v2(Handle* h, int t, I m, I n, const T* alpha, const T* a, I lda,     \
                                const T* x, I incx, const T* beta, T* y, I incy) {                 \
    return call("cublas" #L "gemv", h, [&] {                                                       \
      gemv(*h, suffix, t, m, n, alpha, a, lda, 0, x, incx, 0, beta, y, incy, 0, 1);                \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##L##ger##v2(Handle* h, I m, I n, const T* alpha, const T* x, I incx,            \
                               const T* y, I incy, T* a, I lda) {                                  \
    return call("cublas" #L "ger", h, [&] {                                                        \
      outer(*h, suffix,                                                                            \
            {size(m),                                                                              \
             size(n),                                                                              \
             0,                                                                                    \
             0,                                                                                    \
             a,                                                                                    \
             x,                                                                                    \
             const_cast<T*>(y),                                                                    \
             lda,                                                                                  \
             incx,                                                                                 \
             incy,                                                                                 \
             0,                                                                                    \
             0,                                                                                    \
             0,                                                                                    \
             factor_at(*h, alpha),                                                                 \
             {}});                                                                                 \
    });                                                                                            \
  }
NW_LEVELS(S, float, "f32", int, _v2)
NW_LEVELS(S, float, "f32", int64_t, _v2_64)
NW_LEVELS(D, double, "f64", int, _v2)
NW_LEVELS(D, double, "f64", int64_t, _v2_64)

#define NW_INDEX(name, suffix, operation)                                                          \
  NW_CUBLAS cublas##name##_v2(Handle* h, int n, const void* x, int incx, int* result) {            \
    return call("cublas" #name, h, [&] {                                                           \
      reduce(*h, "cublas_index_" suffix, operation, incx > 0 ? n : 0, x, incx, nullptr, 0, result, \
             sizeof(int));                                                                         \
    });                                                                                            \
  }                                                                                                \
  NW_CUBLAS cublas##name##_v2_64(Handle* h, int64_t n, const void* x, int64_t incx,                \
                                 int64_t* result) {                                                \
    return call("cublas" #name, h, [&] {                                                           \
      reduce(*h, "cublas_index_" suffix, operation, incx > 0 ? n : 0, x, incx, nullptr, 0, result, \
             sizeof(int64_t));                                                                     \
    });                                                                                            \
  }
NW_INDEX(Isamax, "f32", kLargest)
NW_INDEX(Idamax, "f64", kLargest)
NW_INDEX(Isamin, "f32", kLeast)
NW_INDEX(Idamin, "f64", kLeast)

#define NW_DENSE(L, T, suffix)                                                                   \
  NW_CUBLAS cublas##L##geam(Handle* h, int ta, int tb, int m, int n, const T* alpha, const T* a, \
                            int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {        \
    return call("cublas" #L "geam", h, [&] {                                                     \
      add(*h, suffix,                                                                            \
          {size(m), size(n), transposes(ta), transposes(tb), a, b, c, lda, ldb, ldc,             \
           factor_at(*h, alpha), factor_at(*h, beta)});                                          \
    });                                                                                          \
  }                                                                                              \
  NW_CUBLAS cublas##L##gemvStridedBatched(Handle* h, int t, int m, int n, const T* alpha,        \
                                          const T* a, int lda, long long stride_a, const T* x,   \
                                          int incx, long long stride_x, const T* beta, T* y,     \
                                          int incy, long long stride_y, int batch) {             \
    return call("cublas" #L "gemvStridedBatched", h, [&] {                                       \
      gemv(*h, suffix, t, m, n, alpha, a, lda, stride_a, x, incx, stride_x, beta, y, incy,       \
           stride_y, batch);                                                                     \
    });                                                                                          \
  }
NW_DENSE(S, float, "f32")
NW_DENSE(D, double, "f64")

#define NW_COPIES(I, i64)                                                                        \
  NW_CUBLAS cublasSetVector##i64(I n, I bytes, const void* x, I incx, void* y, I incy) {         \
    return call("cublasSetVector",                                                               \
                [&] { copy_vector(n, bytes, x, incx, y, incy, nullptr, true); });                \
  }                                                                                              \
  NW_CUBLAS cublasGetVector##i64(I n, I bytes, const void* x, I incx, void* y, I incy) {         \
    return call("cublasGetVector",                                                               \
                [&] { copy_vector(n, bytes, x, incx, y, incy, nullptr, true); });                \
  }                                                                                              \
  NW_CUBLAS cublasSetMatrix##i64(I rows, I columns, I bytes, const void* a, I lda, void* b,      \
                                 I ldb) {                                                        \
    return call("cublasSetMatrix",                                                               \
                [&] { copy_matrix(rows, columns, bytes, a, lda, b, ldb, nullptr, true); });      \
  }                                                                                              \
  NW_CUBLAS cublasGetMatrix##i64(I rows, I columns, I bytes, const void* a, I lda, void* b,      \
                                 I ldb) {                                                        \
    return call("cublasGetMatrix",                                                               \
                [&] { copy_matrix(rows, columns, bytes, a, lda, b, ldb, nullptr, true); });      \
  }                                                                                              \
  NW_CUBLAS cublasSetVectorAsync##i64(I n, I bytes, const void* x, I incx, void* y, I incy,      \
                                      Stream stream) {                                           \
    return call("cublasSetVectorAsync",                                                          \
                [&] { copy_vector(n, bytes, x, incx, y, incy, stream, false); });                \
  }                                                                                              \
  NW_CUBLAS cublasGetVectorAsync##i64(I n, I bytes, const void* x, I incx, void* y, I incy,      \
                                      Stream stream) {                                           \
    return call("cublasGetVectorAsync",                                                          \
                [&] { copy_vector(n, bytes, x, incx, y, incy, stream, false); });                \
  }                                                                                              \
  NW_CUBLAS cublasSetMatrixAsync##i64(I rows, I columns, I bytes, const void* a, I lda, void* b, \
                                      I ldb, Stream stream) {                                    \
    return call("cublasSetMatrixAsync",                                                          \
                [&] { copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream, false); });      \
  }                                                                                              \
  NW_CUBLAS cublasGetMatrixAsync##i64(I rows, I columns, I bytes, const void* a, I lda, void* b, \
                                      I ldb, Stream stream) {                                    \
    return call("cublasGetMatrixAsync",                                                          \
                [&] { copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream, false); });      \
  }
NW_COPIES(int, )
NW_COPIES(int64_t, _64)
