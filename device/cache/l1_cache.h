// Private L1 data cache: write-through, no allocation on writes, lines reserved when a miss is
// sent. MSHRs merge later loads of a line that is on its way. Other policies, and sectors, are in
// device/cache/l1_sectors.h.
//
// Source: GPGPU-Sim 4.2 SM2_GTX480 (allocate on miss, 64 MSHRs with 8 merges); TOM, Table 1 (size,
// ways, write policy).
#pragma once

#include "device/cache/line_sectors.h"
#include "device/cache/tag_store.h"

namespace nearwarp::cache {

enum class L1Writes : uint8_t { kThrough, kAllocate, kLocalBack };

/// The lines that a load leaves for later ones.
enum class L1Keep : uint8_t {
  kLines,    ///< its line: a cache
  kMisses,   ///< its line while that is on its way
  kNothing,  ///< every load fetches its lines: an MSHR is a place for data to arrive at
  kRemote,   ///< as kLines what other SMs have beside them, as kNothing what this one has
};

/// Is a line for which a way was taken gone when it has come?
NW_HD constexpr bool drops(L1Keep keep) {
  return keep == L1Keep::kMisses || keep == L1Keep::kNothing;
}

struct L1Params : TagStoreParams {
  uint32_t hit_latency = 35;
  uint32_t mshrs = 64;  ///< at most 64, bits of a word; 256 if not plain
  uint32_t merges = 8;  ///< loads per MSHR
  // device/cache/l1_sectors.h:
  bool plain = true;             ///< all below is as it stands here, and so many MSHRs are enough
  L1Keep keep = L1Keep::kLines;  ///< if plain
  uint8_t by_sectors = 0;
  L1Writes writes = L1Writes::kThrough;
  uint8_t all_sectors = 0;  ///< of a line
  uint8_t on_fill = 0;      ///< a miss takes its way when its data comes, not when it is sent
};

struct L1Counters {
  uint64_t read_hits = 0, read_misses = 0, read_merges = 0;
  uint64_t write_hits = 0, write_misses = 0;
  uint64_t invalidated_lines = 0, flushes = 0;
  // Counts of L1s that are not plain.
  uint64_t sector_misses = 0, sector_write_misses = 0;
  uint64_t lines_dirtied = 0, write_backs = 0, lines_dropped_dirty = 0;
};

struct L1State : TagStore {
  /// sets x ways: 1 + MSHR of the miss that reserved it; 0: valid, and wherever `on_fill`.
  Ref<uint8_t> filling;
  Ref<LineAddr> mshr_line;   ///< kNoLine: free, or its line has been invalidated meanwhile
  Ref<uint32_t> mshr_since;  ///< cycle at which the miss was sent
  Ref<uint16_t> mshr_way;    ///< index into tags
  Ref<uint8_t> mshr_count;   ///< loads that wait
  Ref<uint8_t> mshr_loads;   ///< mshrs x merges: load entries that wait
  // If not plain; `filling` is 0 or 1 then.
  Ref<LineSectors> lines;      ///< sets x ways
  Ref<uint16_t> mshr_missing;  ///< sectors under way
  Ref<uint8_t> mshr_needs;     ///< mshrs x merges: sectors that the load was looking for
  uint64_t mshr_free_more[3] = {};
  uint64_t mshr_free = 0;
  uint32_t flushed_at = 0;  ///< number of uses
  /// The first way of the set in which a load found all ways being filled; kNoLane: no load has,
  /// since the loads' look-up has reset it.
  uint32_t full_set = kNoLane;
  L1Counters counters;
};

enum class L1Result : uint8_t { kHit, kMerged, kMiss, kStall };

/// A load that looks its line up.
struct L1Load {
  LineAddr line = kNoLine;
  uint32_t cycle = 0;    ///< in which it does
  uint32_t credits = 0;  ///< packets that can be sent; more than 2 are not asked for
  uint32_t sectors = 0;  ///< of the line, as bits: wanted; where lines have no sectors, any
  uint8_t entry = 0;     ///< the load's name, under which it waits in an MSHR
  bool own = false;      ///< with L1Keep::kRemote: the line is not another's
};

/// The way that a line takes in the set that begins at `first`; kNoLane: all are being filled.
NW_HD NW_INLINE uint32_t l1_way_to_fill(const L1Params& p, const L1State& s, std::byte* base,
                                        uint32_t first) {
  const uint8_t* filling = s.filling.in(base) + first;
  return victim(p, s, base, first, [filling](uint32_t w) { return filling[w] != 0; });
}

/// Look up a load. kMiss reserves a way and an MSHR (`mshr`), and the caller must send the request;
/// without credits what would be a miss is a stall. kStall changes nothing but `full_set`.
NW_HD NW_APART_ON_GPU L1Result l1_load(const L1Params& p, L1State& s, std::byte* base,
                                       const L1Load& load, uint32_t& mshr) {
  // Where nothing is kept a load takes an MSHR and no way: its line has no name there, so that
  // nothing drops it and its fill leaves nothing.
  const bool apart = load.own || p.keep == L1Keep::kNothing;
  const uint32_t first = first_way(p, load.line);
  uint8_t* filling = s.filling.in(base) + first;
  const uint32_t w = apart ? kNoLane : find(p.ways, s.tags.in(base) + first, load.line);
  if (w != kNoLane) {
    if (filling[w] == 0) {
      touch(p, s, base, first + w);
      s.counters.read_hits += 1;
      return L1Result::kHit;
    }
    const uint32_t m = filling[w] - 1u;
    uint8_t& waiting = s.mshr_count.in(base)[m];
    if (waiting == p.merges) return L1Result::kStall;
    s.mshr_loads.in(base)[m * p.merges + waiting] = load.entry;
    waiting = static_cast<uint8_t>(waiting + 1);
    s.counters.read_merges += 1;
    return L1Result::kMerged;
  }
  if (load.credits == 0 || s.mshr_free == 0) return L1Result::kStall;
  const uint32_t way = apart ? 0 : l1_way_to_fill(p, s, base, first);
  if (way == kNoLane) {
    s.full_set = first;
    return L1Result::kStall;
  }
  const uint32_t m = count_trailing_zeros(s.mshr_free);
  mshr = m;
  s.mshr_free &= s.mshr_free - 1;
  s.mshr_line.in(base)[m] = apart ? kNoLine : load.line;
  s.mshr_since.in(base)[m] = load.cycle;
  s.mshr_count.in(base)[m] = 1;
  s.mshr_loads.in(base)[m * p.merges] = load.entry;
  s.counters.read_misses += 1;
  if (apart) return L1Result::kMiss;
  s.mshr_way.in(base)[m] = static_cast<uint16_t>(first + way);
  put(p, s, base, first + way, load.line);
  filling[way] = static_cast<uint8_t>(m + 1);
  return L1Result::kMiss;
}

/// Without a free MSHR: would l1_load() find the line no more than one? Then so it will until a
/// reply has come. (Where nothing is kept there never is a line.)
NW_HD NW_INLINE bool l1_waits_for_reply(const L1Params& p, const L1State& s, const std::byte* base,
                                        LineAddr line) {
  NW_ASSERT(p.plain && s.mshr_free == 0);
  return find(p.ways, s.tags.in(base) + first_way(p, line), line) == kNoLane;
}

/// A load has found its set full. Will it find it so when MSHR `m` has got its reply?
NW_HD NW_INLINE bool l1_stays_full(const L1Params& p, const L1State& s, const std::byte* base,
                                   uint32_t m) {
  return s.full_set != kNoLane && s.mshr_way.in(base)[m] - s.full_set >= p.ways;
}

/// A load that hits, and nothing else: returns false if it would not.
NW_HD inline bool l1_touch(const L1Params& p, L1State& s, std::byte* base, LineAddr line) {
  const uint32_t first = first_way(p, line);
  const uint32_t w = find(p.ways, s.tags.in(base) + first, line);
  if (w == kNoLane || s.filling.in(base)[first + w] != 0) return false;
  touch(p, s, base, first + w);
  s.counters.read_hits += 1;
  return true;
}

/// A store passes: a present line is updated, nothing is allocated.
NW_HD inline void l1_store(const L1Params& p, L1State& s, std::byte* base, LineAddr line) {
  const bool hit = find(p.ways, s.tags.in(base) + first_way(p, line), line) != kNoLane;
  (hit ? s.counters.write_hits : s.counters.write_misses) += 1;
}

/// The reply of MSHR `m` has come: its way becomes valid unless it was invalidated meanwhile. The
/// caller serves mshr_loads[m]; the MSHR is free. `drop`: lines are not kept, so the way is free,
/// too.
NW_HD inline void l1_fill(L1State& s, std::byte* base, uint32_t m, bool drop = false) {
  const uint32_t way = s.mshr_way.in(base)[m];
  if (s.mshr_line.in(base)[m] != kNoLine) {
    s.filling.in(base)[way] = 0;
    if (drop) s.tags.in(base)[way] = kNoLine;
  }
  s.mshr_line.in(base)[m] = kNoLine;
  s.mshr_free |= uint64_t{1} << m;
}

/// Where ways are taken on fill: the MSHR that waits for the line; kNoLane: none does.
NW_HD NW_APART inline uint32_t l1_mshr_of(const L1Params& p, const L1State& s,
                                          const std::byte* base, LineAddr line) {
  const LineAddr* lines = s.mshr_line.in(base);
  for (uint32_t first = 0; first < p.mshrs; first += 64) {
    const uint32_t some = p.mshrs - first < 64 ? p.mshrs - first : 64;
    const uint64_t free = first == 0 ? s.mshr_free : s.mshr_free_more[first / 64 - 1];
    for (uint64_t used = ~free & low_bits(some); used != 0; used &= used - 1) {
      const uint32_t m = first + count_trailing_zeros(used);
      if (lines[m] == line) return m;
    }
  }
  return kNoLane;
}

/// Drop one line; a fill under way for it will not be kept.
NW_HD inline void l1_invalidate_line(const L1Params& p, L1State& s, std::byte* base,
                                     LineAddr line) {
  if (p.on_fill != 0) {
    const uint32_t m = l1_mshr_of(p, s, base, line);
    if (m != kNoLane) s.mshr_line.in(base)[m] = kNoLine;
  }
  s.full_set = kNoLane;
  const uint32_t first = first_way(p, line);
  const uint32_t w = find(p.ways, s.tags.in(base) + first, line);
  if (w == kNoLane) return;
  const uint32_t at = first + w;
  s.tags.in(base)[at] = kNoLine;
  uint8_t& filling = s.filling.in(base)[at];
  if (filling != 0)
    s.mshr_line.in(base)[p.plain ? filling - 1u : s.lines.in(base)[at].mshr] = kNoLine;
  if (!p.plain) s.lines.in(base)[at] = LineSectors{};
  filling = 0;
  s.counters.invalidated_lines += 1;
}

/// Drops contents for l1_flush(): sectors, and lines that had to be written back.
NW_HD NW_APART inline void l1_forget(const L1Params& p, L1State& s, std::byte* base) {
  for (uint32_t i = 0; i < s.lines.count; ++i) {
    LineSectors& l = s.lines.in(base)[i];
    s.counters.lines_dropped_dirty += p.writes == L1Writes::kLocalBack ? l.dirty : 0;
    l = LineSectors{};
  }
}

/// Drop everything (kernel boundary; TOM, section 4.4.2: before an offloaded warp is spawned).
/// Loads that wait for a fill still get it, but later loads do not merge with them.
NW_HD inline void l1_flush(const L1Params& p, L1State& s, std::byte* base) {
  s.counters.flushes += 1;
  s.full_set = kNoLane;
  if (p.plain && s.uses == s.flushed_at) return;  // nothing has come since the last time
  s.flushed_at = s.uses;
  LineAddr* tags = s.tags.in(base);
  uint8_t* filling = s.filling.in(base);
  LineAddr* mshr_line = s.mshr_line.in(base);
  for (uint32_t i = 0; i < p.index.sets * p.ways; ++i) tags[i] = kNoLine;
  for (uint32_t i = 0; i < p.index.sets * p.ways; ++i) filling[i] = 0;
  for (uint32_t i = 0; i < p.mshrs; ++i) mshr_line[i] = kNoLine;
  if (!p.plain) l1_forget(p, s, base);
}

/// An empty L1 in an arena. Host only. Allocator: ArenaBuilder.
template <class Allocator>
L1State make_l1(Allocator& arena, const L1Params& p) {
  L1State s;
  static_cast<TagStore&>(s) = make_tag_store(arena, p);
  const uint32_t lines = s.tags.count;
  s.filling = arena.template allocate<uint8_t>(lines);
  s.mshr_line = arena.template allocate<LineAddr>(p.mshrs);
  s.mshr_since = arena.template allocate<uint32_t>(p.mshrs);
  s.mshr_way = arena.template allocate<uint16_t>(p.mshrs);
  s.mshr_count = arena.template allocate<uint8_t>(p.mshrs);
  s.mshr_loads = arena.template allocate<uint8_t>(p.mshrs * p.merges);
  s.mshr_free = low_bits(p.mshrs);
  for (uint32_t m = 0; m < p.mshrs; ++m) arena.get(s.mshr_line)[m] = kNoLine;
  if (p.plain) return s;
  s.lines = arena.template allocate<LineSectors>(lines);
  s.mshr_missing = arena.template allocate<uint16_t>(p.mshrs);
  s.mshr_needs = arena.template allocate<uint8_t>(p.mshrs * p.merges);
  for (uint32_t k = 1; k < 4; ++k)
    if (p.mshrs > 64 * k) s.mshr_free_more[k - 1] = low_bits(p.mshrs - 64 * k);
  return s;
}

}  // namespace nearwarp::cache
