// mma and wmma.mma: fragments to matrices, products, and back.
#include "host/functional/instructions/matrix_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

namespace {

using ptx::MatrixDetail;
using ptx::Type;

struct Place {
  uint32_t row, column;
};

/// Which element a lane's register `r`, part `i` of `parts`, holds in fragments of mma.
Place factor_a(const MatrixDetail& d, uint32_t lane, uint32_t r, uint32_t i, uint32_t parts) {
  const uint32_t group = lane / 4, within = lane % 4, halves = d.m / 8;
  return {group + 8 * (r % halves), within * parts + i + 4 * parts * (r / halves)};
}
Place factor_b(uint32_t lane, uint32_t r, uint32_t i, uint32_t parts) {
  return {lane % 4 * parts + i + 4 * parts * r, lane / 4};
}
Place accumulator(uint32_t lane, uint32_t element) {
  return {lane / 4 + 8 * (element / 2), lane % 4 * 2 + element % 2};
}

/// The same for the fragments of wmma: neighbouring elements along the major order.
Place linear(uint32_t rows, uint32_t columns, bool by_column, uint32_t lane, uint32_t element) {
  const uint32_t index = lane * (rows * columns / 32) + element;
  return by_column ? Place{index % rows, index / rows} : Place{index / columns, index % columns};
}

double value_of(Type type, bool tf32, uint64_t bits, bool is_signed) {
  switch (type) {
    case Type::kF16:
      return half_value(static_cast<uint32_t>(bits), false);
    case Type::kBF16:
      return half_value(static_cast<uint32_t>(bits), true);
    case Type::kF64:
      return std::bit_cast<double>(bits);
    case Type::kU8:
    case Type::kS8:
      return is_signed ? static_cast<double>(static_cast<int8_t>(bits))
                       : static_cast<double>(static_cast<uint8_t>(bits));
    case Type::kS32:
      return static_cast<double>(static_cast<int32_t>(bits));
    default: {
      const auto word = static_cast<uint32_t>(bits);
      return static_cast<double>(std::bit_cast<float>(tf32 ? word & 0xffffe000u : word));
    }
  }
}

/// One matrix of values, row after row.
struct Matrix {
  uint32_t columns = 0;
  std::vector<double> values;
  Matrix(uint32_t rows, uint32_t c) : columns(c), values(size_t{rows} * c) {}
  double& at(Place p) { return values[size_t{p.row} * columns + p.column]; }
};

class Fragments {
 public:
  Fragments(Warp& warp, const ExtendedDesc& desc)
      : warp_(warp),
        desc_(desc),
        d_(MatrixDetail::unpack(desc.detail)),
        result_(static_cast<Type>(desc.type)),
        factor_(static_cast<Type>(desc.source_type)) {
    bytes_ = ptx::size_of(factor_);
    const uint32_t c_bytes = ptx::size_of(result_);
    num_c_ = d_.m * d_.n / 32 * c_bytes / (c_bytes == 8 ? 8 : 4);
    const uint32_t others = desc.num_sources - num_c_;
    const uint32_t size_a = uint32_t{d_.m} * d_.k, size_b = uint32_t{d_.k} * d_.n;
    num_a_ = d_.wmma && others % 2 == 0 && size_a == size_b
                 ? others / 2
                 : (d_.wmma ? split(others, size_a, size_b) : others * size_a / (size_a + size_b));
    num_b_ = others - num_a_;
  }

  void run(uint32_t mask) {
    Matrix a(d_.m, d_.k), b(d_.k, d_.n), c(d_.m, d_.n);
    const uint32_t parts = bytes_ >= 4 ? 1 : 4 / bytes_;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      read_factor(a, lane, 0, num_a_, parts, true);
      read_factor(b, lane, num_a_, num_b_, parts, false);
      const uint32_t c_parts = ptx::size_of(result_) == 2 ? 2 : 1;
      for (uint32_t r = 0; r < num_c_; ++r)
        for (uint32_t i = 0; i < c_parts; ++i)
          c.at(place_c(lane, r * c_parts + i)) =
              value_of(result_, false, word(num_a_ + num_b_ + r, lane) >> (16 * i), true);
    }
    for (uint32_t i = 0; i < d_.m; ++i)
      for (uint32_t j = 0; j < d_.n; ++j) c.at({i, j}) = dot(a, b, i, j, c.at({i, j}));
    for_each_lane(mask, [&](uint32_t lane) { write(c, lane); });
  }

