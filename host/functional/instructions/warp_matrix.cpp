// Products of matrices of numbers of any format: mma of 8, 4 and 1 bits, of sparse factors and of
// quads of threads; the part of a warp in products of its warp group.
#include "host/functional/instructions/warp_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/small_floats.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/functional/instructions/tensor_ops.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::exec {

namespace {

using ptx::Factor;
using ptx::WarpMatrixDetail;
using Result = WarpMatrixDetail::Result;

double decoded(Factor format, uint32_t bits) {
  switch (format) {
    case Factor::kF16:
      return half_value(bits, false);
    case Factor::kBF16:
      return half_value(bits, true);
    case Factor::kTF32:  // the last bits count for nothing
      return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
    case Factor::kE5M2:
      return small_value(ptx::SmallFloat::kE5M2, bits);
    case Factor::kU8:
    case Factor::kU4:
    case Factor::kB1:
      return bits;
    case Factor::kS8:
      return static_cast<int8_t>(bits);
    case Factor::kS4:
      return static_cast<int32_t>(bits << 28) >> 28;
    default:
      return small_value(ptx::SmallFloat::kE4M3, bits);
  }
}

/// Values of a format of at most 16 bits, looked up.
const std::vector<double>& values_of(Factor format) {
  thread_local std::array<std::vector<double>, 16> tables;
  std::vector<double>& table = tables[static_cast<size_t>(format)];
  if (table.empty()) {
    table.resize(size_t{1} << ptx::bits_of(format));
    for (uint32_t i = 0; i < table.size(); ++i) table[i] = decoded(format, i);
  }
  return table;
}

/// f(value) for the numbers that some words hold, from the low bits on.
template <class F>
void each_number(Factor format, const uint32_t* words, uint32_t count, F&& f) {
  if (format == Factor::kTF32) {
    for (uint32_t w = 0; w < count; ++w) f(decoded(format, words[w]));
    return;
  }
  const std::vector<double>& values = values_of(format);
  const uint32_t bits = ptx::bits_of(format), keep = (1u << bits) - 1;
  for (uint32_t w = 0; w < count; ++w)
    for (uint32_t shift = 0; shift < 32; shift += bits) f(values[words[w] >> shift & keep]);
}

/// The matrices of one instruction: a by rows, b by rows (of k), and the sums.
struct Matrices {
  std::vector<double> a, b, sums;
};

class Product {
 public:
  Product(Context& ctx, Warp& warp, const ExtendedDesc& desc, Matrices& m)
      : ctx_(ctx),
        warp_(warp),
        desc_(desc),
        d_(WarpMatrixDetail::unpack(desc.detail)),
        rows_(d_.warp_rows()),
        m_(m) {
    m_.a.assign(size_t{rows_} * d_.k, 0);
    m_.b.assign(size_t{d_.k} * d_.n, 0);
    m_.sums.assign(size_t{rows_} * d_.n, 0);
  }

  bool run(uint32_t mask) {
    if (d_.of_group()) {
      if (!read_group()) return false;
    } else {
      read_a(0);
      read_b(registers_of_a());
    }
    multiply();
    const uint32_t first = desc_.num_sources - d_.result_registers() - (d_.sparse ? 1 : 0);
    const bool adds = !d_.of_group() || any_lane_word(0);
    for (uint32_t r = 0; r < desc_.num_destinations; ++r) write(r, first + r, adds, mask);
    return true;
  }

 private:
  uint32_t word(uint32_t source, uint32_t lane) const {
    return row<uint32_t>(warp_.rows, desc_.sources[source])[lane];
  }
  uint32_t any_lane_word(uint32_t source) const { return word(source, 0); }
  uint32_t registers_of_a() const {
    return rows_ * d_.k * ptx::bits_of(d_.a) / 1024 / (d_.sparse ? 2 : 1);
  }

  // --- Registers

