// Does cublasLt understand layouts, and apply to a product what it should before it is stored?
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

TEST_F(Lt, KeptInputsHaveColumnsOfTheirOwn) {
  const OnDevice<float> a(a_), b(b_), d(std::vector<float>(kM * kN)), aux(d.values());
  set(11, static_cast<void*>(aux.get()));
  for (const uint32_t of :
       {kLtRelu | kLtAux, kLtReluGradient | kLtAux, kLtGelu | kLtAux, kLtGeluGradient | kLtAux}) {
    set(7, of);
    const bool is_bits = of == (kLtRelu | kLtAux) || of == (kLtReluGradient | kLtAux);
    // None was set, too few, and bits that are no whole 128.
    for (const int64_t ld :
         {int64_t{0}, int64_t{kM} - 1, is_bits ? int64_t{kM} + 128 : int64_t{0}}) {
      set(12, ld);
      EXPECT_EQ(multiply(a.get(), b.get(), d.get()), kInvalidValue) << of << ", " << ld;
    }
  }
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

/// Sizes and defaults as cuBLASLt's (cublasLt.h, and its library of CUDA 13.0 asked).
struct Default {
  int attribute;
  size_t bytes;
  std::vector<uint8_t> value;  ///< its first bytes; others are 0
};
/// `get(attribute, to, bytes, written)` gives these sizes and values, and refuses other buffers.
template <class Get>
void expect_attributes(const std::vector<Default>& defaults, std::vector<int> none, Get&& get) {
  for (const Default& k : defaults) {
    size_t written = 0;
    EXPECT_EQ(get(k.attribute, nullptr, 0, &written), kSuccess) << k.attribute;
    EXPECT_EQ(written, k.bytes) << k.attribute;
    EXPECT_EQ(get(k.attribute, nullptr, 0, nullptr), kInvalidValue) << k.attribute;
    EXPECT_EQ(get(k.attribute, nullptr, k.bytes, &written), kInvalidValue) << k.attribute;
    std::vector<uint8_t> found(16, 0xcc), expected = k.value;
    EXPECT_EQ(get(k.attribute, found.data(), 16, &written), kInvalidValue) << k.attribute;
    written = 0;
    EXPECT_EQ(get(k.attribute, found.data(), k.bytes, &written), kSuccess) << k.attribute;
    EXPECT_EQ(written, k.bytes) << k.attribute;
    expected.resize(k.bytes);
    found.resize(k.bytes);
    EXPECT_EQ(found, expected) << k.attribute;
  }
  for (const int attribute : none) {
    size_t written = 999;
    EXPECT_EQ(get(attribute, nullptr, 0, &written), kInvalidValue) << attribute;
    EXPECT_EQ(written, 999u) << attribute;
  }
}

TEST_F(Lt, AttributesTellTheirSizesAndDefaults) {
  std::vector<Default> desc = {{0, 4, {68}}, {6, 4, {2}}, {7, 4, {1}}, {25, 1, {}}};
  for (const int i : {1, 2, 3, 4, 5, 15, 31, 32, 33, 34, 35, 37}) desc.push_back({i, 4, {}});
  for (const int i : {22, 26}) desc.push_back({i, 4, {255, 255, 255, 255}});
  for (const int i : {8, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 23, 24, 36, 38})
    desc.push_back({i, 8, {}});
  expect_attributes(desc, {9, 27, 30, 39, 99}, [&](int attribute, void* to, size_t n, size_t* w) {
    return cublasLtMatmulDescGetAttribute(desc_, attribute, to, n, w);
  });
  void* const shape = layout(5, 7, 8);
  expect_attributes({{0, 4, {}},
                     {1, 4, {}},
                     {2, 8, {5}},
                     {3, 8, {7}},
                     {4, 8, {8}},
                     {5, 4, {1}},
                     {6, 8, {}},
                     {7, 8, {}},
                     {8, 4, {}}},
                    {9, 12}, [&](int attribute, void* to, size_t n, size_t* w) {
                      return cublasLtMatrixLayoutGetAttribute(shape, attribute, to, n, w);
                    });
  // Scales are not there: they can be left out, and nothing else.
  const void* scale = nullptr;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc_, 17, &scale, sizeof(scale)), kSuccess);
  scale = this;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc_, 17, &scale, sizeof(scale)), kNotSupported);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc_, 99, &scale, sizeof(scale)), kInvalidValue);
}

