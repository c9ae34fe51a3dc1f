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

/// Numbers of NVIDIA's generators for the host (curandCreateGeneratorHost, cuRAND 10.4.1), seed
/// 1234: at the first place, beside it, and where sequences come round. Normal ones agree but for
/// rounding.
TEST(Curand, NumbersAreNvidias) {
  struct Number {
    size_t at;
    unsigned word;
    float uniform;
    double wide;
    float normal;
    double wide_normal;
  };
  struct Numbers {
    int type;
    std::vector<Number> numbers;
  };
  const Numbers kAll[] = {
      {kXorwow,
       {{0, 0x253d5e15, 0x1.29eafp-3f, 0x1.bd561cb7abc2bp-2, 0.780973554f, 0.35873979852445503},
        {1, 0xd1f7605a, 0x1.a3eecp-1f, 0x1.da53518d7605ap-1, -1.80157816f, -1.239592503223552},
        {4096, 0x6f558604, 0x1.bd5618p-2f, 0x1.d216d58cdb5e5p-2, 1.93902695f, 1.4438503460964678},
        {8193, 0x83030ed9, 0x1.06061ep-1f, 0x1.1f1af3958c77p-6, -0.505464077f,
         0.23793416773781922}}},
      {kMrg32k3a,
       {{0, 0xc96891f0, 0x1.92d124p-1f, 0x1.92d123e0dcbe5p-1, -0.360653788f, -0.36065364611174472},
        {5, 0x4df33f46, 0x1.37ccfep-2f, 0x1.37ccfd1a8e5abp-2, 0.133793339f, 0.13379339823547715},
        {4096, 0x9dda211d, 0x1.3bb442p-1f, 0x1.3bb4423bbe2a2p-1, 0.0452207141f,
         0.045220713831235264},
        {81920, 0x9650c684, 0x1.2ca18ep-1f, 0x1.2ca18d096fe43p-1, 0.642083287f,
         0.64208339878874643}}},
      {kPhilox,
       {{0, 0x2090b348, 0x1.04859ap-3f, 0x1.b4f9e35f0b348p-1, -1.61649048f, -0.53952669590731883},
        {1, 0xda7cf0ab, 0x1.b4f9e2p-1f, 0x1.97948a5c1907p-1, 1.22915542f, 0.16063334644202293},
        {262143, 0x8e29d01a, 0x1.1c53ap-1f, 0x1.e294416a44749p-2, -1.66532397f,
         -1.6508154761265608},
        {262150, 0x1d8331c1, 0x1.d8331cp-4f, 0x1.c73f81df80852p-1, -0.355176866f,
         0.26053669656083162}}},
      {kSobol32,
       {{0, 0, 0x1p-33f, 0x1p-32, -6.33795738f, -6.3379577545537904},
        {5, 0xe0000000, 0x1.cp-1f, 0x1.c0000002p-1, 1.15034938f, 1.1503493809415335},
        {4096, 0x00180000, 0x1.800008p-12f, 0x1.80001p-12, -3.37714577f, -3.3771458188450807}}}};
  for (const Numbers& k : kAll) {
    const size_t n = (k.numbers.back().at + 2) / 2 * 2;
    const auto all = [&](auto zero, auto&& generate) {
      void* generator = nullptr;
      EXPECT_EQ(curandCreateGenerator(&generator, k.type), 0);
      if (k.type != kSobol32) {
        EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 1234), 0);
      }
      const OnDevice<decltype(zero)> out(n);
      EXPECT_EQ(generate(generator, out.get(), n), 0);
      EXPECT_EQ(curandDestroyGenerator(generator), 0);
      return out.values();
    };
    const auto words = all(0u, curandGenerate);
    const auto uniform = all(0.f, curandGenerateUniform);
    const auto wide = all(0., curandGenerateUniformDouble);
    const auto normal = all(0.f, [](void* g, float* p, size_t count) {
      return curandGenerateNormal(g, p, count, 0, 1);
    });
    const auto wide_normal = all(0., [](void* g, double* p, size_t count) {
      return curandGenerateNormalDouble(g, p, count, 0, 1);
    });
    for (const Number& number : k.numbers) {
      EXPECT_EQ(words[number.at], number.word) << k.type << " " << number.at;
      EXPECT_EQ(uniform[number.at], number.uniform) << k.type << " " << number.at;
      EXPECT_EQ(wide[number.at], number.wide) << k.type << " " << number.at;
      EXPECT_NEAR(normal[number.at], number.normal, 1e-6) << k.type << " " << number.at;
      EXPECT_NEAR(wide_normal[number.at], number.wide_normal, 1e-14) << k.type << " " << number.at;
    }
  }
}

