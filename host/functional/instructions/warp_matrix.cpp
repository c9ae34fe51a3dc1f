// Products of matrices of numbers of any format: mma of 8, 6, 4 and 1 bits, of sparse factors, of
// blocks with scales, and of quads of threads; the part of a warp in products of its warp group.
#include "host/functional/instructions/warp_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/functional/instructions/factor_values.h"
#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/matrix_descriptor.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/small_floats.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/functional/instructions/tensor_ops.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::exec {

namespace {

using ptx::WarpMatrixDetail;
using Result = WarpMatrixDetail::Result;

/// The matrices of one instruction: a by rows (of a sparse one what is there, and in which column
/// it is), b by rows (of k), and the sums.
struct Matrices {
  std::vector<double> a, b, sums;
  std::vector<uint16_t> columns;
};

class Product {
 public:
  Product(Context& ctx, Warp& warp, const ExtendedDesc& desc, Matrices& m)
      : ctx_(ctx),
        warp_(warp),
        desc_(desc),
        d_(WarpMatrixDetail::unpack(desc.detail)),
        rows_(d_.warp_rows()),
        stored_(d_.stored_k()),
        behind_(desc.num_sources - (d_.sparse ? 1u : 0u) - (d_.scales != 0 ? 6u : 0u)),
        m_(m) {
    m_.a.assign(size_t{rows_} * stored_, 0);
    m_.b.assign(size_t{d_.k} * d_.n, 0);
    m_.sums.assign(size_t{rows_} * d_.n, 0);
  }

  bool run(uint32_t mask) {
    if (d_.of_group()) {
      if (!read_group()) return false;
    } else {
      read_a(0);
      read_b(d_.a_registers());
    }
    if (d_.scales != 0) scale();
    if (d_.sparse) {
      find_columns();
      multiply<true>();
    } else {
      multiply<false>();
    }
    const uint32_t first = behind_ - d_.result_registers();
    const bool adds = !d_.of_group() || any_lane_word(0);
    for (uint32_t r = 0; r < desc_.num_destinations; ++r) write(r, first + r, adds, mask);
    return true;
  }

 private:
  uint32_t word(uint32_t source, uint32_t lane) const {
    return row<uint32_t>(warp_.rows, desc_.sources[source])[lane];
  }
  uint32_t any_lane_word(uint32_t source) const { return word(source, 0); }

  // --- Registers

