// Levels 2 and 3 with bands, packed, symmetric and triangular matrices, and rotations: are results
// those of plain code?
#include "host/functional/cublas/matrix.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "tests/cublas/matrix_calls.h"

namespace nearwarp::cublas {
namespace {

constexpr int kSizes[] = {1, 7, 32, 129, 1000};
constexpr int kSizesOf3[] = {1, 7, 32, 129};  // of products of matrices
constexpr int kMany = 500;                    // of more rows one increment is enough
constexpr int kColumns = 37;

size_t z(int i) { return static_cast<size_t>(i); }

/// A matrix in full, column-major.
template <class T>
struct Full {
  int rows, columns;
  std::vector<double> values;
  Full(int m, int n) : rows(m), columns(n), values(z(m) * z(n)) {}
  double& at(int i, int j) { return values[z(i) + z(j) * z(rows)]; }
  double at(int i, int j) const { return values[z(i) + z(j) * z(rows)]; }
  Full transposed() const {
    Full t(columns, rows);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) t.at(j, i) = at(i, j);
    return t;
  }
};
template <class T>
Full<T> operator*(const Full<T>& a, const Full<T>& b) {
  Full<T> c(a.rows, b.columns);
  for (int j = 0; j < b.columns; ++j)
    for (int k = 0; k < a.columns; ++k)
      for (int i = 0; i < a.rows; ++i) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
/// A matrix from memory, in columns `ld` apart.
template <class T>
Full<T> read(const std::vector<T>& v, int rows, int columns, int ld) {
  Full<T> m(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) m.at(i, j) = v[z(i) + z(j) * z(ld)];
  return m;
}

bool stored(int fill, int i, int j) { return fill == kUpper ? i <= j : i >= j; }

template <class T>
Full<T> symmetric(Full<T> m, int fill) {
  const Full<T> old = m;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.rows; ++j)
      if (!stored(fill, i, j)) m.at(i, j) = old.at(j, i);
  return m;
}
template <class T>
Full<T> triangle(Full<T> m, int fill, int unit) {
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.rows; ++j) {
      if (!stored(fill, i, j)) m.at(i, j) = 0;
      if (i == j && unit != 0) m.at(i, j) = 1;
    }
  return m;
}
/// The stored triangle column by column.
template <class T>
std::vector<T> pack(const std::vector<T>& v, int n, int fill) {
  std::vector<T> packed;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (stored(fill, i, j)) packed.push_back(v[z(i) + z(j) * z(n)]);
  return packed;
}
/// Diagonals, each in a row: element (i, j) at row above + i - j of column j. Others are set to 0
/// in `m`.
template <class T>
std::vector<T> band(std::vector<T>& m, int rows, int columns, int below, int above, int ld) {
  std::vector<T> packed(z(ld) * z(columns), T(77));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      T& from = m[z(i) + z(j) * z(rows)];
      if (i - j > below || j - i > above)
        from = 0;
      else
        packed[z(above + i - j) + z(j) * z(ld)] = from;
    }
  return packed;
}
/// A matrix whose triangles lead to numbers of about the same size.
template <class T>
std::vector<T> for_solving(int n, int ld) {
  std::vector<T> a = numbers<T>(z(ld) * z(n), 1);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      a[z(i) + z(j) * z(ld)] = i == j ? T(i % 2 == 0 ? 2 : -4) : a[z(i) + z(j) * z(ld)] / T(n);
  return a;
}

/// A vector with its elements `increment` apart, from the end where that is negative, and back.
template <class T>
std::vector<T> spread(const std::vector<T>& v, int increment) {
  const int n = static_cast<int>(v.size()), step = std::abs(increment);
  std::vector<T> to(z((n - 1) * step + 1), T(99));
  for (int i = 0; i < n; ++i) to[z(increment > 0 ? i * step : (n - 1 - i) * step)] = v[z(i)];
  return to;
}
template <class T>
Full<T> gathered(const std::vector<T>& v, int n, int increment) {
  Full<T> m(n, 1);
  const int step = std::abs(increment);
  for (int i = 0; i < n; ++i) m.at(i, 0) = v[z(increment > 0 ? i * step : (n - 1 - i) * step)];
  return m;
}

