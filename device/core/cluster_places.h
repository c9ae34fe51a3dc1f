// Where the thread blocks of a cluster are: on which SM of their GPC each rank is.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

inline constexpr uint32_t kMaxClusterBlocks = 16;
/// SMs of a GPC, at most: a place takes five bits, and one of them is nobody's.
inline constexpr uint32_t kMaxGpcSms = 31;
/// The rank is not there: it was left out of what is simulated.
inline constexpr uint32_t kNoSmPlace = 31;

/// Places in the GPC by rank, as messages carry them: twelve in one word, four in another.
struct ClusterPlaces {
  uint64_t low = ~uint64_t{0};
  uint32_t high = 0xfffff;

  NW_HD uint32_t at(uint32_t rank) const {
    return rank < 12 ? static_cast<uint32_t>(low >> (5 * rank)) & 31
                     : high >> (5 * (rank - 12)) & 31;
  }
  NW_HD void set(uint32_t rank, uint32_t place) {
    if (rank < 12) {
      low = (low & ~(uint64_t{31} << (5 * rank))) | uint64_t{place} << (5 * rank);
    } else {
      high = (high & ~(31u << (5 * (rank - 12)))) | place << (5 * (rank - 12));
    }
  }
};
/// LaunchBlock has the second word, and above it the cluster's number at the front end.
inline constexpr uint32_t kPlacesBits = 20;
inline constexpr uint32_t kMaxClusters = 1u << (32 - kPlacesBits);

}  // namespace nearwarp