 private:
  /// Registers of a where a and b differ in size: .f16 has 8 of each, others as many as they need.
  uint32_t split(uint32_t others, uint32_t size_a, uint32_t size_b) const {
    return factor_ == Type::kF16 ? others / 2 : others * size_a / (size_a + size_b);
  }
  uint64_t word(uint32_t source, uint32_t lane) const {
    return (desc_.wide >> source & 1) != 0 ? row<uint64_t>(warp_.rows, desc_.sources[source])[lane]
                                           : row<uint32_t>(warp_.rows, desc_.sources[source])[lane];
  }
  Place place_c(uint32_t lane, uint32_t element) const {
    return d_.wmma ? linear(d_.m, d_.n, false, lane, element) : accumulator(lane, element);
  }
  void read_factor(Matrix& out, uint32_t lane, uint32_t first, uint32_t registers, uint32_t parts,
                   bool is_a) {
    const bool is_signed = is_a ? ptx::is_signed(factor_) : desc_.extra != 0;
    const uint32_t rows = is_a ? d_.m : d_.k, columns = is_a ? d_.k : d_.n;
    const uint32_t each = rows * columns / 32;
    for (uint32_t r = 0; r < registers; ++r) {
      for (uint32_t i = 0; i < parts; ++i) {
        if (d_.wmma && r * parts + i >= each) return;  // copies
        const Place p =
            d_.wmma ? linear(rows, columns, is_a ? d_.a_column : d_.b_column, lane, r * parts + i)
            : is_a  ? factor_a(d_, lane, r, i, parts)
                    : factor_b(lane, r, i, parts);
        const uint64_t bits = word(first + r, lane) >> (8 * bytes_ * i * (parts > 1));
        out.at(p) = value_of(factor_, factor_ == Type::kB32, bits, is_signed);
      }
    }
  }
  double dot(Matrix& a, Matrix& b, uint32_t i, uint32_t j, double c) const {
    if (factor_ == Type::kF64) {
      for (uint32_t k = 0; k < d_.k; ++k) c = std::fma(a.at({i, k}), b.at({k, j}), c);
      return c;
    }
    double sum = 0;
    for (uint32_t k = 0; k < d_.k; ++k) sum += a.at({i, k}) * b.at({k, j});
    return sum + c;
  }
  void write(Matrix& c, uint32_t lane) {
    const uint32_t parts = ptx::size_of(result_) == 2 ? 2 : 1;
    for (uint32_t r = 0; r < desc_.num_destinations; ++r) {
      if (desc_.destinations[r] == kNoRow) continue;
      if (result_ == Type::kF64) {
        row<uint64_t>(warp_.rows, desc_.destinations[r])[lane] =
            std::bit_cast<uint64_t>(c.at(place_c(lane, r)));
        continue;
      }
      uint32_t bits = 0;
      for (uint32_t i = 0; i < parts; ++i) {
        const double v = c.at(place_c(lane, r * parts + i));
        switch (result_) {
          case Type::kF16:
            bits |= half_bits(v, false, Round::kNearest) << (16 * i);
            break;
          case Type::kS32:
            bits = d_.saturate ? static_cast<uint32_t>(static_cast<int32_t>(
                                     std::clamp(v, -2147483648.0, 2147483647.0)))
                               : static_cast<uint32_t>(static_cast<int64_t>(v));
            break;
          default: {
            const auto f = static_cast<float>(v);
            bits = f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
          }
        }
      }
      row<uint32_t>(warp_.rows, desc_.destinations[r])[lane] = bits;
    }
  }

  Warp& warp_;
  const ExtendedDesc& desc_;
  MatrixDetail d_;
  Type result_, factor_;
  uint32_t bytes_ = 0, num_a_ = 0, num_b_ = 0, num_c_ = 0;
};

}  // namespace

void matrix(Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  Fragments(warp, desc).run(mask);
}

}  // namespace nearwarp::exec
