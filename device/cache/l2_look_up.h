// Look-ups in an L2 slice that is not by sectors: hits, merges, misses, writes, invalidations.
#pragma once

#include "device/cache/l2_dirty_lines.h"
#include "device/cache/l2_pipeline.h"

namespace nearwarp::l2_detail {

/// The line of a set's way, `match` as a bit, is no longer there.
NW_HD NW_INLINE void forget_way(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                uint32_t set, uint64_t match) {
  const uint32_t at = set * p.ways + count_trailing_zeros(match);
  NW_ASSERT(!is_dirty(s, base, at));  // an empty way never is
  if ((match & s.pending.in(base)[set]) != 0) {
    // The data under way answers its requesters but is not kept.
    s.mshrs.in(base)[s.mshr_of.in(base)[at]].keep = 0;
  }
  s.pending.in(base)[set] &= ~match;
  s.tags.in(base)[at] = kNoLine;
}

/// Invalidate the ways `match` (at most one) of a set.
NW_HD NW_INLINE void drop_line(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                               uint32_t set, uint64_t match) {
  s.counters.invalidations += 1;
  if (match == 0) return;
  s.counters.lines_invalidated += 1;
  forget_way(p, s, base, set, match);
}

/// A read or an atomic joins those that the MSHR's line answers.
NW_HD NW_INLINE void add_waiter(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                uint32_t index, const Packet& request, L2Origin origin) {
  L2Mshr& m = s.mshrs.in(base)[index];
  L2Waiter& w = s.waiters.in(base)[index * p.mshr_merges + m.waiters];
  w.tag = request.tag;
  w.sectors = request.sectors;
  w.src = request.src;
  w.origin = origin;
  m.waiters = static_cast<uint16_t>(m.waiters + 1);
}

/// Give `way` and the next free MSHR, of which there is one, to the line that is asked for, and ask
/// memory for it; what was there before is written back.
NW_HD NW_INLINE void begin_miss(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                const Asked& a, uint32_t way) {
  const uint32_t index = s.free_mshr, set = a.set;
  const LineAddr line = a.request.line;
  L2Mshr& m = s.mshrs.in(base)[index];
  s.free_mshr = m.next_free;
  s.mshrs_in_use += 1;
  m.line = line;
  m.set = set;
  m.way = static_cast<uint16_t>(way);
  m.waiters = 0;
  m.keep = 1;
  const uint64_t bit = uint64_t{1} << way;
  const uint32_t at = set * p.ways + way;
  s.counters.evictions += s.tags.in(base)[at] != kNoLine ? 1 : 0;
  write_line_back(p, s, base, a.due(p), at);
  put(p, s, base, at, line);
  s.pending.in(base)[set] |= bit;
  s.mshr_of.in(base)[at] = static_cast<uint16_t>(index);
  push_request(s, base, fetch_for(p, a.due(p), line, index, 0));
}

/// The outcome of looking up a read or an atomic.
enum class Found : uint32_t { kHit, kMerge, kMiss };

/// Counts, and what is of an atomic only. `at`: its line's way, counted over all sets.
NW_HD NW_INLINE void end_look_up(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                 const Asked& a, Found found, uint32_t at) {
  L2Counters& n = s.counters;
  if (a.request.kind != PacketKind::kAtomic) {
    n.reads += 1;
    (found == Found::kHit     ? n.read_hits
     : found == Found::kMerge ? n.read_merges
                              : n.read_misses) += 1;
    return;
  }
  n.atomics += 1;
  (found == Found::kHit     ? n.atomic_hits
   : found == Found::kMerge ? n.atomic_merges
                            : n.atomic_misses) += 1;
  if (keeps_lines(s)) {
    make_line_dirty(s, base, at);
  } else if (found == Found::kHit) {
    push_atomic_write(p, s, base, a.due(p), a.request.line, a.request.sectors);
  } else {
    s.request_reserved += 1;
  }
  occupy_atomics(p, s, a.request, a.now);
}

/// look_up() of a read or an atomic.
NW_HD NW_INLINE Outcome look_up_read(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                     const Asked& a) {
  const Packet& request = a.request;
  const uint32_t set = a.set;
  const uint64_t match = a.match;
  const uint32_t room = s.requests.count - s.request_count - s.request_reserved;
  const uint32_t of_atomic = request.kind == PacketKind::kAtomic && !keeps_lines(s) ? 1 : 0;
  const uint64_t pending = s.pending.in(base)[set];
  if ((match & ~pending) != 0) {  // hit
    const bool replies = a.origin != L2Origin::kOwn;
    if ((replies && s.reply_count == s.replies.count) || room < of_atomic) return Outcome::kRefused;
    const uint32_t at = set * p.ways + count_trailing_zeros(match);
    touch(p, s, base, at);
    if (replies) push_reply(s, base, a.due(p), request, reply_kind(a.origin, request.sectors));
    end_look_up(p, s, base, a, Found::kHit, at);
    return replies ? Outcome::kTaken : Outcome::kAnswered;
  }
  if (match != 0) {
    const uint32_t at = set * p.ways + count_trailing_zeros(match);
    const uint32_t index = s.mshr_of.in(base)[at];
    if (s.mshrs.in(base)[index].waiters == p.mshr_merges || room < of_atomic)
      return Outcome::kRefused;
    add_waiter(p, s, base, index, request, a.origin);
    end_look_up(p, s, base, a, Found::kMerge, at);
    return Outcome::kTaken;
  }
  const uint32_t index = s.free_mshr;
  if (index == kNoMshr) return Outcome::kNoMshr;
  if (room < 1 + of_atomic) return Outcome::kRefused;
  const uint32_t way = way_to_take(p, s, base, set);
  if (way == kNoLane) return Outcome::kRefused;  // every way waits for its line
  const uint32_t at = set * p.ways + way;
  if (is_dirty(s, base, at) && room < 2 + of_atomic) return Outcome::kRefused;
  begin_miss(p, s, base, a, way);
  add_waiter(p, s, base, index, request, a.origin);
  end_look_up(p, s, base, a, Found::kMiss, at);
  return Outcome::kTaken;
}

/// look_up() of a write in a slice that keeps whole lines.
NW_HD NW_CALLED Outcome look_up_kept_write(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                           Asked a) {
  const Packet& request = a.request;
  const uint32_t set = a.set;
  const uint64_t match = a.match;
  const Tick due = a.due(p);
  const uint32_t room = s.requests.count - s.request_count - s.request_reserved;
  const bool own = a.origin == L2Origin::kOwn;
  const bool hit = (match & ~s.pending.in(base)[set]) != 0;
  const bool whole = match == 0 && is_whole(p, request);
  const bool on_write = p.write_miss == L2WriteMiss::kFetchOnWrite;
  const bool allocates = whole && (on_write || p.write_miss == L2WriteMiss::kAllocate);
  const bool fetches =
      match == 0 && (p.write_miss == L2WriteMiss::kFetch || (on_write && !allocates));
  // A line that is under way, or has to come, is waited for; mechanisms wait for memory's answer.
  const bool waits = on_write && !own && !hit && !allocates;
  const bool stays = hit || allocates, through = !stays && !waits;
  if (stays && !own && s.reply_count == s.replies.count) return Outcome::kRefused;
  if (fetches && s.free_mshr == kNoMshr) return Outcome::kNoMshr;
  const uint32_t way = allocates || fetches ? way_to_take(p, s, base, set)
                       : match != 0         ? count_trailing_zeros(match)
                                            : 0;
  if (way == kNoLane) return Outcome::kRefused;
  const uint32_t at = set * p.ways + way;
  const uint32_t index = fetches ? s.free_mshr : s.mshr_of.in(base)[at];
  if (waits && !fetches && s.mshrs.in(base)[index].waiters == p.mshr_merges)
    return Outcome::kRefused;
  const bool replaces = (allocates || fetches) && is_dirty(s, base, at);
  const uint32_t requests = (through ? 1u : 0u) + (fetches ? 1u : 0u) + (replaces ? 1u : 0u);
  if (room < requests) return Outcome::kRefused;
  L2Counters& n = s.counters;
  n.writes += 1;
  n.write_hits += hit ? 1 : 0;
  n.write_allocates += allocates ? 1 : 0;
  n.write_fetches += fetches ? 1 : 0;
  n.writes_through += through ? 1 : 0;
  if (through) push_request(s, base, request_on(request, due));
  if (fetches) begin_miss(p, s, base, a, way);
  if (waits) {
    n.write_waits += 1;
    add_waiter(p, s, base, index, request, L2Origin::kStore);
    make_line_dirty(s, base, at);
  }
  if (allocates) {
    n.evictions += s.tags.in(base)[at] != kNoLine ? 1 : 0;
    write_line_back(p, s, base, due, at);
    put(p, s, base, at, request.line);
  }
  if (hit) touch(p, s, base, at);
  if (stays) make_line_dirty(s, base, at);
  if (stays && own) return Outcome::kAnswered;
  if (stays) push_reply(s, base, due, request, PacketKind::kWriteAck);
  return Outcome::kTaken;
}

/// An atomic goes on to memory, which answers the SM; the line that is here goes, a dirty one back
/// to memory first.
NW_HD NW_CALLED Outcome pass_atomic(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                    Asked a) {
  const uint32_t set = a.set;
  const uint64_t match = a.match;
  const uint32_t at = set * p.ways + (match != 0 ? count_trailing_zeros(match) : 0);
  const bool dirty = match != 0 && is_dirty(s, base, at);
  const uint32_t room = s.requests.count - s.request_count - s.request_reserved;
  // A line that waits for its data, and for it writes: they come first.
  if (room < (dirty ? 2u : 1u) || (dirty && (match & s.pending.in(base)[set]) != 0))
    return Outcome::kRefused;
  if (dirty) write_line_back(p, s, base, a.due(p), at);
  if (match != 0) forget_way(p, s, base, set, match);
  push_request(s, base, request_on(a.request, a.due(p)));
  s.counters.atomics_passed += 1;
  return Outcome::kTaken;
}

/// Look up a request. If what it needs is there, the caller takes it from where it waits; if it has
/// to wait for something inside this slice, nothing is changed.
NW_HD NW_APART_ON_GPU Outcome look_up(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Tick now, const Packet& request, L2Origin origin) {
  const PacketKind kind = request.kind;
  if (kind == PacketKind::kAtomic && now < s.atomics_until) return Outcome::kRefused;
  const uint32_t set = set_of(p, base, request.line);
  const uint64_t match = ways_of(p, s, base, set, request.line);
  const Asked asked{request, origin, now, set, match};
  if (kind == PacketKind::kAtomic && p.atomics_in_memory != 0)
    return pass_atomic(p, s, base, asked);
  if (kind == PacketKind::kRead || kind == PacketKind::kAtomic)
    return look_up_read(p, s, base, asked);

  if (kind == PacketKind::kWrite && keeps_lines(s)) return look_up_kept_write(p, s, base, asked);
  if (kind == PacketKind::kWrite) {
    if (s.requests.count == s.request_count + s.request_reserved) return Outcome::kRefused;
    const uint64_t hit = match & ~s.pending.in(base)[set];
    if (hit != 0) touch(p, s, base, set * p.ways + count_trailing_zeros(hit));
    // The acknowledgement goes from the vault straight to the writer.
    push_request(s, base, request_on(request, asked.due(p)));
    s.counters.writes += 1;
    s.counters.write_hits += hit != 0 ? 1 : 0;
    return Outcome::kTaken;
  }

  if (kind == PacketKind::kInvalidate) {
    drop_line(p, s, base, set, match);
  } else {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
  }
  return Outcome::kTaken;
}

/// Look up the oldest request of the network.
NW_HD NW_CALLED Outcome look_up_next(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                     Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  const Packet& request = front(in, base);
  const Outcome outcome =
      look_up(p, s, base, now, request, origin_of(request.kind == PacketKind::kAtomic));
  if (outcome == Outcome::kTaken) pop_request(s, base, now, horizon);
  return outcome;
}

/// When the next invalidation can be taken.
NW_HD NW_INLINE Tick next_invalidation(const L2SliceState& s, std::byte* base) {
  return s.invalidate_in.count != 0 ? head_arrival(*s.invalidate_in.in(base), base) : kNever;
}

/// Put sectors of a line of this set there before anything runs.
NW_HD inline void preload(const L2SliceParams& p, L2SliceState& s, std::byte* base, uint32_t set,
                          LineAddr line, uint32_t sectors) {
  const LineAddr* tags = s.tags.in(base) + set * p.ways;
  // Lines have taken a set's ways one after the other: behind the first empty way there are none.
  uint32_t way = 0;
  while (way < p.ways && tags[way] != line && tags[way] != kNoLine) ++way;
  const bool is_there = way < p.ways && tags[way] == line;
  const uint32_t at = set * p.ways + (way < p.ways ? way : way_to_take(p, s, base, set));
  if (is_there) {
    touch(p, s, base, at);
  } else {
    put(p, s, base, at, line);
  }
  if (p.by_sectors == 0) return;
  uint8_t& readable = s.sectors.in(base)[at].readable;
  readable = static_cast<uint8_t>((is_there ? readable : 0u) | sectors);
}

}  // namespace nearwarp::l2_detail
