// The interpreter's one instance for the host.
#include "host/functional/exec/interpreter.h"

#include "host/functional/instructions/interpreter.h"

namespace nearwarp::runtime {

exec::Status run_warp(exec::Context& ctx, exec::Warp& warp, int64_t& budget) {
  return exec::run_warp(ctx, warp, budget);
}

}  // namespace nearwarp::runtime
