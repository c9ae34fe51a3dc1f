// The best run of instructions inside one basic block.
#pragma once

#include <optional>

#include "host/compiler/offload_evaluate.h"
#include "host/compiler/offload_regions.h"

namespace nearwarp::compiler {

/// Among all runs of instructions of `block` that contain a counted access and nothing forbidden,
/// the one with the least BW_TX + BW_RX, the shortest among equals. Branches are left out: the
/// main GPU executes them. Nothing if there is no such run.
std::optional<Piece> best_piece_of_block(const OffloadContext& context, BlockId block);

}  // namespace nearwarp::compiler