/// A call begins with the sequence after that which gave the last number or pair, whatever each
/// took; Philox's groups of doubles have taken two counters.
TEST(Curand, CallsGoOnWithTheNextSequence) {
  for (const int type : {kXorwow, kMrg32k3a, kPhilox}) {
    const auto whole = numbers<unsigned>(type, 2 * 262144 + 40, curandGenerate);
    const OnDevice<double> some(262144);
    const OnDevice<unsigned> words(12);
    const auto expect_words_from = [&](void* generator, size_t from) {
      ASSERT_EQ(curandGenerate(generator, words.get(), 12), 0);
      for (size_t i = 0; i < 12; ++i) EXPECT_EQ(words.values()[i], whole[from + i]) << type;
      EXPECT_EQ(curandDestroyGenerator(generator), 0);
    };
    const auto make = [&] {
      void* generator = nullptr;
      EXPECT_EQ(curandCreateGenerator(&generator, type), 0);
      EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 99), 0);
      return generator;
    };
    void* generator = make();
    ASSERT_EQ(curandGenerateUniformDouble(generator, some.get(), 5), 0);
    expect_words_from(generator, 5);
    generator = make();
    ASSERT_EQ(curandGenerateNormalDouble(generator, some.get(), 6, 0, 1), 0);
    expect_words_from(generator, type == kPhilox ? 6 : 3);
    generator = make();
    ASSERT_EQ(curandGenerateUniformDouble(generator, some.get(), 262144), 0);
    expect_words_from(generator, type == kXorwow   ? 2 * 262144
                                 : type == kPhilox ? 2 * 262144
                                                   : 262144);
  }
}

TEST(Curand, OrdersAreNvidias) {
  constexpr int kBest = 100, kDefault = 101, kSeeded = 102, kLegacy = 103, kDynamic = 104,
                kQuasi = 201;
  struct Case {
    int type;
    std::set<int> accepted;  // by NVIDIA's generators for the host
  };
  const Case cases[] = {{kXorwow, {kBest, kDefault, kSeeded, kLegacy}},
                        {kMrg32k3a, {kBest, kDefault, kLegacy}},
                        {kMtgp32, {kBest, kDefault, kLegacy}},
                        {kMt19937, {kDefault, kLegacy}},
                        {kPhilox, {kBest, kDefault, kLegacy}},
                        {kSobol32, {kQuasi}},
                        {kSobol64, {kQuasi}}};
  for (const Case& k : cases) {
    void* generator = nullptr;
    ASSERT_EQ(curandCreateGeneratorHost(&generator, k.type), 0);
    for (const int order : {99, kBest, kDefault, kSeeded, kLegacy, kDynamic, 105, 200, kQuasi, 202})
      EXPECT_EQ(curandSetGeneratorOrdering(generator, order),
                k.accepted.contains(order) ? 0 : kOutOfRange)
          << k.type << " " << order;
    EXPECT_EQ(curandDestroyGenerator(generator), 0);
  }
  void* generator = nullptr;
  ASSERT_EQ(curandCreateGenerator(&generator, kPhilox), 0);
  EXPECT_EQ(curandSetGeneratorOrdering(generator, kDynamic), 0);
  EXPECT_EQ(curandSetGeneratorOrdering(generator, kSeeded), kOutOfRange);
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
}

TEST(Curand, MoreNumbersThanBytesCanBeCounted) {
  constexpr int kAllocationFailed = 102;
  void* generator = nullptr;
  ASSERT_EQ(curandCreateGeneratorHost(&generator, kPhilox), 0);
  std::vector<unsigned> host(4);
  EXPECT_EQ(curandGenerate(generator, host.data(), SIZE_MAX / 4 + 1), kAllocationFailed);
  EXPECT_EQ(curandGenerate(generator, host.data(), 4), 0);
  EXPECT_EQ(curandDestroyGenerator(generator), 0);
}

