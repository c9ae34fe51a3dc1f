// Arguments and answer of every component's step function.
#pragma once

#include "device/core/channel.h"
#include "device/core/types.h"

namespace nearwarp {

/// A half-open interval of simulated time, at most as long as the shortest latency of any channel
/// or credit, so that no component can feel within it what another does. (Members of a cluster are
/// stepped in shorter windows: see kernels/clusters.h.)
struct Window {
  Tick begin = 0;
  Tick end = 0;
};

/// When a component wants to be stepped again.
struct StepResult {
  Tick wake = kNever;  ///< the earliest tick (>= window end) at which it can act by itself
  bool poll = false;   ///< blocked on a credit: step it in every window until it is not
};

/// A StepResult as one word, for lanes to pass on: `wake`, with this bit for `poll`.
inline constexpr uint64_t kPollBit = uint64_t{1} << 63;
NW_HD NW_INLINE StepResult result_of(uint64_t word) {
  return {word & ~kPollBit, (word & kPollBit) != 0};
}

/// A fault inside a model (a broken contract met in a release build), for the host to report.
struct Fault {
  uint32_t code = 0;  ///< 0: none; see device/core/fault.h
  uint32_t component = 0;
  Tick tick = 0;
};

}  // namespace nearwarp
