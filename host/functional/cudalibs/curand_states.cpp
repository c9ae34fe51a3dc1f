// Computes the states of cuRAND's generators for a seed, after numbers that were generated before.
#include "host/functional/cudalibs/curand_states.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "host/functional/cudalibs/kernels/curand_args.h"
#include "host/functional/cudalibs/mtgp32_parameters.h"

namespace nearwarp::curand {

namespace {

// --- XORWOW: five words, on which a step is linear over bits, and a sum ------------------------

using Bits = std::array<uint32_t, 5>;

/// A linear map of 160 bits, with the image of each bit.
class BitMap {
 public:
  static BitMap step() {
    BitMap map;
    for (size_t i = 0; i < kBits; ++i) {
      Bits v{};
      v[i / 32] = 1u << i % 32;
      const uint32_t t = v[0] ^ (v[0] >> 2);
      map.columns_[i] = {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
    }
    return map;
  }
  Bits operator()(const Bits& v) const {
    Bits result{};
    for (size_t i = 0; i < kBits; ++i)
      if ((v[i / 32] >> i % 32 & 1) != 0)
        for (size_t w = 0; w < 5; ++w) result[w] ^= columns_[i][w];
    return result;
  }
  BitMap squared() const {
    BitMap result;
    for (size_t i = 0; i < kBits; ++i) result.columns_[i] = (*this)(columns_[i]);
    return result;
  }

 private:
  static constexpr size_t kBits = 160;
  std::array<Bits, kBits> columns_{};
};

// --- MRG32k3a: two recursions of three words ---------------------------------------------------

constexpr uint64_t kModulus1 = 4294967087, kModulus2 = 4294944443;  // L'Ecuyer 1999

using Words = std::array<uint64_t, 3>;

struct Matrix {
  std::array<Words, 3> rows{};
  uint64_t modulus = 0;

  uint64_t product(uint64_t a, uint64_t b) const {
    return a * b % modulus;  // both below 2^32
  }
  Words operator()(const Words& v) const {
    Words result{};
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 3; ++c) result[r] = (result[r] + product(rows[r][c], v[c])) % modulus;
    return result;
  }
  Matrix squared() const {
    Matrix result{{}, modulus};
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 3; ++c)
        for (size_t k = 0; k < 3; ++k)
          result.rows[r][c] = (result.rows[r][c] + product(rows[r][k], rows[k][c])) % modulus;
    return result;
  }
};

const Matrix kStep1 = {{{{0, 1, 0}, {0, 0, 1}, {kModulus1 - 810728, 1403580, 0}}}, kModulus1};
const Matrix kStep2 = {{{{0, 1, 0}, {0, 0, 1}, {kModulus2 - 1370589, 0, 527612}}}, kModulus2};

/// The map that applies `map` 2^power times.
template <class Map>
Map to_power_of_two(Map map, int power) {
  for (int i = 0; i < power; ++i) map = map.squared();
  return map;
}
/// The vector `v` after `steps` applications of `map`.
template <class Map, class Vector>
Vector ahead(Map map, Vector v, uint64_t steps) {
  for (; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) v = map(v);
    if (steps > 1) map = map.squared();
  }
  return v;
}

}  // namespace

std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t given) {
  constexpr int kApart = 67, kSequences = kXorwowSequences;
  constexpr uint32_t kSumStep = 362437;
  // The seed is expanded as in cuRAND's device API (the toolkit's curand_kernel.h).
  const uint32_t s0 = static_cast<uint32_t>(seed) ^ 0xaad26b49u;
  const uint32_t s1 = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu;
  const uint32_t t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  Bits v = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0};
  const uint32_t sum = 6615241u + t1 + t0;  // unchanged by 2^67 steps, since it counts modulo 2^32
  const BitMap step = BitMap::step(), far = to_power_of_two(step, kApart);
  v = ahead(step, v, given / kSequences);
  std::vector<uint32_t> states(kStateWords * kSequences);
  for (size_t s = 0; s < kSequences; ++s) {
    const Bits own = s < given % kSequences ? step(v) : v;
    for (size_t w = 0; w < 5; ++w) states[w * kSequences + s] = own[w];
    const uint64_t own_given = given / kSequences + (s < given % kSequences ? 1 : 0);
    states[5 * kSequences + s] = sum + kSumStep * static_cast<uint32_t>(own_given);
    v = far(v);
  }
  return states;
}

std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t given, int sequences) {
  constexpr int kApart = 76;
  const auto all = static_cast<uint64_t>(sequences);
  constexpr uint64_t kFirst = 12345;
  Words a = {kFirst, kFirst, kFirst}, b = a;
  if (seed != 0) {  // as in cuRAND's device API
    const uint64_t x1 = static_cast<uint32_t>(seed) ^ 0x55555555u;
    const uint64_t x2 = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaau;
    a = {x1 * kFirst % kModulus1, x2 * kFirst % kModulus1, x1 * kFirst % kModulus1};
    b = {x2 * kFirst % kModulus2, x1 * kFirst % kModulus2, x2 * kFirst % kModulus2};
  }
  const Matrix far1 = to_power_of_two(kStep1, kApart), far2 = to_power_of_two(kStep2, kApart);
  a = ahead(kStep1, a, given / all);
  b = ahead(kStep2, b, given / all);
  std::vector<uint32_t> states(kStateWords * all);
  for (size_t s = 0; s < all; ++s) {
    const bool more = s < given % all;
    const Words own_a = more ? kStep1(a) : a, own_b = more ? kStep2(b) : b;
    for (size_t w = 0; w < 3; ++w) {
      states[w * all + s] = static_cast<uint32_t>(own_a[w]);
      states[(3 + w) * all + s] = static_cast<uint32_t>(own_b[w]);
    }
    a = far1(a);
    b = far2(b);
  }
  return states;
}

