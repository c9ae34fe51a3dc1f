// mma and wmma.mma: fragments to matrices, products, and back. Where elements lie is worked out
// once for each kind of instruction.
#include "host/functional/instructions/matrix_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#if defined(__F16C__)
#include <immintrin.h>
#endif

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

/// An element that no register of a plan holds: of a fragment's copies.
constexpr uint16_t kNowhere = 0xffff;
/// Elements of a matrix at most: 16 x 32, or 32 x 16.
constexpr uint32_t kMostElements = 512;

/// What is known of an instruction before it is executed: where each register's parts lie in the
/// matrices, which are kept row after row.
struct Plan {
  // What it is for.
  uint32_t detail = 0;
  Type result = Type::kF32, factor = Type::kF32;
  uint8_t sources = 0;

  MatrixDetail d{};
  uint32_t parts = 1, c_parts = 1;  ///< values in a register
  uint32_t num_a = 0, num_b = 0, num_c = 0;
  /// [(register * parts + part) * kLanes + lane]
  std::vector<uint16_t> a, b, c;

  explicit Plan(const ExtendedDesc& desc)
      : detail(desc.detail),
        result(static_cast<Type>(desc.type)),
        factor(static_cast<Type>(desc.source_type)),
        sources(desc.num_sources),
        d(MatrixDetail::unpack(desc.detail)) {
    const uint32_t bytes = ptx::size_of(factor), c_bytes = ptx::size_of(result);
    parts = bytes >= 4 ? 1 : 4 / bytes;
    c_parts = c_bytes == 2 ? 2 : 1;
    num_c = d.m * d.n / 32 * c_bytes / (c_bytes == 8 ? 8 : 4);
    const uint32_t others = sources - num_c;
    const uint32_t size_a = uint32_t{d.m} * d.k, size_b = uint32_t{d.k} * d.n;
    NW_ASSERT(size_a <= kMostElements && size_b <= kMostElements && d.m * d.n <= kMostElements);
    num_a = d.wmma && size_a == size_b && others % 2 == 0 ? others / 2
            // Fragments of f16 have 8 registers each, others as many as they need.
            : d.wmma && factor == Type::kF16 ? others / 2
                                             : others * size_a / (size_a + size_b);
    num_b = others - num_a;
    fill(a, num_a, parts, d.m, d.k, [&](uint32_t lane, uint32_t r, uint32_t i) {
      return d.wmma ? linear(d.m, d.k, d.a_column, lane, r * parts + i)
                    : factor_a(d, lane, r, i, parts);
    });
    fill(b, num_b, parts, d.k, d.n, [&](uint32_t lane, uint32_t r, uint32_t i) {
      return d.wmma ? linear(d.k, d.n, d.b_column, lane, r * parts + i)
                    : factor_b(lane, r, i, parts);
    });
    fill(c, num_c, c_parts, d.m, d.n, [&](uint32_t lane, uint32_t r, uint32_t i) {
      return d.wmma ? linear(d.m, d.n, false, lane, r * c_parts + i)
                    : accumulator(lane, r * c_parts + i);
    });
  }
  bool is_of(const ExtendedDesc& desc) const {
    return detail == desc.detail && result == static_cast<Type>(desc.type) &&
           factor == static_cast<Type>(desc.source_type) && sources == desc.num_sources;
  }

 private:
  template <class PlaceOf>
  void fill(std::vector<uint16_t>& places, uint32_t registers, uint32_t per_register, uint32_t rows,
            uint32_t columns, PlaceOf&& place_of) const {
    const uint32_t each = rows * columns / kLanes;
    for (uint32_t r = 0; r < registers; ++r) {
      for (uint32_t i = 0; i < per_register; ++i) {
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          const bool is_copy = d.wmma && r * per_register + i >= each;
          const Place p = is_copy ? Place{0, 0} : place_of(lane, r, i);
          places.push_back(is_copy ? kNowhere : static_cast<uint16_t>(p.row * columns + p.column));
        }
      }
    }
  }
};

