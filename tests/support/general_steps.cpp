#include "tests/support/general_steps.h"

#include "kernels/component.h"

namespace nearwarp::testing {

const kernels::StepOnCpu kGeneralSteps =
    kernels::step_on_cpu<kernels::GeneralFamilyWith<kernels::Mechanisms>>;

}  // namespace nearwarp::testing
