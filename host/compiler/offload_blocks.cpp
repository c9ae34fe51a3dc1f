#include "host/compiler/offload_blocks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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

struct Run {
  Piece piece;
  int64_t total = 0;  ///< BW_TX + BW_RX, raw
};

/// The best run within instructions [begin, end) of a block.
std::optional<Run> best_run(const OffloadContext& context, BlockId b, InstrId begin, InstrId end) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  std::optional<Run> best;
  std::set<RegId> live(kernel.live_out[b].begin(), kernel.live_out[b].end());
  for (InstrId last = block.first + block.count; last-- > begin;) {
    if (last < end && !is_control(kernel.instructions[last])) {
      Window window(live);
      for (InstrId first = last + 1; first-- > begin;) {
        if (forbidden(kernel.instructions[first], context.uses_shared())) break;
        window.prepend(kernel.instructions[first]);
        const OffloadTerms terms = window.terms();
        if (terms.n_ld + terms.n_st == 0) continue;
        const int64_t total = (bw_tx(context.model(), terms) + bw_rx(context.model(), terms)).raw();
        const bool better =
            !best || total < best->total ||
            (total == best->total && last - first < best->piece.last - best->piece.first);
        if (!better) continue;
        best.emplace();
        best->total = total;
        best->piece.entry = b;
        best->piece.blocks = {b};
        best->piece.first = first;
        best->piece.last = last;
        window.describe(best->piece);
      }
    }
    // What is live in front of `last`.
    const Instruction& instruction = kernel.instructions[last];
    if (instruction.guard == kNone) {
      for (RegId reg : defs(instruction)) live.erase(reg);
    }
    for (RegId reg : uses(instruction)) live.insert(reg);
  }
  return best;
}

}  // namespace

std::vector<Piece> pieces_of_block(const OffloadContext& context, BlockId b) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  const InstrId block_end = block.first + block.count;
  std::vector<Piece> pieces;
  std::vector<std::pair<InstrId, InstrId>> todo{{block.first, block_end}};
  while (!todo.empty()) {
    const auto [begin, end] = todo.back();
    todo.pop_back();
    if (begin >= end) continue;
    const OffloadTerms accesses = context.accesses(begin, end - 1);
    if (accesses.n_ld + accesses.n_st == 0) continue;
    auto run = best_run(context, b, begin, end);
    if (!run) continue;
    Piece& piece = run->piece;
    piece.resume = piece.last + 1 < block_end ? piece.last + 1
                   : block.successors.empty() ? kNone
                                              : kernel.blocks[block.successors[0]].first;
    if (piece.resume == kNone) continue;  // the thread ends there
    if (run->total >= 0 && !pieces.empty()) continue;
    if (run->total < 0) {
      todo.push_back({begin, piece.first});
      todo.push_back({piece.last + 1, end});
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace nearwarp::compiler
