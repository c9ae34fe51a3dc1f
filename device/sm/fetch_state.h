// State of an SM's fetch stage and of its instruction cache.
#pragma once

#include "device/cache/l1_cache.h"
#include "device/core/warp_set.h"

namespace nearwarp::sm {

/// The first line of code, which lies above the page tables, under map 0; the kernels of all
/// programs follow one another.
inline constexpr LineAddr kCodeBase = 0xf8000000u;
/// Tags of instruction reads, beyond every MSHR of the L1 and below those of page walks.
inline constexpr uint32_t kFetchTag = 0x40000000u;

struct FetchParams {
  uint32_t width = 0;       ///< instructions that a warp's buffer holds; 0: fetching takes no time
  uint32_t per_cycle = 1;   ///< warps that fetch in a cycle
  bool cached = false;      ///< fetches go through the instruction cache
  uint32_t line_shift = 4;  ///< log2 of the instructions per line
  cache::L1Params cache;    ///< of which `merges` is at least the number of warp slots
};

struct FetchCounters {
  uint64_t fetches = 0;  ///< fetches that found their line
  uint64_t wasted = 0;   ///< fetches whose instructions were discarded after a branch
};

template <uint32_t kWords>
struct FetchStateOf {
  WarpSet<kWords> wanted;   ///< warps that want to fetch
  WarpSet<kWords> arrived;  ///< warps whose missing line has come, which fetch before all others
  WarpSet<kWords> stalled;  ///< warps for whose miss no MSHR was free
  WarpSet<kWords> ahead;    ///< warps that a mechanism lets fetch before others
  uint64_t unsent = 0;      ///< MSHRs whose request has not left yet
  uint32_t last = 0;        ///< warp that fetched last
  cache::L1State cache;
  FetchCounters counters;
};

}  // namespace nearwarp::sm
