// State of an SM's constant cache.
#pragma once

#include "device/cache/l1_cache.h"
#include "device/core/warp_set.h"
#include "device/sm/load_entry.h"

namespace nearwarp::sm {

/// Tags of the constant cache's reads, between those of instructions and those of page walks.
inline constexpr uint32_t kConstantTag = 0x60000000u;

struct ConstantParams {
  bool cached = false;      ///< false: every load hits
  uint8_t sectors = 0;      ///< mask of the sectors that one of its lines has; 0: the L1's line
  uint32_t line_shift = 6;  ///< log2 of its lines' bytes, which are at most those of the L1's lines
  cache::L1Params cache;    ///< its lines may be parts of the L1's (device/sm/constants.h)
};

/// The most loads whose lines may be missing at a time.
inline constexpr uint32_t kMaxConstantLoads = 64;

template <uint32_t kWords>
struct ConstantStateOf {
  WarpSet<kWords> stalled;  ///< warps whose load found no MSHR, merge, way or entry of `loads`
  uint64_t unsent = 0;      ///< MSHRs whose request has not left yet
  uint64_t free_loads = 0;
  Ref<LoadEntry> loads;
  cache::L1State cache;
};

}  // namespace nearwarp::sm
