// Are cuFFT's transforms those of the definition, over lengths, dimensions, layouts and types?
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>

#include "tests/support/on_device.h"

extern "C" {
int cufftPlan1d(int*, int, int, int);
int cufftPlan2d(int*, int, int, int);
int cufftPlan3d(int*, int, int, int, int);
int cufftPlanMany(int*, int, int*, int*, int, int, int*, int, int, int, int);
int cufftCreate(int*);
int cufftMakePlan1d(int, int, int, int, size_t*);
int cufftMakePlanMany64(int, int, long long*, long long*, long long, long long, long long*,
                        long long, long long, int, long long, size_t*);
int cufftSetAutoAllocation(int, int);
int cufftSetWorkArea(int, void*);
int cufftGetSize(int, size_t*);
int cufftDestroy(int);
int cufftExecC2C(int, void*, void*, int);
int cufftExecZ2Z(int, void*, void*, int);
int cufftExecR2C(int, void*, void*);
int cufftExecC2R(int, void*, void*);
int cufftExecD2Z(int, void*, void*);
int cufftExecZ2D(int, void*, void*);
int cufftXtSetGPUs(int, int, int*);
int cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*,
                        long long, long long, int, long long, size_t*, int);
int cufftXtExec(int, void*, void*, int);
int cufftSetPlanPropertyInt64(int, int, long long);
int cufftResetPlanProperty(int, int);
int cufftGetPlanPropertyInt64(int, int, long long*);
}

namespace nearwarp::cudalibs {
namespace {

constexpr int kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69;
constexpr int kForward = -1, kInverse = 1;
constexpr int kInvalidPlan = 1, kInvalidType = 3, kInvalidValue = 4, kInvalidSize = 8,
              kNotSupported = 16;

using Wide = std::complex<double>;

template <class T>
std::vector<std::complex<T>> random_numbers(size_t n) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::uniform_real_distribution<T> in(-1, 1);
  std::vector<std::complex<T>> values(n);
  for (auto& v : values) v = {in(random), in(random)};
  return values;
}

/// By the definition, along each of three dimensions, the last one fastest.
std::vector<Wide> transformed(std::vector<Wide> x, const std::array<size_t, 3>& n, int sign) {
  size_t inner = 1;
  for (size_t d = 3; d-- > 0;) {
    std::vector<Wide> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t k = i / inner % n[d], first = i - k * inner;
      for (size_t j = 0; j < n[d]; ++j)
        y[i] += x[first + j * inner] *
                std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n[d]) /
                                    static_cast<double>(n[d]));
    }
    x = std::move(y);
    inner *= n[d];
  }
  return x;
}

template <class T>
std::vector<Wide> wide(const std::vector<T>& x) {
  return {x.begin(), x.end()};
}

/// Expects errors of at most `tolerance` times the root mean square of the expected values.
template <class T>
void expect_near(const std::vector<std::complex<T>>& got, const std::vector<Wide>& expected,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  double size = 1e-30, worst = 0;
  for (const Wide& e : expected) size += std::norm(e) / static_cast<double>(expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(Wide(got[i]) - expected[i]));
  EXPECT_LE(worst, tolerance * std::sqrt(size)) << what;
}

/// 4294967311, the first prime above 2^32, is 15 more than that: it has a convolution and no
/// passes.
TEST(Cufft, PrimesAboveThirtyTwoBits) {
  for (const auto& [n, products] : {std::pair{(1LL << 32) + 15, 1LL << 34}, {1LL << 32, 0LL}}) {
    long long length = n;
    int plan = 0;
    size_t bytes = 0;
    ASSERT_EQ(cufftCreate(&plan), 0);
    ASSERT_EQ(cufftSetAutoAllocation(plan, 0), 0);
    ASSERT_EQ(cufftMakePlanMany64(plan, 1, &length, nullptr, 1, n, nullptr, 1, n, kC2C, 1, &bytes),
              0);
    // Two copies of the elements, and two of a padded line and of the filter, eight bytes each.
    EXPECT_EQ(bytes, static_cast<size_t>(8 * (2 * n + 2 * 2 * products))) << n;
    EXPECT_EQ(cufftDestroy(plan), 0);
  }
}

