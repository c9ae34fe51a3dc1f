// A clock that tells what a simulation costs the host and is the same in every run: steps of
// components, each kind's with the time that one took on the average. Counted is what general steps
// (general_steps.h) do in the calling thread.
#pragma once

namespace nearwarp::testing {

/// The cost of all steps since the last start_counting(), in seconds of a processor.
double counted_seconds();
void start_counting();

}  // namespace nearwarp::testing
