// BLAS of complex numbers: are results those of plain code?
#include <complex>
#include <string>

#include "tests/cublas/calls.h"

extern "C" {
int cublasCgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasZgemm_v2_64(void*, int, int, int64_t, int64_t, int64_t, const void*, const void*, int64_t,
                      const void*, int64_t, const void*, void*, int64_t);
int cublasZgemmStridedBatched(void*, int, int, int, int, int, const void*, const void*, int,
                              long long, const void*, int, long long, const void*, void*, int,
                              long long, int);
int cublasCgemmBatched(void*, int, int, int, int, int, const void*, const void* const*, int,
                       const void* const*, int, const void*, void* const*, int, int);
int cublasCgemm3m(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                  const void*, void*, int);
int cublasZgemv_v2(void*, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasZgeru_v2(void*, int, int, const void*, const void*, int, const void*, int, void*, int);
int cublasZgerc_v2(void*, int, int, const void*, const void*, int, const void*, int, void*, int);
int cublasZgeam(void*, int, int, int, int, const void*, const void*, int, const void*, const void*,
                int, void*, int);
int cublasCaxpy_v2(void*, int, const void*, const void*, int, void*, int);
int cublasZscal_v2(void*, int, const void*, void*, int);
int cublasZdscal_v2(void*, int, const void*, void*, int);
int cublasCsscal_v2(void*, int, const void*, void*, int);
int cublasCcopy_v2(void*, int, const void*, int, void*, int);
int cublasZswap_v2(void*, int, void*, int, void*, int);
int cublasZdotu_v2(void*, int, const void*, int, const void*, int, void*);
int cublasZdotc_v2(void*, int, const void*, int, const void*, int, void*);
int cublasDzasum_v2(void*, int, const void*, int, void*);
int cublasDznrm2_v2(void*, int, const void*, int, void*);
int cublasScnrm2_v2(void*, int, const void*, int, void*);
int cublasIzamax_v2(void*, int, const void*, int, int*);
int cublasIcamin_v2_64(void*, int64_t, const void*, int64_t, int64_t*);
}

namespace nearwarp::cublas {
namespace {

using C32 = std::complex<float>;
using C64 = std::complex<double>;

template <class C>
std::vector<C> complex_numbers(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  const auto part = [&] {
    return static_cast<typename C::value_type>(static_cast<int>(random() % 2001) - 1000) / 1000;
  };
  std::vector<C> values(n);
  for (C& v : values) v = {part(), part()};
  return values;
}
/// Element (row, column) of op(A), of which rows lie `ld` apart.
template <class C>
C64 operated(const std::vector<C>& a, int ld, int op, int row, int column) {
  const auto at = [&](int r, int c) { return C64(a[static_cast<size_t>(r + c * ld)]); };
  return op == 0 ? at(row, column) : op == 1 ? at(column, row) : std::conj(at(column, row));
}

class Complex : public CublasTest {
 protected:
  /// C = alpha op(A) op(B) + beta C, NaN where beta is 0.
  template <class C, class Gemm>
  void product(Gemm&& gemm, int op_a, int op_b, int m, int n, int k, C alpha, C beta,
               double allowed) {
    const int lda = (op_a == 0 ? m : k) + 2, ldb = (op_b == 0 ? k : n) + 1, ldc = m + 3;
    const auto a = complex_numbers<C>(static_cast<size_t>(lda * (op_a == 0 ? k : m)), 1),
               b = complex_numbers<C>(static_cast<size_t>(ldb * (op_b == 0 ? n : k)), 2);
    auto c = complex_numbers<C>(static_cast<size_t>(ldc * n), 3);
    if (beta == C(0)) c.assign(c.size(), C(NAN, NAN));
    const OnDevice<C> on_a(a), on_b(b), on_c(c);
    ASSERT_EQ(gemm(handle_, op_a, op_b, m, n, k, &alpha, on_a.get(), lda, on_b.get(), ldb, &beta,
                   on_c.get(), ldc),
              kSuccess);
    const auto result = on_c.values();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        C64 sum = 0;
        for (int l = 0; l < k; ++l)
          sum += operated(a, lda, op_a, i, l) * operated(b, ldb, op_b, l, j);
        const auto at = static_cast<size_t>(i + j * ldc);
        const C64 expected = C64(alpha) * sum + (beta == C(0) ? C64(0) : C64(beta) * C64(c[at]));
        ASSERT_LE(std::abs(C64(result[at]) - expected), allowed * (1 + std::abs(expected)))
            << m << " " << n << " " << k << " operations " << op_a << " " << op_b << " at " << i
            << " " << j;
      }
  }
};

TEST_F(Complex, ProductsOfMatrices) {
  for (const int op_a : {0, 1, 2})
    for (const int op_b : {0, 1, 2})
      for (const int n : {1, 7, 32, 65}) {
        product<C32>(cublasCgemm_v2, op_a, op_b, n, n + 2, n + 1, {1.5f, -1}, {0, 0.5f}, 1e-5);
        product<C64>(cublasZgemm_v2_64, op_a, op_b, n + 3, n, n, {0, 1}, {0, 0}, 1e-13);
      }
  product<C32>(cublasCgemm3m, 2, 0, 9, 9, 129, {1, 0}, {1, 0}, 1e-5);
}

/// Operands whose factor is 0, on the host or the device, are not read.
TEST_F(Complex, TimesZero) {
  const C64 nan(NAN, NAN), zero = 0, one = 1;
  const OnDevice<C64> x(std::vector<C64>{nan}), factors(std::vector<C64>{0, 1});
  for (const int mode : {kHostPointers, kDevicePointers}) {
    const bool is_there = mode == kDevicePointers;
    const void* const alpha = is_there ? static_cast<const void*>(factors.get()) : &zero;
    const void* const beta = is_there ? static_cast<const void*>(factors.get() + 1) : &one;
    const OnDevice<C64> y(std::vector<C64>{{2, 3}});
    ASSERT_EQ(cublasSetPointerMode_v2(handle_, mode), kSuccess);
    ASSERT_EQ(
        cublasZgemm_v2_64(handle_, 0, 0, 1, 1, 1, alpha, x.get(), 1, x.get(), 1, beta, y.get(), 1),
        kSuccess);
    ASSERT_EQ(cublasZgemv_v2(handle_, 0, 1, 1, alpha, x.get(), 1, x.get(), 1, beta, y.get(), 1),
              kSuccess);
    ASSERT_EQ(cublasZgerc_v2(handle_, 1, 1, alpha, x.get(), 1, x.get(), 1, y.get(), 1), kSuccess);
    EXPECT_EQ(y.values()[0], C64(2, 3)) << mode;
  }
}

TEST_F(Complex, BatchesOfProducts) {
  const auto a = complex_numbers<C64>(3 * 4, 1), b = complex_numbers<C64>(3 * 4, 2);
  const OnDevice<C64> on_a(a), on_b(b), on_c(12);
  const C64 one = 1, zero = 0;
  ASSERT_EQ(cublasZgemmStridedBatched(handle_, 0, 2, 2, 2, 2, &one, on_a.get(), 2, 4, on_b.get(), 2,
                                      4, &zero, on_c.get(), 2, 4, 3),
            kSuccess);
  const auto c = on_c.values();
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LE(std::abs(c[4 * i + 2] - (a[4 * i] * std::conj(b[4 * i + 1]) +
                                       a[4 * i + 2] * std::conj(b[4 * i + 3]))),
              1e-14);
  const auto x = complex_numbers<C32>(2, 3);
  const OnDevice<C32> on_x(x), to(2);
  const OnDevice<const void*> from(std::vector<const void*>{on_x.get(), on_x.get() + 1});
  const OnDevice<void*> results(std::vector<void*>{to.get() + 1, to.get()});
  const C32 i{0, 1}, none = 0;
  ASSERT_EQ(cublasCgemmBatched(handle_, 0, 0, 1, 1, 1, &i, from.get(), 1, from.get(), 1, &none,
                               results.get(), 1, 2),
            kSuccess);
  EXPECT_LE(std::abs(to.values()[0] - i * x[1] * x[1]), 1e-6f);
  EXPECT_LE(std::abs(to.values()[1] - i * x[0] * x[0]), 1e-6f);
}

TEST_F(Complex, GemmExInTypesOfTheCall) {
  const OnDevice<C32> x(std::vector<C32>{{1, 2}, {3, 4}}), y(1);
  const C32 one = 1, zero = 0;
  const auto gemm = [&](int b, int compute) {
    return cublasGemmEx(handle_, 2, 0, 1, 1, 2, &one, x.get(), kC32, 2, x.get(), b, 2, &zero,
                        y.get(), kC32, 1, compute, -1);
  };
  ASSERT_EQ(gemm(kC32, kCompute32F), kSuccess);
  EXPECT_EQ(y.values()[0], C32(30));
  EXPECT_EQ(gemm(kF32, kCompute32F), kNotSupported);
  EXPECT_EQ(gemm(kC32, kCompute64F), kNotSupported);
}

TEST_F(Complex, MatricesAndVectors) {
  const C64 alpha{2, 1}, beta{0, -1};
  for (const int m : {1, 7, 60})
    for (const int op : {0, 1, 2}) {
      const int n = m + 5, lda = m + 1, rows = op == 0 ? m : n, columns = op == 0 ? n : m;
      const auto a = complex_numbers<C64>(static_cast<size_t>(lda * n), 4),
                 x = complex_numbers<C64>(static_cast<size_t>(2 * columns), 5),
                 y = complex_numbers<C64>(static_cast<size_t>(rows), 6);
      const OnDevice<C64> on_a(a), on_x(x), on_y(y);
      ASSERT_EQ(cublasZgemv_v2(handle_, op, m, n, &alpha, on_a.get(), lda, on_x.get(), 2, &beta,
                               on_y.get(), -1),
                kSuccess);
      const auto result = on_y.values();
      for (int i = 0; i < rows; ++i) {
        C64 sum = 0;
        for (int j = 0; j < columns; ++j)
          sum += operated(a, lda, op, i, j) * x[static_cast<size_t>(2 * j)];
        const auto at = static_cast<size_t>(rows - 1 - i);
        ASSERT_LE(std::abs(result[at] - (alpha * sum + beta * y[at])), 1e-12) << m << " " << op;
      }
    }
  const auto x = complex_numbers<C64>(3, 7), y = complex_numbers<C64>(2, 8),
             a = complex_numbers<C64>(6, 9);
  for (const bool conjugates : {false, true}) {
    const OnDevice<C64> on_x(x), on_y(y), on_a(a);
    ASSERT_EQ((conjugates ? cublasZgerc_v2 : cublasZgeru_v2)(handle_, 3, 2, &alpha, on_x.get(), 1,
                                                             on_y.get(), 1, on_a.get(), 3),
              kSuccess);
    const auto result = on_a.values();
    for (size_t i = 0; i < 6; ++i) {
      const C64 factor = conjugates ? std::conj(y[i / 3]) : y[i / 3];
      ASSERT_LE(std::abs(result[i] - (a[i] + alpha * x[i % 3] * factor)), 1e-14);
    }
  }
  // Two matrices added, one of them transposed with conjugates.
  const auto p = complex_numbers<C64>(6, 10), q = complex_numbers<C64>(6, 11);
  const OnDevice<C64> on_p(p), on_q(q), sum(6);
  ASSERT_EQ(
      cublasZgeam(handle_, 2, 0, 3, 2, &alpha, on_p.get(), 2, &beta, on_q.get(), 3, sum.get(), 3),
      kSuccess);
  const auto added = sum.values();
  for (size_t i = 0; i < 6; ++i)
    ASSERT_LE(std::abs(added[i] - (alpha * std::conj(p[i / 3 + i % 3 * 2]) + beta * q[i])), 1e-14);
}

TEST_F(Complex, Vectors) {
  for (const int n : {1, 7, 1000}) {
    const auto size = static_cast<size_t>(n);
    const auto x = complex_numbers<C64>(size, 1), y = complex_numbers<C64>(size, 2);
    const OnDevice<C64> on_x(x), on_y(y);
    C64 plain = 0, conjugated = 0, expected_plain = 0, expected_conjugated = 0;
    double magnitudes = 0, length = 0, expected_magnitudes = 0, squares = 0;
    size_t largest = 0;
    const auto parts = [](C64 v) { return std::abs(v.real()) + std::abs(v.imag()); };
    for (size_t i = 0; i < size; ++i) {
      expected_plain += x[i] * y[i];
      expected_conjugated += std::conj(x[i]) * y[i];
      expected_magnitudes += parts(x[i]);
      squares += std::norm(x[i]);
      if (parts(x[i]) > parts(x[largest])) largest = i;
    }
    ASSERT_EQ(cublasZdotu_v2(handle_, n, on_x.get(), 1, on_y.get(), 1, &plain), kSuccess);
    ASSERT_EQ(cublasZdotc_v2(handle_, n, on_x.get(), 1, on_y.get(), 1, &conjugated), kSuccess);
    ASSERT_EQ(cublasDzasum_v2(handle_, n, on_x.get(), 1, &magnitudes), kSuccess);
    ASSERT_EQ(cublasDznrm2_v2(handle_, n, on_x.get(), 1, &length), kSuccess);
    int place = 0;
    ASSERT_EQ(cublasIzamax_v2(handle_, n, on_x.get(), 1, &place), kSuccess);
    EXPECT_LE(std::abs(plain - expected_plain), 1e-11);
    EXPECT_LE(std::abs(conjugated - expected_conjugated), 1e-11);
    EXPECT_NEAR(magnitudes, expected_magnitudes, 1e-11);
    EXPECT_NEAR(length, std::sqrt(squares), 1e-11);
    EXPECT_EQ(place, static_cast<int>(largest) + 1);

    const C64 alpha{0.5, 2};
    const double half = 0.5;
    ASSERT_EQ(cublasZscal_v2(handle_, n, &alpha, on_x.get(), 1), kSuccess);
    ASSERT_EQ(cublasZdscal_v2(handle_, n, &half, on_y.get(), 1), kSuccess);
    ASSERT_EQ(cublasZswap_v2(handle_, n, on_x.get(), 1, on_y.get(), -1), kSuccess);
    EXPECT_EQ(on_x.values()[0], half * y[size - 1]);
    EXPECT_LE(std::abs(on_y.values()[size - 1] - alpha * x[0]), 1e-15);
  }
  const OnDevice<C32> x(std::vector<C32>{{3, 4}, {0, 1}, {-2, 0}}), y(std::vector<C32>(3));
  const C32 i{0, 1};
  float length = 0;
  int64_t place = 0;
  ASSERT_EQ(cublasCcopy_v2(handle_, 3, x.get(), 1, y.get(), 1), kSuccess);
  ASSERT_EQ(cublasCaxpy_v2(handle_, 3, &i, x.get(), 1, y.get(), 1), kSuccess);
  EXPECT_EQ(y.values(), (std::vector<C32>{{-1, 7}, {-1, 1}, {-2, -2}}));
  ASSERT_EQ(cublasScnrm2_v2(handle_, 2, x.get(), 1, &length), kSuccess);
  EXPECT_FLOAT_EQ(length, std::sqrt(26.0f));
  ASSERT_EQ(cublasIcamin_v2_64(handle_, 3, x.get(), 1, &place), kSuccess);
  EXPECT_EQ(place, 2);
}

/// amax and amin give the index that reference BLAS does, in which comparisons with NaN are false.
TEST_F(Complex, PlacesAmongWhatIsNoNumber) {
  struct Case {
    std::vector<C32> x;
    int most, least;
  };
  const Case cases[] = {{{{1, 0}, {0, NAN}, {3, 0}, {-5, 0}}, 4, 1},
                        {{{5, 0}, {NAN, 0}, {0, 3}, {1, 0}}, 1, 4},
                        {{{NAN, 0}, {2, 0}, {1, 0}}, 1, 1},
                        {{{0, NAN}, {NAN, NAN}}, 1, 1}};
  for (const Case& k : cases) {
    const auto n = static_cast<int>(k.x.size());
    const OnDevice<C32> x(k.x);
    const OnDevice<C64> wide(std::vector<C64>(k.x.begin(), k.x.end()));
    int most = 0;
    int64_t least = 0;
    ASSERT_EQ(cublasIzamax_v2(handle_, n, wide.get(), 1, &most), kSuccess);
    ASSERT_EQ(cublasIcamin_v2_64(handle_, n, x.get(), 1, &least), kSuccess);
    EXPECT_EQ(most, k.most) << &k - cases;
    EXPECT_EQ(least, k.least) << &k - cases;
  }
}

/// An infinite part times a real number leaves the other part finite, and makes a norm infinite.
TEST_F(Complex, InfiniteParts) {
  const float two = 2;
  const OnDevice<float> factor(std::vector<float>{2});
  for (const int mode : {kHostPointers, kDevicePointers}) {
    const OnDevice<C32> x(std::vector<C32>{{1, INFINITY}});
    ASSERT_EQ(cublasSetPointerMode_v2(handle_, mode), kSuccess);
    ASSERT_EQ(cublasCsscal_v2(handle_, 1, mode == kHostPointers ? &two : factor.get(), x.get(), 1),
              kSuccess);
    EXPECT_EQ(x.values()[0], C32(2, INFINITY)) << mode;
  }
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kHostPointers), kSuccess);
  const OnDevice<C32> x(std::vector<C32>{{1, -INFINITY}, {0, NAN}});
  float length = 0;
  ASSERT_EQ(cublasScnrm2_v2(handle_, 1, x.get(), 1, &length), kSuccess);
  EXPECT_EQ(length, INFINITY);
  ASSERT_EQ(cublasScnrm2_v2(handle_, 2, x.get(), 1, &length), kSuccess);
  EXPECT_TRUE(std::isnan(length));
}