TEST(Cufft, LinesOfManyLengths) {
  for (const int n : {1, 2, 3, 5, 7, 8, 30, 31, 32, 37, 97, 121, 128, 129, 360, 1000, 1009, 1024}) {
    for (const int batch : {1, 3}) {
      for (const int sign : {kForward, kInverse}) {
        const std::string what = std::to_string(n) + " x " + std::to_string(batch);
        const auto size = static_cast<size_t>(n * batch);
        std::vector<Wide> expected;
        const auto x = random_numbers<double>(size);
        for (int b = 0; b < batch; ++b) {
          const auto part = transformed({x.begin() + b * n, x.begin() + (b + 1) * n},
                                        {1, 1, static_cast<size_t>(n)}, sign);
          expected.insert(expected.end(), part.begin(), part.end());
        }
        int plan = 0;
        ASSERT_EQ(cufftPlan1d(&plan, n, kZ2Z, batch), 0);
        const OnDevice in(x);
        const OnDevice<Wide> out(size);
        ASSERT_EQ(cufftExecZ2Z(plan, in.get(), out.get(), sign), 0);
        expect_near(out.values(), expected, 1e-13, what);
        EXPECT_EQ(in.values(), x);
        ASSERT_EQ(cufftExecZ2Z(plan, in.get(), in.get(), sign), 0);  // in place
        EXPECT_EQ(in.values(), out.values());
        EXPECT_EQ(cufftDestroy(plan), 0);

        const OnDevice<std::complex<float>> narrow(
            std::vector<std::complex<float>>(x.begin(), x.end()));
        ASSERT_EQ(cufftPlan1d(&plan, n, kC2C, batch), 0);
        ASSERT_EQ(cufftExecC2C(plan, narrow.get(), narrow.get(), sign), 0);
        expect_near(narrow.values(), expected, 3e-6, what);
        EXPECT_EQ(cufftDestroy(plan), 0);
      }
    }
  }
}

TEST(Cufft, TwoAndThreeDimensions) {
  for (const auto& [x, y, z] :
       {std::array{1, 12, 20}, {6, 7, 8}, {16, 16, 16}, {1, 33, 5}, {2, 37, 6}, {41, 3, 43}}) {
    const std::array<size_t, 3> n = {static_cast<size_t>(x), static_cast<size_t>(y),
                                     static_cast<size_t>(z)};
    const auto data = random_numbers<double>(n[0] * n[1] * n[2]);
    int plan = 0;
    ASSERT_EQ(x == 1 ? cufftPlan2d(&plan, y, z, kZ2Z) : cufftPlan3d(&plan, x, y, z, kZ2Z), 0);
    const OnDevice in(data);
    ASSERT_EQ(cufftExecZ2Z(plan, in.get(), in.get(), kForward), 0);
    expect_near(in.values(), transformed(data, n, kForward), 1e-13, "forward");
    ASSERT_EQ(cufftExecZ2Z(plan, in.get(), in.get(), kInverse), 0);
    auto scaled = wide(data);
    for (Wide& v : scaled) v *= static_cast<double>(data.size());
    expect_near(in.values(), scaled, 1e-12, "back again");
    EXPECT_EQ(cufftDestroy(plan), 0);
  }
}

/// Transforms of real numbers give the half that is not redundant, and lead back from it, in both
/// precisions, out of place and in place.
TEST(Cufft, RealNumbers) {
  for (const auto& n : {std::array<size_t, 3>{1, 1, 1},
                        {1, 1, 2},
                        {1, 1, 15},
                        {1, 1, 64},
                        {1, 9, 10},
                        {1, 8, 7},
                        {4, 6, 10}}) {
    const size_t size = n[0] * n[1] * n[2], half = n[2] / 2 + 1, lines = n[0] * n[1];
    std::vector<double> data(size);
    const auto random = random_numbers<double>(size);
    for (size_t i = 0; i < size; ++i) data[i] = random[i].real();
    const auto all = transformed(wide(data), n, kForward);
    std::vector<Wide> expected;
    for (size_t line = 0; line < lines; ++line)
      for (size_t k = 0; k < half; ++k) expected.push_back(all[line * n[2] + k]);
    const auto plan_of = [&](int type) {
      int plan = 0;
      const auto i = [&](size_t d) { return static_cast<int>(n[d]); };
      EXPECT_EQ(n[0] != 1   ? cufftPlan3d(&plan, i(0), i(1), i(2), type)
                : n[1] != 1 ? cufftPlan2d(&plan, i(1), i(2), type)
                            : cufftPlan1d(&plan, i(2), type, 1),
                0);
      return plan;
    };
    const int there = plan_of(kD2Z), back = plan_of(kZ2D);
    const OnDevice in(data);
    const OnDevice<Wide> out(lines * half);
    ASSERT_EQ(cufftExecD2Z(there, in.get(), out.get()), 0);
    expect_near(out.values(), expected, 1e-13, "to complex numbers");
    const OnDevice<double> again(size);
    ASSERT_EQ(cufftExecZ2D(back, out.get(), again.get()), 0);
    const auto result = again.values();
    for (size_t i = 0; i < size; ++i)
      EXPECT_NEAR(result[i], data[i] * static_cast<double>(size), 1e-11);

    // In place, lines of real numbers have room for those of complex ones.
    std::vector<double> padded(lines * half * 2);
    for (size_t i = 0; i < size; ++i) padded[i / n[2] * half * 2 + i % n[2]] = data[i];
    const OnDevice place(padded);
    ASSERT_EQ(cufftExecD2Z(there, place.get(), place.get()), 0);
    std::vector<Wide> in_place(lines * half);
    ASSERT_EQ(cudaMemcpy(in_place.data(), place.get(), in_place.size() * sizeof(Wide), kToHost), 0);
    EXPECT_EQ(in_place, out.values());
    ASSERT_EQ(cufftExecZ2D(back, place.get(), place.get()), 0);
    const auto in_place_again = place.values();
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(in_place_again[i / n[2] * half * 2 + i % n[2]], result[i]);

    const OnDevice<float> narrow(std::vector<float>(data.begin(), data.end()));
    const OnDevice<std::complex<float>> narrow_out(lines * half);
    const int narrow_there = plan_of(kR2C), narrow_back = plan_of(kC2R);
    ASSERT_EQ(cufftExecR2C(narrow_there, narrow.get(), narrow_out.get()), 0);
    expect_near(narrow_out.values(), expected, 3e-6, "f32");
    ASSERT_EQ(cufftExecC2R(narrow_back, narrow_out.get(), narrow.get()), 0);
    EXPECT_NEAR(narrow.values()[0], data[0] * static_cast<double>(size),
                2e-5 * static_cast<double>(size));
    for (const int plan : {there, back, narrow_there, narrow_back})
      EXPECT_EQ(cufftDestroy(plan), 0);
  }
}

