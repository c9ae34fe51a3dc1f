// Are cuRAND's numbers distributed as they should be, and do calls do what they say?
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/on_device.h"

extern "C" {
int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandSetGeneratorOrdering(void*, int);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGenerateSeeds(void*);
int curandGenerate(void*, unsigned*, size_t);
int curandGenerateLongLong(void*, unsigned long long*, size_t);
int curandGenerateUniform(void*, float*, size_t);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGenerateNormalDouble(void*, double*, size_t, double, double);
int curandGenerateLogNormal(void*, float*, size_t, float, float);
int curandGenerateLogNormalDouble(void*, double*, size_t, double, double);
int curandGeneratePoisson(void*, unsigned*, size_t, double);
int curandCreatePoissonDistribution(double, void**);
}

namespace nearwarp::cudalibs {
namespace {

constexpr int kXorwow = 101, kMrg32k3a = 121, kMtgp32 = 141, kMt19937 = 142, kPhilox = 161,
              kSobol32 = 201, kScrambledSobol32 = 202, kSobol64 = 203, kScrambledSobol64 = 204;
constexpr int kPseudo[] = {kXorwow, kMrg32k3a, kMtgp32, kMt19937, kPhilox};
constexpr int kNotInitialized = 101, kTypeError = 103, kOutOfRange = 104, kLengthNotMultiple = 105,
              kInternalError = 999;
constexpr size_t kMany = 100000;

struct Moments {
  double mean = 0, deviation = 0, least = INFINITY, most = -INFINITY;
};
template <class T>
Moments moments(const std::vector<T>& x) {
  Moments m;
  for (const T v : x) {
    const auto d = static_cast<double>(v);
    m.mean += d / static_cast<double>(x.size());
    m.least = std::min(m.least, d);
    m.most = std::max(m.most, d);
  }
  for (const T v : x)
    m.deviation += std::pow(static_cast<double>(v) - m.mean, 2) / static_cast<double>(x.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// Numbers of one distribution: `generate(generator, memory, count)`.
template <class T, class Generate>
std::vector<T> numbers(int type, size_t n, Generate&& generate) {
  void* generator = nullptr;
  EXPECT_EQ(curandCreateGenerator(&generator, type), 0);
  EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 99), type == kSobol32 ? kTypeError : 0);
  const OnDevice<T> out(n);
  EXPECT_EQ(generate(generator, out.get(), n), 0);
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
  return out.values();
}

TEST(Curand, Mt19937IsTheStandardOne) {
  for (const unsigned long long offset : {0ull, 1ull, 623ull, 624ull, 625ull, 1248ull, 5000ull}) {
    void* generator = nullptr;
    ASSERT_EQ(curandCreateGenerator(&generator, kMt19937), 0);
    EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 5489), 0);
    EXPECT_EQ(curandSetGeneratorOffset(generator, offset), 0);
    std::mt19937 expected(5489);
    expected.discard(offset);
    for (const size_t n : {1u, 100u, 2000u}) {
      const OnDevice<unsigned> words(n);
      ASSERT_EQ(curandGenerate(generator, words.get(), n), 0);
      for (const unsigned word : words.values()) ASSERT_EQ(word, expected()) << offset;
    }
    EXPECT_EQ(curandDestroyGenerator(generator), 0);
  }
}

/// Turns of 256 words of each of 64 generators: what is asked for in parts, or from an offset on,
/// is what is asked for at once.
TEST(Curand, Mtgp32GoesOnWhereItEnded) {
  constexpr size_t kAll = 3 * 64 * 256 + 1000;
  const auto words = [](unsigned long long offset, std::vector<size_t> parts) {
    void* generator = nullptr;
    EXPECT_EQ(curandCreateGenerator(&generator, kMtgp32), 0);
    EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 7), 0);
    EXPECT_EQ(curandSetGeneratorOffset(generator, offset), 0);
    const OnDevice<unsigned> out(kAll);
    size_t at = 0;
    for (const size_t n : parts) {
      EXPECT_EQ(curandGenerate(generator, out.get() + at, n), 0);
      at += n;
    }
    EXPECT_EQ(curandDestroyGenerator(generator), 0);
    auto all = out.values();
    all.resize(at);
    return all;
  };
  const auto whole = words(0, {kAll});
  EXPECT_GT(std::set(whole.begin(), whole.end()).size(), kAll - 10);  // of 2^32
  EXPECT_EQ(words(0, {1, 255, 256, 100, 16000, kAll - 16612}), whole);
  for (const size_t offset : {size_t{1}, size_t{300}, size_t{16384}, size_t{40000}})
    EXPECT_EQ(words(offset, {500, 500}),
              std::vector(whole.begin() + static_cast<long>(offset),
                          whole.begin() + static_cast<long>(offset) + 1000));
}

