#include "host/mechanisms/tom/pass/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "host/mechanisms/tom/pass/blocks.h"
#include "host/mechanisms/tom/pass/evaluate.h"
#include "host/mechanisms/tom/pass/facts.h"
#include "host/mechanisms/tom/pass/regions.h"

namespace nearwarp::compiler {
namespace {

/// Loops inside the region that no other loop inside it encloses.
std::vector<uint32_t> outermost_loops(const Kernel& kernel, const Region& region) {
  const auto inside = [&](uint32_t l) {
    return std::includes(region.blocks.begin(), region.blocks.end(), kernel.loops[l].blocks.begin(),
                         kernel.loops[l].blocks.end());
  };
  std::vector<uint32_t> result;
  for (uint32_t l = 0; l < kernel.loops.size(); ++l) {
    if (!inside(l)) continue;
    const uint32_t parent = kernel.loops[l].parent;
    if (parent == kNone || !inside(parent)) result.push_back(l);
  }
  return result;
}

/// A region stands for one structure of the source: code without loops, one loop (nest) with its
/// guard, or the two loops that unrolling made of one.
bool is_one_structure(const OffloadContext& context, const std::vector<uint32_t>& loops) {
  if (loops.size() <= 1) return true;
  if (loops.size() > 2) return false;
  const UnrolledLoop* unrolled = context.unrolled_of(loops[0]);
  return unrolled != nullptr && unrolled == context.unrolled_of(loops[1]);
}

/// A loop by itself, or with the straight code that leads into it.
CandidateKind kind_of(const Kernel& kernel, const Region& region,
                      const std::vector<uint32_t>& loops) {
  if (loops.size() != 1) return CandidateKind::kRegion;
  const size_t loop_blocks = kernel.loops[loops[0]].blocks.size();
  const bool alone = region.blocks.size() == loop_blocks;
  const bool led_in =
      region.blocks.size() == loop_blocks + 1 && kernel.blocks[region.entry].successors.size() == 1;
  return alone || led_in ? CandidateKind::kLoop : CandidateKind::kRegion;
}

/// Is the loop without loops inside?
bool is_innermost(const Kernel& kernel, uint32_t loop) {
  return std::none_of(kernel.loops.begin(), kernel.loops.end(),
                      [&](const Loop& other) { return other.parent == loop; });
}

/// Does the piece begin where the kernel does, parameters apart, and end where it does?
bool is_whole_kernel(const Kernel& kernel, const Piece& piece) {
  for (InstrId i = 0; i < piece.first; ++i) {
    const Instruction& in = kernel.instructions[i];
    if (in.op != ptx::Opcode::kLd || in.mod.space != ptx::Space::kParam) return false;
  }
  const ptx::Opcode next = kernel.instructions[piece.resume].op;
  return next == ptx::Opcode::kRet || next == ptx::Opcode::kExit;
}

/// Is a piece of a region considered? `loops`: outermost_loops() of it.
bool is_considered(const OffloadContext& context, const Piece& piece,
                   const std::vector<uint32_t>& loops) {
  const Kernel& kernel = context.kernel();
  const Granularity granularity = context.model().granularity;
  if (granularity == Granularity::kRegion) return true;
  if (granularity == Granularity::kBlock || loops.empty() || is_whole_kernel(kernel, piece))
    return false;
  if (granularity == Granularity::kInnermost &&
      !std::all_of(loops.begin(), loops.end(),
                   [&](uint32_t loop) { return is_innermost(kernel, loop); }))
    return false;
  for (BlockId b : piece.blocks) {
    const Block& block = kernel.blocks[b];
    const bool in_loop = std::any_of(loops.begin(), loops.end(), [&](uint32_t loop) {
      const std::vector<BlockId>& blocks = kernel.loops[loop].blocks;
      return std::binary_search(blocks.begin(), blocks.end(), b);
    });
    if (in_loop) continue;
    const InstrId first = b == piece.entry ? piece.first : block.first;
    const OffloadTerms outside = context.accesses(first, block.first + block.count - 1);
    if (outside.n_ld + outside.n_st != 0) return false;
  }
  return true;
}

Bandwidth total(const OffloadCandidate& c) { return c.tx + c.rx; }

/// The better one for the choice among overlapping pieces, or, where neither qualifies, for the
/// report.
bool better(const Evaluation& a, const Evaluation& b) {
  if (a.qualifies != b.qualifies) return a.qualifies;
  if (!a.qualifies) return total(a.candidate) < total(b.candidate);
  return a.candidate.planned_saving > b.candidate.planned_saving;
}

/// The disjoint set with the greatest sum of planned savings: weighted interval scheduling. Pieces
/// are intervals of instructions, so one whose blocks are not neighbours also keeps others out of
/// the gaps. Returns indices into `pieces`.
std::vector<size_t> choose_disjoint(const std::vector<OffloadCandidate>& pieces) {
  std::vector<size_t> order(pieces.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Among intervals with one end the shorter comes first, and stays where a longer saves no more.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pieces[a].last_instruction, ~pieces[a].first_instruction) <
           std::pair(pieces[b].last_instruction, ~pieces[b].first_instruction);
  });
  std::vector<int64_t> sum(order.size() + 1, 0);  // best of the first i in order
  std::vector<size_t> before(order.size());       // how many end before this one begins
  for (size_t i = 0; i < order.size(); ++i) {
    const OffloadCandidate& piece = pieces[order[i]];
    before[i] = std::partition_point(order.begin(), order.begin() + i,
                                     [&](size_t k) {
                                       return pieces[k].last_instruction < piece.first_instruction;
                                     }) -
                order.begin();
    sum[i + 1] = std::max(sum[i], sum[before[i]] + piece.planned_saving);
  }
  std::vector<size_t> chosen;
  for (size_t i = order.size(); i > 0;) {
    if (sum[i] == sum[i - 1]) {
      --i;
    } else {
      chosen.push_back(order[i - 1]);
      i = before[i - 1];
    }
  }
  return chosen;
}

