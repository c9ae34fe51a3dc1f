// The sectored L1, which can fetch only the sectors that are missing and keep some written data.
// (l1_cache.h has the plain one, which is write-through and fetches whole lines.)
//
// Stores, by policy (L1Writes):
//   kThrough    all are written through and allocate nothing;
//   kAllocate   all are written through, and a miss allocates its line with the words written: a
//               sector is readable once every word of it has been written, and is otherwise fetched
//               when it is read;
//   kLocalBack  a hit in local memory stays in the line, which is written back when it is replaced;
//               a hit in global memory is written through and drops the line; a miss allocates
//               nothing.
//
// A miss allocates its way when it is sent, or when its first data arrives (`on_fill`). With
// `on_fill` a miss needs only an MSHR, and the line to be replaced stays readable until then. If a
// line is replaced before all its sectors have arrived, the next sector allocates a way again.
//
// Everything is dropped at the beginning of a kernel, since local memory does not outlive it.
//
// Source: GPGPU-Sim 4.2, sectored caches: write policies T with L, and L with N
// (LOCAL_WB_GLOBAL_WT); allocation policies m and f.
#pragma once

#include "device/cache/l1_cache.h"

namespace nearwarp::cache {

inline constexpr uint32_t kSectorWords = 8;  ///< sectors have 32 bytes

/// The requests that a load has to send, if any.
struct L1Request {
  uint32_t mshr = 0;
  uint32_t fetch = 0;             ///< sectors to fetch, as bits; 0: nothing
  LineAddr write_back = kNoLine;  ///< replaced dirty line, which has to be written back first
};

NW_HD NW_INLINE uint32_t l1_free_mshr(const L1State& s) {
  if (s.mshr_free != 0) return count_trailing_zeros(s.mshr_free);
  for (uint32_t k = 0; k < 3; ++k)
    if (s.mshr_free_more[k] != 0) return 64 * (k + 1) + count_trailing_zeros(s.mshr_free_more[k]);
  return kNoLane;
}
/// Allocate MSHR `m`, which is free, or free it.
NW_HD NW_INLINE void l1_toggle_mshr(L1State& s, uint32_t m) {
  (m < 64 ? s.mshr_free : s.mshr_free_more[m / 64 - 1]) ^= uint64_t{1} << m % 64;
}

/// The line's index in the arrays of ways, where its set begins at `first`; kNoLane: it is absent.
NW_HD NW_INLINE uint32_t l1_find(const L1Params& p, const L1State& s, const std::byte* base,
                                 uint32_t first, LineAddr line) {
  const uint32_t w = find(p.ways, s.tags.in(base) + first, line);
  return w == kNoLane ? kNoLane : first + w;
}

/// The index of the way in the set at `first` that a new line would replace; kNoLane: all ways are
/// being filled.
NW_HD NW_INLINE uint32_t l1_victim(const L1Params& p, const L1State& s, std::byte* base,
                                   uint32_t first) {
  const uint32_t w = l1_way_to_fill(p, s, base, first);
  return w == kNoLane ? kNoLane : first + w;
}

/// A load that misses and waits in an MSHR.
struct L1Wait {
  uint32_t mshr;
  uint32_t needs;  ///< sectors that it waits for
  uint32_t fetch;  ///< sectors among them that have not been requested yet
};

/// Append a load that misses to its MSHR, and request the sectors of `wait.fetch`.
NW_HD NW_INLINE L1Result l1_wait(const L1Params& p, L1State& s, std::byte* base, const L1Load& load,
                                 const L1Wait& wait, L1Request& out) {
  const uint32_t m = wait.mshr;
  uint16_t& missing = s.mshr_missing.in(base)[m];
  uint8_t& count = s.mshr_count.in(base)[m];
  s.mshr_loads.in(base)[m * p.merges + count] = load.entry;
  s.mshr_needs.in(base)[m * p.merges + count] = static_cast<uint8_t>(wait.needs);
  count = static_cast<uint8_t>(count + 1);
  if (wait.fetch == 0) {
    s.counters.read_merges += 1;
    return L1Result::kMerged;
  }
  missing = static_cast<uint16_t>(missing | wait.fetch);
  s.mshr_since.in(base)[m] = load.cycle;
  out.mshr = m;
  out.fetch = wait.fetch;
  s.counters.read_misses += 1;
  s.counters.sector_misses += population_count(wait.fetch);
  return L1Result::kMiss;
}

/// The sectors that a load needs: those that it reads or, in a cache without sectors, the whole
/// line.
NW_HD NW_INLINE uint32_t l1_wanted(const L1Params& p, const L1Load& load) {
  return p.by_sectors == 0 ? p.all_sectors : load.sectors;
}

/// l1_load_sectors() where ways are allocated on fill.
NW_HD NW_APART inline L1Result l1_load_on_fill(const L1Params& p, L1State& s, std::byte* base,
                                               L1Load load, L1Request& out) {
  const LineAddr line = load.line;
  const uint32_t want = l1_wanted(p, load);
  const uint32_t first = first_way(p, line);
  const uint32_t at = l1_find(p, s, base, first, line);
  const bool present = at != kNoLane;
  const uint32_t needs = present ? missing_sectors(s.lines.in(base)[at], true, want) : want;
  if (needs == 0) {
    touch(p, s, base, at);
    s.counters.read_hits += 1;
    return L1Result::kHit;
  }
  uint32_t m = l1_mshr_of(p, s, base, line);
  const bool waits = m != kNoLane;
  if (!waits) m = l1_free_mshr(s);
  if (m == kNoLane) return L1Result::kStall;
  uint16_t& missing = s.mshr_missing.in(base)[m];
  uint8_t& count = s.mshr_count.in(base)[m];
  if (waits && count == p.merges) return L1Result::kStall;
  const uint32_t fetch = waits ? needs & ~uint32_t{missing} : needs;
  if (fetch != 0 && load.credits == 0) return L1Result::kStall;
  if (present) touch(p, s, base, at);
  if (!waits) {
    l1_toggle_mshr(s, m);
    s.mshr_line.in(base)[m] = line;
    missing = count = 0;
  }
  return l1_wait(p, s, base, load, {m, needs, fetch}, out);
}

/// Look up a load, as l1_load() does in the plain cache.
NW_HD NW_APART_ON_GPU L1Result l1_load_sectors(const L1Params& p, L1State& s, std::byte* base,
                                               const L1Load& load, L1Request& out) {
  if (p.on_fill != 0) return l1_load_on_fill(p, s, base, load, out);
  const LineAddr line = load.line;
  const uint32_t want = l1_wanted(p, load);
  const uint32_t first = first_way(p, line);
  uint32_t at = l1_find(p, s, base, first, line);
  const bool present = at != kNoLane;
  if (!present) {
    if (l1_free_mshr(s) == kNoLane) return L1Result::kStall;
    at = l1_victim(p, s, base, first);
    if (at == kNoLane) {
      s.full_set = first;
      return L1Result::kStall;
    }
  }
  LineSectors& l = s.lines.in(base)[at];
  const uint32_t needs = missing_sectors(l, present, want);
  if (needs == 0) {
    touch(p, s, base, at);
    s.counters.read_hits += 1;
    return L1Result::kHit;
  }
  const bool waits = present && s.filling.in(base)[at] != 0;
  const uint32_t m = waits ? l.mshr : l1_free_mshr(s);
  if (m == kNoLane) return L1Result::kStall;
  uint16_t& missing = s.mshr_missing.in(base)[m];
  uint8_t& count = s.mshr_count.in(base)[m];
  if (waits && count == p.merges) return L1Result::kStall;
  const uint32_t fetch = waits ? needs & ~uint32_t{missing} : needs;
  const bool dirty = !present && l.dirty != 0 && p.writes == L1Writes::kLocalBack;
  if (load.credits < (fetch != 0 ? 1u : 0u) + (dirty ? 1u : 0u)) return L1Result::kStall;
  if (!present) {
    if (dirty) {
      out.write_back = s.tags.in(base)[at];
      s.counters.write_backs += 1;
    }
    l = LineSectors{};
    put(p, s, base, at, line);
  } else {
    touch(p, s, base, at);
  }
  if (!waits) {
    l1_toggle_mshr(s, m);
    s.mshr_line.in(base)[m] = line;
    s.mshr_way.in(base)[m] = static_cast<uint16_t>(at);
    l.mshr = static_cast<uint16_t>(m);
    missing = count = 0;
    s.filling.in(base)[at] = 1;
  }
  return l1_wait(p, s, base, load, {m, needs, fetch}, out);
}

/// With write-back of local memory: write a local store that hits into its line. Returns whether it
/// was; a store that was not goes on to memory.
NW_HD NW_APART inline bool l1_keeps_store(const L1Params& p, L1State& s, std::byte* base,
                                          LineAddr line, bool local) {
  if (p.writes != L1Writes::kLocalBack || !local) return false;
  const uint32_t first = first_way(p, line);
  const uint32_t at = l1_find(p, s, base, first, line);
  if (at == kNoLane || s.filling.in(base)[at] != 0) return false;
  LineSectors& l = s.lines.in(base)[at];
  s.counters.lines_dirtied += l.dirty == 0 ? 1 : 0;
  l.dirty = 1;
  touch(p, s, base, at);
  s.counters.write_hits += 1;
  return true;
}

/// Update the cache for a store of these sectors and words that goes on to memory.
NW_HD NW_APART inline void l1_store_sectors(const L1Params& p, L1State& s, std::byte* base,
                                            LineAddr line, uint32_t sectors, uint64_t words) {
  const uint32_t first = first_way(p, line);
  uint32_t at = l1_find(p, s, base, first, line);
  const bool present = at != kNoLane;
  uint32_t there = 0;
  if (p.writes == L1Writes::kAllocate) {
    if (!present) at = l1_victim(p, s, base, first);
    if (at != kNoLane) {  // else every way is being filled
      LineSectors& l = s.lines.in(base)[at];
      if (!present) {
        l = LineSectors{};
        put(p, s, base, at, line);
      } else {
        touch(p, s, base, at);
      }
      there = uint32_t{l.readable} | l.dirty;
      const uint32_t m = p.on_fill != 0 ? l1_mshr_of(p, s, base, line) : kNoLane;
      if (m != kNoLane) there |= s.mshr_missing.in(base)[m];
      if (s.filling.in(base)[at] != 0) there |= s.mshr_missing.in(base)[l.mshr];
      l.dirty = static_cast<uint8_t>(l.dirty | sectors);
      write_words(l, sectors, words, kSectorWords);
    }
  } else if (present && s.filling.in(base)[at] == 0) {
    there = s.lines.in(base)[at].readable;
    if (p.writes == L1Writes::kLocalBack) {  // a global store: l1_keeps_store() takes local ones
      s.tags.in(base)[at] = kNoLine;
      s.lines.in(base)[at] = LineSectors{};
    }
  }
  const uint32_t missing = p.by_sectors != 0 ? sectors & ~there : there == 0 ? 1u : 0u;
  s.counters.write_hits += missing == 0 ? 1 : 0;
  s.counters.write_misses += missing != 0 ? 1 : 0;
  s.counters.sector_write_misses += population_count(missing);
}

/// Where ways are allocated on fill: the index of the line's way, which is allocated now if the
/// line is absent.
NW_HD NW_APART inline uint32_t l1_take_way(const L1Params& p, L1State& s, std::byte* base,
                                           LineAddr line) {
  const uint32_t first = first_way(p, line);
  uint32_t at = l1_find(p, s, base, first, line);
  if (at == kNoLane) {
    at = l1_victim(p, s, base, first);  // no miss reserves a way, so there is one
    s.lines.in(base)[at] = LineSectors{};
    put(p, s, base, at, line);
  } else {
    touch(p, s, base, at);
  }
  return at;
}

/// Fill sectors (0: the whole line) that have arrived for MSHR `m`. Returns how many of its loads
/// are complete; they are moved to the front of its `mshr_loads`, and l1_end_fill() removes them.
NW_HD NW_APART_ON_GPU uint32_t l1_fill_sectors(const L1Params& p, L1State& s, std::byte* base,
                                               uint32_t m, uint32_t sectors) {
  if (sectors == 0) sectors = p.all_sectors;
  uint16_t& missing = s.mshr_missing.in(base)[m];
  missing = static_cast<uint16_t>(missing & ~sectors);
  if (s.mshr_line.in(base)[m] != kNoLine) {
    const uint32_t at =
        p.on_fill != 0 ? l1_take_way(p, s, base, s.mshr_line.in(base)[m]) : s.mshr_way.in(base)[m];
    LineSectors& l = s.lines.in(base)[at];
    l.readable = static_cast<uint8_t>(l.readable | sectors);
    if (missing == 0) s.filling.in(base)[at] = 0;
  }
  uint8_t* loads = s.mshr_loads.in(base) + m * p.merges;
  uint8_t* needs = s.mshr_needs.in(base) + m * p.merges;
  uint32_t ready = 0;
  for (uint32_t i = 0; i < s.mshr_count.in(base)[m]; ++i) {
    needs[i] = static_cast<uint8_t>(needs[i] & ~sectors);
    if (needs[i] != 0) continue;
    const uint8_t load = loads[i];
    for (uint32_t k = i; k > ready; --k) {  // the order of the other loads stays
      loads[k] = loads[k - 1];
      needs[k] = needs[k - 1];
    }
    loads[ready] = load;
    needs[ready] = 0;
    ready += 1;
  }
  return ready;
}
/// Remove the first `ready` loads of MSHR `m`, and free it if it has no sectors under way.
NW_HD NW_APART inline void l1_end_fill(const L1Params& p, L1State& s, std::byte* base, uint32_t m,
                                       uint32_t ready) {
  uint8_t* loads = s.mshr_loads.in(base) + m * p.merges;
  uint8_t* needs = s.mshr_needs.in(base) + m * p.merges;
  uint8_t& count = s.mshr_count.in(base)[m];
  count = static_cast<uint8_t>(count - ready);
  for (uint32_t i = 0; i < count; ++i) {
    loads[i] = loads[i + ready];
    needs[i] = needs[i + ready];
  }
  if (s.mshr_missing.in(base)[m] != 0) return;
  s.mshr_line.in(base)[m] = kNoLine;
  l1_toggle_mshr(s, m);
}

}  // namespace nearwarp::cache
