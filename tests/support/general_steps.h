// Steps components by the general code, even where the product has code for a special case. Results
// must be the same.
#pragma once

#include "kernels/cpu_executor.h"

namespace nearwarp::testing {

/// The general steps of all the product's kinds of components.
extern const kernels::StepOnCpu kGeneralSteps;

/// Makes an executor use the general steps. `options`: the executor's, or another struct with a
/// member `family`.
template <class Options>
void use_general_steps(Options& options) {
  options.family = kGeneralSteps;
}

}  // namespace nearwarp::testing
