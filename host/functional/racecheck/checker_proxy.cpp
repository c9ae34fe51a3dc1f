// The race detector: plain writes to shared memory that a product of a warp group or a bulk copy
// reads, by another proxy. Being ordered is not enough for these: there has to be a
// fence.proxy.async on the way (PTX ISA 9.0, memory consistency model, proxy-preserved base
// causality order).
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

using ptx::Opcode;

/// Is this a write of an instruction of threads? Boxes, and what st.async sends, are not; copies of
/// cp.async are.
bool Checker::is_plain_write(const Stamp& stamp) const {
  const auto& all = launch_.kernel->instructions;
  if (stamp.lanes == 0 || stamp.pending != 0 || stamp.atomic != 0) return false;
  if (stamp.instruction >= all.size()) return false;
  const compiler::Instruction& in = all[stamp.instruction];
  return in.op == Opcode::kSt && (!in.mod.async_copy || in.implied);
}

/// A lane reads shared memory by the asynchronous proxy, and has been compared with what is not
/// ordered. Writes of other blocks are left out.
void Checker::look_at_proxy(const Now& now, const Place& place, uint32_t bytes, uint32_t lane) {
  bool told = false;
  place.owner->shared.each(place.address, bytes, [&](Cell& cell, uint64_t at) {
    const Stamp& write = cell.write[0];
    if (told || write.block != now.stamp.block || !is_plain_write(write) ||
        !ordered(now, write, lane))
      return;
    if (now.block.proxy_fences.between(write.warp, write.time, now.stamp.warp, now.warp.order.seen))
      return;
    told = true;
    found(now, HazardKind::kUnfenced, write, at, lane, false);
  });
}

}  // namespace nearwarp::racecheck
