// The best runs of instructions inside one basic block.
#pragma once

#include <vector>

#include "host/mechanisms/tom/pass/evaluate.h"
#include "host/mechanisms/tom/pass/regions.h"

namespace nearwarp::compiler {

/// The run of instructions of `block` with the least BW_TX + BW_RX, the shortest among equals, of
/// those that contain a counted access and nothing forbidden; then what else saves traffic before
/// and behind it. Branches are left out: the main GPU executes them. Empty if there is no such run.
std::vector<Piece> pieces_of_block(const OffloadContext& context, BlockId block);

}  // namespace nearwarp::compiler