template <class T>
class Matrices : public CublasTest {
 protected:
  const T alpha_ = 2, beta_ = -1, zero_ = 0;
  static constexpr double kClose = std::is_same_v<T, float> ? 2e-3 : 1e-10;

  void expect(const Full<T>& found, const Full<T>& want) {
    for (int j = 0; j < want.columns; ++j)
      for (int i = 0; i < want.rows; ++i)
        ASSERT_NEAR(found.at(i, j), want.at(i, j), kClose * (1 + std::abs(want.at(i, j))))
            << want.rows << " x " << want.columns << " at " << i << ", " << j;
  }
  /// y = alpha a x + beta y by `run`(x, incx, y, incy)
  template <class F>
  void expect_product(const Full<T>& a, F&& run) {
    for (const int incx : {1, -2})
      for (const int incy : {1, 3, -1}) {
        const auto x = numbers<T>(z(a.columns), 3), y = numbers<T>(z(a.rows), 4);
        const OnDevice<T> on_x(spread(x, incx)), on_y(spread(y, incy));
        ASSERT_EQ(run(on_x.get(), incx, on_y.get(), incy), kSuccess);
        Full<T> want = a * read(x, a.columns, 1, a.columns);
        for (int i = 0; i < a.rows; ++i) want.at(i, 0) = alpha_ * want.at(i, 0) + beta_ * y[z(i)];
        expect(gathered(on_y.values(), a.rows, incy), want);
        if (this->HasFailure() || a.rows > kMany) return;
      }
  }
  /// x = a x by `times`(x, incx), and back by `solve`
  template <class F, class G>
  void expect_there_and_back(const Full<T>& a, F&& times, G&& solve) {
    for (const int inc : {1, -2, 3}) {
      const auto x = numbers<T>(z(a.rows), 5);
      const OnDevice<T> on_x(spread(x, inc));
      ASSERT_EQ(times(on_x.get(), inc), kSuccess);
      const Full<T> before = read(x, a.rows, 1, a.rows);
      expect(gathered(on_x.values(), a.rows, inc), a * before);
      ASSERT_EQ(solve(on_x.get(), inc), kSuccess);
      expect(gathered(on_x.values(), a.rows, inc), before);
      if (this->HasFailure() || a.rows > kMany) return;
    }
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Matrices, Types);

TYPED_TEST(Matrices, BandsTimesVectors) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T *const alpha = &this->alpha_, *const beta = &this->beta_;
  for (const int n : kSizes) {
    const int m = n + 3, below = std::min(2, m - 1), above = std::min(5, n - 1);
    const int ld = below + above + 2;
    auto a = numbers<T>(z(m) * z(n), 1);
    const OnDevice<T> on_a(band(a, m, n, below, above, ld));
    for (const int t : {0, 1}) {
      const Full<T> of = t != 0 ? read(a, m, n, m).transposed() : read(a, m, n, m);
      this->expect_product(of, [&](const T* x, int incx, T* y, int incy) {
        return NW_OF(T, gbmv_v2)(h, t, m, n, below, above, alpha, on_a.get(), ld, x, incx, beta, y,
                                 incy);
      });
    }
  }
}

