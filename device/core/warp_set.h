// Sets of warp slots as bit masks.
#pragma once

#include <cstdint>

#include "device/core/bits.h"

namespace nearwarp {

/// A set of the numbers [0, 64 x kWords). With one word it is a plain 64-bit mask, and compiles to
/// one.
template <uint32_t kWords>
struct WarpSet {
  static constexpr uint32_t kCapacity = 64 * kWords;

  uint64_t word[kWords] = {};  ///< number i is bit i % 64 of word i / 64

  /// {i}
  NW_HD static constexpr WarpSet of(uint32_t i) {
    WarpSet s;
    s.set(i);
    return s;
  }
  /// {0, ..., n - 1}, n <= kCapacity.
  NW_HD static constexpr WarpSet lowest(uint32_t n) {
    WarpSet s;
    for (uint32_t k = 0; k < kWords; ++k) s.word[k] = n > 64 * k ? low_bits(n - 64 * k) : 0;
    return s;
  }

  /// {first, first + step, first + 2 step, ...}; first < step <= 64.
  NW_HD static constexpr WarpSet every(uint32_t step, uint32_t first) {
    WarpSet s;
    for (uint32_t k = 0; k < kWords; ++k) {
      s.word[k] = uint64_t{1} << first;
      for (uint32_t n = step; n < 64; n *= 2) s.word[k] |= s.word[k] << n;
      if (k + 1 < kWords) first = (first + step - 64 % step) % step;
    }
    return s;
  }

  NW_HD constexpr void set(uint32_t i) { word[index(i)] |= uint64_t{1} << (i % 64); }
  NW_HD constexpr void clear(uint32_t i) { word[index(i)] &= ~(uint64_t{1} << (i % 64)); }
  NW_HD constexpr bool test(uint32_t i) const { return (word[index(i)] >> (i % 64) & 1) != 0; }
  NW_HD constexpr bool any() const {
    uint64_t all = 0;
    for (uint32_t k = 0; k < kWords; ++k) all |= word[k];
    return all != 0;
  }
  /// How many numbers it has.
  NW_HD uint32_t size() const {
    uint32_t n = 0;
    for (uint32_t k = 0; k < kWords; ++k) n += population_count(word[k]);
    return n;
  }
  /// Does it have two numbers, or more?
  NW_HD bool several() const {
    if constexpr (kWords == 1) return has_several(word[0]);
    return size() > 1;
  }
  /// The least number; the set must not be empty.
  NW_HD uint32_t first() const {
    for (uint32_t k = 0; k + 1 < kWords; ++k)
      if (word[k] != 0) return 64 * k + count_trailing_zeros(word[k]);
    return 64 * (kWords - 1) + count_trailing_zeros(word[kWords - 1]);
  }
  /// Remove the least number and return it; the set must not be empty.
  NW_HD uint32_t take_first() {
    for (uint32_t k = 0; k + 1 < kWords; ++k)
      if (word[k] != 0) return 64 * k + take_first_of(word[k]);
    return 64 * (kWords - 1) + take_first_of(word[kWords - 1]);
  }
  /// f(i) for each number, in ascending order. The set as it was at the call is visited: f may
  /// change it.
  template <class F>
  NW_HD NW_INLINE void each(F&& f) const {
    const WarpSet visited = *this;
    for (uint32_t k = 0; k < kWords; ++k)
      for (uint64_t m = visited.word[k]; m != 0; m &= m - 1) f(64 * k + count_trailing_zeros(m));
  }

  NW_HD constexpr WarpSet& operator|=(const WarpSet& o) {
    for (uint32_t k = 0; k < kWords; ++k) word[k] |= o.word[k];
    return *this;
  }
  NW_HD constexpr WarpSet& operator&=(const WarpSet& o) {
    for (uint32_t k = 0; k < kWords; ++k) word[k] &= o.word[k];
    return *this;
  }
  /// Set difference.
  NW_HD constexpr WarpSet& operator-=(const WarpSet& o) {
    for (uint32_t k = 0; k < kWords; ++k) word[k] &= ~o.word[k];
    return *this;
  }
  NW_HD friend constexpr WarpSet operator|(WarpSet a, WarpSet b) { return a |= b; }
  NW_HD friend constexpr WarpSet operator&(WarpSet a, WarpSet b) { return a &= b; }
  NW_HD friend constexpr WarpSet operator-(WarpSet a, WarpSet b) { return a -= b; }
  NW_HD friend constexpr bool operator==(const WarpSet& a, const WarpSet& b) {
    uint64_t differ = 0;
    for (uint32_t k = 0; k < kWords; ++k) differ |= a.word[k] ^ b.word[k];
    return differ == 0;
  }

 private:
  NW_HD static constexpr uint32_t index(uint32_t i) {
    if constexpr (kWords == 1) return 0;
    return i / 64;
  }
  NW_HD static uint32_t take_first_of(uint64_t& bits) {
    const uint32_t i = count_trailing_zeros(bits);
    bits &= bits - 1;
    return i;
  }
};

}  // namespace nearwarp