/// Transforms take columns of a matrix, which have strides, and parts of longer rows.
TEST(Cufft, Layouts) {
  constexpr int kRows = 12, kColumns = 5;
  const auto matrix = random_numbers<double>(kRows * kColumns);
  int plan = 0, n[] = {kRows}, embed[] = {kRows};
  ASSERT_EQ(cufftPlanMany(&plan, 1, n, embed, kColumns, 1, embed, 1, kRows, kZ2Z, kColumns), 0);
  const OnDevice in(matrix);
  const OnDevice<Wide> out(matrix.size());
  ASSERT_EQ(cufftExecZ2Z(plan, in.get(), out.get(), kForward), 0);
  std::vector<Wide> expected;
  for (int c = 0; c < kColumns; ++c) {
    std::vector<Wide> column;
    for (int r = 0; r < kRows; ++r) column.push_back(matrix[static_cast<size_t>(r * kColumns + c)]);
    const auto part = transformed(column, {1, 1, kRows}, kForward);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  expect_near(out.values(), expected, 1e-13, "columns");
  EXPECT_EQ(cufftDestroy(plan), 0);

  // Two transforms of 4 x 6 elements in arrays of 5 x 8.
  int small[] = {4, 6}, large[] = {5, 8};
  const auto data = random_numbers<double>(2 * 40);
  ASSERT_EQ(cufftPlanMany(&plan, 2, small, large, 1, 40, large, 1, 40, kZ2Z, 2), 0);
  const OnDevice whole(data);
  ASSERT_EQ(cufftExecZ2Z(plan, whole.get(), whole.get(), kInverse), 0);
  auto all = wide(data);
  for (size_t b = 0; b < 2; ++b) {
    std::vector<Wide> part;
    for (size_t i = 0; i < 24; ++i) part.push_back(data[b * 40 + i / 6 * 8 + i % 6]);
    part = transformed(part, {1, 4, 6}, kInverse);
    for (size_t i = 0; i < 24; ++i) all[b * 40 + i / 6 * 8 + i % 6] = part[i];
  }
  expect_near(whole.values(), all, 1e-13, "parts");
  EXPECT_EQ(cufftDestroy(plan), 0);
}

TEST(Cufft, WorkAreaOfTheApplication) {
  const auto data = random_numbers<double>(100);
  int plan = 0;
  size_t bytes = 0, same = 0;
  ASSERT_EQ(cufftCreate(&plan), 0);
  ASSERT_EQ(cufftSetAutoAllocation(plan, 0), 0);
  ASSERT_EQ(cufftMakePlan1d(plan, 100, kZ2Z, 1, &bytes), 0);
  EXPECT_EQ(cufftGetSize(plan, &same), 0);
  EXPECT_EQ(same, bytes);
  const OnDevice in(data);
  EXPECT_EQ(cufftExecZ2Z(plan, in.get(), in.get(), kForward), kInvalidPlan);  // none yet
  const OnDevice<char> work(bytes);
  EXPECT_EQ(cufftSetWorkArea(plan, work.get()), 0);
  EXPECT_EQ(cufftExecZ2Z(plan, in.get(), in.get(), kForward), 0);
  expect_near(in.values(), transformed(wide(data), {1, 1, 100}, kForward), 1e-13, "given");
  EXPECT_EQ(cufftDestroy(plan), 0);
}

/// Plans made by types of data do the same as plans made by kinds of transforms.
TEST(Cufft, PlansByTypes) {
  constexpr int kR32 = 0, kR16 = 2, kC32 = 4, kC64 = 5, kC16 = 6;  // cudaDataType
  std::vector<std::complex<float>> x(2 * 13);
  for (size_t i = 0; i < x.size(); ++i) x[i] = {float(i % 5), float(i % 3) - 1};
  const OnDevice<std::complex<float>> in(x), out(x.size()), same(x.size());
  int plan = 0, other = 0;
  long long n[] = {13}, value = 0;
  size_t work = 0;
  ASSERT_EQ(cufftPlan1d(&other, 13, kC2C, 2), 0);
  ASSERT_EQ(cufftCreate(&plan), 0);
  EXPECT_EQ(cufftSetPlanPropertyInt64(plan, 1, 7), 0);
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, 1, &value), 0);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(cufftSetPlanPropertyInt64(plan, 999, 7), kInvalidValue);
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, 999, &value), kInvalidValue);
  EXPECT_EQ(cufftResetPlanProperty(plan, 999), kInvalidValue);
  EXPECT_EQ(cufftResetPlanProperty(plan, 1), 0);
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, 1, &value), 0);
  EXPECT_EQ(value, 0);
  const auto make = [&](int from, int to, int sums) {
    return cufftXtMakePlanMany(plan, 1, n, nullptr, 1, 0, from, nullptr, 1, 0, to, 2, &work, sums);
  };
  EXPECT_EQ(make(kC32, kC64, kC32), kInvalidType);
  EXPECT_EQ(make(kR32, kR32, kC32), kInvalidType);
  testing::internal::CaptureStderr();
  EXPECT_EQ(make(kC16, kC16, kC16), kNotSupported);
  EXPECT_EQ(make(kR16, kC16, kC16), kNotSupported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cufftXtMakePlanMany()"),
            std::string::npos);
  ASSERT_EQ(make(kC32, kC32, kC32), 0);
  EXPECT_GT(work, 0u);
  ASSERT_EQ(cufftXtExec(plan, in.get(), out.get(), kForward), 0);
  ASSERT_EQ(cufftExecC2C(other, in.get(), same.get(), kForward), 0);
  EXPECT_EQ(out.values(), same.values());
  EXPECT_EQ(cufftDestroy(plan), 0);
  EXPECT_EQ(cufftDestroy(other), 0);
}

