// Whole lines that an L2 slice keeps when they are written (write-back without sectors): which are
// dirty, what a write takes, what becomes of a dirty line that is replaced.
//
// A line is dirty or not, and goes back to memory as a whole, in the slice's own name. A write
// whose line is there makes it dirty; the slice acknowledges it. One that misses does what
// L2SliceParams::write_miss says. A line that is still under way takes no writes: they go on to
// memory, which acknowledges them, as in a slice that writes through; but with kFetchOnWrite they
// wait for it in its MSHR, and the slice acknowledges them when it is there. What is dirty when a
// program ends stays in the slice.
//
// Source: GPGPU-Sim, caches with write-back; the ways of a miss are its write-allocate policies.
#pragma once

#include "device/cache/l2_pipeline.h"

namespace nearwarp::l2_detail {

/// Does the slice keep whole lines that are written?
NW_HD NW_INLINE bool keeps_lines(const L2SliceState& s) { return s.dirty_lines.count != 0; }

/// Is the line of this way to be written back when it is replaced? `at`: counted over all sets.
NW_HD NW_INLINE bool is_dirty(const L2SliceState& s, std::byte* base, uint32_t at) {
  return keeps_lines(s) && s.dirty_lines.in(base)[at] != 0;
}

/// The way's line is newer than memory's from now on.
NW_HD NW_INLINE void make_line_dirty(L2SliceState& s, std::byte* base, uint32_t at) {
  uint8_t& dirty = s.dirty_lines.in(base)[at];
  if (dirty != 0) return;
  s.counters.lines_dirtied += 1;
  dirty = 1;
}

/// The way's line is replaced: if it is dirty, memory gets it. The caller has checked
/// for room.
NW_HD NW_INLINE void write_line_back(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                     Tick due, uint32_t at) {
  if (!is_dirty(s, base, at)) return;
  s.dirty_lines.in(base)[at] = 0;
  const auto sectors = static_cast<uint32_t>(low_bits(p.line_bytes / p.sector_bytes));
  push_request(s, base, own_write(p, due, s.tags.in(base)[at], sectors, p.line_bytes));
  s.counters.write_backs += 1;
}

/// Does a write fill its line?
NW_HD NW_INLINE bool is_whole(const L2SliceParams& p, const Packet& write) {
  const uint64_t all = low_bits(p.line_bytes / 4u);
  return (write.written_words() & all) == all;
}

}  // namespace nearwarp::l2_detail
