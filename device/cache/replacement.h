// Replacement policies of a tag store (tag_store.h): they choose the way of a full set whose line
// is replaced, by a rank of each way.
//
// Source: SRRIP with hit priority and predictions of two bits: Jaleel et al., "High Performance
// Cache Replacement Using Re-Reference Interval Prediction (RRIP)", ISCA 2010. "Random" hashes the
// store's count of uses, so that it is the same in every run and with any number of threads.
#pragma once

#include "device/core/lanes.h"

namespace nearwarp::cache {

enum class Replacement : uint8_t {
  kLru,     ///< the least recently used line; rank: TagStore::uses at its last use
  kFifo,    ///< the oldest line; rank: TagStore::uses when it came
  kRandom,  ///< any line
  kSrrip,   ///< a line predicted to be used in the distant future; rank: the prediction (RRPV)
};

/// Is a line's rank a value of TagStore::uses?
NW_HD constexpr bool by_age(Replacement r) { return r <= Replacement::kFifo; }

namespace replacement {

/// SRRIP's prediction for a line that is replaced.
inline constexpr uint32_t kDistant = 3;
/// SRRIP's prediction for a line that was just put; a line that has been used again has 0.
inline constexpr uint32_t kLong = 2;

/// A key by which the oldest way is the least. It is a distance from the next use, so that it stays
/// right when TagStore::uses wraps.
NW_HD NW_INLINE uint32_t age_key(uint32_t rank, uint32_t uses) { return rank - uses - 1; }

/// A pseudo-random number below `n`, a hash of the number of uses and the set's first way.
NW_HD NW_INLINE uint32_t draw(uint32_t uses, uint32_t first, uint32_t n) {
  constexpr uint64_t kFraction = 0x9e3779b97f4a7c15u;  // of the golden ratio
  uint64_t x = (uint64_t{uses} << 32 | first) * kFraction;
  x = (x ^ x >> 32) * kFraction;
  return static_cast<uint32_t>((x >> 32) * n >> 32);
}

/// A random one of the ways that do not wait; kNoLane: all wait.
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

/// SRRIP, when the line of way `victim` is replaced: raise all predictions of the set, as often as
/// it takes for that line's to become distant.
NW_HD NW_CALLED void grow_distant(uint32_t ways, uint32_t* ranks, uint32_t victim) {
  const uint32_t more = kDistant - ranks[victim];
  for (uint32_t w = 0; w < ways; ++w)
    ranks[w] = ranks[w] + more < kDistant ? ranks[w] + more : kDistant;
}

}  // namespace replacement

}  // namespace nearwarp::cache