TEST(Cufft, APlanThatHasNoRoomMayBecomeASmallerOne) {
  constexpr int kAllocFailed = 2;
  int plan = 0;
  size_t bytes = 0;
  ASSERT_EQ(cufftCreate(&plan), 0);
  ASSERT_EQ(cufftMakePlan1d(plan, 1 << 30, kZ2Z, 8, &bytes), kAllocFailed);
  EXPECT_EQ(cufftMakePlan1d(plan, 16, kC2C, 1, &bytes), 0);
  EXPECT_EQ(cufftDestroy(plan), 0);
}

TEST(Cufft, WhatIsWrong) {
  int plan = 0;
  EXPECT_EQ(cufftPlan1d(&plan, 8, 0x55, 1), kInvalidType);
  EXPECT_EQ(cufftPlan1d(&plan, 0, kC2C, 1), kInvalidSize);
  EXPECT_EQ(cufftPlan1d(&plan, 8, kC2C, 0), kInvalidSize);
  EXPECT_EQ(cufftPlan1d(nullptr, 8, kC2C, 1), kInvalidValue);
  int n[] = {2, 2, 2, 2};
  EXPECT_EQ(cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, kC2C, 1), kInvalidValue);
  EXPECT_EQ(cufftDestroy(4711), kInvalidPlan);
  ASSERT_EQ(cufftPlan1d(&plan, 8, kC2C, 1), 0);
  const OnDevice<std::complex<float>> x(8);
  EXPECT_EQ(cufftExecZ2Z(plan, x.get(), x.get(), kForward), kInvalidPlan);  // of another type
  EXPECT_EQ(cufftExecC2C(plan, x.get(), x.get(), 0), kInvalidValue);
  EXPECT_EQ(cufftExecC2C(plan, nullptr, x.get(), kForward), kInvalidValue);
  size_t bytes = 0;
  EXPECT_EQ(cufftMakePlan1d(plan, 16, kC2C, 1, &bytes), kInvalidPlan);  // it is made
  testing::internal::CaptureStderr();
  EXPECT_EQ(cufftXtSetGPUs(plan, 1, n), kNotSupported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cufftXtSetGPUs()"), std::string::npos);
  EXPECT_EQ(cufftDestroy(plan), 0);
}

}  // namespace
}  // namespace nearwarp::cudalibs