  /// Fragments of a: lane / 4 is the row, rows 8 apart in the next register, then columns.
  void read_a(uint32_t first) {
    const uint32_t parts = 32 / ptx::bits_of(d_.a), halves = rows_ / 8;
    for (uint32_t r = 0; r < d_.a_registers(); ++r)
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t bits = word(first + r, lane), i = lane / 4 + 8 * (r % halves);
        uint32_t j = lane % 4 * parts + 4 * parts * (r / halves);
        each_number(d_.a, &bits, 1, [&](double v) { m_.a[size_t{i} * stored_ + j++] = v; });
      }
  }
  void read_b(uint32_t first) {
    const uint32_t parts = 32 / ptx::bits_of(d_.b);
    for (uint32_t r = 0; r < d_.b_registers(); ++r)
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t bits = word(first + r, lane);
        uint32_t k = lane % 4 * parts + 4 * parts * r;
        each_number(d_.b, &bits, 1, [&](double v) { m_.b[size_t{k++} * d_.n + lane / 4] = v; });
      }
  }

  void find_columns() {
    m_.columns.resize(size_t{rows_} * stored_);
    for (uint32_t i = 0; i < rows_; ++i)
      for (uint32_t j = 0; j < stored_; ++j)
        m_.columns[size_t{i} * stored_ + j] = static_cast<uint16_t>(column_of(i, j));
  }
  /// The column of the j-th number that is there in row i of a sparse a. Four bits say which two of
  /// a chunk of four are (of packed 4-bit numbers, which two of four pairs; of tf32, which one of
  /// two, by two halves of it). Which lane has them: as libraries arrange them (CUTLASS).
  uint32_t column_of(uint32_t i, uint32_t j) const {
    const uint32_t bits = ptx::bits_of(d_.a);
    const uint32_t unit = bits == 4 ? 2 : 1;          // numbers that belong together
    const uint32_t each = bits == 32 ? 1 : 2 * unit;  // of a chunk
    const uint32_t chunk = j / each, chunks = d_.k / (2 * each);
    const uint32_t selector = desc_.extra & 3, group = i % 8 * 4;
    uint32_t lane = 0, shift = 0;
    if (bits >= 16) {  // 4 chunks of rows i and i + 8 in one word
      const uint32_t part = chunk / 4;
      lane = group + (chunks == 4 ? selector : 2 * (selector & 1) + part);
      shift = 16 * (i / 8) + chunk % 4 * 4;
    } else {  // 8 chunks of one row
      lane = group + (chunks == 8 ? 2 * (selector & 1) : 0) + 2 * (chunk / 8) + i / 8;
      shift = chunk % 8 * 4;
    }
    const uint32_t nibble = word(behind_, lane) >> shift & 15;
    if (bits == 32) return chunk * 2 + (nibble >> 2 > 1 || (nibble & 3) > 1 ? 1 : 0);
    const uint32_t within = j % each / unit;
    return chunk * 2 * each + (nibble >> 2 * within & 3) * unit + j % unit;
  }

  /// Blocks of rows of a and of columns of b, each times its scale. Of the four threads that have a
  /// row, a pair has the scales, the first of row i, the second of row i + 8; of those that have a
  /// column, one. Scales that follow each other lie in bytes that do.
  void scale() {
    const uint32_t at = behind_ + (d_.sparse ? 1 : 0), block = d_.k / d_.scales;
    const auto scale_of = [&](uint32_t source, uint32_t lane, uint32_t which) {
      const uint32_t byte = (word(source + 1, 0) + which) & 3;
      const uint32_t bits = word(source, lane) >> 8 * byte & 0xff;
      return d_.scales_ue4m3 ? small_value(ptx::SmallFloat::kE4M3, bits & 0x7f)
                             : small_value(ptx::SmallFloat::kUE8M0, bits);
    };
    const uint32_t pair = 2 * (word(at + 2, 0) & 1), thread = word(at + 5, 0) & 3;
    for (uint32_t s = 0; s < d_.scales; ++s) {
      for (uint32_t i = 0; i < rows_; ++i) {
        const double by = scale_of(at, i % 8 * 4 + pair + i / 8, s);
        const uint32_t width = stored_ / d_.scales;  // a sparse block has half of its numbers
        double* const a = m_.a.data() + size_t{i} * stored_ + s * width;
        for (uint32_t j = 0; j < width; ++j) a[j] *= by;
      }
      for (uint32_t n = 0; n < d_.n; ++n) {
        const double by = scale_of(at + 3, n * 4 + thread, s);
        for (uint32_t k = s * block; k < (s + 1) * block; ++k) m_.b[size_t{k} * d_.n + n] *= by;
      }
    }
  }

  // --- Shared memory, by descriptors

  /// 16 bytes of shared memory; false on a fault.
  bool fetch(uint64_t at, uint32_t (&words)[4]) {
    MemDesc access;
    access.instruction = desc_.instruction;
    uint8_t* host = nullptr;
    if (!resolve_shared(ctx_, access, 0, at, 16, &host)) return false;
    if (ctx_.checker != nullptr)
      tell_copy(
          ctx_, warp_,
          {desc_.instruction, 0, host, 16, false, false, nullptr, CopiedBytes::Late::kProduct});
    std::memcpy(words, host, 16);
    return true;
  }

  /// f(line, k, value) for the numbers of `lines` lines from `first` on, each of `length`.
  template <class F>
  bool read_shared(const MatrixDescriptor& at, Factor format, bool across, uint32_t first,
                   uint32_t lines, uint32_t length, F&& f) {
    uint32_t words[4];
    const uint32_t each = 128 / ptx::bits_of(format);
    if (!across) {
      for (uint32_t line = first; line < first + lines; ++line)
        for (uint32_t k = 0, piece = 0; k < length; ++piece) {
          if (!fetch(at.along_k(line, piece), words)) return false;
          each_number(format, words, 4, [&](double v) { f(line - first, k++, v); });
        }
      return true;
    }
    for (uint32_t k = 0; k < length; ++k)
      for (uint32_t line = first; line < first + lines; line += each) {
        if (!fetch(at.across(line / each, k), words)) return false;
        uint32_t i = line - first;
        each_number(format, words, 4, [&](double v) { f(i++, k, v); });
      }
    return true;
  }

  /// Sources: whether to add, the descriptor of b, that of a or its registers, the results.
  bool read_group() {
    const auto at = [&](uint32_t i) {
      return MatrixDescriptor(row<uint64_t>(warp_.rows, desc_.sources[i])[0]);
    };
    const uint32_t stored = stored_, n = d_.n;
    if (!d_.a_in_memory) {
      read_a(2);
    } else if (!read_shared(
                   at(2), d_.a, d_.a_column, warp_.index % 4 * rows_, rows_, stored,
                   [&](uint32_t i, uint32_t k, double v) { m_.a[size_t{i} * stored + k] = v; })) {
      return false;
    }
    return read_shared(at(1), d_.b, d_.b_column, 0, n, d_.k,
                       [&](uint32_t j, uint32_t k, double v) { m_.b[size_t{k} * n + j] = v; });
  }

  // --- Sums

  template <bool kSparse>
  void multiply() {
    const uint32_t n = d_.n;
    const double sign = d_.negate_a != d_.negate_b ? -1 : 1;
    for (uint32_t i = 0; i < rows_; ++i) {
      double* const sums = m_.sums.data() + size_t{i} * n;
      const double* const a = m_.a.data() + size_t{i} * stored_;
      const uint16_t* const columns = m_.columns.data() + (kSparse ? size_t{i} * stored_ : 0);
      for (uint32_t j = 0; j < stored_; ++j) {
        const double left = a[j] * sign;
        const double* const right = m_.b.data() + size_t{kSparse ? columns[j] : j} * n;
        if (d_.exclusive_or)
          for (uint32_t c = 0; c < n; ++c) sums[c] += left != right[c] ? 1 : 0;
        else
          for (uint32_t c = 0; c < n; ++c) sums[c] += left * right[c];
      }
    }
  }

  /// Element `e` of a lane: pairs of neighbours, then the row 8 further on, then the next 8
  /// columns.
  double& sum(uint32_t lane, uint32_t e) {
    const uint32_t halves = rows_ / 8;
    const uint32_t i = lane / 4 + 8 * (e / 2 % halves);
    const uint32_t j = lane % 4 * 2 + e % 2 + 8 * (e / (2 * halves));
    return m_.sums[size_t{i} * d_.n + j];
  }

  void write(uint32_t r, uint32_t source, bool adds, uint32_t mask) {
    if (desc_.destinations[r] == kNoRow) return;
    uint32_t* const to = row<uint32_t>(warp_.rows, desc_.destinations[r]);
    for_each_lane(mask, [&](uint32_t lane) {
      const uint32_t before = adds ? word(source, lane) : 0;
      to[lane] = rounded(before, lane, r);
    });
  }
  uint32_t rounded(uint32_t before, uint32_t lane, uint32_t r) {
    switch (d_.result) {
      case Result::kF16: {
        uint32_t both = 0;
        for (uint32_t e = 0; e < 2; ++e) {
          const double v = half_value(before >> 16 * e & 0xffff, false) + sum(lane, 2 * r + e);
          both |= half_bits(v, false, Round::kNearest) << 16 * e;
        }
        return both;
      }
      case Result::kS32: {
        const double v = static_cast<double>(static_cast<int32_t>(before)) + sum(lane, r);
        return d_.saturate ? static_cast<uint32_t>(
                                 static_cast<int32_t>(std::clamp(v, -2147483648.0, 2147483647.0)))
                           : static_cast<uint32_t>(static_cast<int64_t>(v));
      }
      default: {
        const auto f =
            static_cast<float>(static_cast<double>(std::bit_cast<float>(before)) + sum(lane, r));
        return f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
      }
    }
  }

  Context& ctx_;
  Warp& warp_;
  const ExtendedDesc& desc_;
  const WarpMatrixDetail d_;
  const uint32_t rows_, stored_;  ///< of a: rows of the warp, and numbers of a row that are there
  const uint32_t behind_;         ///< the first source behind c
  Matrices& m_;
};