TYPED_TEST(Matrices, SymmetricOnesTimesVectors) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T *const alpha = &this->alpha_, *const beta = &this->beta_;
  for (const int n : kSizes)
    for (const int fill : {kLower, kUpper}) {
      auto a = numbers<T>(z(n) * z(n), 1);
      const OnDevice<T> on_a(a), on_packed(pack(a, n, fill));
      const Full<T> full = symmetric(read(a, n, n, n), fill);
      this->expect_product(full, [&](const T* x, int incx, T* y, int incy) {
        return NW_OF(T, symv_v2)(h, fill, n, alpha, on_a.get(), n, x, incx, beta, y, incy);
      });
      this->expect_product(full, [&](const T* x, int incx, T* y, int incy) {
        return NW_OF(T, spmv_v2)(h, fill, n, alpha, on_packed.get(), x, incx, beta, y, incy);
      });
      const int k = std::min(4, n - 1), ld = k + 2;
      const OnDevice<T> on_band(band(a, n, n, fill == kUpper ? 0 : k, fill == kUpper ? k : 0, ld));
      this->expect_product(symmetric(read(a, n, n, n), fill), [&](const T* x, int incx, T* y,
                                                                  int incy) {
        return NW_OF(T, sbmv_v2)(h, fill, n, k, alpha, on_band.get(), ld, x, incx, beta, y, incy);
      });
    }
}

TYPED_TEST(Matrices, TrianglesAndVectorsThereAndBack) {
  using T = TypeParam;
  void* const h = this->handle_;
  for (const int n : kSizes)
    for (const int fill : {kLower, kUpper})
      for (const int t : {0, 1})
        for (const int unit : {0, 1}) {
          auto a = for_solving<T>(n, n);
          const OnDevice<T> on_a(a), on_packed(pack(a, n, fill));
          const auto of = [&] {
            const Full<T> full = triangle(read(a, n, n, n), fill, unit);
            return t != 0 ? full.transposed() : full;
          };
          this->expect_there_and_back(
              of(),
              [&](T* x, int inc) {
                return NW_OF(T, trmv_v2)(h, fill, t, unit, n, on_a.get(), n, x, inc);
              },
              [&](T* x, int inc) {
                return NW_OF(T, trsv_v2)(h, fill, t, unit, n, on_a.get(), n, x, inc);
              });
          if (n == 1000) continue;  // the same kernels
          this->expect_there_and_back(
              of(),
              [&](T* x, int inc) {
                return NW_OF(T, tpmv_v2)(h, fill, t, unit, n, on_packed.get(), x, inc);
              },
              [&](T* x, int inc) {
                return NW_OF(T, tpsv_v2)(h, fill, t, unit, n, on_packed.get(), x, inc);
              });
          const int k = std::min(4, n - 1), ld = k + 2;
          const OnDevice<T> on_band(
              band(a, n, n, fill == kUpper ? 0 : k, fill == kUpper ? k : 0, ld));
          this->expect_there_and_back(
              of(),
              [&](T* x, int inc) {
                return NW_OF(T, tbmv_v2)(h, fill, t, unit, n, k, on_band.get(), ld, x, inc);
              },
              [&](T* x, int inc) {
                return NW_OF(T, tbsv_v2)(h, fill, t, unit, n, k, on_band.get(), ld, x, inc);
              });
        }
}

TYPED_TEST(Matrices, UpdatesOfRankOneAndTwo) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T* const alpha = &this->alpha_;
  for (const int n : kSizes)
    for (const int fill : {kLower, kUpper})
      for (const bool both : {false, true}) {
        const auto a = numbers<T>(z(n) * z(n), 1), x = numbers<T>(z(n), 2), y = numbers<T>(z(n), 3);
        const OnDevice<T> on_a(a), on_packed(pack(a, n, fill)), on_x(spread(x, -2)), on_y(y);
        if (both) {
          ASSERT_EQ(
              NW_OF(T, syr2_v2)(h, fill, n, alpha, on_x.get(), -2, on_y.get(), 1, on_a.get(), n),
              kSuccess);
          ASSERT_EQ(
              NW_OF(T, spr2_v2)(h, fill, n, alpha, on_x.get(), -2, on_y.get(), 1, on_packed.get()),
              kSuccess);
        } else {
          ASSERT_EQ(NW_OF(T, syr_v2)(h, fill, n, alpha, on_x.get(), -2, on_a.get(), n), kSuccess);
          ASSERT_EQ(NW_OF(T, spr_v2)(h, fill, n, alpha, on_x.get(), -2, on_packed.get()), kSuccess);
        }
        auto want = a;
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
            if (stored(fill, i, j))
              want[z(i) + z(j) * z(n)] +=
                  2 * (both ? x[z(i)] * y[z(j)] + y[z(i)] * x[z(j)] : x[z(i)] * x[z(j)]);
        ASSERT_EQ(on_a.values(), want);  // small numbers, which both types have exactly
        ASSERT_EQ(on_packed.values(), pack(want, n, fill));
      }
}

