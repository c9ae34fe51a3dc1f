// The way of a full set that gives its line up: the policies that a tag store (tag_store.h) has a
// choice of, by a rank of each way.
//
// Source: SRRIP with hit priority and predictions of two bits: Jaleel et al., "High Performance
// Cache Replacement Using Re-Reference Interval Prediction (RRIP)", ISCA 2010. "Random" draws from
// the store's own count of uses, so that it is the same in every run and on any number of threads.
#pragma once

#include "device/core/lanes.h"

namespace nearwarp::cache {

enum class Replacement : uint8_t {
  kLru,     ///< the line whose last use is the longest ago; rank: the number of that use
  kFifo,    ///< the line that came first; rank: the number of the use with which it came
  kRandom,  ///< any
  kSrrip,   ///< a line that is wanted in the distant future, as predicted; rank: the prediction
};

/// Are ranks numbers of uses?
NW_HD constexpr bool by_age(Replacement r) { return r <= Replacement::kFifo; }

namespace replacement {

/// SRRIP's prediction for a line that gives its way up.
inline constexpr uint32_t kDistant = 3;
/// SRRIP's prediction for a line that has come; one that has been used has 0.
inline constexpr uint32_t kLong = 2;

/// Age of a way's use, as a key by which the oldest is the least: the distance from the next use,
/// so that it does not matter where numbers begin anew.
NW_HD NW_INLINE uint32_t age_key(uint32_t rank, uint32_t uses) { return rank - uses - 1; }

/// A number below `n`, by the number of the use and the set's place.
NW_HD NW_INLINE uint32_t draw(uint32_t uses, uint32_t first, uint32_t n) {
  constexpr uint64_t kFraction = 0x9e3779b97f4a7c15u;  // of the golden ratio
  uint64_t x = (uint64_t{uses} << 32 | first) * kFraction;
  x = (x ^ x >> 32) * kFraction;
  return static_cast<uint32_t>((x >> 32) * n >> 32);
}

/// One of the ways that do not wait, drawn; kNoLane: all wait.
template <class Waits>
NW_HD NW_CALLED uint32_t random_way(uint32_t ways, uint32_t uses, uint32_t first, Waits waits) {
  uint32_t idle = 0;
  for (uint32_t w = 0; w < ways; ++w) idle += waits(w) ? 0 : 1;
  if (idle == 0) return kNoLane;
  uint32_t left = draw(uses, first, idle);
  for (uint32_t w = 0;; ++w) {
    if (waits(w)) continue;
    if (left == 0) return w;
    left -= 1;
  }
}

/// The first of the ways with the most distant prediction that do not wait; kNoLane: all wait.
template <class Waits>
NW_HD NW_CALLED uint32_t distant_way(uint32_t ways, const uint32_t* ranks, Waits waits) {
  return lanes::arg_min(
      ways, [&](uint32_t w) -> uint32_t { return waits(w) ? 0xffffffffu : kDistant - ranks[w]; });
}

/// SRRIP: the line of way `victim` is replaced. Predictions of the set grow until its is distant.
NW_HD NW_CALLED void grow_distant(uint32_t ways, uint32_t* ranks, uint32_t victim) {
  const uint32_t more = kDistant - ranks[victim];
  for (uint32_t w = 0; w < ways; ++w)
    ranks[w] = ranks[w] + more < kDistant ? ranks[w] + more : kDistant;
}

}  // namespace replacement

}  // namespace nearwarp::cache
