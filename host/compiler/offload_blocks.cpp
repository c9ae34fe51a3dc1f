#include "host/compiler/offload_blocks.h"

#include <algorithm>
#include <set>

#include "host/compiler/offload_facts.h"

namespace nearwarp::compiler {
namespace {

/// Registers that cross the borders of a run of instructions that grows towards the front.
class Window {
 public:
  explicit Window(const std::set<RegId>& live_after) : live_after_(live_after) {}

  void prepend(const Instruction& instruction) {
    for (RegId reg : defs(instruction)) {
      if (live_after_.count(reg) != 0) {
        live_outs_.insert(reg);
        if (instruction.guard != kNone) live_.insert(reg);
      }
      if (instruction.guard == kNone) live_.erase(reg);
    }
    for (RegId reg : uses(instruction)) live_.insert(reg);
    for (ptx::SpecialReg special : special_uses(instruction)) specials_.insert(special);
    terms_.n_ld += is_counted_load(instruction);
    terms_.n_st += is_counted_store(instruction);
  }

  OffloadTerms terms() const {
    return {.reg_tx = static_cast<int64_t>(live_.size() + specials_.size()),
            .reg_rx = static_cast<int64_t>(live_outs_.size()),
            .n_ld = terms_.n_ld,
            .n_st = terms_.n_st};
  }

  void describe(Piece& piece) const {
    piece.live_ins.assign(live_.begin(), live_.end());
    piece.live_outs.assign(live_outs_.begin(), live_outs_.end());
    piece.specials.assign(specials_.begin(), specials_.end());
  }

 private:
  const std::set<RegId>& live_after_;
  std::set<RegId> live_, live_outs_;
  std::set<ptx::SpecialReg> specials_;
  OffloadTerms terms_;
};

}  // namespace

std::optional<Piece> best_piece_of_block(const OffloadContext& context, BlockId b) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  if (block.count == 0) return std::nullopt;
  const OffloadTerms all = count_accesses(kernel, block.first, block.first + block.count - 1);
  if (all.n_ld + all.n_st == 0) return std::nullopt;

  std::optional<Piece> best;
  int64_t best_total = 0;
  std::set<RegId> live(kernel.live_out[b].begin(), kernel.live_out[b].end());
  for (InstrId last = block.first + block.count; last-- > block.first;) {
    if (!is_control(kernel.instructions[last])) {
      Window window(live);
      for (InstrId first = last + 1; first-- > block.first;) {
        if (forbidden(kernel.instructions[first], context.uses_shared())) break;
        window.prepend(kernel.instructions[first]);
        const OffloadTerms terms = window.terms();
        if (terms.n_ld + terms.n_st == 0) continue;
        const int64_t total = (bw_tx(context.model(), terms) + bw_rx(context.model(), terms)).raw();
        const bool better = !best || total < best_total ||
                            (total == best_total && last - first < best->last - best->first);
        if (!better) continue;
        best_total = total;
        best.emplace();
        best->entry = b;
        best->blocks = {b};
        best->first = first;
        best->last = last;
        window.describe(*best);
      }
    }
    // What is live in front of `last`.
    const Instruction& instruction = kernel.instructions[last];
    if (instruction.guard == kNone) {
      for (RegId reg : defs(instruction)) live.erase(reg);
    }
    for (RegId reg : uses(instruction)) live.insert(reg);
  }
  if (best) {
    const InstrId end = block.first + block.count;
    best->resume = best->last + 1 < end       ? best->last + 1
                   : block.successors.empty() ? kNone
                                              : kernel.blocks[block.successors[0]].first;
    if (best->resume == kNone) return std::nullopt;  // the thread ends there
  }
  return best;
}

}  // namespace nearwarp::compiler
