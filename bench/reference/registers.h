// Registers per thread of the programs' kernels, as the reference had them.
#pragma once

#include "host/functional/compiler/kernel.h"

namespace nearwarp::reference {

/// Tell the kernels what ptxas gave them for sm_75. Throws nearwarp::Error for one that is not
/// known.
void set_registers(compiler::Program& program);

}  // namespace nearwarp::reference
