// From a warp's addresses to cache lines (global memory) or bank conflicts (shared memory).
#pragma once

#include "device/core/line_grid.h"
#include "device/trace/format.h"

namespace nearwarp::sm {

inline constexpr uint32_t kWarpSize = 32;

/// The different values among up to 32, numbered in the order in which they come.
class DistinctValues {
 public:
  NW_HD DistinctValues() {
    for (uint32_t i = 0; i < kChains; ++i) chain_[i] = kNone;
  }
  /// The number of `value`. New ones have that of size() before.
  NW_HD NW_INLINE uint32_t number_of(uint32_t value) {
    uint32_t others = 0;
    return number_of(value, value % kChains, others);
  }
  /// The number of `value`, with a chain (below kChains) of the caller's choice for each value.
  /// `others`: how many values that chain had before, if this one is new.
  NW_HD NW_INLINE uint32_t number_of(uint32_t value, uint32_t chain_of_it, uint32_t& others) {
    uint8_t& chain = chain_[chain_of_it];
    for (uint32_t k = chain; k != kNone; k = next_[k], ++others)
      if (value_[k] == value) return k;
    value_[size_] = value;
    next_[size_] = chain;
    chain = static_cast<uint8_t>(size_);
    return size_++;
  }
  NW_HD uint32_t size() const { return size_; }

  static constexpr uint32_t kChains = 64;

