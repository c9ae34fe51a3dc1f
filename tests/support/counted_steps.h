// A clock that tells what a simulation costs the host and is the same in every run: steps of
// components, each kind's with the time that one took on the average.
#pragma once

#include "kernels/cpu_executor.h"

namespace nearwarp::testing {

/// Steps components of the product's kinds, and counts what is stepped. One thread at a time.
extern const kernels::StepOnCpu kCountedSteps;

/// The cost of all steps since the last start_counting(), in seconds of a processor.
double counted_seconds();
void start_counting();

}  // namespace nearwarp::testing
