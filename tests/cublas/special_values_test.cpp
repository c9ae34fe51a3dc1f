// Does cuBLAS cope with infinities, zeros and arguments that make no sense? Values that BLAS never
// looks at change no result, every call ends, and none keeps memory.
#include <functional>
#include <limits>

#include "host/functional/cublas/matrix.h"
#include "tests/cublas/matrix_calls.h"

extern "C" {
int cudaDeviceGetDefaultMemPool(void** pool, int device);
int cudaMemPoolGetAttribute(void* pool, int attribute, void* value);
}

namespace nearwarp::cublas {
namespace {

constexpr int kRows = 40, kAt = 20;  // of a vector of ones; where one of them is infinite
constexpr int kBelow = 2, kAbove = 3;

size_t z(int i) { return static_cast<size_t>(i); }

template <class T>
class SpecialValues : public CublasTest {
 protected:
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T one_ = 1, zero_ = 0;
  const OnDevice<T> ones_{std::vector<T>(z(kRows) * z(kRows), T(1))};

  std::vector<T> infinite_at(int at, size_t count = z(kRows)) const {
    std::vector<T> x(count, T(1));
    x[z(at)] = kInfinity;
    return x;
  }
  /// Expects the product with a vector that is infinite at kAt to be finite, except in rows for
  /// which `is_there` says that the matrix has the element (row, kAt).
  void expect_finite_but(const OnDevice<T>& found, const std::function<bool(int row)>& is_there) {
    const std::vector<T> y = found.values();
    for (int i = 0; i < kRows; ++i)
      EXPECT_EQ(std::isfinite(y[z(i)]), !is_there(i)) << i << ": " << y[z(i)];
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, Types);

TYPED_TEST(SpecialValues, ABandMultipliesNothingOutsideIt) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T *const a = this->ones_.get(), *const one = &this->one_, *const zero = &this->zero_;
  const OnDevice<T> x(this->infinite_at(kAt)), y(z(kRows));
  for (const int t : {0, 1}) {
    ASSERT_EQ(NW_OF(T, gbmv_v2)(h, t, kRows, kRows, kBelow, kAbove, one, a, kBelow + kAbove + 1,
                                x.get(), 1, zero, y.get(), 1),
              kSuccess);
    const int below = t == 0 ? kBelow : kAbove, above = t == 0 ? kAbove : kBelow;
    this->expect_finite_but(y, [&](int i) { return i - kAt <= below && kAt - i <= above; });
  }
  for (const int fill : {kLower, kUpper}) {
    ASSERT_EQ(
        NW_OF(T, sbmv_v2)(h, fill, kRows, kAbove, one, a, kAbove + 1, x.get(), 1, zero, y.get(), 1),
        kSuccess);
    this->expect_finite_but(y, [&](int i) { return std::abs(i - kAt) <= kAbove; });
  }
}

TYPED_TEST(SpecialValues, ATriangleMultipliesNothingOutsideIt) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T* const a = this->ones_.get();
  for (const int fill : {kLower, kUpper})
    for (const int t : {0, 1}) {
      const bool below = (fill == kLower) == (t == 0);
      const auto in_triangle = [&](int i) { return below ? i >= kAt : i <= kAt; };
      const auto in_band = [&](int i) { return in_triangle(i) && std::abs(i - kAt) <= kBelow; };
      const OnDevice<T> dense(this->infinite_at(kAt)), packed(this->infinite_at(kAt)),
          band(this->infinite_at(kAt));
      ASSERT_EQ(NW_OF(T, trmv_v2)(h, fill, t, 0, kRows, a, kRows, dense.get(), 1), kSuccess);
      this->expect_finite_but(dense, in_triangle);
      ASSERT_EQ(NW_OF(T, tpmv_v2)(h, fill, t, 0, kRows, a, packed.get(), 1), kSuccess);
      this->expect_finite_but(packed, in_triangle);
      ASSERT_EQ(NW_OF(T, tbmv_v2)(h, fill, t, 0, kRows, kBelow, a, kBelow + 1, band.get(), 1),
                kSuccess);
      this->expect_finite_but(band, in_band);
    }
}

TYPED_TEST(SpecialValues, ATriangleOnEitherSideMultipliesNothingOutsideIt) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T *const a = this->ones_.get(), *const one = &this->one_;
  for (const int side : {kLeft, kRight})
    for (const int fill : {kLower, kUpper})
      for (const int t : {0, 1}) {
        // On the right rows are multiplied, by the transpose.
        const bool below = ((fill == kLower) == (t == 0)) == (side == kLeft);
        const int m = side == kLeft ? kRows : 1, n = side == kLeft ? 1 : kRows;
        const OnDevice<T> b(this->infinite_at(kAt)), c(z(kRows));
        ASSERT_EQ(
            NW_OF(T, trmm_v2)(h, side, fill, t, 0, m, n, one, a, kRows, b.get(), m, c.get(), m),
            kSuccess);
        this->expect_finite_but(c, [&](int i) { return below ? i >= kAt : i <= kAt; });
      }
}