  /// Fragments of a: lane / 4 is the row, rows 8 apart in the next register, then columns.
  void read_a(uint32_t first) {
    const uint32_t parts = 32 / ptx::bits_of(d_.a), halves = rows_ / 8;
    for (uint32_t r = 0; r < registers_of_a(); ++r)
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t bits = word(first + r, lane), i = lane / 4 + 8 * (r % halves);
        uint32_t j = lane % 4 * parts + 4 * parts * (r / halves);
        each_number(d_.a, &bits, 1, [&](double v) {
          m_.a[size_t{i} * d_.k + (d_.sparse ? column_of(i, j) : j)] = v;
          ++j;
        });
      }
  }
  void read_b(uint32_t first) {
    const uint32_t parts = 32 / ptx::bits_of(d_.b);
    const uint32_t registers = d_.k * d_.n * ptx::bits_of(d_.b) / 1024;
    for (uint32_t r = 0; r < registers; ++r)
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t bits = word(first + r, lane);
        uint32_t k = lane % 4 * parts + 4 * parts * r;
        each_number(d_.b, &bits, 1, [&](double v) { m_.b[size_t{k++} * d_.n + lane / 4] = v; });
      }
  }

  /// The column of the j-th number that is there in row i of a sparse a. Four bits say which two
  /// of a chunk of four are (of 4-bit numbers, which two of four pairs; of tf32, which one of two,
  /// by two halves of it). Which lane has them: as libraries arrange them (CUTLASS).
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
    const uint32_t nibble = word(desc_.num_sources - 1u, lane) >> shift & 15;
    if (bits == 32) return chunk * 2 + (nibble >> 2 > 1 || (nibble & 3) > 1 ? 1 : 0);
    const uint32_t within = j % each / unit;
    return chunk * 2 * each + (nibble >> 2 * within & 3) * unit + j % unit;
  }

  // --- Shared memory, by descriptors

  /// PTX ISA 9.0, section 9.7.15.5.1.2.2: of 64 bits, addresses in units of 16 bytes.
  struct Descriptor {
    uint64_t start, leading, stride;
    uint32_t phase;
    Swizzle swizzle;
    explicit Descriptor(uint64_t v)
        : start((v & 0x3fff) << 4),
          leading((v >> 16 & 0x3fff) << 4),
          stride((v >> 32 & 0x3fff) << 4),
          phase(static_cast<uint32_t>(v >> 49 & 7)),
          swizzle(kSwizzles[v >> 62]) {}
    static constexpr Swizzle kSwizzles[] = {Swizzle::kNone, Swizzle::k128B, Swizzle::k64B,
                                            Swizzle::k32B};
    /// The place of 16 bytes `piece` of row (or column) `line`, in a matrix that lies along k.
    uint64_t along_k(uint32_t line, uint32_t piece) const {
      const uint64_t in_group = uint64_t{line % 8} * swizzle_bytes(swizzle);
      const uint64_t next = swizzle == Swizzle::kNone ? leading : 16;
      return place(in_group + line / 8 * stride + piece * next);
    }
    /// The place of 16 bytes `piece` of lines at number k, in a matrix that lies across.
    uint64_t across(uint32_t piece, uint32_t k) const {
      const uint32_t pieces = swizzle_bytes(swizzle) / 16;
      if (swizzle == Swizzle::kNone) return place(piece * stride + k / 8 * leading + k % 8 * 16);
      return place(piece % pieces * 16 + piece / pieces * leading +
                   uint64_t{k % 8} * swizzle_bytes(swizzle) + k / 8 * stride);
    }
    uint64_t place(uint64_t offset) const { return swizzled(swizzle, start + offset, phase); }
  };

  /// 16 bytes of shared memory; false on a fault.
  bool fetch(uint64_t at, uint32_t (&words)[4]) {
    MemDesc access;
    access.instruction = desc_.instruction;
    uint8_t* host = nullptr;
    if (!resolve_shared(ctx_, access, 0, at, 16, &host)) return false;
    if (ctx_.checker != nullptr)
      tell_copy(ctx_, warp_, {desc_.instruction, 0, host, 16, false, false, nullptr, true});
    std::memcpy(words, host, 16);
    return true;
  }

  /// f(line, k, value) for the numbers of `lines` lines from `first` on.
  template <class F>
  bool read_shared(const Descriptor& at, Factor format, bool across, uint32_t first, uint32_t lines,
                   F&& f) {
    uint32_t words[4];
    const uint32_t each = 128 / ptx::bits_of(format);
    if (!across) {
      for (uint32_t line = first; line < first + lines; ++line)
        for (uint32_t piece = 0; piece < 2; ++piece) {
          if (!fetch(at.along_k(line, piece), words)) return false;
          uint32_t k = piece * each;
          each_number(format, words, 4, [&](double v) { f(line - first, k++, v); });
        }
      return true;
    }
    for (uint32_t k = 0; k < d_.k; ++k)
      for (uint32_t line = first; line < first + lines; line += each) {
        if (!fetch(at.across(line / each, k), words)) return false;
        uint32_t i = line - first;
        each_number(format, words, 4, [&](double v) { f(i++, k, v); });
      }
    return true;
  }

  /// Sources: whether to add, the descriptor of b, that of a or its registers, the results.
  bool read_group() {
    const auto wide = [&](uint32_t i) { return row<uint64_t>(warp_.rows, desc_.sources[i])[0]; };
    const uint32_t k_end = d_.k, n = d_.n;
    if (!d_.a_in_memory) {
      read_a(2);
    } else if (!read_shared(
                   Descriptor(wide(2)), d_.a, d_.a_column, warp_.index % 4 * rows_, rows_,
                   [&](uint32_t i, uint32_t k, double v) { m_.a[size_t{i} * k_end + k] = v; })) {
      return false;
    }
    return read_shared(Descriptor(wide(1)), d_.b, d_.b_column, 0, n,
                       [&](uint32_t j, uint32_t k, double v) { m_.b[size_t{k} * n + j] = v; });
  }

  // --- Sums

  void multiply() {
    const uint32_t n = d_.n, k_end = d_.k;
    const double sign = d_.negate_a != d_.negate_b ? -1 : 1;
    for (uint32_t i = 0; i < rows_; ++i) {
      double* const sums = m_.sums.data() + size_t{i} * n;
      for (uint32_t k = 0; k < k_end; ++k) {
        const double left = m_.a[size_t{i} * k_end + k] * sign;
        const double* const right = m_.b.data() + size_t{k} * n;
        if (d_.exclusive_or)
          for (uint32_t j = 0; j < n; ++j) sums[j] += left != right[j] ? 1 : 0;
        else
          for (uint32_t j = 0; j < n; ++j) sums[j] += left * right[j];
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
  const uint32_t rows_;
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
