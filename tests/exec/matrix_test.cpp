// Do matrix instructions give the products that are computed element by element, for all shapes,
// layouts, types and bit patterns?
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/matrix_ops.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {
namespace {

using ptx::MatrixDetail;
using ptx::Type;

struct Shape {
  uint8_t m;
  uint16_t n;
  uint8_t k;
  bool wmma;
  Type factor, result;
  uint8_t a_registers, b_registers;  ///< 0: as many as its elements need
};

/// Row and column of a fragment's element (PTX ISA 9.0, section 9.7.15.5).
struct Place {
  uint32_t row, column;
};
Place of_wmma(uint32_t rows, uint32_t columns, bool by_column, uint32_t lane, uint32_t e) {
  const uint32_t index = lane * (rows * columns / 32) + e;
  return by_column ? Place{index % rows, index / rows} : Place{index / columns, index % columns};
}

class Case {
 public:
  Case(const Shape& s, bool a_column, bool b_column, bool saturate) : s_(s) {
    d_.m = s.m, d_.n = s.n, d_.k = s.k, d_.wmma = s.wmma, d_.saturate = saturate;
    d_.a_column = a_column, d_.b_column = b_column;
    const uint32_t word = s.result == Type::kF64 ? 8 : 4;
    parts_ = std::max(1u, word / ptx::size_of(s.factor));
    result_parts_ = word / ptx::size_of(s.result);
    num_a_ = s.a_registers ? s.a_registers : s.m * s.k / 32u / parts_;
    num_b_ = s.b_registers ? s.b_registers : s.k * s.n / 32u / parts_;
    num_c_ = s.m * s.n / 32u / result_parts_;
    desc_.type = static_cast<uint8_t>(s.result);
    desc_.source_type = static_cast<uint8_t>(s.factor);
    desc_.extra = ptx::is_signed(s.factor) ? 1 : 0;
    desc_.detail = d_.pack();
    desc_.num_sources = static_cast<uint8_t>(num_a_ + num_b_ + num_c_);
    desc_.num_destinations = static_cast<uint8_t>(num_c_);
    step_ = word / 4;
    for (uint32_t i = 0; i < desc_.num_sources; ++i)
      desc_.sources[i] = static_cast<uint16_t>(i * step_);
    for (uint32_t i = 0; i < num_c_; ++i)
      desc_.destinations[i] = static_cast<uint16_t>((desc_.num_sources + i) * step_);
    bytes_.resize(size_t{kRowBytes} * step_ * (desc_.num_sources + num_c_));
  }

  /// Fill the source registers with random bits. With `kind` other than 0, floating-point numbers
  /// are of a magnitude from 1/2 to 2.
  void fill(std::mt19937& random, uint32_t kind) {
    auto* words = reinterpret_cast<uint32_t*>(bytes_.data());
    for (size_t i = 0; i < bytes_.size() / 4; ++i) {
      words[i] = static_cast<uint32_t>(random());
      if (kind == 0) continue;
      if (s_.factor == Type::kF16) words[i] = (words[i] & 0x87ff87ff) | 0x38003800;
      if (s_.factor == Type::kBF16) words[i] = (words[i] & 0x807f807f) | 0x3f003f00;
      if (s_.factor == Type::kB32) words[i] = (words[i] & 0x80ffffff) | 0x3f000000;
      if (s_.factor == Type::kF64 && i % 2 == 1) words[i] = (words[i] & 0x800fffff) | 0x3fe00000;
    }
  }

  /// Execute the instruction in the lanes of `mask`, and compare each lane's results; lanes that
  /// are not in `mask` must keep theirs.
  void check(uint32_t mask) {
    std::vector<uint8_t> before = bytes_;
    Warp warp{};
    warp.rows = bytes_.data();
    matrix(warp, desc_, mask);
    for (uint32_t r = 0; r < num_c_; ++r)
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint16_t at = desc_.destinations[r];
        const bool kept = (mask >> lane & 1) == 0;
        const uint64_t found = word(bytes_, at, lane);
        const uint64_t want = kept ? word(before, at, lane) : expected(before, r, lane);
        ASSERT_EQ(found, want) << "m" << int{s_.m} << "n" << s_.n << "k" << int{s_.k}
                               << (s_.wmma ? " wmma" : " mma") << " type " << int(s_.factor)
                               << " register " << r << " lane " << lane << std::hex << " " << found
                               << " " << want;
      }
  }

 private:
  uint64_t word(const std::vector<uint8_t>& bytes, uint32_t at, uint32_t lane) const {
    auto* rows = const_cast<uint8_t*>(bytes.data());
    const auto r = static_cast<uint16_t>(at);
    return step_ == 2 ? row<uint64_t>(rows, r)[lane] : row<uint32_t>(rows, r)[lane];
  }
  static double value(Type type, uint64_t bits) {
    switch (type) {
      case Type::kF16:
        return half_value(bits & 0xffff, false);
      case Type::kBF16:
        return half_value(bits & 0xffff, true);
      case Type::kS8:
        return static_cast<int8_t>(bits);
      case Type::kU8:
        return static_cast<uint8_t>(bits);
      case Type::kS32:
        return static_cast<int32_t>(bits);
      case Type::kF64:
        return std::bit_cast<double>(bits);
      case Type::kB32:
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000u));
      default:
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
  }
  Place place_a(uint32_t lane, uint32_t r, uint32_t i) const {
    if (s_.wmma) return of_wmma(s_.m, s_.k, d_.a_column, lane, r * parts_ + i);
    const uint32_t halves = s_.m / 8u;
    return {lane / 4 + 8 * (r % halves), lane % 4 * parts_ + i + 4 * parts_ * (r / halves)};
  }
  Place place_b(uint32_t lane, uint32_t r, uint32_t i) const {
    if (s_.wmma) return of_wmma(s_.k, s_.n, d_.b_column, lane, r * parts_ + i);
    return {lane % 4 * parts_ + i + 4 * parts_ * r, lane / 4};
  }
  Place place_c(uint32_t lane, uint32_t e) const {
    if (s_.wmma) return of_wmma(s_.m, s_.n, false, lane, e);
    return {lane / 4 + 8 * (e / 2), lane % 4 * 2 + e % 2};
  }

  /// The number at the row and column `wanted` of a factor, whose registers are sources from
  /// `first` on.
  template <class PlaceOf>
  double factor(const std::vector<uint8_t>& bytes, uint32_t first, uint32_t registers,
                uint32_t elements, Place wanted, PlaceOf&& place_of) const {
    for (uint32_t r = 0; r < registers; ++r)
      for (uint32_t i = 0; i < parts_ && r * parts_ + i < elements / 32; ++i)
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          const Place p = place_of(lane, r, i);
          if (p.row == wanted.row && p.column == wanted.column)
            return value(s_.factor, word(bytes, desc_.sources[first + r], lane) >>
                                        (parts_ == 1 ? 0 : 32 / parts_ * i));
        }
    ADD_FAILURE() << "no element " << wanted.row << ", " << wanted.column;
    return 0;
  }

  /// The expected number i of register r of the result in a lane: c plus the products of a row of a
  /// and a column of b.
  double sum(const std::vector<uint8_t>& bytes, uint32_t r, uint32_t i, uint32_t lane) const {
    const Place p = place_c(lane, r * result_parts_ + i);
    const double c =
        value(s_.result, word(bytes, desc_.sources[num_a_ + num_b_ + r], lane) >> 16 * i);
    double products = s_.result == Type::kF64 ? c : 0;
    for (uint32_t k = 0; k < s_.k; ++k) {
      const double a = factor(bytes, 0, num_a_, s_.m * s_.k, {p.row, k},
                              [&](uint32_t l, uint32_t q, uint32_t j) { return place_a(l, q, j); });
      const double b = factor(bytes, num_a_, num_b_, s_.k * s_.n, {k, p.column},
                              [&](uint32_t l, uint32_t q, uint32_t j) { return place_b(l, q, j); });
      products = s_.result == Type::kF64 ? std::fma(a, b, products) : products + a * b;
    }
    return s_.result == Type::kF64 ? products : c + products;
  }

  uint64_t expected(const std::vector<uint8_t>& bytes, uint32_t r, uint32_t lane) const {
    const double v = sum(bytes, r, 0, lane);
    switch (s_.result) {
      case Type::kF64:
        return std::bit_cast<uint64_t>(v);
      case Type::kF16:
        return half_bits(v, false, Round::kNearest) |
               half_bits(sum(bytes, r, 1, lane), false, Round::kNearest) << 16;
      case Type::kS32: {
        const auto whole = static_cast<int64_t>(v);
        return static_cast<uint32_t>(d_.saturate ? std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX)
                                                 : whole);
      }
      default: {
        const auto f = static_cast<float>(v);
        return f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
      }
    }
  }

  Shape s_;
  MatrixDetail d_;
  ExtendedDesc desc_;
  uint32_t parts_ = 1, result_parts_ = 1, num_a_ = 0, num_b_ = 0, num_c_ = 0, step_ = 1;
  std::vector<uint8_t> bytes_;
};

