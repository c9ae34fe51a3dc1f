// Components stepped by the code for all cases, where the product has some for special ones: which
// of both it is must not show in results.
#pragma once

#include "kernels/cpu_executor.h"

namespace nearwarp::testing {

/// Steps components of the product's kinds by code for all cases.
extern const kernels::StepOnCpu kGeneralSteps;

/// `options`: of an executor, or what has its family too.
template <class Options>
void use_general_steps(Options& options) {
  options.family = kGeneralSteps;
}

}  // namespace nearwarp::testing
