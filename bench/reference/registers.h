// The registers per thread that the programs' kernels had in the reference's runs.
#pragma once

#include "host/functional/compiler/kernel.h"

namespace nearwarp::reference {

/// Sets the kernels' registers to the number that ptxas gave them for sm_75. Throws nearwarp::Error
/// for a kernel that it does not know.
void set_registers(compiler::Program& program);

}  // namespace nearwarp::reference