TEST_F(Lt, PreferencesAreKept) {
  void* preference = nullptr;
  ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference), kSuccess);
  const auto get = [&](int attribute, void* to, size_t n, size_t* w) {
    return cublasLtMatmulPreferenceGetAttribute(preference, attribute, to, n, w);
  };
  const std::vector<uint8_t> all(8, 255);
  std::vector<Default> defaults = {{0, 4, {}}, {1, 8, {}}, {3, 4, {7}}, {9, 4, {}}, {12, 8, all}};
  for (const int i : {5, 6, 7, 8}) defaults.push_back({i, 4, {0, 1}});  // 256
  expect_attributes(defaults, {2, 4, 10, 11, 13}, get);
  const uint64_t workspace = 4096;
  const uint32_t alignment = 64;
  const auto set = [&](int attribute, const auto& value) {
    return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
  };
  EXPECT_EQ(set(1, workspace), kSuccess);
  EXPECT_EQ(set(6, alignment), kSuccess);
  EXPECT_EQ(set(1, alignment), kInvalidValue);  // of another size
  EXPECT_EQ(set(13, alignment), kInvalidValue);
  expect_attributes({{1, 8, {0, 16}}, {5, 4, {0, 1}}, {6, 4, {64}}}, {}, get);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), kSuccess);
  EXPECT_STREQ(cublasLtGetStatusString(kInvalidValue),
               "an unsupported value or parameter was passed to the function");
}

/// Products that cublasLtMatmul() refuses have no algorithm, for applications choose by that.
TEST_F(Lt, AlgorithmsAreThereForWhatIsSupported) {
  struct Case {
    int compute, scale, a, b, d;
    int64_t ld;
    Status status;
  };
  constexpr int kE4m3 = 28;
  const Case cases[] = {{kCompute32F, kF32, kF16, kF16, kF32, 8, kSuccess},
                        {kCompute16F, kF16, kF16, kF16, kF16, 8, kSuccess},
                        {kCompute32I, kS32, kS8, kS8, kS32, 8, kSuccess},
                        {kCompute32F, kF32, kF32, kF32, kF32, 7, kInvalidValue},
                        {kCompute32F, kF32, kE4m3, kE4m3, kBf16, 8, kNotSupported},
                        {kCompute32F, kF32, kF16, kBf16, kF32, 8, kNotSupported},
                        {kCompute32F, kF32, kF64, kF64, kF64, 8, kNotSupported},
                        {kCompute32F, kF64, kF32, kF32, kF32, 8, kNotSupported},
                        {kCompute32F, kF16, kF16, kF16, kF16, 8, kNotSupported}};
  const OnDevice<double> x(std::vector<double>(64));
  for (const Case& k : cases) {
    void *desc = nullptr, *la = nullptr, *lb = nullptr, *ld = nullptr;
    ASSERT_EQ(cublasLtMatmulDescCreate(&desc, k.compute, k.scale), kSuccess);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&la, k.a, 8, 8, k.ld), kSuccess);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&lb, k.b, 8, 8, 8), kSuccess);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&ld, k.d, 8, 8, 8), kSuccess);
    MatmulHeuristic best;
    int found = -1;
    const double zero = 0;  // in every type
    EXPECT_EQ(
        cublasLtMatmulAlgoGetHeuristic(handle_, desc, la, lb, ld, ld, nullptr, 1, &best, &found),
        k.status)
        << &k - cases;
    EXPECT_EQ(found, k.status == kSuccess ? 1 : 0) << &k - cases;
    EXPECT_EQ(cublasLtMatmul(handle_, desc, &zero, x.get(), la, x.get(), lb, &zero, x.get(), ld,
                             x.get(), ld, nullptr, nullptr, 0, nullptr),
              k.status)
        << &k - cases;
    for (void* const layout : {la, lb, ld}) cublasLtMatrixLayoutDestroy(layout);
    EXPECT_EQ(cublasLtMatmulDescDestroy(desc), kSuccess);
  }
}

TEST_F(Lt, NoAlgorithmIsThereForEpiloguesThatAreRefused) {
  const OnDevice<float> x(std::vector<float>(kM * kN + kM * kK + kK * kN));
  set(8, static_cast<const void*>(x.get()));
  set(7, uint32_t{kLtBiasGradientA | kLtBiasGradientB});
  EXPECT_EQ(multiply(x.get(), x.get(), x.get()), kInvalidValue) << "two gradients";
  for (const uint32_t epilogue : {kLtRelu, kLtBiasGradientA}) {
    set(7, epilogue);
    for (const int32_t batch : {65535, 65536}) {
      void* const all = layout(1, 1, 1);
      EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(all, 5, &batch, sizeof(batch)), kSuccess);
      MatmulHeuristic best;
      int found = -1;
      EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle_, desc_, all, all, all, all, nullptr, 1,
                                               &best, &found),
                batch == 65535 ? kSuccess : kNotSupported)
          << epilogue;
      EXPECT_EQ(found, batch == 65535 ? 1 : 0) << epilogue;
    }
  }
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