/// Known answers of the ten rounds (Random123's kat_vectors): key and counter 0.
TEST(Curand, PhiloxIsThePublishedOne) {
  void* generator = nullptr;
  ASSERT_EQ(curandCreateGenerator(&generator, kPhilox), 0);
  EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 0), 0);
  const OnDevice<unsigned> words(6);
  ASSERT_EQ(curandGenerate(generator, words.get(), 1), 0);
  ASSERT_EQ(curandGenerate(generator, words.get() + 1, 5), 0);  // goes on in the middle
  const auto w = words.values();
  EXPECT_EQ((std::vector(w.begin(), w.begin() + 4)),
            (std::vector<unsigned>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
}

/// Marsaglia's steps from the state that seed 0 gives, for the sequence that numbers 0, 4096, ...
/// are of.
TEST(Curand, XorwowIsMarsaglias) {
  const uint32_t t0 = 1099087573u * 0xaad26b49u, t1 = 2591861531u * 0xf7dcefddu;
  uint32_t v[] = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0};
  uint32_t sum = 6615241u + t1 + t0;
  const auto words = numbers<unsigned>(kXorwow, 4096 * 5, [](void* g, unsigned* p, size_t n) {
    EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(g, 0), 0);
    return curandGenerate(g, p, n);
  });
  for (size_t i = 0; i < 5; ++i) {
    const uint32_t t = v[0] ^ (v[0] >> 2);
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    sum += 362437;
    EXPECT_EQ(words[i * 4096], v[4] + sum) << i;
  }
}

TEST(Curand, UniformNumbers) {
  for (const int type : kPseudo) {
    const auto narrow = moments(numbers<float>(type, kMany, curandGenerateUniform));
    const auto wide = moments(numbers<double>(type, kMany, curandGenerateUniformDouble));
    for (const Moments& m : {narrow, wide}) {
      EXPECT_NEAR(m.mean, 0.5, 0.004) << type;
      EXPECT_NEAR(m.deviation, std::sqrt(1.0 / 12), 0.003) << type;
      EXPECT_GT(m.least, 0) << type;
      EXPECT_LE(m.most, 1) << type;
    }
    const auto words = numbers<unsigned>(type, 4096, curandGenerate);
    EXPECT_GE((std::set(words.begin(), words.end()).size()), 4090u) << type;
  }
}

TEST(Curand, NormalNumbers) {
  for (const int type : kPseudo) {
    const auto f32 = numbers<float>(type, kMany, [](void* g, float* p, size_t n) {
      return curandGenerateNormal(g, p, n, 3, 2);
    });
    const auto f64 = numbers<double>(type, kMany, [](void* g, double* p, size_t n) {
      return curandGenerateNormalDouble(g, p, n, 3, 2);
    });
    double kurtosis = 0;
    for (const float x : f32) kurtosis += std::pow((x - 3) / 2, 4) / kMany;
    EXPECT_NEAR(kurtosis, 3, 0.15) << type;
    for (const Moments& m : {moments(f32), moments(f64)}) {
      EXPECT_NEAR(m.mean, 3, 0.03) << type;
      EXPECT_NEAR(m.deviation, 2, 0.03) << type;
    }
  }
  const double mean = 0.5, deviation = 0.25;
  const auto logarithms = [](auto x) {
    for (auto& v : x) v = std::log(v);
    return moments(x);
  };
  for (const Moments& m :
       {logarithms(numbers<float>(kXorwow, kMany,
                                  [&](void*g, float*p, size_t n) {
                                    return curandGenerateLogNormal(g, p, n,
                                                                   static_cast<float>(mean),
                                                                   static_cast<float>(deviation));
                                  })),
        logarithms(numbers<double>(kPhilox, kMany, [&](void*g, double*p, size_t n) {
          return curandGenerateLogNormalDouble(g, p, n, mean, deviation);
        }))}) {
    EXPECT_NEAR(m.mean, mean, 0.005);
    EXPECT_NEAR(m.deviation, deviation, 0.005);
  }
}

