// Decoder: loads from shared memory whose addresses another load before them in the basic block
// had, but for what is added to them. How these lie is found out once.
#include "host/functional/decode/decoder.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::RegId;
using ptx::Opcode;
using ptx::Space;

void Decoder::know_address(const Instr& in) {
  const auto key = [](RegId reg, bool wide) { return uint64_t{reg} << 1 | (wide ? 1 : 0); };
  exec::Op* op = nullptr;
  bool wide = false;
  if (in.op == Opcode::kLd && in.mod.space == Space::kShared && !full_.empty()) {
    wide = full_.back().code == exec::kLoadShared64Full;
    if (wide || full_.back().code == exec::kLoadShared32Full) op = &full_.back();
  }
  if (op != nullptr) {
    const uint64_t load = key(in.address.base, wide);
    // In very large kernels accesses that are alike have one number (share_access()): the place by
    // that number is now about this load's addresses.
    const auto [stood, is_new] = stands_for_.try_emplace(op->c, load);
    if (!is_new && stood->second != load) {
      known_.erase(stood->second);
      stood->second = load;
    }
    const auto [first, is_first] = known_.try_emplace(load, op->c);
    if (!is_first) {
      op->b = first->second;
      op->code = wide ? exec::kLoadShared64Known : exec::kLoadShared32Known;
    }
  }
  if (known_.empty()) return;
  for (const RegId d : in.dsts) {  // other addresses from here on
    known_.erase(key(d, false));
    known_.erase(key(d, true));
  }
}

}  // namespace nearwarp::runtime
