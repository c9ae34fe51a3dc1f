// Levels 1 and 2 in complex numbers; products of matrices are in gemm.cpp.
#include "host/functional/cublas/complex.h"

#include <complex>

#include "host/functional/cublas/api/entry.h"

using namespace nearwarp::cublas;

namespace {

ComplexVectorArgs vectors(int64_t n, const void* x, int64_t incx, const void* y, int64_t incy,
                          int operation) {
  ComplexVectorArgs args{};
  args.n = n;
  args.x = x;
  args.y = y;
  args.x_increment = incx;
  args.y_increment = incy;
  args.operation = operation;
  return args;
}

/// x or y of one operand alone: none are looked at where the increment is not above 0.
ComplexVectorArgs vector(int64_t n, const void* x, int64_t incx, int operation) {
  return vectors(incx > 0 ? n : 0, x, incx, nullptr, 0, operation);
}

template <class Real>
Status elements(const char* name, const Handle* h, DataType type, ComplexVectorArgs args,
                const void* alpha, bool is_real) {
  return call(name, h, [&] {
    if (alpha != nullptr || args.operation == kComplexAxpy || args.operation == kComplexScale)
      args.alpha = complex_factor<Real>(*h, alpha, is_real);
    complex_elements(*h, type, args);
  });
}
Status reduced(const char* name, const Handle* h, DataType type, const char* kernel,
               ComplexVectorArgs args, void* result, size_t bytes, bool wide = false) {
  return call(name, h, [&] {
    args.wide_result = wide ? 1 : 0;
    complex_reduce(*h, type, kernel, args, result, bytes);
  });
}

template <class Real>
Status matrix_vector(const char* name, const Handle* h, DataType type, int op, int64_t m, int64_t n,
                     const void* alpha, Matrix a, Matrix x, const void* beta, Matrix y,
                     int64_t batch) {
  return call(name, h, [&] {
    complex_matrix_vector(*h, type,
                          {size(m), size(n), op, 0, a.data, x.data, const_cast<void*>(y.data), a.ld,
                           x.ld, y.ld, a.stride, x.stride, y.stride,
                           complex_factor<Real>(*h, alpha), complex_factor<Real>(*h, beta)},
                          batch);
  });
}
template <class Real>
Status outer(const char* name, const Handle* h, DataType type, int op, int64_t m, int64_t n,
             const void* alpha, Matrix x, Matrix y, Matrix a) {
  return call(name, h, [&] {
    complex_outer(*h, type,
                  {size(m),
                   size(n),
                   op,
                   0,
                   a.data,
                   x.data,
                   const_cast<void*>(y.data),
                   a.ld,
                   x.ld,
                   y.ld,
                   0,
                   0,
                   0,
                   complex_factor<Real>(*h, alpha),
                   {}});
  });
}

Matrix one(const void* data, int64_t ld, int64_t stride = 0) { return {data, nullptr, ld, stride}; }

}  // namespace

