// The tags of a set-associative cache: which lines it holds, where, and which one goes when another
// comes. All caches and TLBs are this with what they keep of a line beside it, under the same
// index: data of a TLB, sectors (line_sectors.h), the MSHR that a line waits for.
//
// A cache looks a line up (match() or find()), says that it has used it (touch()), asks for a way
// when it is not there (victim()), and puts it there (put()). victim() changes nothing, so whoever
// cannot go on asks again later and hears the same.
//
// Sets of 4, 8 and 16 ways have code of constant length, here alone: it is worth 5 to 8 % of a
// run's host instructions.
#pragma once

#include "device/cache/replacement.h"
#include "device/cache/set_index.h"
#include "device/core/lanes.h"
#include "device/core/types.h"

namespace nearwarp::cache {

struct TagStoreParams {
  SetIndex index;
  uint32_t ways = 4;
  Replacement replacement = Replacement::kLru;
};

struct TagStore {
  Ref<LineAddr> tags;   ///< [set][way]; kNoLine: empty
  Ref<uint32_t> ranks;  ///< [set][way]: what replacement knows of the line; see Replacement
  uint32_t uses = 0;    ///< of ways, so far; begins anew after 2^32
};

/// No way waits for anything, so that each may give its line up.
struct NoneWaits {
  NW_HD NW_INLINE bool operator()(uint32_t /*way*/) const { return false; }
};

/// The first way of the line's set, counted over all sets.
NW_HD NW_INLINE uint32_t first_way(const TagStoreParams& p, LineAddr line) {
  return p.index.of(line) * p.ways;
}

namespace tag_store_detail {

NW_HD NW_CALLED uint64_t match_some(uint32_t ways, const LineAddr* tags, LineAddr line) {
  return lanes::ballot(ways, [&](uint32_t w) { return tags[w] == line; });
}
NW_HD NW_CALLED uint32_t find_some(uint32_t ways, const LineAddr* tags, LineAddr line) {
  if (ways < 4) {  // vector code would take six times the instructions
    for (uint32_t w = 0; w < ways; ++w)
      if (tags[w] == line) return w;
    return kNoLane;
  }
  return lanes::first(ways, [&](uint32_t w) { return tags[w] == line; });
}

/// The key of a way by which the one is the least that goes first, empty ones before all others.
NW_HD NW_INLINE uint32_t key_of(const LineAddr* tags, const uint32_t* ranks, uint32_t uses,
                                uint32_t w) {
  return tags[w] == kNoLine ? 0 : replacement::age_key(ranks[w], uses);
}

template <class Waits>
NW_HD NW_CALLED uint32_t oldest_idle(uint32_t ways, const LineAddr* tags, const uint32_t* ranks,
                                     uint32_t uses, Waits waits) {
  const auto key = [&](uint32_t w) -> uint32_t {
    return waits(w) ? 0xffffffffu : key_of(tags, ranks, uses, w);
  };
  if (ways > 16) return lanes::arg_min(ways, key);
  uint32_t oldest = kNoLane, least = 0xffffffffu;  // few ways: vector code would take longer
  for (uint32_t w = 0; w < ways; ++w) {
    const uint32_t k = key(w);
    oldest = k < least ? w : oldest;
    least = k < least ? k : least;
  }
  return oldest;
}

/// victim() of the policies that do not go by age.
template <class Waits>
NW_HD NW_CALLED uint32_t other_victim(const TagStoreParams& p, const TagStore& s, std::byte* base,
                                      uint32_t first, Waits waits) {
  const LineAddr* tags = s.tags.in(base) + first;
  const uint32_t empty = find_some(p.ways, tags, kNoLine);
  if (empty != kNoLane) return empty;
  if (p.replacement == Replacement::kRandom)
    return replacement::random_way(p.ways, s.uses, first, waits);
  return replacement::distant_way(p.ways, s.ranks.in(base) + first, waits);
}

}  // namespace tag_store_detail

/// The ways of a set that have a line, as bits: at most one. `ways` at most 64, `tags` the set's.
NW_HD NW_INLINE uint64_t match(uint32_t ways, const LineAddr* tags, LineAddr line) {
  const auto has_line = [&](uint32_t w) { return tags[w] == line; };
  if (ways == 16) return lanes::ballot(16, has_line);
  if (ways == 4) return lanes::ballot(4, has_line);
  if (ways == 8) return lanes::ballot(8, has_line);
  return tag_store_detail::match_some(ways, tags, line);
}

/// The way of a set that has a line; kNoLane: none. Of any number of ways.
NW_HD NW_INLINE uint32_t find(uint32_t ways, const LineAddr* tags, LineAddr line) {
  if (ways != 4 && ways != 8 && ways != 16) return tag_store_detail::find_some(ways, tags, line);
  const uint64_t found = match(ways, tags, line);
  return found != 0 ? count_trailing_zeros(found) : kNoLane;
}

/// The way that a line takes which is not in the set that begins at `first`: an empty one, the one
/// with the lowest number, else as the policy says one of those that do not wait; kNoLane: all do.
/// `waits`: says it of a way of the set, of which no empty one does.
template <class Waits>
NW_HD NW_INLINE uint32_t victim(const TagStoreParams& p, const TagStore& s, std::byte* base,
                                uint32_t first, Waits waits) {
  namespace detail = tag_store_detail;
  if (!by_age(p.replacement)) [[unlikely]]
    return detail::other_victim(p, s, base, first, waits);
  const LineAddr* tags = s.tags.in(base) + first;
  const uint32_t* ranks = s.ranks.in(base) + first;
  if (p.ways == 4 || p.ways == 8 || p.ways == 16) {  // most do not wait
    const auto key = [&](uint32_t w) { return detail::key_of(tags, ranks, s.uses, w); };
    const uint32_t oldest = p.ways == 4   ? lanes::arg_min(4, key)
                            : p.ways == 8 ? lanes::arg_min(8, key)
                                          : lanes::arg_min(16, key);
    if (!waits(oldest)) return oldest;
  }
  return detail::oldest_idle(p.ways, tags, ranks, s.uses, waits);
}

/// A line has been used. `at`: its way, counted over all sets.
NW_HD NW_INLINE void touch(const TagStoreParams& p, TagStore& s, std::byte* base, uint32_t at) {
  if (p.replacement == Replacement::kLru) [[likely]] {
    s.ranks.in(base)[at] = s.uses;
  } else if (p.replacement == Replacement::kSrrip) {
    s.ranks.in(base)[at] = 0;
  }
  s.uses += 1;
}

/// A line takes way `at`, counted over all sets, from whichever line had it.
NW_HD NW_INLINE void put(const TagStoreParams& p, TagStore& s, std::byte* base, uint32_t at,
                         LineAddr line) {
  uint32_t rank = s.uses;
  if (p.replacement == Replacement::kSrrip) [[unlikely]] {
    const uint32_t way = at % p.ways;
    if (s.tags.in(base)[at] != kNoLine)
      replacement::grow_distant(p.ways, s.ranks.in(base) + (at - way), way);
    rank = replacement::kLong;
  }
  s.tags.in(base)[at] = line;
  s.ranks.in(base)[at] = rank;
  s.uses += 1;
}

/// An empty store in an arena. Host only. Allocator: ArenaBuilder.
template <class Allocator>
TagStore make_tag_store(Allocator& arena, const TagStoreParams& p) {
  TagStore s;
  const uint32_t lines = p.index.sets * p.ways;
  s.tags = arena.template allocate<LineAddr>(lines);
  s.ranks = arena.template allocate<uint32_t>(lines);
  for (uint32_t i = 0; i < lines; ++i) arena.get(s.tags)[i] = kNoLine;
  return s;
}

}  // namespace nearwarp::cache