/// The plan of an instruction. There are few kinds in a program.
const Plan& plan_of(const ExtendedDesc& desc) {
  thread_local std::vector<std::unique_ptr<const Plan>> plans;
  for (const auto& plan : plans)
    if (plan->is_of(desc)) return *plan;
  plans.push_back(std::make_unique<const Plan>(desc));
  return *plans.back();
}

using Values = double[kLanes];

/// Values of type `type` that begin at bit `shift` of the lanes' words.
void values_of(Type type, const uint32_t* words, uint32_t shift, bool is_signed, Values& to) {
  switch (type) {
    case Type::kF16: {
#if defined(__F16C__)
      alignas(16) uint16_t halves[kLanes];
      alignas(32) float floats[kLanes];
      for (uint32_t i = 0; i < kLanes; ++i) halves[i] = static_cast<uint16_t>(words[i] >> shift);
      for (uint32_t i = 0; i < kLanes; i += 8)
        _mm256_store_ps(
            floats + i,
            _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves + i))));
      for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<double>(floats[i]);
#else
      for (uint32_t i = 0; i < kLanes; ++i) to[i] = half_value(words[i] >> shift & 0xffff, false);
#endif
      return;
    }
    case Type::kBF16:
      for (uint32_t i = 0; i < kLanes; ++i)
        to[i] = static_cast<double>(std::bit_cast<float>(words[i] >> shift << 16));
      return;
    case Type::kU8:
    case Type::kS8:
      if (is_signed) {
        for (uint32_t i = 0; i < kLanes; ++i)
          to[i] = static_cast<double>(static_cast<int8_t>(words[i] >> shift));
      } else {
        for (uint32_t i = 0; i < kLanes; ++i)
          to[i] = static_cast<double>(static_cast<uint8_t>(words[i] >> shift));
      }
      return;
    case Type::kS32:
      for (uint32_t i = 0; i < kLanes; ++i)
        to[i] = static_cast<double>(static_cast<int32_t>(words[i]));
      return;
    default: {  // f32, and tf32, whose last bits count for nothing
      const uint32_t keep = type == Type::kB32 ? 0xffffe000u : ~0u;
      for (uint32_t i = 0; i < kLanes; ++i)
        to[i] = static_cast<double>(std::bit_cast<float>(words[i] & keep));
    }
  }
}

class Product {
 public:
  Product(Warp& warp, const ExtendedDesc& desc) : warp_(warp), desc_(desc), plan_(plan_of(desc)) {}

  void run(uint32_t mask) {
    const MatrixDetail& d = plan_.d;
    read(a_, plan_.a, 0, plan_.num_a, plan_.parts, plan_.factor, ptx::is_signed(plan_.factor));
    read(b_, plan_.b, plan_.num_a, plan_.num_b, plan_.parts, plan_.factor, desc_.extra != 0);
    read(c_, plan_.c, plan_.num_a + plan_.num_b, plan_.num_c, plan_.c_parts, plan_.result, true);
    for (uint32_t i = 0; i < d.m; ++i)
      for (uint32_t j = 0; j < d.n; j += kColumns) multiply(i, j);
    for (uint32_t r = 0; r < desc_.num_destinations; ++r)
      if (desc_.destinations[r] != kNoRow) write(r, mask);
  }

 private:
  static constexpr uint32_t kColumns = 8;  ///< that are computed at once; every n has them