TYPED_TEST(Matrices, SymmetricProductsAndUpdates) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T *const alpha = &this->alpha_, *const beta = &this->beta_;
  for (const int m : kSizesOf3) {
    const int n = kColumns, ldb = m + 2;
    for (const int fill : {kLower, kUpper}) {
      const auto b = numbers<T>(z(ldb) * z(n), 2), c = numbers<T>(z(ldb) * z(n), 3);
      for (const int side : {kLeft, kRight}) {
        const int order = side == kLeft ? m : n, lda = order + 1;
        const auto a = numbers<T>(z(lda) * z(order), 1);
        const OnDevice<T> on_a(a), on_b(b), on_c(c);
        ASSERT_EQ(NW_OF(T, symm_v2)(h, side, fill, m, n, alpha, on_a.get(), lda, on_b.get(), ldb,
                                    beta, on_c.get(), ldb),
                  kSuccess);
        const Full<T> of = symmetric(read(a, order, order, lda), fill), by = read(b, m, n, ldb);
        Full<T> want = side == kLeft ? of * by : by * of;
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) want.at(i, j) = 2 * want.at(i, j) - c[z(i) + z(j) * z(ldb)];
        this->expect(read(on_c.values(), m, n, ldb), want);
      }
      // C is m x m, of factors with n columns, or rows.
      for (const int t : {0, 1})
        for (const int kind : {0, 1, 2}) {
          const int lda = (t != 0 ? n : m) + 1, columns = t != 0 ? m : n;
          const auto a = numbers<T>(z(lda) * z(columns), 1), x = numbers<T>(z(lda) * z(columns), 5);
          const auto old = numbers<T>(z(ldb) * z(m), 6);
          const OnDevice<T> on_a(a), on_x(x), on_c(old);
          const auto status = kind == 0 ? NW_OF(T, syrk_v2)(h, fill, t, m, n, alpha, on_a.get(),
                                                            lda, beta, on_c.get(), ldb)
                              : kind == 1
                                  ? NW_OF(T, syr2k_v2)(h, fill, t, m, n, alpha, on_a.get(), lda,
                                                       on_x.get(), lda, beta, on_c.get(), ldb)
                                  : NW_OF(T, syrkx)(h, fill, t, m, n, alpha, on_a.get(), lda,
                                                    on_x.get(), lda, beta, on_c.get(), ldb);
          ASSERT_EQ(status, kSuccess);
          const auto factor = [&](const std::vector<T>& v) {
            return t != 0 ? read(v, n, m, lda).transposed() : read(v, m, n, lda);
          };
          const Full<T> fa = factor(a), fx = kind == 0 ? fa : factor(x);
          const Full<T> one = fa * fx.transposed(), other = fx * fa.transposed();
          Full<T> want = read(old, m, m, ldb);
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < m; ++j)
              if (stored(fill, i, j))
                want.at(i, j) =
                    2 * (one.at(i, j) + (kind == 1 ? other.at(i, j) : 0)) - want.at(i, j);
          this->expect(read(on_c.values(), m, m, ldb), want);
        }
    }
  }
}