TYPED_TEST(SpecialValues, ASystemWithABandChangesNothingOutsideIt) {
  using T = TypeParam;
  for (const int fill : {kLower, kUpper}) {
    const OnDevice<T> x(this->infinite_at(kAt));
    ASSERT_EQ(
        NW_OF(T, tbsv_v2)(this->handle_, fill, 0, 0, kRows, 0, this->ones_.get(), 1, x.get(), 1),
        kSuccess);
    this->expect_finite_but(x, [&](int i) { return i == kAt; });
  }
}

TYPED_TEST(SpecialValues, SystemsTimesZeroDoNotLookAtTheMatrix) {
  using T = TypeParam;
  constexpr int kColumns = 3;
  const OnDevice<T> zeros(z(kRows) * z(kRows)),
      nothing(std::vector<T>(z(kRows) * z(kRows), std::numeric_limits<T>::quiet_NaN()));
  for (const OnDevice<T>* const a : {&zeros, &nothing})
    for (const int side : {kLeft, kRight}) {
      const int m = side == kLeft ? kRows : kColumns, n = side == kLeft ? kColumns : kRows;
      const OnDevice<T> b(this->infinite_at(kAt, z(m) * z(n)));
      ASSERT_EQ(NW_OF(T, trsm_v2)(this->handle_, side, kLower, 0, 0, m, n, &this->zero_, a->get(),
                                  kRows, b.get(), m),
                kSuccess);
      EXPECT_EQ(b.values(), std::vector<T>(z(m) * z(n)));
    }
}

TYPED_TEST(SpecialValues, ModifiedRotationsEnd) {
  using T = TypeParam;
  void* const h = this->handle_;
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kTiny = std::numeric_limits<T>::min();
  // d1, d2, x1, y1. The last: d2 y1^2 is so small that it becomes -0.
  const std::vector<T> cases[] = {{kInfinity, 1, 2, 3},         {1, kInfinity, 2, 3},
                                  {1, -kInfinity, 2, 3},        {1, 2, kInfinity, 3},
                                  {kInfinity, kInfinity, 2, 3}, {0, -1, 1, kTiny}};
  for (const std::vector<T>& k : cases) {
    std::vector<T> n = k;
    n.resize(9, T(9));
    const OnDevice<T> d(n);
    ASSERT_EQ(NW_OF(T, rotmg_v2)(h, &n[0], &n[1], &n[2], &n[3], &n[4]), kSuccess);
    EXPECT_TRUE(n[4] == -2 || n[4] == -1 || n[4] == 0 || n[4] == 1) << n[4];
    ASSERT_EQ(cublasSetPointerMode_v2(h, kDevicePointers), kSuccess);
    ASSERT_EQ(NW_OF(T, rotmg_v2)(h, d.get(), d.get() + 1, d.get() + 2, d.get() + 3, d.get() + 4),
              kSuccess);
    ASSERT_EQ(cublasSetPointerMode_v2(h, kHostPointers), kSuccess);
    const std::vector<T> there = d.values();
    for (size_t i = 0; i < 9; ++i)
      EXPECT_TRUE(there[i] == n[i] || (std::isnan(there[i]) && std::isnan(n[i])))
          << i << ": " << there[i] << ", " << n[i];
    if (k[0] == 0) {
      EXPECT_EQ(n, (std::vector<T>{0, 0, 0, kTiny, -1, 0, 0, 0, 0}));
    }
  }
}

TYPED_TEST(SpecialValues, ProductsInPlaceThatAreRefusedKeepNoMemory) {
  using T = TypeParam;
  void* const h = this->handle_;
  const T* const a = this->ones_.get();
  constexpr int kUsed = 7;  // cudaMemPoolAttrUsedMemCurrent
  void* pool = nullptr;
  uint64_t bytes = 1;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
  const OnDevice<T> x(z(kRows));
  ASSERT_EQ(NW_OF(T, trmv_v2)(h, kLower, 0, 0, kRows, a, kRows - 1, x.get(), 1), kInvalidValue);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, kUsed, &bytes), 0);
  EXPECT_EQ(bytes, 0u);
  T* const nowhere = reinterpret_cast<T*>(uintptr_t{4096});
  ASSERT_EQ(NW_OF(T, trmm_v2)(h, kLeft, kLower, 0, 0, kRows, 2, &this->one_, a, kRows, nowhere,
                              kRows, nowhere, kRows),
            kMappingError);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, kUsed, &bytes), 0);
  EXPECT_EQ(bytes, 0u);
}

}  // namespace
}  // namespace nearwarp::cublas
