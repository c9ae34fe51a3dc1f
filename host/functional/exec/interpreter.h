// Runs one warp on the host (host/functional/instructions/interpreter.h, compiled once).
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::runtime {

/// Run `warp` until it exits, waits at a barrier, faults, or `budget` warp-instructions are used.
exec::Status run_warp(exec::Context& ctx, exec::Warp& warp, int64_t& budget);

}  // namespace nearwarp::runtime