/// NVIDIA's generators for the host, cuRAND 10.4.1: numbers that were given stay so under another
/// seed (of Philox groups of four, each as one), and MRG32k3a's older order is of fewer sequences.
TEST(Curand, PlacesStay) {
  const OnDevice<unsigned> words(10);
  const auto make = [](int type, unsigned long long seed, unsigned long long offset) {
    void* generator = nullptr;
    EXPECT_EQ(curandCreateGenerator(&generator, type), 0);
    EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, seed), 0);
    EXPECT_EQ(curandSetGeneratorOffset(generator, offset), 0);
    return generator;
  };
  const auto next = [&](void* generator) {
    EXPECT_EQ(curandGenerate(generator, words.get(), 10), 0);
    return words.values();
  };
  for (const int type : {kXorwow, kMrg32k3a, kPhilox}) {
    void* const changed = make(type, 99, 7);
    next(changed);
    EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(changed, 5), 0);
    void* const direct = make(type, 5, type == kPhilox ? 10 : 17);
    EXPECT_EQ(next(changed), next(direct)) << type;
    for (void* const generator : {changed, direct}) curandDestroyGenerator(generator);
  }
  constexpr int kDefault = 101, kLegacy = 103;
  void* const mrg = make(kMrg32k3a, 0, 100000);
  const auto in_new_order = next(mrg);
  EXPECT_EQ(in_new_order.front(), 3945371870u);
  EXPECT_EQ(curandSetGeneratorOrdering(mrg, kLegacy), 0);
  EXPECT_EQ(next(mrg).front(), 2590451666u);  // from number 100,010 on
  EXPECT_EQ(curandSetGeneratorOffset(mrg, 100000), 0);
  EXPECT_EQ(next(mrg).front(), 1965195035u);
  EXPECT_EQ(curandSetGeneratorOrdering(mrg, kDefault), 0);
  EXPECT_EQ(curandSetGeneratorOffset(mrg, 100000), 0);
  EXPECT_EQ(next(mrg), in_new_order);
  EXPECT_EQ(curandDestroyGenerator(mrg), 0);
}

/// The least number whose distribution function reaches the point.
TEST(Curand, PoissonNumbersOfPoints) {
  constexpr size_t kPoints = 2048;
  const auto of_type = [&](int type, auto zero, auto&& generate) {
    void* generator = nullptr;
    EXPECT_EQ(curandCreateGenerator(&generator, type), 0);
    const OnDevice<decltype(zero)> out(kPoints);
    EXPECT_EQ(generate(generator, out.get(), kPoints), 0);
    EXPECT_EQ(curandDestroyGenerator(generator), 0);
    return out.values();
  };
  const auto points = of_type(kSobol64, 0., curandGenerateUniformDouble);
  for (const double lambda : {0.1, 3.0, 30.0, 499.0, 501.0, 5000.0}) {
    const auto poisson = [&](void* g, unsigned* p, size_t n) {
      return curandGeneratePoisson(g, p, n, lambda);
    };
    const auto narrow = of_type(kSobol32, 0u, poisson), wide = of_type(kSobol64, 0u, poisson);
    size_t others = 0;
    for (size_t i = 0; i < kPoints; ++i) {
      unsigned k = 0;
      for (long double term = std::exp(static_cast<long double>(-lambda)), sum = term;
           sum < static_cast<long double>(points[i]); sum += term)
        term *= static_cast<long double>(lambda) / ++k;
      EXPECT_LE(std::abs(static_cast<int>(wide[i] - k)), lambda < 500 ? 0 : 1)
          << lambda << " " << i;
      others += wide[i] != k ? 1u : 0u;
      if (i != 0) {
        EXPECT_LE(std::abs(static_cast<int>(narrow[i] - k)), 1) << lambda << " " << i;
      }
    }
    EXPECT_LE(others, 2u) << lambda;
  }
  // NVIDIA's, for the host.
  const auto few = of_type(kSobol64, 0u, [](void* g, unsigned* p, size_t n) {
    return curandGeneratePoisson(g, p, n, 3);
  });
  EXPECT_EQ((std::vector(few.begin(), few.begin() + 16)),
            (std::vector<unsigned>{0, 3, 4, 2, 2, 5, 3, 1, 1, 4, 6, 3, 2, 4, 3, 1}));
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
