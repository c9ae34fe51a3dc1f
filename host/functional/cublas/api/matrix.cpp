// Entry points of levels 2 and 3 for banded, packed, symmetric and triangular matrices, in f32 and
// f64, each with sizes of 32 and of 64 bits.
#include "host/functional/cublas/matrix.h"

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/vector.h"

using namespace nearwarp::cublas;

namespace {

bool upper_of(int fill) {
  require(fill == kLower || fill == kUpper);
  return fill == kUpper;
}
bool unit_of(int diagonal) {
  require(diagonal == kNotUnit || diagonal == kUnit);
  return diagonal == kUnit;
}
bool left_of(int side) {
  require(side == kLeft || side == kRight);
  return side == kLeft;
}

PartialMatrix dense(const void* a, int64_t lda, int rows) {
  PartialMatrix m{};
  m.data = a;
  m.ld = lda;
  m.rows = rows;
  m.storage = kDense;
  return m;
}
PartialMatrix banded(const void* a, int64_t lda, int64_t below, int64_t above) {
  PartialMatrix m{};
  m.data = a;
  m.ld = lda;
  m.storage = kBand;
  m.below = size(below);
  m.above = size(above);
  return m;
}
/// A triangle with k diagonals beside the main one.
PartialMatrix banded_half(const void* a, int64_t lda, int64_t k, int fill) {
  return upper_of(fill) ? banded(a, lda, 0, k) : banded(a, lda, k, 0);
}
PartialMatrix packed(const void* a, int n) {
  PartialMatrix m{};
  m.data = a;
  m.rows = n;
  m.storage = kPacked;
  return m;
}
PartialMatrix symmetric(PartialMatrix m, int fill) {
  m.shape = kSymmetric;
  m.upper = upper_of(fill) ? 1 : 0;
  return m;
}
PartialMatrix triangle(PartialMatrix m, int fill, int operation, int diagonal) {
  m.shape = kTriangle;
  m.upper = upper_of(fill) ? 1 : 0;
  m.transpose = transposes(operation);
  m.unit_diagonal = unit_of(diagonal) ? 1 : 0;
  return m;
}

/// A vector as a column. With a negative increment its first element is the last in memory.
template <class T>
StridedMatrix column(const T* x, int64_t n, int64_t increment) {
  require(increment != 0);
  T* first = const_cast<T*>(x);
  if (increment < 0 && n > 0) first -= (n - 1) * increment;
  return {first, nullptr, increment, 0};
}
StridedMatrix columns(const void* a, int64_t lda) {
  return {const_cast<void*>(a), nullptr, 1, lda};
}
StridedMatrix transposed(StridedMatrix m) { return {m.data, m.items, m.across, m.down}; }

VectorScalar number(double value) { return {value, nullptr}; }

/// y = alpha op(a) x + beta y
template <class T>
void matrix_vector(const Handle& h, const char* suffix, const PartialMatrix& a, int64_t m,
                   int64_t n, const T* alpha, const T* x, int64_t incx, const T* beta, T* y,
                   int64_t incy) {
  multiply(h, suffix,
           {size(m), 1, size(n), 0, a, column(x, n, incx), column(y, m, incy), factor_at(h, alpha),
            factor_at(h, beta)});
}
/// x = op(a) x
template <class T>
void times_triangle(const Handle& h, const char* suffix, const PartialMatrix& a, int64_t n, T* x,
                    int64_t incx) {
  multiply_in_place(h, suffix, sizeof(T),
                    {size(n), 1, size(n), 0, a, {}, column(x, n, incx), number(1), number(0)});
}
template <class T>
void solve_vector(const Handle& h, const char* suffix, const PartialMatrix& a, int64_t n, T* x,
                  int64_t incx) {
  solve(h, suffix, {size(n), 1, a, column(x, n, incx), number(1)});
}
/// a += alpha x x^T, or alpha (x y^T + y x^T)
template <class T>
void rank_one_or_two(const Handle& h, const char* suffix, const PartialMatrix& a, int64_t n,
                     const T* alpha, const T* x, int64_t incx, const T* y, int64_t incy,
                     bool both) {
  update(h, suffix,
         {size(n), 1, both ? 1 : 0, 0, column(x, n, incx), column(y, n, incy), a,
          factor_at(h, alpha), number(1)});
}
/// c = alpha (op(a) op(b)^T, and op(b) op(a)^T where `both`) + beta c
template <class T>
void rank_k(const Handle& h, const char* suffix, int fill, int operation, int64_t n, int64_t k,
            const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const T* beta, T* c,
            int64_t ldc, bool both) {
  const bool turned = transposes(operation) != 0;
  const int64_t rows = turned ? k : n;
  require(lda >= rows && lda >= 1 && ldb >= rows && ldb >= 1);
  const auto factor = [&](const T* m, int64_t ld) {
    return turned ? transposed(columns(m, ld)) : columns(m, ld);
  };
  update(h, suffix,
         {size(n), size(k), both ? 1 : 0, 0, factor(a, lda), factor(b, ldb),
          symmetric(dense(c, ldc, size(n)), fill), factor_at(h, alpha), factor_at(h, beta)});
}

/// c = alpha op(a) b + beta c, or with a on the right: then all is transposed.
PartialProductArgs product(bool left, int64_t m, int64_t n, PartialMatrix a, StridedMatrix b,
                           StridedMatrix c, VectorScalar alpha, VectorScalar beta) {
  const int rows = size(m), others = size(n);
  if (left) return {rows, others, rows, 0, a, b, c, alpha, beta};
  a.transpose ^= 1;
  return {others, rows, others, 0, a, transposed(b), transposed(c), alpha, beta};
}

template <class T>
void symmetric_product(const Handle& h, const char* suffix, int side, int fill, int64_t m,
                       int64_t n, const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                       const T* beta, T* c, int64_t ldc) {
  const bool left = left_of(side);
  require(m >= 0 && n >= 0 && ldb >= m && ldb >= 1 && ldc >= m && ldc >= 1);
  multiply(h, suffix,
           product(left, m, n, symmetric(dense(a, lda, size(left ? m : n)), fill), columns(b, ldb),
                   columns(c, ldc), factor_at(h, alpha), factor_at(h, beta)));
}
template <class T>
void triangular_product(const Handle& h, const char* suffix, int side, int fill, int operation,
                        int diagonal, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda,
                        const T* b, int64_t ldb, T* c, int64_t ldc) {
  const bool left = left_of(side);
  require(m >= 0 && n >= 0 && ldb >= m && ldb >= 1 && ldc >= m && ldc >= 1);
  const PartialProductArgs args =
      product(left, m, n, triangle(dense(a, lda, size(left ? m : n)), fill, operation, diagonal),
              columns(b, ldb), columns(c, ldc), factor_at(h, alpha), number(0));
  if (b != c) return multiply(h, suffix, args);
  require(ldb == ldc);
  multiply_in_place(h, suffix, sizeof(T), args);
}
/// op(a) x = alpha b, or x op(a) = alpha b; x where b was.
template <class T>
void triangular_systems(const Handle& h, const char* suffix, int side, int fill, int operation,
                        int diagonal, int64_t m, int64_t n, const T* alpha, const void* a,
                        const void* const* several_a, int64_t lda, void* b, void* const* several_b,
                        int64_t ldb, int64_t batch) {
  const bool left = left_of(side);
  require(m >= 0 && n >= 0 && ldb >= m && ldb >= 1);
  PartialMatrix of = triangle(dense(a, lda, size(left ? m : n)), fill, operation, diagonal);
  of.items = several_a;
  StridedMatrix x{b, several_b, 1, ldb};
  if (!left) {
    of.transpose ^= 1;
    x = transposed(x);
  }
  solve(h, suffix, {size(left ? m : n), size(left ? n : m), of, x, factor_at(h, alpha)}, batch);
}

}  // namespace

