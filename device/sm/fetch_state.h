// State of an SM's fetch stage and of its instruction cache.
#pragma once

#include "device/cache/l1_cache.h"
#include "device/core/warp_set.h"

namespace nearwarp::sm {

/// Code lies above the page tables, under map 0, the kernels of all programs one after the other.
inline constexpr LineAddr kCodeBase = 0xf8000000u;
/// Tags of instruction reads, beyond every MSHR of the L1 and below those of page walks.
inline constexpr uint32_t kFetchTag = 0x40000000u;

struct FetchParams {
  uint32_t width = 0;       ///< instructions that a warp's buffer holds; 0: they are always there
  uint32_t per_cycle = 1;   ///< warps that fetch in a cycle
  bool cached = false;      ///< they come through the instruction cache
  uint32_t line_shift = 4;  ///< log2 of the instructions per line
  cache::L1Params cache;    ///< merges: at least one per warp slot
};

struct FetchCounters {
  uint64_t fetches = 0;  ///< that found their line
  uint64_t wasted = 0;   ///< of these, of instructions that the warp jumped over
};

template <uint32_t kWords>
struct FetchStateOf {
  WarpSet<kWords> wanted;   ///< warps that want to fetch
  WarpSet<kWords> arrived;  ///< warps whose missing line has come: they come first
  WarpSet<kWords> stalled;  ///< warps that no MSHR was free for
  WarpSet<kWords> ahead;    ///< warps that fetch before others, as a mechanism wants it
  uint64_t unsent = 0;      ///< MSHRs whose request has not left yet
  uint32_t last = 0;        ///< warp that fetched last
  cache::L1State cache;
  FetchCounters counters;
};

}  // namespace nearwarp::sm