/// Knowledge of one block or loop as a whole, for the refusals.
struct Finding {
  std::optional<RefusalReason> reason;  ///< a limitation that it breaks
  InstrId instruction = kNone;
};

/// The first broken limitation in some blocks; a shared access, barrier or atomic is worth more
/// to know than a return.
Finding first_limitation(const OffloadContext& context, const std::vector<BlockId>& blocks) {
  const Kernel& kernel = context.kernel();
  Finding result;
  for (BlockId b : blocks) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const auto reason = context.limit_of(i);
      if (!reason || (*reason == RefusalReason::kDivergentExit && blocks.size() == 1)) continue;
      if (result.reason && *result.reason != RefusalReason::kDivergentExit) continue;
      if (result.reason && *reason == RefusalReason::kDivergentExit) continue;
      result = {reason, i};
    }
  }
  return result;
}

/// Finds what keeps the shared arrays of blocks from going along. A block by itself takes none.
Finding shared_limitation(const OffloadContext& context, const std::vector<BlockId>& blocks,
                          CandidateKind kind) {
  const SharedUse use = context.shared().use_of(blocks, kNone, 0);
  switch (use.refusal) {
    case SharedRefusal::kFits:
      if (use.kind == SharedKind::kNone || kind != CandidateKind::kBlock) return {};
      return {RefusalReason::kSharedMemory, kNone};
    case SharedRefusal::kUnknown:
      return {RefusalReason::kSharedUnknown, use.instruction};
    case SharedRefusal::kSeveral:
      return {RefusalReason::kSharedSeveral, use.instruction};
    case SharedRefusal::kPattern:
      return {RefusalReason::kSharedPattern, use.instruction};
    case SharedRefusal::kFull:
      return {RefusalReason::kSharedFull, use.instruction};
  }
  return {};
}

