// cublasLt: layouts, and what is done with a product before it is stored.
#include <cmath>

#include "host/functional/cublas/lt/descriptors.h"
#include "tests/cublas/calls.h"

namespace nearwarp::cublas {
namespace {

constexpr int kM = 40, kN = 21, kK = 18;

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
/// The derivative of gelu(), by a difference.
double gelu_gradient(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

class Lt : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle_), kSuccess);
    ASSERT_EQ(cublasLtMatmulDescCreate(&desc_, kCompute32F, kF32), kSuccess);
  }
  void TearDown() override {
    for (void* const layout : layouts_) EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), kSuccess);
    EXPECT_EQ(cublasLtMatmulDescDestroy(desc_), kSuccess);
    EXPECT_EQ(cublasLtDestroy(handle_), kSuccess);
  }
  void* layout(uint64_t rows, uint64_t columns, int64_t ld, int32_t order = kColumns) {
    void* made = nullptr;
    EXPECT_EQ(cublasLtMatrixLayoutCreate(&made, kF32, rows, columns, ld), kSuccess);
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(made, 1, &order, sizeof(order)), kSuccess);
    layouts_.push_back(made);
    return made;
  }
  template <class T>
  void set(int attribute, const T& value) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(desc_, attribute, &value, sizeof(value)), kSuccess);
  }
  /// Column-major A, B and D.
  int multiply(const float* a, const float* b, float* d) {
    void* const la = layout(kM, kK, kM);
    void* const lb = layout(kK, kN, kK);
    void* const ld = layout(kM, kN, kM);
    MatmulHeuristic best[2];
    int found = 0;
    const int status =
        cublasLtMatmulAlgoGetHeuristic(handle_, desc_, la, lb, ld, ld, nullptr, 2, best, &found);
    if (status != kSuccess) return status;
    EXPECT_EQ(found, 1);
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle_, desc_, &one, a, la, b, lb, &zero, d, ld, d, ld, &best[0].algo,
                          nullptr, 0, nullptr);
  }
  void* handle_ = nullptr;
  void* desc_ = nullptr;
  std::vector<void*> layouts_;
  const std::vector<float> a_ = numbers<float>(kM * kK, 1), b_ = numbers<float>(kK * kN, 2);
  const std::vector<float> bias_ = numbers<float>(kM, 4);

  double product(size_t i, size_t j) const {
    double sum = 0;
    for (size_t x = 0; x < kK; ++x) sum += double{a_[i + x * kM]} * b_[x + j * kK];
    return sum;
  }
  template <class F>
  void expect(const std::vector<float>& found, F&& f) const {
    for (size_t j = 0; j < kN; ++j)
      for (size_t i = 0; i < kM; ++i)
        ASSERT_NEAR(found[i + j * kM], f(i, product(i, j), i + j * kM), 1e-4) << i << ", " << j;
  }
};

TEST_F(Lt, ResultsOfNeurons) {
  const OnDevice<float> a(a_), b(b_), bias(bias_), d(std::vector<float>(kM * kN)),
      aux(std::vector<float>(kM * kN));
  set(8, static_cast<const void*>(bias.get()));
  set(7, uint32_t{kLtBias});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [&](size_t i, double x, size_t) { return x + bias_[i]; });
  set(7, uint32_t{kLtBias | kLtRelu});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [&](size_t i, double x, size_t) { return std::max(0.0, x + bias_[i]); });
  // GELU, with what went into it kept; then the gradient that comes back through it.
  set(7, uint32_t{kLtBias | kLtGelu | kLtAux});
  set(11, static_cast<void*>(aux.get()));
  set(12, int64_t{kM});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [&](size_t i, double x, size_t) { return gelu(x + bias_[i]); });
  expect(aux.values(), [&](size_t i, double x, size_t) { return x + bias_[i]; });
  set(7, uint32_t{kLtGeluGradient | kLtAux});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [&](size_t i, double x, size_t) { return x * gelu_gradient(x + bias_[i]); });
}

TEST_F(Lt, BitsOfRelu) {
  const OnDevice<float> a(a_), b(b_), d(std::vector<float>(kM * kN));
  constexpr int64_t kBits = 128;  // of a column
  const OnDevice<uint32_t> aux(std::vector<uint32_t>(kBits / 32 * kN, 0x5a5a5a5a));
  set(7, uint32_t{kLtRelu | kLtAux});
  set(11, static_cast<void*>(aux.get()));
  set(12, kBits);
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [](size_t, double x, size_t) { return std::max(0.0, x); });
  const auto words = aux.values();
  for (size_t j = 0; j < kN; ++j)
    for (size_t i = 0; i < kM; ++i)
      ASSERT_EQ(words[(i + j * kBits) / 32] >> (i % 32) & 1, product(i, j) > 0 ? 1u : 0u);
  set(7, uint32_t{kLtReluGradient | kLtAux});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  expect(d.values(), [](size_t, double x, size_t) { return x > 0 ? x : 0; });
}