TYPED_TEST(Matrices, TrianglesAndMatricesThereAndBack) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T* const alpha = &this->alpha_;
  const T half = T(0.5);
  for (const int m : kSizesOf3)
    for (const int side : {kLeft, kRight})
      for (const int fill : {kLower, kUpper})
        for (const int t : {0, 1})
          for (const int unit : {0, 1}) {
            const int n = kColumns, ldb = m + 2, order = side == kLeft ? m : n, lda = order + 1;
            const auto a = for_solving<T>(order, lda), b = numbers<T>(z(ldb) * z(n), 2);
            const OnDevice<T> on_a(a), on_b(b), on_c(std::vector<T>(z(ldb) * z(n), T(99)));
            Full<T> of = triangle(read(a, order, order, lda), fill, unit);
            if (t != 0) of = of.transposed();
            const Full<T> before = read(b, m, n, ldb);
            Full<T> want = side == kLeft ? of * before : before * of;
            for (double& v : want.values) v *= 2;
            // To another matrix, and where B is.
            ASSERT_EQ(NW_OF(T, trmm_v2)(h, side, fill, t, unit, m, n, alpha, on_a.get(), lda,
                                        on_b.get(), ldb, on_c.get(), ldb),
                      kSuccess);
            this->expect(read(on_c.values(), m, n, ldb), want);
            ASSERT_EQ(NW_OF(T, trmm_v2)(h, side, fill, t, unit, m, n, alpha, on_a.get(), lda,
                                        on_b.get(), ldb, on_b.get(), ldb),
                      kSuccess);
            this->expect(read(on_b.values(), m, n, ldb), want);
            ASSERT_EQ(NW_OF(T, trsm_v2)(h, side, fill, t, unit, m, n, &half, on_a.get(), lda,
                                        on_b.get(), ldb),
                      kSuccess);
            this->expect(read(on_b.values(), m, n, ldb), before);
            const OnDevice<T*> matrices(std::vector<T*>{on_a.get(), on_a.get()}),
                sides(std::vector<T*>{on_c.get(), on_b.get()});
            ASSERT_EQ(NW_OF(T, trsmBatched)(h, side, fill, t, unit, m, n, &half, matrices.get(),
                                            lda, sides.get(), ldb, 2),
                      kSuccess);
            this->expect(read(on_c.values(), m, n, ldb), before);
            if (this->HasFailure()) return;
          }
}

TYPED_TEST(Matrices, Rotations) {
  using T = TypeParam;
  void* const h = this->handle_;
  for (const std::array<double, 2> at :
       {std::array{3.0, 4.0}, {-4.0, 3.0}, {0.0, 2.0}, {0.0, 0.0}}) {
    T a = T(at[0]), b = T(at[1]), c = 9, s = 9;
    ASSERT_EQ(NW_OF(T, rotg_v2)(h, &a, &b, &c, &s), kSuccess);
    EXPECT_NEAR(double(c) * at[0] + double(s) * at[1], double(a), 1e-5);
    EXPECT_NEAR(double(c) * at[1] - double(s) * at[0], 0, 1e-5);
    EXPECT_NEAR(double(c) * c + double(s) * s, 1, 1e-5);
  }
  // The modified rotation makes y 0, and keeps lengths under the new weights.
  struct Case {
    double d1, d2, x, y;
  };
  for (const Case& k :
       {Case{2, 3, 5, 1}, {1, 4, 1, 7}, {1e-9, 5, 2, 3}, {1e9, 3, 2, 40000}, {2, 3, 4, 0}}) {
    T d1 = T(k.d1), d2 = T(k.d2), x1 = T(k.x), p[5] = {9, 9, 9, 9, 9};
    const T y1 = T(k.y);
    ASSERT_EQ(NW_OF(T, rotmg_v2)(h, &d1, &d2, &x1, &y1, p), kSuccess);
    const OnDevice<T> x(std::vector<T>{T(k.x)}), y(std::vector<T>{y1});
    ASSERT_EQ(NW_OF(T, rotm_v2)(h, 1, x.get(), 1, y.get(), 1, p), kSuccess);
    const double length = k.d1 * k.x * k.x + k.d2 * k.y * k.y;
    EXPECT_NEAR(double(d1) * x.values()[0] * x.values()[0] / length, 1, 1e-4);
    EXPECT_NEAR(y.values()[0], 0, 1e-2);
    if (p[0] != T(-2)) {
      EXPECT_NEAR(double(x1) / x.values()[0], 1, 1e-4);
    }
    // The rotation from numbers on the device.
    const OnDevice<T> n(std::vector<T>{T(k.d1), T(k.d2), T(k.x), y1, 9, 9, 9, 9, 9});
    ASSERT_EQ(cublasSetPointerMode_v2(h, kDevicePointers), kSuccess);
    ASSERT_EQ(NW_OF(T, rotmg_v2)(h, n.get(), n.get() + 1, n.get() + 2, n.get() + 3, n.get() + 4),
              kSuccess);
    ASSERT_EQ(NW_OF(T, rotm_v2)(h, 1, n.get() + 2, 1, n.get() + 3, 1, n.get() + 4), kSuccess);
    ASSERT_EQ(cublasSetPointerMode_v2(h, kHostPointers), kSuccess);
    const auto all = n.values();
    EXPECT_EQ(all[0], d1);
    EXPECT_EQ(all[1], d2);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(all[z(4 + i)], p[i]) << i;
  }
}

