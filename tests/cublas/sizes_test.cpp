// Sizes and batches that one launch's grid does not have: is everything reached?
#include <complex>

#include "tests/cublas/calls.h"

extern "C" {
int cublasCgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasCgemmStridedBatched(void*, int, int, int, int, int, const void*, const void*, int,
                              long long, const void*, int, long long, const void*, void*, int,
                              long long, int);
int cublasCgemvStridedBatched(void*, int, int, int, const void*, const void*, int, long long,
                              const void*, int, long long, const void*, void*, int, long long, int);
int cublasDgemvStridedBatched(void*, int, int, int, const double*, const double*, int, long long,
                              const double*, int, long long, const double*, double*, int, long long,
                              int);
}

namespace nearwarp::cublas {
namespace {

using C32 = std::complex<float>;
constexpr int kItems = 70000;  // more than 65,535

template <class T>
std::vector<T> counted(size_t n) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<int>(i % 1000) + 1);
  return values;
}
/// Is each result three times its number?
template <class T>
void expect_threefold(const std::vector<T>& results, const std::vector<T>& of) {
  ASSERT_EQ(results.size(), of.size());
  for (size_t i = 0; i < of.size(); ++i) ASSERT_EQ(results[i], T(3) * of[i]) << i;
}

TEST_F(CublasTest, BatchesOfComplexProducts) {
  const auto x = counted<C32>(kItems);
  const OnDevice<C32> a(x), b(std::vector<C32>{3}), c(kItems), y(kItems);
  const C32 one = 1, zero = 0;
  ASSERT_EQ(cublasCgemmStridedBatched(handle_, 0, 0, 1, 1, 1, &one, a.get(), 1, 1, b.get(), 1, 0,
                                      &zero, c.get(), 1, 1, kItems),
            kSuccess);
  expect_threefold(c.values(), x);
  ASSERT_EQ(cublasCgemvStridedBatched(handle_, 0, 1, 1, &one, a.get(), 1, 1, b.get(), 1, 0, &zero,
                                      y.get(), 1, 1, kItems),
            kSuccess);
  expect_threefold(y.values(), x);
}

TEST_F(CublasTest, BatchesOfMatricesAndVectors) {
  const auto x = counted<double>(kItems);
  const OnDevice<double> a(x), b(std::vector<double>{3}), y(kItems);
  const double one = 1, zero = 0;
  ASSERT_EQ(cublasDgemvStridedBatched(handle_, 0, 1, 1, &one, a.get(), 1, 1, b.get(), 1, 0, &zero,
                                      y.get(), 1, 1, kItems),
            kSuccess);
  expect_threefold(y.values(), x);
}

/// A row times a number, of more columns than 65,535 tiles have.
TEST_F(CublasTest, WideComplexProducts) {
  constexpr int kColumns = 65535 * 32 + 40;
  const auto x = counted<C32>(kColumns);
  const OnDevice<C32> a(std::vector<C32>{3}), b(x), c(kColumns);
  const C32 one = 1, zero = 0;
  ASSERT_EQ(cublasCgemm_v2(handle_, 0, 0, 1, kColumns, 1, &one, a.get(), 1, b.get(), 1, &zero,
                           c.get(), 1),
            kSuccess);
  expect_threefold(c.values(), x);
}

}  // namespace
}  // namespace nearwarp::cublas
