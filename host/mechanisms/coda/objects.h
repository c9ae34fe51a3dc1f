// How the thread blocks of a program use its memory objects, as its traces tell (CODA's
// profiler-assisted variant, section 4.3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/mechanisms/coda/equations.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// The use of an object by the first kernel that touches it, in all launches of that kernel.
struct ObjectUse {
  uint32_t allocation = 0;  ///< index into Recording::allocations
  uint32_t launch = 0;      ///< the kernel's first launch: index into Recording::launches
  bool touched = false;     ///< false: no kernel touches it, and the members below mean nothing
  /// B, the bytes from the place where one thread block begins in the object to the place where the
  /// next one does. 0: blocks do not move through it.
  uint64_t block_bytes = 0;
  bool constant = false;   ///< block_bytes is right for nearly all pairs of consecutive blocks
  bool from_code = false;  ///< block_bytes was computed from the kernel's code, for all blocks
  uint64_t accesses = 0;   ///< accesses, each of a warp to a page
  /// Accesses that would go to the stack of their block if the object were placed by Eq. (2) and
  /// (3).
  uint64_t local = 0;
};

/// Where B comes from (section 4.3.2).
enum class StrideSource : uint8_t {
  kBoth,    ///< from the code where it is regular, else from the traces
  kCode,    ///< only from the code, at compile time
  kTraces,  ///< only from the traces (profiler-assisted)
};

/// Parameters of Eq. (1) to (3).
struct PlacementRules {
  uint32_t stacks = 4;
  /// [application]: the stacks that the application is bound to, in ascending order; Eq. (1) and
  /// (3) number these. Empty or missing: all stacks.
  std::vector<std::vector<uint32_t>> bound;
  uint64_t page_bytes = 4096;
  ChunkRule chunk = ChunkRule::kBlocks;
  StrideSource source = StrideSource::kBoth;
  /// [launch]: thread blocks that run on a stack at a time.
  std::vector<uint64_t> blocks_per_stack;

  /// The number of stacks that an application's blocks are dealt to.
  uint32_t stacks_of(uint32_t application) const {
    const bool bound_to = application < bound.size() && !bound[application].empty();
    return bound_to ? static_cast<uint32_t>(bound[application].size()) : stacks;
  }
  /// The machine's number of the stack that Eq. (1) and (3) call `number`.
  uint32_t stack(uint32_t application, uint32_t number) const {
    const bool bound_to = application < bound.size() && !bound[application].empty();
    return bound_to ? bound[application][number] : number;
  }
};

/// Study the use of each allocation. The traces of kernels that are the first to touch something
/// are read twice, but only once for the same rules (Recording::studies). Calls `pause` between
/// warps, which may throw. Throws nearwarp::Error if the traces are malformed.
std::vector<ObjectUse> study_objects(const runtime::Recording& recording,
                                     const PlacementRules& rules,
                                     const std::function<void()>& pause = {});

}  // namespace nearwarp::coda
