// The nine patterns of OC's table 1, found from their last instruction back.
#pragma once

#include <optional>

#include "host/mechanisms/opportunistic/pass/chains.h"
#include "host/mechanisms/opportunistic/pass/values.h"

namespace nearwarp::opportunistic {

/// Why a load can be in no chain, whatever uses its value; empty if it can.
std::string refuse_load(const compiler::Kernel& kernel, const Values& values,
                        compiler::InstrId load);

/// The pattern that ends with `last` in block `block`: its instructions, as far as patterns go; how
/// they lie in the text is left open. None if there is none.
std::optional<Chain> match_pattern(const compiler::Kernel& kernel, const Values& values,
                                   compiler::BlockId block, compiler::InstrId last);

}  // namespace nearwarp::opportunistic
