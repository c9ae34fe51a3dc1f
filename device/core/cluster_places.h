// The places of a cluster's thread blocks: the SM of the GPC on which each rank runs.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

inline constexpr uint32_t kMaxClusterBlocks = 16;
/// The most SMs of a GPC: a place takes five bits, and one value means that there is no SM.
inline constexpr uint32_t kMaxGpcSms = 31;
/// The place of a rank that is not simulated.
inline constexpr uint32_t kNoSmPlace = 31;

/// Places in the GPC by rank, as messages carry them: those of twelve ranks in one word, of four in
/// another.
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
/// The bits of the second word; LaunchBlock has the cluster's number at the front end above them.
inline constexpr uint32_t kPlacesBits = 20;
inline constexpr uint32_t kMaxClusters = 1u << (32 - kPlacesBits);

}  // namespace nearwarp