class Selection {
 public:
  Selection(const Kernel& kernel, const OffloadModel& model) : context_(kernel, model) {
    evaluate_regions();
    evaluate_blocks();
  }

  SelectionResult run() {
    std::vector<size_t> chosen = choose_disjoint(qualifying_);
    const auto by_saving = [&](size_t a, size_t b) {
      return std::pair(-qualifying_[a].planned_saving, qualifying_[a].first_instruction) <
             std::pair(-qualifying_[b].planned_saving, qualifying_[b].first_instruction);
    };
    std::sort(chosen.begin(), chosen.end(), by_saving);
    SelectionResult result;
    covered_.assign(context_.kernel().blocks.size(), Cover::kNot);
    for (const OffloadCandidate& c : qualifying_) cover(c, Cover::kQualified);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const OffloadCandidate& c = qualifying_[chosen[i]];
      if (i < context_.model().max_candidates) {
        result.candidates.push_back(c);
      } else {
        cover(c, Cover::kDropped);
      }
    }
    std::sort(result.candidates.begin(), result.candidates.end(),
              [](const OffloadCandidate& a, const OffloadCandidate& b) {
                return a.first_instruction < b.first_instruction;
              });
    if (context_.model().inner_blocks) add_inner_blocks(result.candidates);
    for (uint32_t i = 0; i < result.candidates.size(); ++i) {
      result.candidates[i].id = i;
      cover(result.candidates[i], Cover::kCandidate);
    }
    add_refusals(result);
    return result;
  }

 private:
  enum class Cover : uint8_t { kNot, kQualified, kDropped, kCandidate };

  void cover(const OffloadCandidate& c, Cover how) {
    for (BlockId b : c.blocks) covered_[b] = std::max(covered_[b], how);
  }

  /// Behind each conditional candidate those of its blocks that save by themselves, as long as the
  /// table has room.
  void add_inner_blocks(std::vector<OffloadCandidate>& candidates) const {
    std::vector<OffloadCandidate> all;
    size_t left = context_.model().max_candidates - candidates.size();
    for (const OffloadCandidate& outer : candidates) {
      const auto within = static_cast<uint32_t>(all.size());
      all.push_back(outer);
      if (outer.trip != TripKind::kConditional) continue;
      std::vector<OffloadCandidate> inside;
      for (const OffloadCandidate& c : qualifying_)
        if (c.kind == CandidateKind::kBlock && c.first_instruction >= outer.first_instruction &&
            c.last_instruction <= outer.last_instruction &&
            std::binary_search(outer.blocks.begin(), outer.blocks.end(), c.entry))
          inside.push_back(c);
      std::vector<size_t> chosen = choose_disjoint(inside);
      std::sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
        return inside[a].first_instruction < inside[b].first_instruction;
      });
      for (const size_t i : chosen) {
        if (left == 0) break;
        --left;
        all.push_back(inside[i]);
        all.back().within = within;
      }
    }
    candidates = std::move(all);
  }

  void evaluate_regions() {
    const Kernel& kernel = context_.kernel();
    for (const Region& region : find_regions(kernel)) {
      if (!has_memory(region.blocks)) continue;
      const std::vector<uint32_t> loops = outermost_loops(kernel, region);
      if (!is_one_structure(context_, loops)) continue;
      const CandidateKind kind = kind_of(kernel, region, loops);
      std::optional<Evaluation> best, left_out;
      for_each_piece(
          kernel, context_.registers(), region, context_.limited(), [&](const Piece& piece) {
            Evaluation evaluation = evaluate_piece(context_, kind, piece);
            if (evaluation.candidate.first_memory_instruction == kNone) return;
            std::optional<Evaluation>& of = is_considered(context_, piece, loops) ? best : left_out;
            if (!of || better(evaluation, *of)) of = std::move(evaluation);
          });
      if (loops.size() == 1 && kernel.loops[loops[0]].blocks == region.blocks && (best || left_out))
        loops_.emplace(loops[0], LoopFound{best ? *best : *left_out, best.has_value()});
      if (best && best->qualifies) qualifying_.push_back(best->candidate);
    }
  }

  void evaluate_blocks() {
    for (BlockId b = 0; b < context_.kernel().blocks.size(); ++b) {
      for (const Piece& piece : pieces_of_block(context_, b)) {
        const Evaluation evaluation = evaluate_piece(context_, CandidateKind::kBlock, piece);
        if (evaluation.qualifies) qualifying_.push_back(evaluation.candidate);
        blocks_.emplace(b, evaluation);  // the first is the best
      }
    }
  }

  /// A loop that is a region by itself.
  struct LoopFound {
    Evaluation evaluation;
    bool considered = false;
  };

  bool has_memory(const std::vector<BlockId>& blocks) const {
    const OffloadTerms terms = context_.accesses(blocks);
    return terms.n_ld + terms.n_st > 0;
  }

  /// Fills in the reason against a block or loop that is in no candidate.
  void explain(Refusal& refusal, const std::vector<BlockId>& blocks, const Evaluation* evaluation,
               bool single_exit, bool considered) const {
    Finding finding = first_limitation(context_, blocks);
    if (!finding.reason) finding = shared_limitation(context_, blocks, refusal.kind);
    if (evaluation != nullptr) {
      refusal.terms = evaluation->candidate.terms;
      refusal.tx = evaluation->candidate.tx;
      refusal.rx = evaluation->candidate.rx;
    }
    const auto is_dropped = [&](BlockId b) { return covered_[b] == Cover::kDropped; };
    if (evaluation != nullptr && evaluation->qualifies) {
      refusal.reason = !considered ? RefusalReason::kGranularity
                       : std::any_of(blocks.begin(), blocks.end(), is_dropped)
                           ? RefusalReason::kTableFull
                           : RefusalReason::kOverlap;
    } else if (finding.reason) {
      refusal.reason = *finding.reason;
      refusal.instruction = finding.instruction;
    } else if (!has_memory(blocks)) {
      refusal.reason = RefusalReason::kNoMemoryAccess;
    } else if (!single_exit) {
      refusal.reason = RefusalReason::kDivergentExit;
    } else if (std::all_of(blocks.begin(), blocks.end(), is_dropped)) {
      refusal.reason = RefusalReason::kTableFull;
    } else {
      refusal.reason = RefusalReason::kSavesNothing;
    }
  }

  void add_refusals(SelectionResult& result) const {
    const Kernel& kernel = context_.kernel();
    for (uint32_t l = 0; l < kernel.loops.size(); ++l) {
      const Loop& loop = kernel.loops[l];
      const bool inside_one = std::any_of(
          result.candidates.begin(), result.candidates.end(), [&](const OffloadCandidate& c) {
            return c.kind != CandidateKind::kBlock &&
                   std::includes(c.blocks.begin(), c.blocks.end(), loop.blocks.begin(),
                                 loop.blocks.end());
          });
      if (inside_one) continue;
      Refusal refusal;
      refusal.kind = CandidateKind::kLoop;
      refusal.block = loop.header;
      const auto found = loops_.find(l);
      // Without an evaluation the loop is no single-entry single-exit region.
      const bool alone = found != loops_.end();
      explain(refusal, loop.blocks, alone ? &found->second.evaluation : nullptr, alone,
              alone && found->second.considered);
      result.refusals.push_back(refusal);
    }
    for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
      if (covered_[b] == Cover::kCandidate) continue;
      Refusal refusal;
      refusal.block = b;
      const auto found = blocks_.find(b);
      explain(refusal, {b}, found == blocks_.end() ? nullptr : &found->second, true, true);
      result.refusals.push_back(refusal);
    }
    std::stable_sort(result.refusals.begin(), result.refusals.end(),
                     [](const Refusal& a, const Refusal& b) { return a.block < b.block; });
  }

  OffloadContext context_;
  std::vector<OffloadCandidate> qualifying_;
  std::map<uint32_t, LoopFound> loops_;
  std::map<BlockId, Evaluation> blocks_;  ///< best run of each block with accesses
  std::vector<Cover> covered_;
};

