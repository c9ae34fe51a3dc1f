// How the thread blocks of a program use its memory objects, from its traces: what CODA calls
// profiler-assisted (section 4.3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/mechanisms/coda/equations.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// An object as the first kernel that touches it uses it, in all of its launches.
struct ObjectUse {
  uint32_t allocation = 0;  ///< index into Recording::allocations
  uint32_t launch = 0;      ///< the kernel's first: index into Recording::launches
  bool touched = false;     ///< no kernel does: the others mean nothing
  /// B: from where one thread block begins in the object to where the next one does. 0: blocks do
  /// not move through it.
  uint64_t block_bytes = 0;
  bool constant = false;   ///< the same for nearly all pairs of consecutive blocks
  bool from_code = false;  ///< block_bytes is of the kernel's code, and the same for all blocks
  uint64_t accesses = 0;   ///< of warps to a page
  /// The accesses that would go to the stack that the block belongs to, were the object put by Eq.
  /// (2) and (3).
  uint64_t local = 0;
};

/// Where B comes from (section 4.3.2).
enum class StrideSource : uint8_t {
  kBoth,    ///< from the code where it is regular, else from the traces
  kCode,    ///< the analysis at compile time alone
  kTraces,  ///< what the paper calls profiler-assisted, alone
};

/// Values that Eq. (1) and (2) need.
struct PlacementRules {
  uint32_t stacks = 4;
  /// [application]: those that it is bound to, the numbers of Eq. (1) and (3) counting them from
  /// the lowest one on; none or missing: all.
  std::vector<std::vector<uint32_t>> bound;
  uint64_t page_bytes = 4096;
  ChunkRule chunk = ChunkRule::kBlocks;
  StrideSource source = StrideSource::kBoth;
  /// [launch]: thread blocks that run on a stack at a time.
  std::vector<uint64_t> blocks_per_stack;

  /// Stacks that an application's blocks are dealt to.
  uint32_t stacks_of(uint32_t application) const {
    const bool bound_to = application < bound.size() && !bound[application].empty();
    return bound_to ? static_cast<uint32_t>(bound[application].size()) : stacks;
  }
  /// The number of one of these in the machine.
  uint32_t stack(uint32_t application, uint32_t number) const {
    const bool bound_to = application < bound.size() && !bound[application].empty();
    return bound_to ? bound[application][number] : number;
  }
};

/// One for each allocation. Reads the traces of the kernels that touch something first, twice, the
/// first time that it is asked for these rules (Recording::studies), and calls `pause` between
/// warps, which may throw. Throws nearwarp::Error if the traces are malformed.
std::vector<ObjectUse> study_objects(const runtime::Recording& recording,
                                     const PlacementRules& rules,
                                     const std::function<void()>& pause = {});

}  // namespace nearwarp::coda
