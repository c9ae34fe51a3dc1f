#include "host/mechanisms/tom/pass/blocks.h"

#include <optional>
#include <utility>

#include "host/mechanisms/tom/pass/best_run.h"
#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {
namespace {

RunSearch search_in(const OffloadContext& context, BlockId b) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  const int64_t per_load = -bw_total(context.model(), {.n_ld = 1}).raw();
  const int64_t per_store = -bw_total(context.model(), {.n_st = 1}).raw();
  std::vector<RunInstruction> instructions;
  instructions.reserve(block.count);
  for (InstrId i = block.first; i < block.first + block.count; ++i) {
    const Instruction& in = kernel.instructions[i];
    const bool load = is_counted_load(in), store = is_counted_store(in);
    instructions.push_back({.forbidden = forbidden(in, context.uses_shared()).has_value(),
                            .control = is_control(in),
                            .guarded = in.guard != kNone,
                            .access = load || store,
                            .saving = load    ? per_load
                                      : store ? per_store
                                              : 0,
                            .uses = uses(in),
                            .defs = defs(in),
                            .specials = special_uses(in)});
  }
  return RunSearch(instructions, kernel.live_out[b],
                   {.live_in = bw_total(context.model(), {.reg_tx = 1}).raw(),
                    .live_out = bw_total(context.model(), {.reg_rx = 1}).raw()});
}

/// Instructions [begin, end) of a block, where pieces may still lie.
struct Part {
  uint32_t begin = 0, end = 0;
  /// RunSearch::best_runs(begin, end); empty if they are not known.
  std::vector<std::optional<InstructionRun>> best;
};

}  // namespace

std::vector<Piece> pieces_of_block(const OffloadContext& context, BlockId b) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  const auto has_access = [&](uint32_t begin, uint32_t end) {
    if (begin >= end) return false;
    const OffloadTerms terms = context.accesses(block.first + begin, block.first + end - 1);
    return terms.n_ld + terms.n_st > 0;
  };
  if (!has_access(0, block.count)) return {};
  const RunSearch search = search_in(context, b);
  std::vector<Piece> pieces;
  std::vector<Part> todo;
  todo.push_back({.begin = 0, .end = block.count, .best = {}});
  while (!todo.empty()) {
    Part part = std::move(todo.back());
    todo.pop_back();
    if (!has_access(part.begin, part.end)) continue;
    if (part.best.empty()) part.best = search.best_runs(part.begin, part.end);
    if (!part.best.back()) continue;
    const InstructionRun run = *part.best.back();
    const InstrId behind = block.first + run.last + 1;
    const InstrId resume = run.last + 1 < block.count ? behind
                           : block.successors.empty() ? kNone
                                                      : kernel.blocks[block.successors[0]].first;
    if (resume == kNone) continue;  // the thread ends there
    if (run.total >= 0 && !pieces.empty()) continue;
    if (run.total < 0) {
      // The best run in front of this one has been found on the way to it.
      part.best.resize(run.first - part.begin + 1);
      todo.push_back({.begin = part.begin, .end = run.first, .best = std::move(part.best)});
      todo.push_back({.begin = run.last + 1, .end = part.end, .best = {}});
    }
    const Crossings crossings = search.crossings(run.first, run.last);
    Piece& piece = pieces.emplace_back();
    piece.entry = b;
    piece.blocks = {b};
    piece.first = block.first + run.first;
    piece.last = block.first + run.last;
    piece.resume = resume;
    piece.live_ins.assign(crossings.live_ins.begin(), crossings.live_ins.end());
    piece.live_outs.assign(crossings.live_outs.begin(), crossings.live_outs.end());
    piece.specials.assign(crossings.specials.begin(), crossings.specials.end());
  }
  return pieces;
}

}  // namespace nearwarp::compiler
