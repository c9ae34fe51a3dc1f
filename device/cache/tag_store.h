// The tag store of a set-associative cache: which lines it holds, in which ways, and which of them
// is replaced next. All caches and TLBs use it, and keep further data of a line in arrays with the
// same index: translations of a TLB, sectors (line_sectors.h), the MSHR that a line waits for.
//
// A cache looks a line up (match() or find()) and notes its use (touch()); if the line is missing,
// it chooses a way (victim()) and puts the line there (put()). victim() changes nothing, so a cache
// that has to wait gets the same way when it asks again.
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
  Ref<uint32_t> ranks;  ///< [set][way]: the line's rank for replacement; see Replacement
  uint32_t uses = 0;    ///< calls of touch() and put() so far, modulo 2^32
};

/// The predicate of victim() where any line may be replaced.
struct NoneWaits {
  NW_HD NW_INLINE bool operator()(uint32_t /*way*/) const { return false; }
};

/// The index, over all sets, of the first way of the line's set.
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

/// The key of a way: the way with the least key is replaced first. Empty ways have the key 0.
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

/// victim() for policies that do not replace by age.
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

/// The way of a set that holds `line`, as a bit; 0: none. `ways` is at most 64, `tags` begins at
/// the set.
NW_HD NW_INLINE uint64_t match(uint32_t ways, const LineAddr* tags, LineAddr line) {
  const auto has_line = [&](uint32_t w) { return tags[w] == line; };
  if (ways == 16) return lanes::ballot(16, has_line);
  if (ways == 4) return lanes::ballot(4, has_line);
  if (ways == 8) return lanes::ballot(8, has_line);
  return tag_store_detail::match_some(ways, tags, line);
}

/// The way of a set that holds `line`; kNoLane: none. A set may have any number of ways.
NW_HD NW_INLINE uint32_t find(uint32_t ways, const LineAddr* tags, LineAddr line) {
  if (ways == 2) return tags[0] == line ? 0 : tags[1] == line ? 1 : kNoLane;
  if (ways != 4 && ways != 8 && ways != 16) return tag_store_detail::find_some(ways, tags, line);
  const uint64_t found = match(ways, tags, line);
  return found != 0 ? count_trailing_zeros(found) : kNoLane;
}

/// The way for a line that is missing in the set that begins at `first`: the first empty way, else
/// the one that the policy replaces of those for which waits(way) is false; kNoLane: all wait.
/// waits(way) must be false for empty ways.
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

/// Note a use of the line in way `at`, an index over all sets.
NW_HD NW_INLINE void touch(const TagStoreParams& p, TagStore& s, std::byte* base, uint32_t at) {
  if (p.replacement == Replacement::kLru) [[likely]] {
    s.ranks.in(base)[at] = s.uses;
  } else if (p.replacement == Replacement::kSrrip) {
    s.ranks.in(base)[at] = 0;
  }
  s.uses += 1;
}

/// Put a line in way `at`, an index over all sets, in place of the line that it holds.
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

/// Lay out an empty tag store. Host only. Allocator: ArenaBuilder.
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