TYPED_TEST(Matrices, WhatDoesNotFitIsRefused) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T one = 1;
  const OnDevice<T> x(std::vector<T>(64));
  T* const p = x.get();
  EXPECT_EQ(NW_OF(T, symv_v2)(h, kLower, 4, &one, p, 3, p, 1, &one, p, 1), kInvalidValue);
  EXPECT_EQ(NW_OF(T, symv_v2)(h, 7, 4, &one, p, 4, p, 1, &one, p, 1), kInvalidValue);
  EXPECT_EQ(NW_OF(T, symv_v2)(h, kLower, 4, &one, p, 4, p, 0, &one, p, 1), kInvalidValue);
  EXPECT_EQ(NW_OF(T, gbmv_v2)(h, 0, 4, 4, 2, 1, &one, p, 3, p, 1, &one, p, 1), kInvalidValue);
  EXPECT_EQ(NW_OF(T, trsm_v2)(h, 5, kLower, 0, 0, 4, 4, &one, p, 4, p, 4), kInvalidValue);
  EXPECT_EQ(NW_OF(T, trsm_v2)(h, kLeft, kLower, 0, 0, 4, 4, &one, p, 4, p, 3), kInvalidValue);
  EXPECT_EQ(NW_OF(T, trsm_v2)(h, kLeft, kLower, 0, 0, 0, 4, &one, p, 4, p, 3), kSuccess);
}

/// An operand that its result replaces is copied to where the application has given enough room.
TEST_F(CublasTest, WorkspacesOfTheApplication) {
  const std::vector<float> x{1, 2, 3}, nothing(3);
  const OnDevice<float> a(std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1});
  const auto copied = [&](size_t bytes, bool other_stream) {
    const OnDevice<float> on_x(x), workspace(nothing);
    EXPECT_EQ(cublasSetWorkspace_v2(handle_, workspace.get(), bytes), kSuccess);
    if (other_stream) {
      EXPECT_EQ(cublasSetStream_v2(handle_, nullptr), kSuccess);
    }
    EXPECT_EQ(cublasStrmv_v2(handle_, 0, 0, 0, 3, a.get(), 3, on_x.get(), 1), kSuccess);
    EXPECT_EQ(on_x.values(), (std::vector<float>{1, 3, 6}));
    return workspace.values();
  };
  EXPECT_EQ(copied(3 * sizeof(float), false), x);
  EXPECT_EQ(copied(3 * sizeof(float) - 1, false), nothing);  // too small
  EXPECT_EQ(copied(3 * sizeof(float), true), nothing);       // given up with its stream
  EXPECT_EQ(cublasSetWorkspace_v2(handle_, a.get() + 1, 64), kInvalidValue);
}

}  // namespace
}  // namespace nearwarp::cublas
