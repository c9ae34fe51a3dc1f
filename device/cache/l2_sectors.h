// An L2 slice by sectors: reads fetch the sectors that are missing, and writes may stay.
//
// A line has sectors that are readable, and, with write-back, dirty ones. A write allocates its
// line and fetches nothing (lazy fetch on read): a sector of which every word has been written is
// readable, another one is fetched when it is read. Of a dirty line that is replaced the dirty
// sectors are written to memory, in the slice's own name. Writes are acknowledged by the
// slice. A line that waits for sectors stays where it is; an MSHR holds all that wait for them.
//
// There are no invalidations: only the slice writes to its memory.
//
// Source: GPGPU-Sim 4.2, sectored caches with write-back and "lazy fetch on read" [Khairy et al.,
// "Accel-Sim", ISCA 2020, section on the memory system].
#pragma once

#include "device/cache/l2_pipeline.h"

namespace nearwarp::l2_detail {

using cache::LineSectors;

/// The outcome for a request that was looked up.
enum class Served : uint32_t {
  kNo,      ///< it has to wait for something inside the slice; nothing was changed
  kNoMshr,  ///< the same, and that is an MSHR
  kYes,     ///< and its line was used
  kPassed,  ///< and its line was not
};

/// A request at its look-up, and the way of its line, or the one that it would take.
struct LookUp {
  Packet request;
  uint32_t set = 0, way = 0, at = 0;  ///< `at`: the way, counted over all sets
  bool present = false;               ///< the line has the way, though sectors of it may be missing
  Tick due = 0;                       ///< when what it causes leaves
};

/// All sectors of a line.
NW_HD NW_INLINE uint32_t sectors_of_line(const L2SliceParams& p) {
  return static_cast<uint32_t>(low_bits(p.line_bytes / p.sector_bytes));
}

/// Number of places in the ring of requests to memory that are free and not reserved.
NW_HD NW_INLINE uint32_t request_room(const L2SliceState& s) {
  return s.requests.count - s.request_count - s.request_reserved;
}

/// Dirty sectors of the line that would have to go for the request.
NW_HD NW_INLINE uint32_t dirty_victim(const L2SliceState& s, std::byte* base, const LookUp& l,
                                      const LineSectors& line) {
  return !l.present && s.tags.in(base)[l.at] != kNoLine ? line.dirty : 0;
}

/// Give the way to the request's line, of which nothing is there yet.
NW_HD inline void allocate_line(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                const LookUp& l, LineSectors& line) {
  const LineAddr tag = s.tags.in(base)[l.at];
  if (tag != kNoLine) {
    s.counters.evictions += 1;
    if (line.dirty != 0) {
      const uint32_t bytes = population_count(line.dirty) * p.sector_bytes;
      push_request(s, base, own_write(p, l.due, tag, line.dirty, bytes));
      s.counters.write_backs += 1;
      s.counters.sectors_written_back += population_count(line.dirty);
    }
  }
  put(p, s, base, l.at, l.request.line);
  line = LineSectors{};
}

NW_HD inline void make_dirty(L2SliceState& s, LineSectors& line, uint32_t sectors) {
  s.counters.sectors_dirtied += population_count(sectors & ~uint32_t{line.dirty});
  line.dirty = static_cast<uint8_t>(line.dirty | sectors);
}

/// A read or an atomic whose sectors are all there.
NW_HD inline Served serve_hit(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                              const LookUp& l, LineSectors& line, bool atomic) {
  const bool through = atomic && p.write_back == 0;
  if (s.reply_count == s.replies.count || (through && request_room(s) == 0)) return Served::kNo;
  push_reply(s, base, l.due, l.request, reply_kind(origin_of(atomic)));
  if (through) {
    push_atomic_write(p, s, base, l.due, l.request.line, l.request.sectors);
  } else if (atomic) {
    make_dirty(s, line, l.request.sectors);
  }
  s.counters.read_hits += atomic ? 0 : 1;
  s.counters.atomic_hits += atomic ? 1 : 0;
  return Served::kYes;
}

/// A read or an atomic; `want`: its sectors.
NW_HD inline Served serve_read(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                               const LookUp& l, uint32_t want, bool atomic) {
  LineSectors& line = s.sectors.in(base)[l.at];
  const uint32_t needs = cache::missing_sectors(line, l.present, want);
  if (needs == 0) return serve_hit(p, s, base, l, line, atomic);
  uint64_t& pending = s.pending.in(base)[l.set];
  const bool waits = l.present && (pending >> l.way & 1) != 0;
  const uint32_t index = waits ? s.mshr_of.in(base)[l.at] : s.free_mshr;
  if (index == kNoMshr) return Served::kNoMshr;
  L2Mshr& m = s.mshrs.in(base)[index];
  const uint32_t fetch = waits ? needs & ~uint32_t{m.missing} : needs;
  const bool through = atomic && p.write_back == 0;
  const uint32_t requests = (fetch != 0 ? 1u : 0u) + (through ? 1u : 0u) +
                            (dirty_victim(s, base, l, line) != 0 ? 1u : 0u);
  if (request_room(s) < requests || (waits && m.waiters == p.mshr_merges)) return Served::kNo;
  if (!l.present) allocate_line(p, s, base, l, line);
  if (!waits) {
    s.free_mshr = m.next_free;
    s.mshrs_in_use += 1;
    m.line = l.request.line;
    m.set = l.set;
    m.way = static_cast<uint16_t>(l.way);
    m.waiters = m.missing = 0;
    m.keep = 1;
    pending |= uint64_t{1} << l.way;
    s.mshr_of.in(base)[l.at] = static_cast<uint16_t>(index);
  }
  if (fetch != 0) {
    m.missing = static_cast<uint16_t>(m.missing | fetch);
    push_request(s, base, fetch_for(p, l.due, l.request.line, index, fetch));
    s.counters.sector_misses += population_count(fetch);
  }
  L2Waiter& w = s.waiters.in(base)[index * p.mshr_merges + m.waiters];
  w.tag = l.request.tag;
  w.sectors = l.request.sectors;
  w.src = l.request.src;
  w.origin = origin_of(atomic);
  w.needs = static_cast<uint8_t>(needs);
  m.waiters = static_cast<uint16_t>(m.waiters + 1);
  s.request_reserved += through ? 1 : 0;
  if (atomic && !through) make_dirty(s, line, want);
  s.counters.read_misses += !atomic && fetch != 0 ? 1 : 0;
  s.counters.read_merges += !atomic && fetch == 0 ? 1 : 0;
  s.counters.atomic_misses += atomic && fetch != 0 ? 1 : 0;
  s.counters.atomic_merges += atomic && fetch == 0 ? 1 : 0;
  return Served::kYes;
}

/// A write of the sectors `want`.
NW_HD inline Served serve_write(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                const LookUp& l, uint32_t want) {
  if (p.write_back == 0) {
    if (request_room(s) == 0) return Served::kNo;
    push_request(s, base, request_on(l.request, l.due));
    const bool hit = cache::missing_sectors(s.sectors.in(base)[l.at], l.present, want) == 0;
    s.counters.writes += 1;
    s.counters.write_hits += hit ? 1 : 0;
    return hit ? Served::kYes : Served::kPassed;
  }
  LineSectors& line = s.sectors.in(base)[l.at];
  if (s.reply_count == s.replies.count ||
      (dirty_victim(s, base, l, line) != 0 && request_room(s) == 0))
    return Served::kNo;
  if (!l.present) allocate_line(p, s, base, l, line);
  const bool waits = (s.pending.in(base)[l.set] >> l.way & 1) != 0;
  const uint32_t there =
      line.readable | line.dirty |
      (waits ? uint32_t{s.mshrs.in(base)[s.mshr_of.in(base)[l.at]].missing} : 0u);
  const uint32_t missing = want & ~there;
  cache::write_words(line, want, l.request.written_words(), p.sector_bytes / 4u);
  make_dirty(s, line, want);
  push_reply(s, base, l.due, l.request, PacketKind::kWriteAck);
  s.counters.writes += 1;
  s.counters.write_hits += missing == 0 ? 1 : 0;
  s.counters.sector_write_misses += population_count(missing);
  return Served::kYes;
}

/// Serve a request whose way is known, if what it needs is there.
NW_HD NW_APART inline Served serve(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                   const LookUp& l) {
  const bool atomic = l.request.kind == PacketKind::kAtomic;
  const uint32_t all = sectors_of_line(p);
  const uint32_t want = l.request.sectors == 0 ? all : l.request.sectors & all;
  if (l.request.kind == PacketKind::kWrite) return serve_write(p, s, base, l, want);
  const Served served = serve_read(p, s, base, l, want, atomic);
  if (served == Served::kNo || served == Served::kNoMshr) return served;
  s.counters.reads += atomic ? 0 : 1;
  s.counters.atomics += atomic ? 1 : 0;
  return served;
}

/// The sectors of a request are looked up some at a time.
NW_HD NW_INLINE void occupy_tags(const L2SliceParams& p, L2SliceState& s, uint32_t sectors,
                                 Tick now) {
  const uint32_t n = population_count(sectors == 0 ? sectors_of_line(p) : sectors);
  const uint32_t cycles = (n + p.sectors_per_cycle - 1) / p.sectors_per_cycle;
  s.tags_until = now + Tick{cycles} * p.period;
  s.counters.tag_cycles += cycles;
}

/// Look up the oldest request. As look_up().
NW_HD NW_CALLED Outcome look_up_sectors(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                        Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  LookUp l;
  l.request = front(in, base);
  const PacketKind kind = l.request.kind;
  const bool atomic = kind == PacketKind::kAtomic, write = kind == PacketKind::kWrite;
  if (now < s.tags_until || (atomic && now < s.atomics_until)) return Outcome::kRefused;
  l.set = set_of(p, base, l.request.line);
  l.due = now + Tick{p.latency_cycles} * p.period;
  const uint64_t match = ways_of(p, s, base, l.set, l.request.line);
  l.present = match != 0;
  Served served = Served::kPassed;
  if (kind != PacketKind::kRead && !atomic && !write) {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
  } else {
    l.way = l.present ? count_trailing_zeros(match) : way_to_take(p, s, base, l.set);
    if (l.way == kNoLane) {  // every way waits
      if (!write || p.write_back != 0) return Outcome::kRefused;
      l.way = 0;  // of no effect
    }
    l.at = l.set * p.ways + l.way;
    served = static_cast<Served>(static_cast<uint32_t>(serve(p, s, base, l)));
    if (served == Served::kNo) return Outcome::kRefused;
    if (served == Served::kNoMshr) return Outcome::kNoMshr;
  }
  if (served == Served::kYes && l.present) touch(p, s, base, l.at);
  if (atomic) occupy_atomics(p, s, l.request, now);
  if (p.sectors_per_cycle != 0) occupy_tags(p, s, l.request.sectors, now);
  pop_request(s, base, now, horizon);
  return Outcome::kTaken;
}

/// The first requester of `m` that waits for nothing any more, from number `first` on; m.waiters if
/// there is none.
NW_HD NW_INLINE uint32_t next_answerable(const L2SliceParams& p, const L2SliceState& s,
                                         std::byte* base, uint32_t index, uint32_t first) {
  const L2Mshr& m = s.mshrs.in(base)[index];
  const L2Waiter* w = s.waiters.in(base) + index * p.mshr_merges;
  while (first < m.waiters && (w[first].needs & m.missing) != 0) ++first;
  return first;
}

/// Sectors have come for MSHR `index`.
NW_HD NW_APART inline void fill_sectors(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                        uint32_t index, uint32_t sectors) {
  L2Mshr& m = s.mshrs.in(base)[index];
  LineSectors& line = s.sectors.in(base)[m.set * p.ways + m.way];
  if (m.keep != 0) line.readable = static_cast<uint8_t>(line.readable | sectors);
  m.missing = static_cast<uint16_t>(m.missing & ~sectors);
  if (m.missing == 0) s.pending.in(base)[m.set] &= ~(uint64_t{1} << m.way);
  const uint32_t first = next_answerable(p, s, base, index, 0);
  if (first == m.waiters) return;  // they wait for other sectors, too
  s.filling = index;
  s.next_waiter = first;
}

/// The requester `s.next_waiter` of the MSHR being filled has been answered: close the gap, and go
/// on to the next one. Returns whether no requester is left.
NW_HD NW_APART inline bool answered_sectors(const L2SliceParams& p, L2SliceState& s,
                                            std::byte* base) {
  L2Mshr& m = s.mshrs.in(base)[s.filling];
  L2Waiter* w = s.waiters.in(base) + s.filling * p.mshr_merges;
  m.waiters = static_cast<uint16_t>(m.waiters - 1);
  for (uint32_t i = s.next_waiter; i < m.waiters; ++i) w[i] = w[i + 1];
  if (m.waiters == 0) return true;
  s.next_waiter = next_answerable(p, s, base, s.filling, s.next_waiter);
  if (s.next_waiter == m.waiters) s.filling = kNoMshr;  // until more comes
  return false;
}

}  // namespace nearwarp::l2_detail