/// m8n8k4 of f16: four products, each of 8 threads: 4 neighbours, and the 4 that are 16 further on.
void quads(Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  const WarpMatrixDetail d = WarpMatrixDetail::unpack(desc.detail);
  const bool single = d.result == Result::kF32;
  const auto word = [&](uint32_t source, uint32_t lane) {
    return row<uint32_t>(warp.rows, desc.sources[source])[lane];
  };
  const auto half = [&](uint32_t first, uint32_t lane, uint32_t i) {
    return half_value(word(first + i / 2, lane) >> 16 * (i % 2) & 0xffff, false);
  };
  const auto lane_of = [](uint32_t quad, uint32_t within) {  // within: 0 to 7
    return quad * 4 + within % 4 + within / 4 * 16;
  };
  // Number k of row i of a, and of column j of b.
  const auto a = [&](uint32_t quad, uint32_t i, uint32_t k) {
    return d.a_column ? half(0, lane_of(quad, k + i / 4 * 4), i % 4) : half(0, lane_of(quad, i), k);
  };
  const auto b = [&](uint32_t quad, uint32_t k, uint32_t j) {
    return d.b_column ? half(2, lane_of(quad, j), k) : half(2, lane_of(quad, k + j / 4 * 4), j % 4);
  };
  uint32_t results[8][kLanes] = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t quad = lane % 16 / 4;
    for (uint32_t e = 0; e < 8; ++e) {
      const uint32_t high = lane / 16 * 4;
      const uint32_t i = single ? (lane & 1) + (e & 2) + high : lane % 4 + high;
      const uint32_t j = single ? (e & 4) + (lane & 2) + (e & 1) : e;
      double sum = 0;
      for (uint32_t k = 0; k < 4; ++k) sum += a(quad, i, k) * b(quad, k, j);
      if (single) {
        const auto f =
            static_cast<float>(static_cast<double>(std::bit_cast<float>(word(4 + e, lane))) + sum);
        results[e][lane] = f != f ? 0x7fffffffu : std::bit_cast<uint32_t>(f);
      } else {
        results[e / 2][lane] |= half_bits(half(4, lane, e) + sum, false, Round::kNearest)
                                << 16 * (e % 2);
      }
    }
  }
  for (uint32_t r = 0; r < desc.num_destinations; ++r) {
    if (desc.destinations[r] == kNoRow) continue;
    uint32_t* const to = row<uint32_t>(warp.rows, desc.destinations[r]);
    for_each_lane(mask, [&](uint32_t lane) { to[lane] = results[r][lane]; });
  }
}

}  // namespace

bool warp_matrix(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  if (mask == 0) return true;
  const WarpMatrixDetail d = WarpMatrixDetail::unpack(desc.detail);
  if (d.k == 4) {
    quads(warp, desc, mask);
    return true;
  }
  thread_local Matrices matrices;
  return Product(ctx, warp, desc, matrices).run(mask);
}

}  // namespace nearwarp::exec