 private:
  static constexpr uint32_t kNone = 0xff;
  uint8_t chain_[kChains];  ///< by hash: the newest value
  uint8_t next_[kWarpSize];
  uint32_t value_[kWarpSize];
  uint32_t size_ = 0;
};

/// The lines that one warp access touches.
struct LineList {
  uint32_t count = 0;
  uint32_t next = 0;  ///< lines before it have been handled
  LineAddr line[kWarpSize] = {};
  uint8_t sectors[kWarpSize] = {};  ///< bit s: bytes [32 s, 32 s + 32) of the line
  uint8_t rounds[kWarpSize] = {};   ///< atomics: the most lanes that have one address of the line
  uint64_t words[kWarpSize] = {};   ///< stores: 4-byte words of the line that they write completely
};

/// f(lane, address) for an access's lanes in turn; addresses are 48-bit values.
template <class F>
NW_HD NW_INLINE void each_address(const trace::RecordView& access, F&& f) {
  const uint64_t w = access.word();
  const uint64_t base = trace::record_base(w);
  const int stride = trace::record_stride(w);
  const uint64_t* extra = access.more();
  const uint32_t mask = access.mask;
  if (stride >= trace::kMinStride) {
    const auto step = static_cast<uint64_t>(static_cast<int64_t>(stride));
    for (uint32_t todo = mask; todo != 0; todo &= todo - 1) {
      const uint32_t i = count_trailing_zeros(todo);
      f(i, (base + step * i) & trace::kAddressMask);
    }
  } else if (stride == trace::kTiles) {
    const uint64_t tile = *extra;
    for (uint32_t todo = mask; todo != 0; todo &= todo - 1) {
      const uint32_t i = count_trailing_zeros(todo);
      f(i, (base + trace::tile_distance(tile, i)) & trace::kAddressMask);
    }
  } else if (stride == trace::kDeltas) {
    for (uint32_t todo = mask; todo != 0; ++extra) {  // two in each word
      f(count_trailing_zeros(todo), base + static_cast<uint32_t>(*extra));
      todo &= todo - 1;
      if (todo == 0) break;
      f(count_trailing_zeros(todo), base + (*extra >> 32));
      todo &= todo - 1;
    }
  } else {
    for (uint32_t todo = mask; todo != 0; todo &= todo - 1) f(count_trailing_zeros(todo), *extra++);
  }
}

/// The address of one of them alone.
NW_HD inline uint64_t lane_address(trace::RecordView access, uint32_t lane) {
  const uint64_t w = access.word();
  const uint64_t base = trace::record_base(w);
  const int stride = trace::record_stride(w);
  if (stride >= trace::kMinStride)
    return (base + static_cast<uint64_t>(static_cast<int64_t>(stride) * lane)) &
           trace::kAddressMask;
  const uint64_t* extra = access.more();
  if (stride == trace::kTiles)
    return (base + trace::tile_distance(*extra, lane)) & trace::kAddressMask;
  const uint32_t rank = population_count(access.mask & static_cast<uint32_t>(low_bits(lane)));
  if (stride == trace::kDeltas)
    return base + static_cast<uint32_t>(extra[rank / 2] >> (32 * (rank % 2)));
  return extra[rank];
}

/// coalesce() of lanes that want one address, or of neighbours whose addresses ascend, by a sector
/// at most from one to the next: their lines and sectors are all from the first address to the
/// last. Returns false if the access is not like that.
NW_HD inline bool coalesce_run(trace::RecordView access, LineGrid grid, LineList& out) {
  const auto [device_base, line_shift] = grid;
  const uint64_t w = access.word();
  const int stride = trace::record_stride(w);
  const uint32_t first_lane = count_trailing_zeros(access.mask);
  const uint64_t run = access.mask >> first_lane;
  if (stride < 0 || stride > 32 || (stride != 0 && (run & (run + 1)) != 0)) return false;
  const auto step = static_cast<uint64_t>(stride);
  const uint64_t from = trace::record_base(w) + step * first_lane;
  const uint64_t to = from + step * (population_count(run) - 1);
  if (from < device_base || to > trace::kAddressMask || line_shift < 5 ||
      (device_base & low_bits(line_shift)) != 0)
    return false;
  const uint64_t first = (from - device_base) >> 5, last = (to - device_base) >> 5;
  const uint32_t shift = line_shift - 5;
  const auto line = static_cast<uint32_t>(first >> shift);
  const uint32_t more = static_cast<uint32_t>(last >> shift) - line;
  const uint64_t all = low_bits(1u << shift);
  uint64_t sectors = all & ~low_bits(static_cast<uint32_t>(first & ((1u << shift) - 1)));
  for (uint32_t k = 0; k < more; ++k) {
    out.line[k] = line + k;
    out.sectors[k] = static_cast<uint8_t>(sectors);
    sectors = all;
  }
  sectors &= low_bits(static_cast<uint32_t>(last & ((1u << shift) - 1)) + 1);
  out.line[more] = line + more;
  out.sectors[more] = static_cast<uint8_t>(sectors);
  out.count = more + 1;
  out.next = 0;
  return true;
}

/// Coalesce a global access into lines, in the order of their first lanes (Fermi's rule: one
/// transaction per line that any lane touches). As all here it is for one lane: a component is
/// stepped by one.
NW_HD NW_APART inline void coalesce(trace::RecordView access, LineGrid grid, LineList& out) {
  if (coalesce_run(access, grid, out)) return;
  DistinctValues lines;
  each_address(access, [&](uint32_t, uint64_t address) NW_INLINE_LAMBDA {
    const LineAddr line = grid.line_of(address);
    const uint32_t sector = grid.sector_of(address);
    const uint32_t before = lines.size(), k = lines.number_of(line);
    out.line[k] = line;
    out.sectors[k] = static_cast<uint8_t>(k == before ? sector : out.sectors[k] | sector);
  });
  out.count = lines.size();
  out.next = 0;
}

/// Sets LineList::rounds of an access that coalesce() has seen.
NW_HD NW_APART inline void count_rounds(trace::RecordView access, LineGrid grid, LineList& lines) {
  for (uint32_t k = 0; k < lines.count; ++k) lines.rounds[k] = 0;
  for (uint32_t todo = access.mask; todo != 0;) {
    const uint64_t address = lane_address(access, count_trailing_zeros(todo));
    uint32_t same = 0;
    for (uint32_t rest = todo; rest != 0; rest &= rest - 1) {
      const uint32_t lane = count_trailing_zeros(rest);
      if (lane_address(access, lane) == address) same |= 1u << lane;
    }
    todo &= ~same;
    const LineAddr line = grid.line_of(address);
    uint32_t k = 0;
    while (lines.line[k] != line) ++k;
    const uint32_t n = population_count(same);
    if (n > lines.rounds[k]) lines.rounds[k] = static_cast<uint8_t>(n);
  }
}

/// The packets that an atomic of a warp becomes.
enum class AtomicPackets : uint8_t {
  kLines,    ///< one for each line
  kSectors,  ///< for each sector as many as lanes that want one address of it at most
  kLanes,    ///< one for each lane
};

/// Instead of coalesce(), for packets that are not of lines: each has lanes that want different
/// addresses of a sector. Source of kSectors: GPGPU-Sim 4.2.
NW_HD NW_APART inline void split_atomic(trace::RecordView access, LineGrid grid,
                                        AtomicPackets packets, LineList& out) {
  out.count = out.next = 0;
  for (uint32_t todo = access.mask; todo != 0; todo &= todo - 1) {
    const uint32_t lane = count_trailing_zeros(todo);
    const uint64_t address = lane_address(access, lane);
    const LineAddr line = grid.line_of(address);
    const uint32_t sector = grid.sector_of(address);
    uint32_t k = out.count;
    if (packets == AtomicPackets::kSectors) {
      // Packets of the sector that lanes before it with its address are in are taken.
      uint32_t taken = 0;
      for (uint32_t rest = access.mask & static_cast<uint32_t>(low_bits(lane)); rest != 0;
           rest &= rest - 1)
        taken += lane_address(access, count_trailing_zeros(rest)) == address ? 1 : 0;
      for (k = 0; k < out.count; ++k)
        if (out.line[k] == line && out.sectors[k] == sector && taken-- == 0) break;
    }
    if (k < out.count) continue;
    out.line[k] = line;
    out.sectors[k] = static_cast<uint8_t>(sector);
    out.rounds[k] = 1;
    out.count += 1;
  }
}

/// Sets LineList::words of a store that coalesce() has seen.
NW_HD NW_APART inline void mark_words(trace::RecordView access, uint32_t lane_bytes, LineGrid grid,
                                      LineList& lines) {
  for (uint32_t k = 0; k < lines.count; ++k) lines.words[k] = 0;
  uint32_t k = 0;
  for (uint32_t todo = access.mask; todo != 0; todo &= todo - 1) {
    const uint64_t address = lane_address(access, count_trailing_zeros(todo));
    if (lane_bytes < 4) {  // others may write the rest of the word
      uint32_t bytes = 0;
      for (uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
        const uint64_t other = lane_address(access, count_trailing_zeros(rest));
        if (other >> 2 == address >> 2)
          bytes |= static_cast<uint32_t>(low_bits(lane_bytes)) << (other & 3);
      }
      if ((bytes & 15) != 15) continue;
    }
    const LineAddr line = grid.line_of(address);
    while (lines.line[k] != line) k = k + 1 == lines.count ? 0 : k + 1;
    lines.words[k] |= low_bits(lane_bytes < 4 ? 1 : lane_bytes / 4) << (grid.byte_of(address) >> 2);
  }
}

/// Cycles that a shared-memory access occupies: the most distinct 4-byte words that fall into one
/// bank (lanes that want the same word share it; deviation 9 in tests/validation/DEVIATIONS.md).
NW_HD NW_APART inline uint32_t bank_cycles(trace::RecordView access, uint32_t lane_bytes,
                                           uint32_t banks) {
  const int stride = trace::record_stride(access.word());
  const uint32_t lane_words = lane_bytes <= 4 ? 1 : lane_bytes / 4;
  if (stride == 0) return lane_words;
  if (lane_words == 1 && (stride == 4 || stride == -4)) return 1;
  uint32_t most = 0;
  DistinctValues first_words;
  if (lane_words == 1) {
    each_address(access, [&](uint32_t, uint64_t address) NW_INLINE_LAMBDA {
      const uint32_t word = static_cast<uint32_t>(address) >> 2;
      uint32_t n = 0;
      first_words.number_of(word, word & (banks - 1), n);
      most = n + 1 > most ? n + 1 : most;  // of a word that is not new n is less
    });
    return most;
  }
  uint8_t used[DistinctValues::kChains] = {};
  each_address(access, [&](uint32_t, uint64_t address) NW_INLINE_LAMBDA {
    const uint32_t first = static_cast<uint32_t>(address) >> 2;
    const uint32_t before = first_words.size();
    if (first_words.number_of(first) != before) return;
    for (uint32_t k = 0; k < lane_words; ++k) {
      const uint32_t n = ++used[(first + k) & (banks - 1)];
      most = n > most ? n : most;
    }
  });
  return most;
}

}  // namespace nearwarp::sm
