// Registers that hold the same value in all lanes of a warp, by the code.
#pragma once

#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::mpu {

/// By register: is it a scalar? It has one definition, which is not guarded and computes from
/// parameters, constants, dimensions, the block's index and such registers alone.
std::vector<bool> find_scalars(const compiler::Kernel& kernel);

}  // namespace nearwarp::mpu
