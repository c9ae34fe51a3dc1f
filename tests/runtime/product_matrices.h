// Matrices of any format for tests of products: made, laid out as descriptors of wgmma say,
// multiplied.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/small_floats.h"

namespace nearwarp::runtime {

/// A format of factors: the number of its bits, and the value that they stand for.
struct Factor {
  uint32_t bits;
  std::function<double(uint32_t)> value;
};
inline const Factor kF16{16, [](uint32_t v) { return exec::half_value(v, false); }};
inline const Factor kBF16{16, [](uint32_t v) { return exec::half_value(v, true); }};
inline const Factor kTF32{32,
                          [](uint32_t v) { return double(std::bit_cast<float>(v & ~0x1fffu)); }};
inline const Factor kE4M3{8,
                          [](uint32_t v) { return exec::small_value(ptx::SmallFloat::kE4M3, v); }};
inline const Factor kE5M2{8,
                          [](uint32_t v) { return exec::small_value(ptx::SmallFloat::kE5M2, v); }};
inline const Factor kS8{8, [](uint32_t v) { return double(static_cast<int8_t>(v)); }};
inline const Factor kU8{8, [](uint32_t v) { return double(v); }};
inline const Factor kS4{4, [](uint32_t v) { return double(v < 8 ? int(v) : int(v) - 16); }};
inline const Factor kU4{4, [](uint32_t v) { return double(v); }};
inline const Factor kB1{1, [](uint32_t v) { return double(v); }};

/// A matrix of numbers as bits; element (i, k) of a, or (k, j) of b as (j, k).
struct Matrix {
  Factor format;
  uint32_t lines, length;
  std::vector<uint32_t> bits;
  Matrix(Factor f, uint32_t n, uint32_t k, uint32_t seed)
      : format(std::move(f)), lines(n), length(k), bits(size_t{n} * k) {
    uint32_t state = seed;
    for (uint32_t& v : bits) {
      state = state * 1664525 + 1013904223;
      const int small = static_cast<int>(state >> 24) % 17 - 8;
      if (format.bits == 16)  // exact in every sum
        v = exec::half_bits(small, format.value(0x3f80) == 1.0, exec::Round::kNearest);
      else if (format.bits == 32)
        v = std::bit_cast<uint32_t>(static_cast<float>(small)) | (state & 0x1fff);
      else if (format.bits == 8 && format.value(0x38) == 1.0)
        v = exec::small_bits(ptx::SmallFloat::kE4M3, small);
      else if (format.bits == 8 && format.value(0x3c) == 1.0)
        v = exec::small_bits(ptx::SmallFloat::kE5M2, small);
      else
        v = state >> 20 & ((1u << format.bits) - 1);
    }
  }
  uint32_t at(uint32_t line, uint32_t k) const { return bits[size_t{line} * length + k]; }
  double value(uint32_t line, uint32_t k) const { return format.value(at(line, k)); }
};

inline double dot(const Matrix& a, uint32_t i, const Matrix& b, uint32_t j) {
  double sum = 0;
  for (uint32_t k = 0; k < a.length; ++k) sum += a.value(i, k) * b.value(j, k);
  return sum;
}

/// Puts `bits` of width `width` at bit `at` of bytes.
inline void put(std::vector<uint8_t>* to, uint64_t at, uint32_t width, uint32_t bits) {
  for (uint32_t i = 0; i < width; ++i)
    if ((bits >> i & 1) != 0)
      to->at((at + i) / 8) = static_cast<uint8_t>(to->at((at + i) / 8) | 1u << (at + i) % 8);
}

/// Lays a matrix out in shared memory as a descriptor says, swizzled by rows of 128 bytes, and
/// returns the descriptor. `span`: 16 (none), 32, 64 or 128.
inline uint64_t lay_out(const Matrix& m, uint32_t base, uint32_t span, bool across,
                        uint32_t leading, uint32_t stride, std::vector<uint8_t>* to) {
  const uint32_t per_chunk = 128 / m.format.bits;
  for (uint32_t line = 0; line < m.lines; ++line)
    for (uint32_t k = 0; k < m.length; ++k) {
      const uint32_t minor = across ? line : k, major = across ? k : line;
      const uint32_t chunk = minor / per_chunk, chunks = span / 16;
      uint32_t at = base;
      if (!across)  // groups of 8 lines, of which each has 32 bytes or more along k
        at += line % 8 * span + line / 8 * stride + chunk % chunks * 16 + chunk / chunks * leading;
      else if (span == 16)
        at += chunk * stride + major / 8 * leading + major % 8 * 16;
      else
        at +=
            chunk % chunks * 16 + chunk / chunks * leading + major % 8 * span + major / 8 * stride;
      const uint32_t row = at / 128;
      const uint32_t exchanged = span == 128  ? row % 8
                                 : span == 64 ? row % 4
                                 : span == 32 ? row % 2
                                              : 0;
      at ^= exchanged * 16;
      put(to, uint64_t{at} * 8 + minor % per_chunk * m.format.bits, m.format.bits, m.at(line, k));
    }
  const uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  return base >> 4 | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | mode << 62;
}

}  // namespace nearwarp::runtime
