#include "host/mechanisms/tom/pass/blocks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {
namespace {

/// A set of small integers that is emptied at once: the search begins millions of windows.
class StampedSet {
 public:
  explicit StampedSet(size_t values) : stamps_(values, 0) {}
  void clear() {
    ++now_;
    size_ = 0;
  }
  bool has(uint32_t value) const { return stamps_[value] == now_; }
  void insert(uint32_t value) {
    size_ += !has(value);
    stamps_[value] = now_;
  }
  void erase(uint32_t value) {
    size_ -= has(value);
    stamps_[value] = 0;
  }
  size_t size() const { return size_; }
  template <typename Value>
  void list(std::vector<Value>* values) const {
    values->clear();
    for (uint32_t value = 0; value < stamps_.size(); ++value) {
      if (has(value)) values->push_back(static_cast<Value>(value));
    }
  }

 private:
  std::vector<uint64_t> stamps_;
  uint64_t now_ = 1;
  size_t size_ = 0;
};

/// What the search asks of each instruction of the block, again and again.
struct Facts {
  bool forbidden, control, guarded, load, store;
  std::vector<RegId> uses, defs;
  std::vector<ptx::SpecialReg> specials;
};

std::vector<Facts> facts_of(const OffloadContext& context, const Block& block) {
  std::vector<Facts> facts;
  facts.reserve(block.count);
  for (InstrId i = block.first; i < block.first + block.count; ++i) {
    const Instruction& in = context.kernel().instructions[i];
    facts.push_back({.forbidden = forbidden(in, context.uses_shared()).has_value(),
                     .control = is_control(in),
                     .guarded = in.guard != kNone,
                     .load = is_counted_load(in),
                     .store = is_counted_store(in),
                     .uses = uses(in),
                     .defs = defs(in),
                     .specials = special_uses(in)});
  }
  return facts;
}

/// Registers that cross the borders of a run of instructions that grows towards the front.
class Window {
 public:
  Window(size_t registers, const StampedSet& live_after)
      : live_after_(live_after), live_(registers), live_outs_(registers), specials_(kSpecials) {}

  void clear() {
    live_.clear();
    live_outs_.clear();
    specials_.clear();
    terms_ = {};
  }

  void prepend(const Facts& instruction) {
    for (RegId reg : instruction.defs) {
      if (live_after_.has(reg)) {
        live_outs_.insert(reg);
        if (instruction.guarded) live_.insert(reg);
      }
      if (!instruction.guarded) live_.erase(reg);
    }
    for (RegId reg : instruction.uses) live_.insert(reg);
    for (ptx::SpecialReg special : instruction.specials)
      specials_.insert(static_cast<uint32_t>(special));
    terms_.n_ld += instruction.load;
    terms_.n_st += instruction.store;
  }

  OffloadTerms terms() const {
    return {.reg_tx = static_cast<int64_t>(live_.size() + specials_.size()),
            .reg_rx = static_cast<int64_t>(live_outs_.size()),
            .n_ld = terms_.n_ld,
            .n_st = terms_.n_st};
  }

  void describe(Piece* piece) const {
    live_.list(&piece->live_ins);
    live_outs_.list(&piece->live_outs);
    specials_.list(&piece->specials);
  }

 private:
  static constexpr size_t kSpecials = 256;  // whatever a byte holds
  static_assert(sizeof(ptx::SpecialReg) == 1);

  const StampedSet& live_after_;
  StampedSet live_, live_outs_, specials_;
  OffloadTerms terms_;
};

struct Run {
  Piece piece;
  int64_t total = 0;  ///< BW_TX + BW_RX, raw
};

/// From what is live behind an instruction to what is live in front of it.
void step_back(StampedSet* live, const Facts& instruction) {
  if (!instruction.guarded) {
    for (RegId reg : instruction.defs) live->erase(reg);
  }
  for (RegId reg : instruction.uses) live->insert(reg);
}

/// The best run within instructions [begin, end) of a block. `facts`: of its instructions.
std::optional<Run> best_run(const OffloadContext& context, BlockId b,
                            const std::vector<Facts>& facts, InstrId begin, InstrId end) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  std::optional<Run> best;
  StampedSet live(kernel.registers.size());
  for (RegId reg : kernel.live_out[b]) live.insert(reg);
  Window window(kernel.registers.size(), live);
  for (InstrId last = block.first + block.count; last-- > begin;) {
    const Facts& end_of_run = facts[last - block.first];
    if (last < end && !end_of_run.control) {
      window.clear();
      for (InstrId first = last + 1; first-- > begin;) {
        const Facts& instruction = facts[first - block.first];
        if (instruction.forbidden) break;
        window.prepend(instruction);
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
      }
    }
    step_back(&live, end_of_run);
  }
  if (!best) return best;
  // Which registers: asked of one run only.
  live.clear();
  for (RegId reg : kernel.live_out[b]) live.insert(reg);
  for (InstrId i = block.first + block.count; --i > best->piece.last;)
    step_back(&live, facts[i - block.first]);
  window.clear();
  for (InstrId i = best->piece.last + 1; i-- > best->piece.first;)
    window.prepend(facts[i - block.first]);
  window.describe(&best->piece);
  return best;
}

}  // namespace

std::vector<Piece> pieces_of_block(const OffloadContext& context, BlockId b) {
  const Kernel& kernel = context.kernel();
  const Block& block = kernel.blocks[b];
  const InstrId block_end = block.first + block.count;
  const std::vector<Facts> facts = facts_of(context, block);
  std::vector<Piece> pieces;
  std::vector<std::pair<InstrId, InstrId>> todo{{block.first, block_end}};
  while (!todo.empty()) {
    const auto [begin, end] = todo.back();
    todo.pop_back();
    if (begin >= end) continue;
    const OffloadTerms accesses = context.accesses(begin, end - 1);
    if (accesses.n_ld + accesses.n_st == 0) continue;
    auto run = best_run(context, b, facts, begin, end);
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