TEST_F(Lt, GradientsOfBiases) {
  const OnDevice<float> a(a_), b(b_), d(std::vector<float>(kM * kN)),
      gradient(std::vector<float>(64)), aux(std::vector<float>(kM * kN, 0.5f));
  set(8, static_cast<const void*>(gradient.get()));
  // Sums of a factor, along k.
  set(7, uint32_t{kLtBiasGradientA});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  for (size_t i = 0; i < kM; ++i) {
    double sum = 0;
    for (size_t x = 0; x < kK; ++x) sum += a_[i + x * kM];
    EXPECT_NEAR(gradient.values()[i], sum, 1e-4) << i;
  }
  set(7, uint32_t{kLtBiasGradientB});
  ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
  for (size_t j = 0; j < kN; ++j) {
    double sum = 0;
    for (size_t x = 0; x < kK; ++x) sum += b_[x + j * kK];
    EXPECT_NEAR(gradient.values()[j], sum, 1e-4) << j;
  }
  // Sums of the result, with and without the gradient of GELU.
  set(11, static_cast<void*>(aux.get()));
  set(12, int64_t{kM});
  for (const bool through : {false, true}) {
    set(7, uint32_t{through ? kLtGeluGradient | kLtAux | kLtBiasGradient : kLtBiasGradient});
    ASSERT_EQ(multiply(a.get(), b.get(), d.get()), kSuccess);
    const double by = through ? gelu_gradient(0.5) : 1;
    expect(d.values(), [&](size_t, double x, size_t) { return x * by; });
    for (size_t i = 0; i < kM; ++i) {
      double sum = 0;
      for (size_t j = 0; j < kN; ++j) sum += product(i, j) * by;
      EXPECT_NEAR(gradient.values()[i], sum, 1e-3) << i;
    }
  }
}

TEST_F(Lt, RowsOfMatrices) {
  // The matrices' numbers in rows: A is k x m read so, hence transposed.
  const OnDevice<float> a(a_), b(b_), d(std::vector<float>(kM * kN));
  set(3, int32_t{kTranspose});
  set(4, int32_t{kTranspose});
  void* const la = layout(kK, kM, kM, kRows);
  void* const lb = layout(kN, kK, kK, kRows);
  void* const ld = layout(kM, kN, kN, kRows);
  const float one = 1, zero = 0;
  ASSERT_EQ(cublasLtMatmul(handle_, desc_, &one, a.get(), la, b.get(), lb, &zero, d.get(), ld,
                           d.get(), ld, nullptr, nullptr, 0, nullptr),
            kSuccess);
  const auto found = d.values();
  for (size_t j = 0; j < kN; ++j)
    for (size_t i = 0; i < kM; ++i) ASSERT_NEAR(found[j + i * kN], product(i, j), 1e-4);
}

TEST_F(Lt, WhatDoesNotFitIsRefused) {
  const OnDevice<float> x(std::vector<float>(4096));
  const float one = 1;
  const auto status = [&](void* la, void* lb, void* ld) {
    return cublasLtMatmul(handle_, desc_, &one, x.get(), la, x.get(), lb, &one, x.get(), ld,
                          x.get(), ld, nullptr, nullptr, 0, nullptr);
  };
  EXPECT_EQ(status(layout(8, 4, 8), layout(4, 6, 4), layout(8, 6, 8)), kSuccess);
  EXPECT_EQ(status(layout(8, 4, 8), layout(5, 6, 5), layout(8, 6, 8)), kInvalidValue);
  EXPECT_EQ(status(layout(8, 4, 7), layout(4, 6, 4), layout(8, 6, 8)), kInvalidValue);
  set(7, uint32_t{kLtBias});  // without one
  EXPECT_EQ(status(layout(8, 4, 8), layout(4, 6, 4), layout(8, 6, 8)), kInvalidValue);
  set(7, uint32_t{kLtBiasGradientA});  // without a place for it
  EXPECT_EQ(status(layout(8, 4, 8), layout(4, 6, 4), layout(8, 6, 8)), kInvalidValue);
  set(7, uint32_t{1 << 12});  // which there is not
  EXPECT_EQ(status(layout(8, 4, 8), layout(4, 6, 4), layout(8, 6, 8)), kNotSupported);
  int32_t transpose = 0;
  size_t written = 0;
  EXPECT_EQ(cublasLtMatmulDescGetAttribute(desc_, 3, &transpose, sizeof(transpose), &written),
            kSuccess);
  EXPECT_EQ(written, sizeof(transpose));
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc_, 3, &transpose, 1), kInvalidValue);
}

}  // namespace
}  // namespace nearwarp::cublas
