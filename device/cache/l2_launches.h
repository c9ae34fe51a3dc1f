// Coherence of the stacks' L2 slices, several of which may hold a line: it makes a launch see what
// other stacks have written before it.
//
// The front end tells every slice when a launch begins, before any thread block of it does. Clean
// lines that have to go (L2SliceParams::at_launch) go at once. Where lines stay when they are
// written, the dirty ones of a set are written back one by one, a set or a line per cycle, and
// nothing is looked up meanwhile; the front end dispatches nothing until memory has acknowledged
// all write-backs of all slices. Lines that are being fetched belong to launches that still run:
// their requesters get them, and they stay only if they are dirty.
//
// An atomic of a line that several stacks may have is executed where the line lives, by the vault,
// if L2SliceParams::atomics_in_memory says so: it passes the slice of its SM's stack, which gives
// the line up.
//
// With kRemote a slice keeps lines of its own stack's memory. When another stack writes one, the
// vault says so, and the line goes; a dirty one, of which both have written words, goes when it is
// written back.
//
// Source: CODA, section 4.2 (last-level caches of stacks hold lines of all stacks, write them back
// to where they live, and are coherent). It does not say when they become coherent: here they do
// where kernels begin, like the L1s of GPUs.
#pragma once

#include "device/cache/l2_look_up.h"

namespace nearwarp::l2_detail {

/// Has a line to go when a launch begins?
NW_HD NW_INLINE bool goes_at_launch(const L2SliceParams& p, const std::byte* base, LineAddr line) {
  return p.at_launch == L2AtLaunch::kAll ||
         p.map.of(line, base).stack_of(line) != number_of(p.stack);
}

/// Begin a launch: give up clean lines, and begin to write dirty ones back.
NW_HD NW_APART inline void begin_launch(const L2SliceParams& p, L2SliceState& s, std::byte* base) {
  s.counters.launches += 1;
  s.owes_word = s.clean_out.count;
  if (p.at_launch == L2AtLaunch::kKeep || s.uses == s.uses_at_launch) return;
  s.uses_at_launch = s.uses;
  bool dirty_waits = false;
  for (uint32_t set = 0; set < p.index.sets; ++set) {
    for (uint32_t way = 0; way < p.ways; ++way) {
      const uint32_t at = set * p.ways + way;
      if (s.tags.in(base)[at] == kNoLine) continue;
      if (is_dirty(s, base, at)) {
        dirty_waits |= (s.pending.in(base)[set] >> way & 1) != 0;
        continue;
      }
      if (!goes_at_launch(p, base, s.tags.in(base)[at])) continue;
      forget_way(p, s, base, set, uint64_t{1} << way);
      s.counters.lines_given_up += 1;
    }
  }
  if (keeps_lines(s)) s.cleaning = 0;
  if (dirty_waits) s.uses_at_launch -= 1;  // so that the next launch looks at all lines again
}

/// Dirty ways of a set whose line is not being fetched.
NW_HD NW_INLINE uint64_t dirty_ways(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                    uint32_t set) {
  uint64_t dirty = 0;
  for (uint32_t way = 0; way < p.ways; ++way)
    if (is_dirty(s, base, set * p.ways + way)) dirty |= uint64_t{1} << way;
  return dirty & ~s.pending.in(base)[set];
}

/// Is there room for the write that clean_next() may send?
NW_HD NW_INLINE bool can_clean(const L2SliceState& s) {
  return s.requests.count - s.request_count - s.request_reserved > 0;
}

/// Write the next dirty line back, or go on to the next set. Requires can_clean().
NW_HD NW_APART inline void clean_next(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Tick now) {
  s.counters.launch_cycles += 1;
  const uint32_t set = s.cleaning;
  const uint64_t dirty = dirty_ways(p, s, base, set);
  if (dirty != 0) {
    const uint32_t way = count_trailing_zeros(dirty);
    const uint32_t at = set * p.ways + way;
    const bool written_by_others = s.dirty_lines.in(base)[at] == 2;
    write_line_back(p, s, base, now + Tick{p.latency_cycles} * p.period, at);
    s.counters.launch_write_backs += 1;
    if (written_by_others || goes_at_launch(p, base, s.tags.in(base)[at])) {
      forget_way(p, s, base, set, uint64_t{1} << way);
      s.counters.lines_given_up += 1;
    }
  }
  if ((dirty & (dirty - 1)) == 0) s.cleaning = set + 1 == p.index.sets ? kNoSet : set + 1;
}

/// Must the front end be told now that memory has everything that was written? Writes on their way
/// may be of launches that still run, but are waited for, too.
NW_HD NW_INLINE bool is_clean(const L2SliceState& s) {
  const L2Counters& n = s.counters;
  return s.owes_word != 0 && s.cleaning == kNoSet &&
         n.atomic_writes + n.write_backs == n.atomic_write_acks;
}

/// Tell the front end that everything written is in memory. Its channel carries nothing else, so it
/// always has room.
NW_HD NW_APART inline void send_clean(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Tick now, Horizon& horizon) {
  s.owes_word = 0;
  Packet m;
  m.kind = PacketKind::kClean;
  m.src = p.endpoint;
  send(*s.clean_out.in(base), base, now, m, horizon);
}

/// Another stack has written a line of this stack's memory, which may be in way `match` (as a bit).
NW_HD NW_INLINE void line_written(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                  uint32_t set, uint64_t match) {
  if (match != 0) {
    const uint32_t at = set * p.ways + count_trailing_zeros(match);
    if (is_dirty(s, base, at)) {
      s.counters.invalidations += 1;
      s.dirty_lines.in(base)[at] = 2;
      return;
    }
  }
  drop_line(p, s, base, set, match);
}

/// Take a vault's message that another stack has written a line. Like an invalidation it needs no
/// resource, so neither ever blocks its network.
NW_HD NW_CALLED void take_line_written(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                       Tick now, Horizon& horizon) {
  Channel& in = *s.memory_in.in(base);
  const LineAddr line = front(in, base).line;
  const uint32_t set = set_of(p, base, line);
  const uint64_t match = ways_of(p, s, base, set, line);
  line_written(p, s, base, set, match);
  s.counters.memory_in += 1;
  pop(in, base, now, horizon);
}

/// Take an invalidation, or the front end's message that a launch begins.
NW_HD NW_CALLED void take_invalidation(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                       Tick now, Horizon& horizon) {
  Channel& in = *s.invalidate_in.in(base);
  const Packet& packet = front(in, base);
  const bool launch = packet.kind == PacketKind::kNewLaunch;
  const uint32_t set = launch ? 0 : set_of(p, base, packet.line);
  const uint64_t match = ways_of(p, s, base, set, packet.line);
  if (launch) {
    begin_launch(p, s, base);
  } else {
    drop_line(p, s, base, set, match);
    s.counters.requests_in += 1;
  }
  pop(in, base, now, horizon);
}

}  // namespace nearwarp::l2_detail
