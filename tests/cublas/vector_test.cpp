// Levels 1 and 2: are results those of plain code?
#include <cmath>
#include <numeric>

#include "tests/cublas/calls.h"

namespace nearwarp::cublas {
namespace {

constexpr int kSizes[] = {1, 7, 32, 129, 1000};

TEST_F(CublasTest, ElementByElement) {
  for (const int n : kSizes) {
    const auto x = numbers<float>(static_cast<size_t>(2 * n), 1);
    const auto y = numbers<float>(static_cast<size_t>(n), 2);
    const OnDevice<float> on_x(x), on_y(y);
    const float alpha = 3;
    // From x's end, every second one.
    ASSERT_EQ(cublasSaxpy_v2(handle_, n, &alpha, on_x.get(), -2, on_y.get(), 1), kSuccess);
    const auto sum = on_y.values();
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(sum[static_cast<size_t>(i)],
                y[static_cast<size_t>(i)] + 3 * x[static_cast<size_t>((n - 1 - i) * 2)]);
    ASSERT_EQ(cublasSswap_v2(handle_, n, on_x.get(), 2, on_y.get(), 1), kSuccess);
    EXPECT_EQ(on_y.values().back(), x[static_cast<size_t>(2 * n - 2)]);
    EXPECT_EQ(on_x.values()[0], sum[0]);
  }
  const OnDevice<double> x(std::vector<double>{3, 4, 5}), y(std::vector<double>{1, 0, 2});
  const double two = 2, cosine = 0.6, sine = 0.8;
  ASSERT_EQ(cublasDscal_v2(handle_, 2, &two, x.get(), 2), kSuccess);
  EXPECT_EQ(x.values(), (std::vector<double>{6, 4, 10}));
  ASSERT_EQ(cublasDrot_v2(handle_, 1, x.get(), 1, y.get(), 1, &cosine, &sine), kSuccess);
  EXPECT_NEAR(x.values()[0], 6 * 0.6 + 0.8, 1e-14);
  EXPECT_NEAR(y.values()[0], 0.6 - 6 * 0.8, 1e-14);
}

TEST_F(CublasTest, Reductions) {
  for (const int n : kSizes) {
    const auto x = numbers<float>(static_cast<size_t>(n), 1),
               y = numbers<float>(static_cast<size_t>(n), 2);
    const OnDevice<float> on_x(x), on_y(y);
    float dot = 0, length = 0;
    ASSERT_EQ(cublasSdot_v2(handle_, n, on_x.get(), 1, on_y.get(), 1, &dot), kSuccess);
    EXPECT_NEAR(dot, std::inner_product(x.begin(), x.end(), y.begin(), 0.0), 1e-3);
    ASSERT_EQ(cublasSnrm2_v2(handle_, n, on_x.get(), 1, &length), kSuccess);
    EXPECT_NEAR(length, std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)), 1e-4);
    int place = 0;
    ASSERT_EQ(cublasIsamax_v2(handle_, n, on_x.get(), 1, &place), kSuccess);
    const auto first = std::max_element(x.begin(), x.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
    EXPECT_EQ(place, first - x.begin() + 1);
  }
  // Squares would overflow, or vanish.
  const OnDevice<double> large(std::vector<double>{3e200, 4e200}),
      small(std::vector<double>{3e-200, -4e-200});
  double length = 0;
  ASSERT_EQ(cublasDnrm2_v2(handle_, 2, large.get(), 1, &length), kSuccess);
  EXPECT_NEAR(length / 5e200, 1, 1e-14);
  ASSERT_EQ(cublasDnrm2_v2(handle_, 2, small.get(), 1, &length), kSuccess);
  EXPECT_NEAR(length / 5e-200, 1, 1e-14);
  ASSERT_EQ(cublasDasum_v2(handle_, 2, small.get(), 1, &length), kSuccess);
  EXPECT_NEAR(length / 7e-200, 1, 1e-14);
  const OnDevice<double> infinite(std::vector<double>{1, -INFINITY, NAN});
  ASSERT_EQ(cublasDnrm2_v2(handle_, 2, infinite.get(), 1, &length), kSuccess);
  EXPECT_EQ(length, INFINITY);
  ASSERT_EQ(cublasDnrm2_v2(handle_, 3, infinite.get(), 1, &length), kSuccess);
  EXPECT_TRUE(std::isnan(length));
  int place = -1;
  ASSERT_EQ(cublasIdamin_v2(handle_, 2, small.get(), 1, &place), kSuccess);
  EXPECT_EQ(place, 1);
  ASSERT_EQ(cublasIdamin_v2(handle_, 0, small.get(), 1, &place), kSuccess);
  EXPECT_EQ(place, 0);
  // A result on the device.
  const OnDevice<double> result(std::vector<double>{0});
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kDevicePointers), kSuccess);
  ASSERT_EQ(cublasDasum_v2(handle_, 2, large.get(), 1, result.get()), kSuccess);
  EXPECT_NEAR(result.values()[0] / 7e200, 1, 1e-14);
}