/// The number without its sign; the least one has no such number of 64 bits with a sign.
uint64_t magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

std::string trip_text(const Kernel& kernel, const TripCount& count) {
  std::string text;
  std::vector<LinearTerm> terms = count.terms;  // positive ones first
  std::stable_partition(terms.begin(), terms.end(),
                        [](const LinearTerm& term) { return term.coefficient > 0; });
  for (const LinearTerm& term : terms) {
    const char* sign = term.coefficient < 0 ? (text.empty() ? "-" : " - ")
                       : text.empty()       ? ""
                                            : " + ";
    text += sign;
    if (magnitude(term.coefficient) != 1) text += fmt::format("{}*", magnitude(term.coefficient));
    text += kernel.registers[term.reg].name;
  }
  if (count.constant != 0 || text.empty()) {
    if (text.empty()) {
      text = fmt::format("{}", count.constant);
    } else {
      text += fmt::format(" {} {}", count.constant < 0 ? '-' : '+', magnitude(count.constant));
    }
  }
  const bool simple = count.terms.size() + (count.constant != 0) <= 1;
  if (!simple) text = fmt::format("({})", text);
  if (count.step_reg != kNone) {
    text += " / " + kernel.registers[count.step_reg].name;
  } else if (count.step != 1) {
    text += fmt::format(" / {}", count.step);
  }
  if (count.extra != 0)
    text = fmt::format("({} {} {})", text, count.extra < 0 ? '-' : '+', magnitude(count.extra));
  return text;
}

}  // namespace