TEST(Curand, PoissonNumbers) {
  for (const double lambda : {0.1, 1.0, 9.5, 10.5, 64.0, 5000.0}) {
    const auto x = numbers<unsigned>(kXorwow, kMany, [&](void* g, unsigned* p, size_t n) {
      return curandGeneratePoisson(g, p, n, lambda);
    });
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, lambda, 5 * std::sqrt(lambda / kMany)) << lambda;
    EXPECT_NEAR(m.deviation * m.deviation, lambda, 0.03 * lambda + 0.002) << lambda;
    if (lambda > 20) continue;
    std::vector<double> share(60);
    for (const unsigned k : x)
      if (k < share.size()) share[k] += 1.0 / kMany;
    double expected = std::exp(-lambda);
    for (size_t k = 0; k < share.size(); ++k) {
      EXPECT_NEAR(share[k], expected, 5 * std::sqrt(expected / kMany) + 1e-4) << lambda << " " << k;
      expected *= lambda / static_cast<double>(k + 1);
    }
  }
}

/// For each power of two of points, every interval of that size has one; and pairs of dimensions
/// fill boxes.
TEST(Curand, SobolsPoints) {
  constexpr size_t kPoints = 1024, kDimensions = 10;
  void* generator = nullptr;
  ASSERT_EQ(curandCreateGenerator(&generator, kSobol32), 0);
  ASSERT_EQ(curandSetQuasiRandomGeneratorDimensions(generator, kDimensions), 0);
  const OnDevice<unsigned> out(kPoints * kDimensions);
  ASSERT_EQ(curandGenerate(generator, out.get(), kPoints * kDimensions), 0);
  const auto words = out.values();
  EXPECT_EQ((std::vector(words.begin(), words.begin() + 4)),
            (std::vector<unsigned>{0, 0x80000000, 0xc0000000, 0x40000000}));
  for (size_t d = 0; d < kDimensions; ++d) {
    std::set<unsigned> intervals;
    for (size_t i = 0; i < kPoints; ++i) intervals.insert(words[d * kPoints + i] >> 22);
    EXPECT_EQ(intervals.size(), kPoints) << d;
  }
  std::set<unsigned> boxes;  // the first two dimensions are a (0, 2)-sequence
  for (size_t i = 0; i < kPoints; ++i)
    boxes.insert((words[i] >> 27) << 5 | words[kPoints + i] >> 27);
  EXPECT_EQ(boxes.size(), kPoints);
  EXPECT_EQ(curandGenerate(generator, out.get(), 11), kLengthNotMultiple);
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
  const Moments m = moments(numbers<double>(kSobol32, 4096, [](void* g, double* p, size_t n) {
    return curandGenerateNormalDouble(g, p, n, 0, 1);
  }));
  EXPECT_NEAR(m.mean, 0, 0.005);
  EXPECT_NEAR(m.deviation, 1, 0.01);
}

