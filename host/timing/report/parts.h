// Results of parts of a run: what lies between two moments of one, and several parts as one.
//
// Counters are sums over events and add up. Some are none: what is left at the end (left_dirty) is
// taken of the last moment, and the most that has ever been (peak, busiest) is not known of a part.
#pragma once

#include "host/config/machine.h"
#include "host/timing/report/result.h"

namespace nearwarp::report {

/// The counts that `after` has more than `before`, the same run earlier: rows of the launches that
/// ended later, cycles from `before` on. Without energy, which is accounted of what is reported.
RunResult between(const RunResult& before, const RunResult& after);

/// Several parts of a program, one after the other, as one run. `parts` is not empty.
RunResult joined(const config::MachineConfig& machine, std::vector<RunResult> parts);

/// How much of the whole a part stands for.
struct PartWeight {
  double times = 1;  ///< all that is counted in it counts so often
  double units = 1;  ///< parts like it
  double share = 1;  ///< of its launches that it is: less for some of a launch's thread blocks
};

/// Parts that stand for others. Cycles of launches are their own; when they begin is not known.
RunResult extrapolated(const config::MachineConfig& machine, std::vector<RunResult> parts,
                       const std::vector<PartWeight>& weights);

}  // namespace nearwarp::report