SelectionResult analyze_offloading(const Kernel& kernel, const OffloadModel& model) {
  return Selection(kernel, model).run();
}

std::vector<OffloadCandidate> select_candidates(const Kernel& kernel, const OffloadModel& model) {
  return analyze_offloading(kernel, model).candidates;
}

std::string condition_text(const Kernel& kernel, const OffloadCondition& condition) {
  std::string text;
  for (const TripCount& factor : condition.factors) {
    if (!text.empty()) text += " * ";
    const std::string part = trip_text(kernel, factor);
    const bool compound = condition.factors.size() > 1 && part.find(" / ") != std::string::npos;
    text += compound ? fmt::format("({})", part) : part;
  }
  return fmt::format("{} >= {}", text, condition.threshold_iterations);
}

const char* reason_text(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kSharedMemory:
      return "accesses shared memory";
    case RefusalReason::kSharedUnknown:
      return "accesses shared memory, and which array or how much of it is not known";
    case RefusalReason::kSharedSeveral:
      return "accesses more than one shared array";
    case RefusalReason::kSharedPattern:
      return "accesses a shared array that is neither only read nor only added to";
    case RefusalReason::kSharedFull:
      return "accesses a shared array for which a stack SM has no room";
    case RefusalReason::kBarrier:
      return "contains a barrier, fence or synchronising access";
    case RefusalReason::kAtomic:
      return "contains an atomic operation";
    case RefusalReason::kDivergentExit:
      return "threads may leave it to different places";
    case RefusalReason::kNoMemoryAccess:
      return "has no load or store to save";
    case RefusalReason::kSavesNothing:
      return "would not save traffic";
    case RefusalReason::kGranularity:
      return "is larger than what is considered";
    case RefusalReason::kOverlap:
      return "overlaps candidates that save more";
    case RefusalReason::kTableFull:
      return "the offloading metadata table is full";
  }
  return "";
}

}  // namespace nearwarp::compiler
