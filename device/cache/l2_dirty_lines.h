// Write-back of whole lines in an L2 slice without sectors: which lines are dirty, how a write is
// handled, and how a dirty line that is replaced is written back.
//
// A line is dirty as a whole and is written back as a whole, by a write whose source is the slice
// itself. A write that hits makes its line dirty, and the slice acknowledges it. A write that
// misses does what L2SliceParams::write_miss says. A write to a line that is still being fetched
// goes on to memory, which acknowledges it, as in a write-through slice; but with kFetchOnWrite it
// waits in the line's MSHR, and the slice acknowledges it once the line has arrived. Lines that are
// dirty when a program ends stay in the slice.
//
// Source: GPGPU-Sim's write-back caches; L2SliceParams::write_miss has its write-allocate policies.
#pragma once

#include "device/cache/l2_pipeline.h"

namespace nearwarp::l2_detail {

/// Does the slice write back whole lines?
NW_HD NW_INLINE bool keeps_lines(const L2SliceState& s) { return s.dirty_lines.count != 0; }

/// Does the line have to be written back when it is replaced? `at` is the index of its way, counted
/// over all sets.
NW_HD NW_INLINE bool is_dirty(const L2SliceState& s, std::byte* base, uint32_t at) {
  return keeps_lines(s) && s.dirty_lines.in(base)[at] != 0;
}

/// Mark the line in way `at` as newer than memory's copy.
NW_HD NW_INLINE void make_line_dirty(L2SliceState& s, std::byte* base, uint32_t at) {
  uint8_t& dirty = s.dirty_lines.in(base)[at];
  if (dirty != 0) return;
  s.counters.lines_dirtied += 1;
  dirty = 1;
}

/// Write the line in way `at`, which is being replaced, back to memory if it is dirty. The caller
/// has checked that there is room for the request.
NW_HD NW_INLINE void write_line_back(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                     Tick due, uint32_t at) {
  if (!is_dirty(s, base, at)) return;
  s.dirty_lines.in(base)[at] = 0;
  const auto sectors = static_cast<uint32_t>(low_bits(p.line_bytes / p.sector_bytes));
  push_request(s, base, own_write(p, due, s.tags.in(base)[at], sectors, p.line_bytes));
  s.counters.write_backs += 1;
}

/// Does a write cover its whole line?
NW_HD NW_INLINE bool is_whole(const L2SliceParams& p, const Packet& write) {
  const uint64_t all = low_bits(p.line_bytes / 4u);
  return (write.written_words() & all) == all;
}

}  // namespace nearwarp::l2_detail