#define NW_ENTRY(name, parameters, body)           \
  NW_CUBLAS cublas##name parameters {              \
    return call("cublas" #name, h, [&] { body; }); \
  }

/// All functions of type T with sizes of type I. `v2` and `i64` are the ends of their names.
#define NW_MATRICES(L, T, suffix, I, v2, i64)                                                      \
  NW_ENTRY(L##gbmv##v2,                                                                            \
           (Handle * h, int t, I m, I n, I kl, I ku, const T* alpha, const T* a, I lda,            \
            const T* x, I incx, const T* beta, T* y, I incy),                                      \
           PartialMatrix of = banded(a, lda, kl, ku);                                              \
           of.transpose = transposes(t);                                                           \
           matrix_vector(*h, suffix, of, of.transpose ? n : m, of.transpose ? m : n, alpha, x,     \
                         incx, beta, y, incy))                                                     \
  NW_ENTRY(L##symv##v2,                                                                            \
           (Handle * h, int fill, I n, const T* alpha, const T* a, I lda, const T* x, I incx,      \
            const T* beta, T* y, I incy),                                                          \
           matrix_vector(*h, suffix, symmetric(dense(a, lda, size(n)), fill), n, n, alpha, x,      \
                         incx, beta, y, incy))                                                     \
  NW_ENTRY(L##sbmv##v2,                                                                            \
           (Handle * h, int fill, I n, I k, const T* alpha, const T* a, I lda, const T* x, I incx, \
            const T* beta, T* y, I incy),                                                          \
           matrix_vector(*h, suffix, symmetric(banded_half(a, lda, k, fill), fill), n, n, alpha,   \
                         x, incx, beta, y, incy))                                                  \
  NW_ENTRY(L##spmv##v2,                                                                            \
           (Handle * h, int fill, I n, const T* alpha, const T* a, const T* x, I incx,             \
            const T* beta, T* y, I incy),                                                          \
           matrix_vector(*h, suffix, symmetric(packed(a, size(n)), fill), n, n, alpha, x, incx,    \
                         beta, y, incy))                                                           \
  NW_ENTRY(                                                                                        \
      L##trmv##v2, (Handle * h, int fill, int t, int unit, I n, const T* a, I lda, T* x, I incx),  \
      times_triangle(*h, suffix, triangle(dense(a, lda, size(n)), fill, t, unit), n, x, incx))     \
  NW_ENTRY(L##tbmv##v2,                                                                            \
           (Handle * h, int fill, int t, int unit, I n, I k, const T* a, I lda, T* x, I incx),     \
           times_triangle(*h, suffix, triangle(banded_half(a, lda, k, fill), fill, t, unit), n, x, \
                          incx))                                                                   \
  NW_ENTRY(L##tpmv##v2, (Handle * h, int fill, int t, int unit, I n, const T* a, T* x, I incx),    \
           times_triangle(*h, suffix, triangle(packed(a, size(n)), fill, t, unit), n, x, incx))    \
  NW_ENTRY(L##trsv##v2,                                                                            \
           (Handle * h, int fill, int t, int unit, I n, const T* a, I lda, T* x, I incx),          \
           solve_vector(*h, suffix, triangle(dense(a, lda, size(n)), fill, t, unit), n, x, incx))  \
  NW_ENTRY(                                                                                        \
      L##tbsv##v2,                                                                                 \
      (Handle * h, int fill, int t, int unit, I n, I k, const T* a, I lda, T* x, I incx),          \
      solve_vector(*h, suffix, triangle(banded_half(a, lda, k, fill), fill, t, unit), n, x, incx)) \
  NW_ENTRY(L##tpsv##v2, (Handle * h, int fill, int t, int unit, I n, const T* a, T* x, I incx),    \
           solve_vector(*h, suffix, triangle(packed(a, size(n)), fill, t, unit), n, x, incx))      \
  NW_ENTRY(L##syr##v2,                                                                             \
           (Handle * h, int fill, I n, const T* alpha, const T* x, I incx, T* a, I lda),           \
           rank_one_or_two(*h, suffix, symmetric(dense(a, lda, size(n)), fill), n, alpha, x, incx, \
                           x, incx, false))                                                        \
  NW_ENTRY(L##spr##v2, (Handle * h, int fill, I n, const T* alpha, const T* x, I incx, T* a),      \
           rank_one_or_two(*h, suffix, symmetric(packed(a, size(n)), fill), n, alpha, x, incx, x,  \
                           incx, false))                                                           \
  NW_ENTRY(L##syr2##v2,                                                                            \
           (Handle * h, int fill, I n, const T* alpha, const T* x, I incx, const T* y, I incy,     \
            T* a, I lda),                                                                          \
           rank_one_or_two(*h, suffix, symmetric(dense(a, lda, size(n)), fill), n, alpha, x, incx, \
                           y, incy, true))                                                         \
  NW_ENTRY(                                                                                        \
      L##spr2##v2,                                                                                 \
      (Handle * h, int fill, I n, const T* alpha, const T* x, I incx, const T* y, I incy, T* a),   \
      rank_one_or_two(*h, suffix, symmetric(packed(a, size(n)), fill), n, alpha, x, incx, y, incy, \
                      true))                                                                       \
  NW_ENTRY(L##symm##v2,                                                                            \
           (Handle * h, int side, int fill, I m, I n, const T* alpha, const T* a, I lda,           \
            const T* b, I ldb, const T* beta, T* c, I ldc),                                        \
           symmetric_product(*h, suffix, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc))   \
  NW_ENTRY(L##syrk##v2,                                                                            \
           (Handle * h, int fill, int t, I n, I k, const T* alpha, const T* a, I lda,              \
            const T* beta, T* c, I ldc),                                                           \
           rank_k(*h, suffix, fill, t, n, k, alpha, a, lda, a, lda, beta, c, ldc, false))          \
  NW_ENTRY(L##syr2k##v2,                                                                           \
           (Handle * h, int fill, int t, I n, I k, const T* alpha, const T* a, I lda, const T* b,  \
            I ldb, const T* beta, T* c, I ldc),                                                    \
           rank_k(*h, suffix, fill, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc, true))           \
  NW_ENTRY(L##syrkx##i64,                                                                          \
           (Handle * h, int fill, int t, I n, I k, const T* alpha, const T* a, I lda, const T* b,  \
            I ldb, const T* beta, T* c, I ldc),                                                    \
           rank_k(*h, suffix, fill, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc, false))          \
  NW_ENTRY(                                                                                        \
      L##trmm##v2,                                                                                 \
      (Handle * h, int side, int fill, int t, int unit, I m, I n, const T* alpha, const T* a,      \
       I lda, const T* b, I ldb, T* c, I ldc),                                                     \
      triangular_product(*h, suffix, side, fill, t, unit, m, n, alpha, a, lda, b, ldb, c, ldc))    \
  NW_ENTRY(L##trsm##v2,                                                                            \
           (Handle * h, int side, int fill, int t, int unit, I m, I n, const T* alpha, const T* a, \
            I lda, T* b, I ldb),                                                                   \
           triangular_systems(*h, suffix, side, fill, t, unit, m, n, alpha, a, nullptr, lda, b,    \
                              nullptr, ldb, 1))                                                    \
  NW_ENTRY(L##trsmBatched##i64,                                                                    \
           (Handle * h, int side, int fill, int t, int unit, I m, I n, const T* alpha,             \
            const void* const* a, I lda, void* const* b, I ldb, I batch),                          \
           triangular_systems(*h, suffix, side, fill, t, unit, m, n, alpha, nullptr, a, lda,       \
                              nullptr, b, ldb, batch))

NW_MATRICES(S, float, "f32", int, _v2, )
NW_MATRICES(S, float, "f32", int64_t, _v2_64, _64)
NW_MATRICES(D, double, "f64", int, _v2, )
NW_MATRICES(D, double, "f64", int64_t, _v2_64, _64)