TEST_F(Complex, FactorsOnTheDeviceAndWhatIsWrong) {
  const OnDevice<C32> x(std::vector<C32>{{1, 2}}), factor(std::vector<C32>{{0, 1}}),
      length(std::vector<C32>(1));
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kDevicePointers), kSuccess);
  ASSERT_EQ(cublasCaxpy_v2(handle_, 1, factor.get(), x.get(), 1, x.get(), 1), kSuccess);
  EXPECT_EQ(x.values()[0], C32(-1, 3));
  ASSERT_EQ(cublasScnrm2_v2(handle_, 1, x.get(), 1, length.get()), kSuccess);
  EXPECT_FLOAT_EQ(length.values()[0].real(), std::sqrt(10.0f));
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kHostPointers), kSuccess);
  const C32 one = 1;
  const auto gemm = [&](int op, int m, int lda, const C32* alpha) {
    return cublasCgemm_v2(handle_, op, 0, m, 1, 1, alpha, x.get(), lda, x.get(), 1, &one, x.get(),
                          1);
  };
  EXPECT_EQ(gemm(3, 1, 1, &one), kInvalidValue);
  EXPECT_EQ(gemm(0, 2, 1, &one), kInvalidValue);  // lda < m
  EXPECT_EQ(gemm(0, 1, 1, nullptr), kInvalidValue);
  EXPECT_EQ(gemm(0, -1, 1, &one), kInvalidValue);
}

}  // namespace
}  // namespace nearwarp::cublas
