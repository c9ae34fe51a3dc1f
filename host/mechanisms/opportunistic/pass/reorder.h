// Making a chain contiguous.
#pragma once

#include <string>

#include "host/mechanisms/opportunistic/pass/chains.h"

namespace nearwarp::opportunistic {

/// Fill `hoisted` and `sunk` of a chain whose instructions are known. Returns why it can't be done;
/// empty if it has been done. Accesses to memory keep their order: traces have their addresses in
/// it.
std::string bring_together(const compiler::Kernel& kernel, Chain& chain);

}  // namespace nearwarp::opportunistic