/// Reference BLAS compares elements with the best so far, beginning with the first; comparisons
/// with NaN are false.
TEST_F(CublasTest, PlacesAmongWhatIsNoNumber) {
  struct Case {
    std::vector<float> x;
    int most, least;
  };
  std::vector<float> later(600, 2), long_first(600, 2);  // several elements for each thread
  later[3] = later[300] = NAN;
  later[556] = 5;
  later[557] = -1;
  long_first[0] = NAN;
  long_first[400] = 9;
  const Case cases[] = {{{1, NAN, 3, -5}, 4, 1}, {{5, NAN, 3, 1}, 1, 4},  {{NAN, 2, 1, -5}, 1, 1},
                        {{3, 1, NAN, -5}, 4, 2}, {{3, 1, -5, NAN}, 3, 2}, {{NAN, NAN}, 1, 1},
                        {{-7, 7, NAN, 7}, 1, 1}, {later, 557, 558},       {long_first, 1, 1}};
  for (const Case& k : cases) {
    const int n = static_cast<int>(k.x.size());
    const OnDevice<float> x(k.x);
    const OnDevice<double> wide(std::vector<double>(k.x.begin(), k.x.end()));
    int most = 0, least = 0;
    ASSERT_EQ(cublasIsamax_v2(handle_, n, x.get(), 1, &most), kSuccess);
    ASSERT_EQ(cublasIdamin_v2(handle_, n, wide.get(), 1, &least), kSuccess);
    EXPECT_EQ(most, k.most) << &k - cases;
    EXPECT_EQ(least, k.least) << &k - cases;
  }
}

TEST_F(CublasTest, MatricesAndVectors) {
  for (const int m : kSizes) {
    const int n = 37;
    const auto a = numbers<float>(static_cast<size_t>(m * n), 1);
    for (const int transpose : {0, 1}) {
      const int rows = transpose != 0 ? n : m, columns = transpose != 0 ? m : n;
      const auto x = numbers<float>(static_cast<size_t>(columns), 2),
                 y = numbers<float>(static_cast<size_t>(rows), 3);
      const OnDevice<float> on_a(a), on_x(x), on_y(y);
      const float alpha = 2, beta = -1;
      ASSERT_EQ(cublasSgemv_v2(handle_, transpose, m, n, &alpha, on_a.get(), m, on_x.get(), 1,
                               &beta, on_y.get(), 1),
                kSuccess);
      const auto found = on_y.values();
      for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < columns; ++j)
          sum += double{a[static_cast<size_t>(transpose != 0 ? j + i * m : i + j * m)]} *
                 x[static_cast<size_t>(j)];
        ASSERT_NEAR(found[static_cast<size_t>(i)], 2 * sum - y[static_cast<size_t>(i)], 1e-3);
      }
    }
  }
  const OnDevice<double> x(std::vector<double>{1, 2}), y(std::vector<double>{3, 4, 5}),
      a(std::vector<double>(6, 1));
  const double one = 1;
  ASSERT_EQ(cublasDger_v2(handle_, 2, 3, &one, x.get(), 1, y.get(), 1, a.get(), 2), kSuccess);
  EXPECT_EQ(a.values(), (std::vector<double>{4, 7, 5, 9, 6, 11}));
  // A transposition: C = 1 A^T + 0 B.
  const OnDevice<float> from(std::vector<float>{1, 2, 3, 4, 5, 6}), to(std::vector<float>(6));
  const float f_one = 1, zero = 0;
  ASSERT_EQ(
      cublasSgeam(handle_, 1, 0, 3, 2, &f_one, from.get(), 2, &zero, from.get(), 3, to.get(), 3),
      kSuccess);
  EXPECT_EQ(to.values(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

/// A and x are not read if their factor is 0, on the host or the device; a vector is not scaled if
/// its increment is not positive.
TEST_F(CublasTest, WhatIsNotReadOfVectors) {
  const OnDevice<float> none(std::vector<float>(16, NAN)), on_zero(std::vector<float>(1)),
      x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>{1, 2, 3, 4});
  const float zero = 0, two = 2;
  const std::vector<float> as_before{1, 2, 3, 4};
  for (const int mode : {kHostPointers, kDevicePointers}) {
    ASSERT_EQ(cublasSetPointerMode_v2(handle_, mode), kSuccess);
    const float* const factor = mode == kHostPointers ? &zero : on_zero.get();
    for (const int transpose : {0, 1}) {
      const OnDevice<float> to(std::vector<float>(4, NAN));
      ASSERT_EQ(cublasSgemv_v2(handle_, transpose, 4, 4, factor, none.get(), 4, none.get(), 1,
                               factor, to.get(), 1),
                kSuccess);
      EXPECT_EQ(to.values(), std::vector<float>(4)) << mode << transpose;
    }
    ASSERT_EQ(cublasSaxpy_v2(handle_, 4, factor, none.get(), 1, y.get(), 1), kSuccess);
    EXPECT_EQ(y.values(), as_before);
  }
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, kHostPointers), kSuccess);
  const OnDevice<double> wide(std::vector<double>{NAN, NAN}), a(std::vector<double>{1, 2, 3, 4});
  const double wide_zero = 0;
  ASSERT_EQ(cublasDger_v2(handle_, 2, 2, &wide_zero, wide.get(), 1, wide.get(), 1, a.get(), 2),
            kSuccess);
  EXPECT_EQ(a.values(), (std::vector<double>{1, 2, 3, 4}));
  for (const int step : {0, -1}) {
    ASSERT_EQ(cublasSscal_v2(handle_, 4, &two, x.get(), step), kSuccess);
    EXPECT_EQ(x.values(), as_before) << step;
  }
}

TEST_F(CublasTest, Copies) {
  const std::vector<float> host = {1, 2, 3, 4, 5, 6};
  const OnDevice<float> on_device(std::vector<float>(8, 9));
  ASSERT_EQ(cublasSetMatrix(2, 3, sizeof(float), host.data(), 2, on_device.get(), 3), kSuccess);
  EXPECT_EQ(on_device.values(), (std::vector<float>{1, 2, 9, 3, 4, 9, 5, 6}));
  std::vector<float> back(3);
  ASSERT_EQ(cublasGetVector(3, sizeof(float), on_device.get(), 3, back.data(), 1), kSuccess);
  EXPECT_EQ(back, (std::vector<float>{1, 3, 5}));
}

}  // namespace
}  // namespace nearwarp::cublas
