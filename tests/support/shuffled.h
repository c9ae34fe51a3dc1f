// Lanes in a scrambled order, which must not show in results.
#pragma once

#include "kernels/cpu_executor.h"

namespace nearwarp::testing {

/// Steps the product's family with a ShuffledGroup.
extern const kernels::StepOnCpu kStepShuffled;

/// Have lanes visited in an order that `seed` stands for. `options`: of an executor, or what has
/// these two of it.
template <class Options>
void shuffle_lanes(Options& options, uint32_t seed) {
  options.family = kStepShuffled;
  options.lane_order = seed;
}

}  // namespace nearwarp::testing