// Every function of one type (L: C or Z; R: the letter of its parts) with sizes of type I; `v2` is
// what names end in.
#define NW_COMPLEX(L, R, Rc, Real, type, I, v2)                                                    \
  NW_CUBLAS cublas##L##axpy##v2(Handle* h, I n, const void* alpha, const void* x, I incx, void* y, \
                                I incy) {                                                          \
    return elements<Real>("cublas" #L "axpy", h, type, vectors(n, x, incx, y, incy, kComplexAxpy), \
                          alpha, false);                                                           \
  }                                                                                                \
  NW_CUBLAS cublas##L##scal##v2(Handle* h, I n, const void* alpha, void* x, I incx) {              \
    return elements<Real>("cublas" #L "scal", h, type, vector(n, x, incx, kComplexScale), alpha,   \
                          false);                                                                  \
  }                                                                                                \
  NW_CUBLAS cublas##L##R##scal##v2(Handle* h, I n, const void* alpha, void* x, I incx) {           \
    return elements<Real>("cublas" #L#R "scal", h, type, vector(n, x, incx, kComplexScale), alpha, \
                          true);                                                                   \
  }                                                                                                \
  NW_CUBLAS cublas##L##copy##v2(Handle* h, I n, const void* x, I incx, void* y, I incy) {          \
    return elements<Real>("cublas" #L "copy", h, type, vectors(n, x, incx, y, incy, kComplexCopy), \
                          nullptr, false);                                                         \
  }                                                                                                \
  NW_CUBLAS cublas##L##swap##v2(Handle* h, I n, void* x, I incx, void* y, I incy) {                \
    return elements<Real>("cublas" #L "swap", h, type, vectors(n, x, incx, y, incy, kComplexSwap), \
                          nullptr, false);                                                         \
  }                                                                                                \
  NW_CUBLAS cublas##L##dotu##v2(Handle* h, I n, const void* x, I incx, const void* y, I incy,      \
                                void* result) {                                                    \
    return reduced("cublas" #L "dotu", h, type, "reduce",                                          \
                   vectors(n, x, incx, y, incy, kComplexDot), result, 2 * sizeof(Real));           \
  }                                                                                                \
  NW_CUBLAS cublas##L##dotc##v2(Handle* h, I n, const void* x, I incx, const void* y, I incy,      \
                                void* result) {                                                    \
    return reduced("cublas" #L "dotc", h, type, "reduce",                                          \
                   vectors(n, x, incx, y, incy, kComplexConjugateDot), result, 2 * sizeof(Real));  \
  }                                                                                                \
  NW_CUBLAS cublas##Rc##asum##v2(Handle* h, I n, const void* x, I incx, void* result) {            \
    return reduced("cublas" #Rc "asum", h, type, "reduce", vector(n, x, incx, kComplexMagnitudes), \
                   result, sizeof(Real));                                                          \
  }                                                                                                \
  NW_CUBLAS cublas##Rc##nrm2##v2(Handle* h, I n, const void* x, I incx, void* result) {            \
    return reduced("cublas" #Rc "nrm2", h, type, "nrm2", vector(n, x, incx, kComplexMagnitudes),   \
                   result, sizeof(Real));                                                          \
  }                                                                                                \
  NW_CUBLAS cublas##L##gemv##v2(Handle* h, int t, I m, I n, const void* alpha, const void* a,      \
                                I lda, const void* x, I incx, const void* beta, void* y, I incy) { \
    return matrix_vector<Real>("cublas" #L "gemv", h, type, t, m, n, alpha, one(a, lda),           \
                               one(x, incx), beta, one(y, incy), 1);                               \
  }                                                                                                \
  NW_CUBLAS cublas##L##geru##v2(Handle* h, I m, I n, const void* alpha, const void* x, I incx,     \
                                const void* y, I incy, void* a, I lda) {                           \
    return outer<Real>("cublas" #L "geru", h, type, kTranspose, m, n, alpha, one(x, incx),         \
                       one(y, incy), one(a, lda));                                                 \
  }                                                                                                \
  NW_CUBLAS cublas##L##gerc##v2(Handle* h, I m, I n, const void* alpha, const void* x, I incx,     \
                                const void* y, I incy, void* a, I lda) {                           \
    return outer<Real>("cublas" #L "gerc", h, type, kConjugateTranspose, m, n, alpha,              \
                       one(x, incx), one(y, incy), one(a, lda));                                   \
  }
NW_COMPLEX(C, s, Sc, float, kC32, int, _v2)
NW_COMPLEX(C, s, Sc, float, kC32, int64_t, _v2_64)
NW_COMPLEX(Z, d, Dz, double, kC64, int, _v2)
NW_COMPLEX(Z, d, Dz, double, kC64, int64_t, _v2_64)

#define NW_COMPLEX_INDEX(name, type, operation)                                             \
  NW_CUBLAS cublas##name##_v2(Handle* h, int n, const void* x, int incx, int* result) {     \
    return reduced("cublas" #name, h, type, "index", vector(n, x, incx, operation), result, \
                   sizeof(int));                                                            \
  }                                                                                         \
  NW_CUBLAS cublas##name##_v2_64(Handle* h, int64_t n, const void* x, int64_t incx,         \
                                 int64_t* result) {                                         \
    return reduced("cublas" #name, h, type, "index", vector(n, x, incx, operation), result, \
                   sizeof(int64_t), true);                                                  \
  }
NW_COMPLEX_INDEX(Icamax, kC32, kComplexLargest)
NW_COMPLEX_INDEX(Izamax, kC64, kComplexLargest)
NW_COMPLEX_INDEX(Icamin, kC32, kComplexLeast)
NW_COMPLEX_INDEX(Izamin, kC64, kComplexLeast)

#define NW_COMPLEX_DENSE(L, Real, type)                                                           \
  NW_CUBLAS cublas##L##geam(Handle* h, int ta, int tb, int m, int n, const void* alpha,           \
                            const void* a, int lda, const void* beta, const void* b, int ldb,     \
                            void* c, int ldc) {                                                   \
    return call("cublas" #L "geam", h, [&] {                                                      \
      complex_add(*h, type,                                                                       \
                  {size(m), size(n), ta, tb, a, b, c, lda, ldb, ldc,                              \
                   complex_factor<Real>(*h, alpha), complex_factor<Real>(*h, beta)});             \
    });                                                                                           \
  }                                                                                               \
  NW_CUBLAS cublas##L##gemvStridedBatched(                                                        \
      Handle* h, int t, int m, int n, const void* alpha, const void* a, int lda,                  \
      long long stride_a, const void* x, int incx, long long stride_x, const void* beta, void* y, \
      int incy, long long stride_y, int batch) {                                                  \
    return matrix_vector<Real>("cublas" #L "gemvStridedBatched", h, type, t, m, n, alpha,         \
                               one(a, lda, stride_a), one(x, incx, stride_x), beta,               \
                               one(y, incy, stride_y), batch);                                    \
  }
NW_COMPLEX_DENSE(C, float, kC32)
NW_COMPLEX_DENSE(Z, double, kC64)
