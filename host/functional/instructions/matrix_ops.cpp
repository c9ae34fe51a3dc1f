// mma and wmma.mma. A factor's registers are laid one behind the other as its matrix lies, so that
// all its numbers are converted at once; sums are formed of four columns side by side.
#include "host/functional/instructions/matrix_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "host/functional/instructions/half_rows.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

namespace {

using ptx::MatrixDetail;
using ptx::Type;

/// Elements of a matrix at most: 16 x 32, or 32 x 16.
constexpr uint32_t kMostElements = 512;

/// Four doubles wherever they lie.
typedef double Four
    __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));

Four& four(double* at) { return *reinterpret_cast<Four*>(at); }

/// a * b + c, where a * b is exact, but in f64, which has one rounding.
template <bool kDouble>
NW_INLINE Four multiply_add(Four a, Four b, Four c) {
#if defined(__FMA__)
  return reinterpret_cast<Four>(_mm256_fmadd_pd(a, b, c));
#else
  if constexpr (!kDouble) return a * b + c;
  for (int i = 0; i < 4; ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}

/// Numbers of a type that lie one behind the other, `count` (a multiple of 8) of them.
NW_INLINE void numbers_of(Type type, bool is_signed, const void* from, uint32_t count, double* to) {
  switch (type) {
    case Type::kF64:
      std::memcpy(to, from, count * sizeof(double));
      return;
    case Type::kF16:
    case Type::kBF16: {
      float floats[kMostElements];
      if (type == Type::kF16)
        floats_of_f16(static_cast<const uint16_t*>(from), count, floats);
      else
        floats_of_bf16(static_cast<const uint16_t*>(from), count, floats);
      for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<double>(floats[i]);
      return;
    }
    case Type::kU8:
    case Type::kS8:
      if (is_signed)
        for (uint32_t i = 0; i < count; ++i)
          to[i] = static_cast<double>(static_cast<const int8_t*>(from)[i]);
      else
        for (uint32_t i = 0; i < count; ++i)
          to[i] = static_cast<double>(static_cast<const uint8_t*>(from)[i]);
      return;
    case Type::kS32:
      for (uint32_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(static_cast<const int32_t*>(from)[i]);
      return;
    default: {  // f32, and tf32, whose last bits count for nothing
      const uint32_t keep = type == Type::kB32 ? 0xffffe000u : ~0u;
      for (uint32_t i = 0; i < count; ++i)
        to[i] =
            static_cast<double>(std::bit_cast<float>(static_cast<const uint32_t*>(from)[i] & keep));
    }
  }
}

/// The product of one instruction; Word: of a lane's registers, 64 bits for f64.
///
/// Fragments of mma have eight rows (of b: columns) to a register, four neighbouring lanes to each;
/// an accumulator's neighbours in a register are two columns apart, so columns are kept in the
/// order 0, 2, 4, 6, 1, 3, 5, 7 here. Fragments of wmma have neighbouring elements along the major
/// order, a lane's behind those of the lane before.
template <class Word>
class Product {
 public:
  Product(Warp& warp, const ExtendedDesc& desc)
      : warp_(warp),
        desc_(desc),
        d_(MatrixDetail::unpack(desc.detail)),
        result_(static_cast<Type>(desc.type)),
        factor_(static_cast<Type>(desc.source_type)) {
    const uint32_t size_a = uint32_t{d_.m} * d_.k, size_b = uint32_t{d_.k} * d_.n;
    NW_ASSERT(size_a <= kMostElements && size_b <= kMostElements && d_.m * d_.n <= kMostElements);
    num_c_ = d_.m * d_.n / kLanes * ptx::size_of(result_) / sizeof(Word);
    const uint32_t others = desc.num_sources - num_c_;
    num_a_ = d_.wmma && size_a == size_b && others % 2 == 0 ? others / 2
             // Fragments of f16 have 8 registers each, others as many as they need.
             : d_.wmma && factor_ == Type::kF16 ? others / 2
                                                : others * size_a / (size_a + size_b);
    num_b_ = others - num_a_;
  }

  void run(uint32_t mask) {
    Word words[kMostElements];
    factor(0, num_a_, uint32_t{d_.m} * d_.k, d_.m / 8, words);
    numbers_of(factor_, ptx::is_signed(factor_), words, uint32_t{d_.m} * d_.k, a_);
    factor(num_a_, num_b_, uint32_t{d_.k} * d_.n, 1, words);
    const bool rows = d_.wmma && !d_.b_column;  // of b
    numbers_of(factor_, desc_.extra != 0, words, uint32_t{d_.k} * d_.n, rows ? b_ : columns_);
    if (!rows) transpose();
    results();
    if (factor_ == Type::kF64)
      multiply<true>();
    else
      multiply<false>();
    write(mask);
  }

 private:
  const Word* source(uint32_t i) const { return row<Word>(warp_.rows, desc_.sources[i]); }

  /// The words of a factor, of `halves` times eight rows.
  void factor(uint32_t first, uint32_t registers, uint32_t elements, uint32_t halves, Word* to) {
    if (d_.wmma) return behind_one_another(first, elements * ptx::size_of(factor_), to);
    const uint32_t pieces = registers / halves;  // of a row
    for (uint32_t r = 0; r < registers; ++r) {
      const Word* const from = source(first + r);
      Word* at = to + (r % halves * 8 * pieces + r / halves) * 4;
      for (uint32_t group = 0; group < 8; ++group, at += size_t{4} * pieces)
        std::memcpy(at, from + size_t{4} * group, 4 * sizeof(Word));
    }
  }
  /// Words of wmma's fragments; further registers hold copies.
  void behind_one_another(uint32_t first, uint32_t bytes, Word* to) const {
    const uint32_t each = bytes / (kLanes * sizeof(Word));
    for (uint32_t r = 0; r < each; ++r) {
      const Word* const from = source(first + r);
      for (uint32_t lane = 0; lane < kLanes; ++lane) to[lane * each + r] = from[lane];
    }
  }

  /// b by rows of `columns_`, in the order in which sums are kept; squares of four at a time.
  void transpose() {
    const uint32_t n = d_.n, k_end = d_.k;
    for (uint32_t j = 0; j < n; j += 4) {
      const uint32_t first = d_.wmma ? j : j / 4, step = d_.wmma ? 1 : 2;
      const double* from[4];
      for (uint32_t x = 0; x < 4; ++x) from[x] = columns_ + size_t{first + step * x} * k_end;
      for (uint32_t k = 0; k < k_end; k += 4) {
        double* const to = b_ + size_t{k} * n + j;
        for (uint32_t y = 0; y < 4; ++y)
          four(to + size_t{y} * n) =
              Four{from[0][k + y], from[1][k + y], from[2][k + y], from[3][k + y]};
      }
    }
  }

  /// Reads the matrix that products are added to.
  void results() {
    const uint32_t first = num_a_ + num_b_, count = uint32_t{d_.m} * d_.n;
    Word words[kMostElements];
    if (d_.wmma) {
      behind_one_another(first, count * ptx::size_of(result_), words);
    } else if (result_ == Type::kF16) {
      for (uint32_t r = 0; r < num_c_; ++r) apart(source(first + r), words + size_t{r} * kLanes);
    } else {
      for (uint32_t r = 0; r < num_c_; ++r)
        for (uint32_t group = 0; group < 8; ++group)
          std::memcpy(words + (size_t{r} / 2 * 8 + group) * 8 + r % 2 * 4,
                      source(first + r) + size_t{4} * group, 4 * sizeof(Word));
    }
    numbers_of(result_, true, words, count, c_);
  }
  /// Parts pairs of halves: in each group of four lanes the lower ones, then the upper ones.
  static void apart(const Word* from, Word* to) {
    uint16_t halves[2 * kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) {
      halves[i / 4 * 8 + i % 4] = static_cast<uint16_t>(from[i]);
      halves[i / 4 * 8 + 4 + i % 4] = static_cast<uint16_t>(from[i] >> 16);
    }
    std::memcpy(to, halves, sizeof(halves));
  }

  static constexpr uint32_t kRows = 4;  ///< that are computed at once, of eight columns

  /// Sums over k in ascending order, each by itself; in f64 they begin with what is added to.
  template <bool kDouble>
  void multiply() {
    const uint32_t n = d_.n, k_end = d_.k;
    const size_t row_step = d_.a_column ? 1 : k_end, k_step = d_.a_column ? d_.m : 1;
    for (uint32_t i = 0; i < d_.m; i += kRows) {
      for (uint32_t j = 0; j < n; j += 8) {
        double* const c = c_ + size_t{i} * n + j;
        Four sums[kRows][2]{};
        if constexpr (kDouble)
          for (uint32_t r = 0; r < kRows; ++r)
            for (uint32_t v = 0; v < 2; ++v) sums[r][v] = four(c + size_t{r} * n + 4 * v);
        const double* a = a_ + i * row_step;
        const double* b = b_ + j;
        for (uint32_t k = 0; k < k_end; ++k, a += k_step, b += n) {
          const Four* const right = reinterpret_cast<const Four*>(b);
#pragma GCC unroll 4
          for (uint32_t r = 0; r < kRows; ++r) {
            const double x = a[r * row_step];
            const Four left{x, x, x, x};
            sums[r][0] = multiply_add<kDouble>(left, right[0], sums[r][0]);
            sums[r][1] = multiply_add<kDouble>(left, right[1], sums[r][1]);
          }
        }
        for (uint32_t r = 0; r < kRows; ++r)
          for (uint32_t v = 0; v < 2; ++v) {
            Four& to = four(c + size_t{r} * n + 4 * v);
            to = kDouble ? sums[r][v] : to + sums[r][v];
          }
      }
    }
  }

  void write(uint32_t mask) {
    const uint32_t count = uint32_t{d_.m} * d_.n;
    Word words[kMostElements];
    rounded(count, words);
    for (uint32_t r = 0; r < desc_.num_destinations; ++r) {
      if (desc_.destinations[r] == kNoRow) continue;
      Word lanes[kLanes];
      if (d_.wmma) {
        const uint32_t each = count * ptx::size_of(result_) / (kLanes * sizeof(Word));
        for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = words[lane * each + r];
      } else if (result_ == Type::kF16) {
        together(words + size_t{r} * kLanes, lanes);
      } else {
        for (uint32_t group = 0; group < 8; ++group)
          std::memcpy(lanes + size_t{4} * group,
                      words + (size_t{r} / 2 * 8 + group) * 8 + r % 2 * 4, 4 * sizeof(Word));
      }
      Word* const to = row<Word>(warp_.rows, desc_.destinations[r]);
      if (mask == ~0u)
        std::copy_n(lanes, kLanes, to);
      else
        for_each_lane(mask, [&](uint32_t lane) { to[lane] = lanes[lane]; });
    }
  }
  /// As apart(), back.
  static void together(const Word* from, Word* to) {
    uint16_t halves[2 * kLanes];
    std::memcpy(halves, from, sizeof(halves));
    for (uint32_t i = 0; i < kLanes; ++i)
      to[i] = halves[i / 4 * 8 + i % 4] | static_cast<uint32_t>(halves[i / 4 * 8 + 4 + i % 4])
                                              << 16;
  }

  /// Sums in the type of results.
  void rounded(uint32_t count, Word* to) const {
    switch (result_) {
      case Type::kF64:
        std::memcpy(to, c_, count * sizeof(double));
        return;
      case Type::kF16:
        halves_of_doubles(c_, count, false, reinterpret_cast<uint16_t*>(to));
        return;
      case Type::kS32:
        for (uint32_t i = 0; i < count; ++i) {
          const double v = d_.saturate ? std::clamp(c_[i], -2147483648.0, 2147483647.0) : c_[i];
          // The last bits of a sum with 1.5 2^52 are those of an integer.
          to[i] = static_cast<uint32_t>(std::bit_cast<uint64_t>(v + 0x1.8p52));
        }
        return;
      default:
        for (uint32_t i = 0; i < count; ++i) {
          const auto f = static_cast<float>(c_[i]);
          to[i] = f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
        }
    }
  }

  Warp& warp_;
  const ExtendedDesc& desc_;
  const MatrixDetail d_;
  const Type result_, factor_;
  uint32_t num_a_ = 0, num_b_ = 0, num_c_ = 0;
  alignas(64) double a_[kMostElements], b_[kMostElements], c_[kMostElements];
  double columns_[kMostElements];
};

}  // namespace

void matrix(Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  if (static_cast<Type>(desc.type) == Type::kF64)
    Product<uint64_t>(warp, desc).run(mask);
  else
    Product<uint32_t>(warp, desc).run(mask);
}

}  // namespace nearwarp::exec
