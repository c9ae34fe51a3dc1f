// Are products of matrices those of plain code on the CPU, in every shape and type?
#include <cmath>

#include "tests/cublas/calls.h"

namespace nearwarp::cublas {
namespace {

struct Shape {
  int m, n, k, transpose_a, transpose_b;
  double alpha, beta;
  int pad = 0;  ///< padding of leading dimensions
};

// Rows of the stored matrices, before transposition; a leading dimension is at least 1.
int rows_of_a(const Shape& s) { return std::max(1, s.transpose_a != 0 ? s.k : s.m); }
int rows_of_b(const Shape& s) { return std::max(1, s.transpose_b != 0 ? s.n : s.k); }
size_t length(int rows, int columns, int pad) {
  return static_cast<size_t>(rows + pad) * static_cast<size_t>(columns);
}

/// alpha op(A) op(B) + beta C, sums in f64.
template <class In, class Out>
std::vector<double> expected(const Shape& s, const In* a, const In* b, const Out* c) {
  const int lda = rows_of_a(s) + s.pad, ldb = rows_of_b(s) + s.pad, ldc = s.m + s.pad;
  std::vector<double> d(length(s.m, s.n, s.pad));
  for (int j = 0; j < s.n; ++j) {
    for (int i = 0; i < s.m; ++i) {
      double sum = 0;
      for (int x = 0; x < s.k; ++x)
        sum += value(a[s.transpose_a != 0 ? x + i * lda : i + x * lda]) *
               value(b[s.transpose_b != 0 ? j + x * ldb : x + j * ldb]);
      d[static_cast<size_t>(i + j * ldc)] =
          s.alpha * sum + (s.beta != 0 ? s.beta * value(c[i + j * ldc]) : 0);
    }
  }
  return d;
}

template <class Out>
void expect_near(const Shape& s, const std::vector<double>& want, const std::vector<Out>& found,
                 const std::vector<Out>& before, double relative) {
  const int ldc = s.m + s.pad;
  for (int j = 0; j < s.n; ++j) {
    for (int i = 0; i < ldc; ++i) {
      const auto at = static_cast<size_t>(i + j * ldc);
      if (i >= s.m) {  // between columns nothing is written
        ASSERT_EQ(value(found[at]), value(before[at])) << i << ", " << j;
      } else {
        ASSERT_NEAR(value(found[at]), want[at], relative * (1 + std::abs(want[at])))
            << i << ", " << j << " of " << s.m << "x" << s.n << "x" << s.k;
      }
    }
  }
}

/// Calls f(shape) for sizes near those of tiles, all transpositions, factors and leading
/// dimensions.
template <class F>
void each_shape(F&& f) {
  const int sizes[][3] = {{1, 1, 1},     {7, 1, 32},    {1, 7, 5},     {32, 32, 32}, {64, 64, 16},
                          {65, 33, 7},   {7, 129, 32},  {129, 7, 33},  {3, 5, 0},    {70, 66, 100},
                          {1000, 7, 32}, {7, 1000, 32}, {32, 7, 1000}, {64, 64, 40}};
  uint32_t number = 0;
  for (const auto& [m, n, k] : sizes) {
    for (int transposes = 0; transposes < 4; ++transposes, ++number) {
      const double alphas[] = {1, 0.5, -2, 0}, betas[] = {0, 1, 0.25};
      // Each transposition meets each factor. Multiples of a tile are read in pieces of 16 bytes,
      // so they have no padding.
      f(Shape{m, n, k, transposes & 1, transposes >> 1, alphas[(number / 4 + number) % 4],
              betas[number % 3], m % 64 == 0 && n % 64 == 0 ? 0 : static_cast<int>(number % 3)});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class T, class Gemm>
void check_real(Gemm&& gemm, double relative) {
  each_shape([&](const Shape& s) {
    const auto a = numbers<T>(length(rows_of_a(s), s.transpose_a != 0 ? s.m : s.k, s.pad), 1);
    const auto b = numbers<T>(length(rows_of_b(s), s.transpose_b != 0 ? s.k : s.n, s.pad), 2);
    const auto c = numbers<T>(length(s.m, s.n, s.pad), 3);
    const OnDevice<T> on_a(a), on_b(b), on_c(c);
    const T alpha = static_cast<T>(s.alpha), beta = static_cast<T>(s.beta);
    ASSERT_EQ(
        gemm(s.transpose_a, s.transpose_b, s.m, s.n, s.k, &alpha, on_a.get(), rows_of_a(s) + s.pad,
             on_b.get(), rows_of_b(s) + s.pad, &beta, on_c.get(), s.m + s.pad),
        kSuccess);
    expect_near(s, expected(s, a.data(), b.data(), c.data()), on_c.values(), c, relative);
  });
}

TEST_F(CublasTest, SinglePrecisionProducts) {
  check_real<float>([&](auto... args) { return cublasSgemm_v2(handle_, args...); }, 1e-5);
}
TEST_F(CublasTest, DoublePrecisionProducts) {
  check_real<double>([&](auto... args) { return cublasDgemm_v2(handle_, args...); }, 1e-13);
}
/// Operands need not begin at a multiple of 16 bytes, even if their columns are such a multiple
/// apart.
TEST_F(CublasTest, OperandsThatBeginAnywhere) {
  constexpr int kSize = 64;
  const Shape s{kSize, kSize, kSize, 0, 0, 1, 0, 0};
  const auto a = numbers<float>(kSize * kSize + 1, 1), b = numbers<float>(kSize * kSize + 1, 2);
  const auto c = numbers<float>(kSize * kSize, 3);
  const OnDevice<float> on_a(a), on_b(b), on_c(c);
  const float alpha = 1, beta = 0;
  ASSERT_EQ(cublasSgemm_v2(handle_, 0, 0, kSize, kSize, kSize, &alpha, on_a.get() + 1, kSize,
                           on_b.get() + 1, kSize, &beta, on_c.get(), kSize),
            kSuccess);
  expect_near(s, expected(s, a.data() + 1, b.data() + 1, c.data()), on_c.values(), c, 1e-5);
}
TEST_F(CublasTest, SizesOf64Bits) {
  check_real<float>([&](auto... args) { return cublasSgemm_v2_64(handle_, args...); }, 1e-5);
}

/// Checks products with operands and results of narrow types. `Scale`: type of alpha and beta.
template <class In, class Out, class Scale>
void check_narrow(void* handle, int in, int out, int compute, double relative, double unit) {
  each_shape([&](const Shape& s) {
    const auto narrow = [&]<class T>(size_t n, uint32_t seed, T) {
      std::vector<T> values;
      for (const double v : numbers<double>(n, seed, unit)) values.push_back(exactly<T>(v));
      return values;
    };
    Shape whole = s;  // integers have no halves
    if constexpr (std::is_same_v<Out, int32_t>) {
      whole.alpha = s.alpha == 0.5 ? 3 : s.alpha;
      whole.beta = s.beta == 0.25 ? 2 : s.beta;
    }
    const auto a = narrow(length(rows_of_a(s), s.transpose_a != 0 ? s.m : s.k, s.pad), 1, In{});
    const auto b = narrow(length(rows_of_b(s), s.transpose_b != 0 ? s.k : s.n, s.pad), 2, In{});
    const auto c = narrow(length(s.m, s.n, s.pad), 3, Out{});
    const OnDevice<In> on_a(a), on_b(b);
    const OnDevice<Out> on_c(c);
    const Scale alpha = exactly<Scale>(whole.alpha), beta = exactly<Scale>(whole.beta);
    ASSERT_EQ(cublasGemmEx(handle, s.transpose_a, s.transpose_b, s.m, s.n, s.k, &alpha, on_a.get(),
                           in, rows_of_a(s) + s.pad, on_b.get(), in, rows_of_b(s) + s.pad, &beta,
                           on_c.get(), out, s.m + s.pad, compute, -1),
              kSuccess);
    expect_near(whole, expected(whole, a.data(), b.data(), c.data()), on_c.values(), c, relative);
  });
}

TEST_F(CublasTest, ProductsOfF16) {
  check_narrow<Half, Half, float>(handle_, kF16, kF16, kCompute32F, 1e-3, 0.0625);
  check_narrow<Half, Half, Half>(handle_, kF16, kF16, kCompute16F, 1e-3, 0.0625);
  check_narrow<Half, float, float>(handle_, kF16, kF32, kCompute32F, 1e-5, 0.0625);
}
TEST_F(CublasTest, ProductsOfBf16) {
  check_narrow<Bf16, Bf16, float>(handle_, kBf16, kBf16, kCompute32F, 8e-3, 0.0625);
  check_narrow<Bf16, float, float>(handle_, kBf16, kF32, kCompute32F, 1e-5, 0.0625);
}
/// tf32 represents operands of few digits exactly, and rounds one of many.
TEST_F(CublasTest, ProductsOfTf32) {
  check_narrow<float, float, float>(handle_, kF32, kF32, kCompute32FFastTf32, 1e-5, 0.0625);
  const float factor = 1 + 0x1p-12f, one = 1, zero = 0;
  const OnDevice<float> a(std::vector<float>{factor}), b(std::vector<float>{1}),
      c(std::vector<float>{9});
  const auto product = [&] {
    EXPECT_EQ(
        cublasSgemm_v2(handle_, 0, 0, 1, 1, 1, &one, a.get(), 1, b.get(), 1, &zero, c.get(), 1),
        kSuccess);
    return c.values()[0];
  };
  EXPECT_EQ(product(), factor);
  ASSERT_EQ(cublasSetMathMode(handle_, kTf32Math), kSuccess);
  EXPECT_EQ(product(), 1);
  ASSERT_EQ(cublasSetMathMode(handle_, 0), kSuccess);
  EXPECT_EQ(product(), factor);
}
TEST_F(CublasTest, ProductsOfIntegers) {
  check_narrow<int8_t, int32_t, int32_t>(handle_, kS8, kS32, kCompute32I, 0, 1);
  check_narrow<int8_t, float, float>(handle_, kS8, kF32, kCompute32F, 1e-5, 1);
}

TEST_F(CublasTest, Batches) {
  const Shape s{33, 17, 20, 0, 1, 2, 1};
  constexpr int kItems = 5;
  const auto items = [&](int rows, int columns) {
    return length(rows, columns, 0) + 3;  // strides need not be tight
  };
  const size_t sa = items(s.m, s.k), sb = items(s.n, s.k), sc = items(s.m, s.n);
  const auto a = numbers<float>(sa * kItems, 1), b = numbers<float>(sb * kItems, 2),
             c = numbers<float>(sc * kItems, 3);
  const OnDevice<float> on_a(a), on_b(b), strided(c), by_pointer(c);
  const float alpha = 2, beta = 1;
  ASSERT_EQ(cublasSgemmStridedBatched(handle_, 0, 1, s.m, s.n, s.k, &alpha, on_a.get(), s.m,
                                      static_cast<long long>(sa), on_b.get(), s.n,
                                      static_cast<long long>(sb), &beta, strided.get(), s.m,
                                      static_cast<long long>(sc), kItems),
            kSuccess);
  std::vector<const float*> as, bs;
  std::vector<float*> cs;
  for (size_t i = 0; i < kItems; ++i) {
    as.push_back(on_a.get() + i * sa);
    bs.push_back(on_b.get() + i * sb);
    cs.push_back(by_pointer.get() + i * sc);
  }
  const OnDevice<const float*> list_a(as), list_b(bs);
  const OnDevice<float*> list_c(cs);
  ASSERT_EQ(cublasSgemmBatched(handle_, 0, 1, s.m, s.n, s.k, &alpha, list_a.get(), s.m,
                               list_b.get(), s.n, &beta, list_c.get(), s.m, kItems),
            kSuccess);
  EXPECT_EQ(strided.values(), by_pointer.values());
  const std::vector<float> found = strided.values();
  for (size_t i = 0; i < kItems; ++i) {
    const std::vector<float> own(found.begin() + static_cast<std::ptrdiff_t>(i * sc),
                                 found.begin() + static_cast<std::ptrdiff_t>((i + 1) * sc));
    expect_near(s, expected(s, &a[i * sa], &b[i * sb], &c[i * sc]), own, own, 1e-5);
  }
}

TEST_F(CublasTest, FactorsOnTheDevice) {
  const Shape s{9, 8, 7, 0, 0, 0.5, 2};
  const auto a = numbers<float>(63, 1), b = numbers<float>(56, 2), c = numbers<float>(72, 3);
  const OnDevice<float> on_a(a), on_b(b), on_c(c), factors(std::vector<float>{0.5f, 2.0f});
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kDevicePointers), kSuccess);
  ASSERT_EQ(cublasSgemm_v2(handle_, 0, 0, s.m, s.n, s.k, factors.get(), on_a.get(), s.m, on_b.get(),
                           s.k, factors.get() + 1, on_c.get(), s.m),
            kSuccess);
  expect_near(s, expected(s, a.data(), b.data(), c.data()), on_c.values(), c, 1e-5);
}

TEST_F(CublasTest, WhatIsNotReadMayBeNoNumber) {
  const std::vector<float> none(16, NAN);
  const OnDevice<float> a(none), c(none);
  const float zero = 0, one = 1;
  // beta = 0: not C; alpha = 0: neither A nor B.
  ASSERT_EQ(
      cublasSgemm_v2(handle_, 0, 0, 4, 4, 4, &zero, a.get(), 4, a.get(), 4, &zero, c.get(), 4),
      kSuccess);
  EXPECT_EQ(c.values(), std::vector<float>(16, 0.0f));
  ASSERT_EQ(cublasSgemm_v2(handle_, 0, 0, 4, 4, 4, &one, a.get(), 4, a.get(), 4, &zero, c.get(), 4),
            kSuccess);
  EXPECT_TRUE(std::isnan(c.values()[5]));
  // On the device, too.
  const OnDevice<float> on_zero(std::vector<float>(1));
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kDevicePointers), kSuccess);
  ASSERT_EQ(cublasSgemm_v2(handle_, 0, 0, 4, 4, 4, on_zero.get(), a.get(), 4, a.get(), 4,
                           on_zero.get(), c.get(), 4),
            kSuccess);
  EXPECT_EQ(c.values(), std::vector<float>(16, 0.0f));
}

TEST_F(CublasTest, WrongArgumentsAreRefused) {
  const OnDevice<float> x(std::vector<float>(64));
  const float one = 1;
  const auto gemm = [&](void* h, int ta, int m, int k, int lda, const float* alpha) {
    return cublasSgemm_v2(h, ta, 0, m, 4, k, alpha, x.get(), lda, x.get(), 8, &one, x.get(), 8);
  };
  EXPECT_EQ(gemm(handle_, 0, 4, 4, 4, &one), kSuccess);
  EXPECT_EQ(gemm(nullptr, 0, 4, 4, 4, &one), kNotInitialized);
  EXPECT_EQ(gemm(handle_, 7, 4, 4, 4, &one), kInvalidValue);
  EXPECT_EQ(gemm(handle_, 0, -1, 4, 4, &one), kInvalidValue);
  EXPECT_EQ(gemm(handle_, 0, 5, 4, 4, &one), kInvalidValue);  // lda < m
  EXPECT_EQ(gemm(handle_, 1, 4, 5, 4, &one), kInvalidValue);  // lda < k
  EXPECT_EQ(gemm(handle_, 0, 4, 4, 4, nullptr), kInvalidValue);
  int mode = -1;
  EXPECT_EQ(cublasSetMathMode(handle_, kTf32Math | 16), kSuccess);  // no sums in f16
  EXPECT_EQ(cublasSetMathMode(handle_, 9), kInvalidValue);
  EXPECT_EQ(cublasGetMathMode(handle_, &mode), kSuccess);
  EXPECT_EQ(mode, kTf32Math | 16);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cublasCherk_v2(handle_), kNotSupported);
  EXPECT_EQ(cublasGemmEx(handle_, 0, 0, 4, 4, 4, &one, x.get(), kF64, 4, x.get(), kF32, 4, &one,
                         x.get(), kF32, 4, kCompute32F, -1),
            kNotSupported);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cublasCherk_v2() is not supported"), std::string::npos) << said;
  EXPECT_NE(said.find("cublasGemmEx() with these types"), std::string::npos) << said;
  EXPECT_STREQ(cublasGetStatusName(kNotSupported), "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(cublasGetStatusString(kNotSupported),
               "the requested functionality is not supported");
  EXPECT_STREQ(cublasGetStatusString(11), "an access to GPU memory space failed");
  EXPECT_STREQ(cublasGetStatusName(2), "unrecognized status");
  EXPECT_STREQ(cublasGetStatusString(17), "unrecognized status");
}

}  // namespace
}  // namespace nearwarp::cublas