std::vector<uint32_t> mt19937_state(uint32_t seed, uint64_t given) {
  // Source: Matsumoto and Nishimura, "Mersenne Twister" (1998); the initialisation is that of their
  // code of 2002.
  constexpr size_t kFar = 397;
  std::vector<uint32_t> s(kTwisterWords + 1);
  s[0] = seed;
  for (uint32_t i = 1; i < kTwisterWords; ++i)
    s[i] = 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
  // Each round generates kTwisterWords words, up to the round that contains the next number.
  for (s[kTwisterWords] = kTwisterWords; given != 0;) {
    for (size_t i = 0; i < kTwisterWords; ++i) {
      const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % kTwisterWords] & 0x7fffffffu);
      s[i] = s[(i + kFar) % kTwisterWords] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    const uint64_t now = std::min<uint64_t>(given, kTwisterWords);
    s[kTwisterWords] = static_cast<uint32_t>(now);
    given -= now;
  }
  return s;
}

std::vector<uint32_t> mtgp32_states(uint64_t seed, uint64_t given) {
  // The algorithm is that of the authors' code, with the seeds of cuRAND's device API
  // (curand_mtgp32_host.h).
  constexpr uint64_t kRound = uint64_t{kMtgpGenerators} * kMtgpWords;
  static_assert(std::size(kMtgp32Parameters) == kMtgpGenerators);
  const auto first = static_cast<uint32_t>(seed ^ (seed >> 32));
  std::vector<uint32_t> all;
  for (uint32_t g = 0; g < kMtgpGenerators; ++g) {
    const Mtgp32Parameters& p = kMtgp32Parameters[g];
    std::array<uint32_t, 16> sums{};  // of the recursion's table, by which of its words they have
    for (uint32_t bits = 0; bits < sums.size(); ++bits)
      for (uint32_t i = 0; i < 4; ++i) sums[bits] ^= (bits >> i & 1) != 0 ? p.recursion[i] : 0;
    const uint32_t hidden = p.recursion[2] ^ (p.recursion[3] << 16);
    uint32_t filler = hidden + (hidden >> 16);
    filler += filler >> 8;
    std::vector<uint32_t> s(kMtgpState, (filler & 0xff) * 0x01010101u);
    s[0] = first + g + 1;
    s[1] = hidden;
    for (uint32_t i = 1; i < kMtgpState; ++i)
      s[i] ^= 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
    const uint64_t turns = given / kRound + (given % kRound >= (g + 1) * uint64_t{kMtgpWords});
    uint32_t oldest = 0;  // the state is a ring: a new word takes the place of the oldest
    const auto word = [&](uint32_t i) {
      return s[oldest + i < kMtgpState ? oldest + i : oldest + i - kMtgpState];
    };
    for (uint64_t step = 0; step < turns * kMtgpWords; ++step) {
      uint32_t x = (word(0) & kMtgp32Mask) ^ word(1);
      x ^= x << p.shift1;
      const uint32_t y = x ^ (word(p.position) >> p.shift2);
      s[oldest] = y ^ sums[y % sums.size()];
      oldest = oldest + 1 < kMtgpState ? oldest + 1 : 0;
    }
    std::rotate(s.begin(), s.begin() + oldest, s.end());
    all.insert(all.end(), s.begin(), s.end());
    all.insert(all.end(), {p.position, p.shift1, p.shift2});
    all.insert(all.end(), std::begin(p.recursion), std::end(p.recursion));
    all.insert(all.end(), std::begin(p.tempering), std::end(p.tempering));
  }
  return all;
}

template <class Word>
std::vector<Word> sobol_directions(uint32_t dimensions) {
  constexpr uint32_t kDigits = 8 * sizeof(Word);
  // Source: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections"
  // (2008), table new-joe-kuo-6: degree and coefficients of the polynomial, first direction
  // numbers.
  struct Polynomial {
    uint32_t degree, coefficients;
    std::array<uint32_t, 5> first;
  };
  static constexpr Polynomial kTable[kMostDimensions - 1] = {{1, 0, {1}},
                                                             {2, 1, {1, 3}},
                                                             {3, 1, {1, 3, 1}},
                                                             {3, 2, {1, 1, 1}},
                                                             {4, 1, {1, 1, 3, 3}},
                                                             {4, 4, {1, 3, 5, 13}},
                                                             {5, 2, {1, 1, 5, 5, 17}},
                                                             {5, 4, {1, 1, 5, 5, 5}},
                                                             {5, 7, {1, 1, 7, 11, 19}}};
  std::vector<Word> all;
  for (uint32_t d = 0; d < dimensions; ++d) {
    std::array<Word, kDigits> v{};
    for (uint32_t i = 0; i < kDigits; ++i) {
      if (d == 0) {
        v[i] = Word{1} << (kDigits - 1 - i);
        continue;
      }
      const Polynomial& p = kTable[d - 1];
      if (i < p.degree) {
        v[i] = Word{p.first[i]} << (kDigits - 1 - i);
        continue;
      }
      v[i] = v[i - p.degree] ^ (v[i - p.degree] >> p.degree);
      for (uint32_t k = 1; k < p.degree; ++k)
        if ((p.coefficients >> (p.degree - 1 - k) & 1) != 0) v[i] ^= v[i - k];
    }
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}
template std::vector<uint32_t> sobol_directions(uint32_t dimensions);
template std::vector<uint64_t> sobol_directions(uint32_t dimensions);

}  // namespace nearwarp::curand