  void read(double* to, const std::vector<uint16_t>& places, uint32_t first, uint32_t registers,
            uint32_t parts, Type type, bool is_signed) {
    const uint16_t* place = places.data();
    for (uint32_t r = 0; r < registers; ++r) {
      const uint16_t source = desc_.sources[first + r];
      const bool wide = (desc_.wide >> (first + r) & 1) != 0;
      for (uint32_t i = 0; i < parts; ++i, place += kLanes) {
        if (place[0] == kNowhere) continue;  // so are all lanes'
        Values values;
        if (wide) {
          const uint64_t* const words = row<uint64_t>(warp_.rows, source);
          for (uint32_t lane = 0; lane < kLanes; ++lane)
            values[lane] = std::bit_cast<double>(words[lane]);
        } else {
          const uint32_t bits = parts == 1 ? 0 : 32 / parts * i;
          values_of(type, row<uint32_t>(warp_.rows, source), bits, is_signed, values);
        }
        for (uint32_t lane = 0; lane < kLanes; ++lane) to[place[lane]] = values[lane];
      }
    }
  }

  /// Four doubles wherever they lie.
  typedef double Four
      __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));

  /// Elements (i, j) to (i, j + 7): sums over k in ascending order, each by itself.
  void multiply(uint32_t i, uint32_t j) {
    const uint32_t n = plan_.d.n, k_end = plan_.d.k;
    const double* const left = a_ + size_t{i} * k_end;
    const double* right = b_ + j;
    double* const out = c_ + size_t{i} * n + j;
    if (plan_.factor == Type::kF64) {
      for (uint32_t k = 0; k < k_end; ++k, right += n)
        for (uint32_t x = 0; x < kColumns; ++x) out[x] = std::fma(left[k], right[x], out[x]);
      return;
    }
    Four first{}, second{};
    for (uint32_t k = 0; k < k_end; ++k, right += n) {
      const Four* const factors = reinterpret_cast<const Four*>(right);
      first += left[k] * factors[0];
      second += left[k] * factors[1];
    }
    Four* const results = reinterpret_cast<Four*>(out);
    results[0] += first;
    results[1] += second;
  }

  void write(uint32_t r, uint32_t mask) {
    const uint16_t* const places = plan_.c.data() + size_t{r} * plan_.c_parts * kLanes;
    if (plan_.result == Type::kF64) {
      uint64_t* const to = row<uint64_t>(warp_.rows, desc_.destinations[r]);
      for_each_lane(mask,
                    [&](uint32_t lane) { to[lane] = std::bit_cast<uint64_t>(c_[places[lane]]); });
      return;
    }
    uint32_t words[kLanes];
    words_of(places, words);
    uint32_t* const to = row<uint32_t>(warp_.rows, desc_.destinations[r]);
    if (mask == ~0u)
      std::copy_n(words, kLanes, to);
    else
      for_each_lane(mask, [&](uint32_t lane) { to[lane] = words[lane]; });
  }
  /// What a register holds of elements: `places` of part 0, and those of part 1 behind them.
  void words_of(const uint16_t* places, uint32_t (&words)[kLanes]) const {
    switch (plan_.result) {
      case Type::kF16:
        for (uint32_t i = 0; i < kLanes; ++i)
          words[i] = half_bits(c_[places[i]], false, Round::kNearest) |
                     half_bits(c_[places[kLanes + i]], false, Round::kNearest) << 16;
        return;
      case Type::kS32:
        for (uint32_t i = 0; i < kLanes; ++i) {
          const double v = c_[places[i]];
          words[i] = plan_.d.saturate ? static_cast<uint32_t>(static_cast<int32_t>(
                                            std::clamp(v, -2147483648.0, 2147483647.0)))
                                      : static_cast<uint32_t>(static_cast<int64_t>(v));
        }
        return;
      default:
        for (uint32_t i = 0; i < kLanes; ++i) {
          const auto f = static_cast<float>(c_[places[i]]);
          words[i] = f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
        }
    }
  }

  Warp& warp_;
  const ExtendedDesc& desc_;
  const Plan& plan_;
  alignas(64) double a_[kMostElements], b_[kMostElements], c_[kMostElements];
};

}  // namespace

void matrix(Warp& warp, const ExtendedDesc& desc, uint32_t mask) { Product(warp, desc).run(mask); }

}  // namespace nearwarp::exec