TEST(MatrixInstructions, AreProductsOfEachElement) {
  constexpr Type f16 = Type::kF16, bf16 = Type::kBF16, tf32 = Type::kB32, f32 = Type::kF32,
                 s8 = Type::kS8, u8 = Type::kU8, s32 = Type::kS32, f64 = Type::kF64;
  const Shape shapes[] = {{16, 8, 8, false, f16, f32, 0, 0},  {16, 8, 16, false, f16, f32, 0, 0},
                          {16, 8, 8, false, f16, f16, 0, 0},  {16, 8, 16, false, f16, f16, 0, 0},
                          {16, 8, 8, false, bf16, f32, 0, 0}, {16, 8, 16, false, bf16, f32, 0, 0},
                          {16, 8, 4, false, tf32, f32, 0, 0}, {16, 8, 8, false, tf32, f32, 0, 0},
                          {8, 8, 16, false, s8, s32, 0, 0},   {16, 8, 16, false, u8, s32, 0, 0},
                          {16, 8, 32, false, s8, s32, 0, 0},  {8, 8, 4, false, f64, f64, 0, 0},
                          {16, 8, 4, false, f64, f64, 0, 0},  {16, 8, 8, false, f64, f64, 0, 0},
                          {16, 8, 16, false, f64, f64, 0, 0}, {16, 16, 16, true, f16, f32, 8, 8},
                          {16, 16, 16, true, f16, f16, 8, 8}, {32, 8, 16, true, f16, f32, 8, 8},
                          {8, 32, 16, true, f16, f16, 8, 8},  {16, 16, 16, true, bf16, f32, 0, 0},
                          {32, 8, 16, true, bf16, f32, 0, 0}, {8, 32, 16, true, bf16, f32, 0, 0},
                          {16, 16, 8, true, tf32, f32, 0, 0}, {16, 16, 16, true, s8, s32, 0, 0},
                          {32, 8, 16, true, u8, s32, 0, 0},   {8, 32, 16, true, s8, s32, 0, 0},
                          {8, 8, 4, true, f64, f64, 0, 0}};
  std::mt19937 random(3);
  for (const Shape& s : shapes)
    for (uint32_t layout = 0; layout < 4; ++layout) {
      if (!s.wmma && layout != 2) continue;  // a by rows, b by columns
      for (uint32_t kind = 0; kind < 4; ++kind) {
        Case c(s, (layout & 1) != 0, (layout & 2) != 0, kind == 3);
        c.fill(random, kind % 2);
        c.check(kind == 1 ? static_cast<uint32_t>(random()) : ~0u);
        if (HasFatalFailure()) return;
      }
    }
}

}  // namespace
}  // namespace nearwarp::exec
