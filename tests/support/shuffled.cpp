#include "tests/support/shuffled.h"

namespace nearwarp::testing {

const kernels::StepOnCpu kStepShuffled = kernels::step_shuffled<kernels::ProductFamily>;

}  // namespace nearwarp::testing
