// Matching of the nine patterns of OC's table 1.
#pragma once

#include <optional>

#include "host/mechanisms/opportunistic/pass/chains.h"
#include "host/mechanisms/opportunistic/pass/values.h"

namespace nearwarp::opportunistic {

/// The reason for which a load can be in no chain, whatever uses its value; empty if it can be.
std::string refuse_load(const compiler::Kernel& kernel, const Values& values,
                        compiler::InstrId load);

/// The chain whose pattern ends with instruction `last` of block `block`; nothing if none does. Its
/// instructions may be apart in the program: this is not checked here.
std::optional<Chain> match_pattern(const compiler::Kernel& kernel, const Values& values,
                                   compiler::BlockId block, compiler::InstrId last);

}  // namespace nearwarp::opportunistic