/// Upper halves of points of 64 bits are the points of 32.
TEST(Curand, SobolsPointsOf64Bits) {
  constexpr size_t kPoints = 1000, kDimensions = 10, kAll = kPoints * kDimensions;
  void *shorts = nullptr, *longs = nullptr;
  ASSERT_EQ(curandCreateGenerator(&shorts, kSobol32), 0);
  ASSERT_EQ(curandCreateGenerator(&longs, kSobol64), 0);
  for (void* const generator : {shorts, longs}) {
    ASSERT_EQ(curandSetQuasiRandomGeneratorDimensions(generator, kDimensions), 0);
    ASSERT_EQ(curandSetGeneratorOffset(generator, 5), 0);
  }
  const OnDevice<unsigned> out(kAll);
  const OnDevice<unsigned long long> long_out(kAll);
  const OnDevice<double> uniform(kAll);
  ASSERT_EQ(curandGenerate(shorts, out.get(), kAll), 0);
  ASSERT_EQ(curandGenerateLongLong(longs, long_out.get(), kAll), 0);
  const auto words = out.values();
  const auto long_words = long_out.values();
  for (size_t i = 0; i < kAll; ++i) ASSERT_EQ(long_words[i] >> 32, words[i]) << i;
  // Digits beyond the 32nd come with points beyond 2^32.
  ASSERT_EQ(curandSetGeneratorOffset(longs, (1ull << 40) + 3), 0);
  ASSERT_EQ(curandGenerateLongLong(longs, long_out.get(), kAll), 0);
  const auto far = long_out.values();
  for (size_t d = 0; d < kDimensions; ++d) EXPECT_NE(far[d * kPoints] & 0xffffffff, 0u) << d;
  EXPECT_EQ(far[0],
            1ull << 23 | 1ull << 24 | 1ull << 62);  // the Gray code of 2^40 + 3, turned round
  ASSERT_EQ(curandGenerateUniformDouble(longs, uniform.get(), kAll), 0);
  ASSERT_EQ(curandSetGeneratorOffset(longs, (1ull << 40) + 3 + kPoints), 0);
  ASSERT_EQ(curandGenerateLongLong(longs, long_out.get(), kAll), 0);
  const auto next = long_out.values();
  const auto numbers_found = uniform.values();
  for (size_t i = 0; i < kAll; ++i)
    ASSERT_EQ(numbers_found[i], static_cast<double>(next[i] >> 11) * 0x1p-53 + 0x1p-54) << i;
  EXPECT_EQ(curandGenerate(longs, out.get(), kAll), kTypeError);
  EXPECT_EQ(curandGenerateLongLong(shorts, long_out.get(), kAll), kTypeError);
  EXPECT_EQ(curandDestroyGenerator(shorts), 0);
  EXPECT_EQ(curandDestroyGenerator(longs), 0);
}

TEST(Curand, ForTheHost) {
  std::vector<float> host(1000);
  void* generator = nullptr;
  ASSERT_EQ(curandCreateGeneratorHost(&generator, kPhilox), 0);
  EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 99), 0);
  ASSERT_EQ(curandGenerateUniform(generator, host.data(), host.size()), 0);
  EXPECT_EQ(host, numbers<float>(kPhilox, host.size(), curandGenerateUniform));
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
}

TEST(Curand, WhatIsWrong) {
  void* generator = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(curandCreateGenerator(&generator, kScrambledSobol32), kTypeError);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("scrambled Sobol"), std::string::npos);
  EXPECT_EQ(curandGenerateSeeds(nullptr), kNotInitialized);
  ASSERT_EQ(curandCreateGenerator(&generator, kXorwow), 0);
  const OnDevice<float> x(3);
  EXPECT_EQ(curandGenerateNormal(generator, x.get(), 3, 0, 1), kLengthNotMultiple);
  EXPECT_EQ(curandGenerateUniform(generator, nullptr, 3), kOutOfRange);
  EXPECT_EQ(curandSetQuasiRandomGeneratorDimensions(generator, 2), kTypeError);
  EXPECT_EQ(curandSetGeneratorOrdering(generator, 7), kOutOfRange);
  EXPECT_EQ(curandGenerateLongLong(generator, nullptr, 1), kTypeError);
  EXPECT_EQ(curandGeneratePoisson(generator, nullptr, 1, -1), kOutOfRange);
  testing::internal::CaptureStderr();
  EXPECT_EQ(curandCreatePoissonDistribution(2, &generator), kInternalError);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("curandCreatePoissonDistribution()"),
            std::string::npos);
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
  EXPECT_EQ(curandDestroyGenerator(generator), kNotInitialized);
}

}  // namespace
}  // namespace nearwarp::cudalibs
