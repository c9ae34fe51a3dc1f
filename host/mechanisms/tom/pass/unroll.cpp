// Finds the loops and the copies of a body that nvcc made of one source loop by unrolling it.
#include <algorithm>
#include <bit>
#include <optional>

#include "host/mechanisms/tom/pass/facts.h"
#include "host/mechanisms/tom/pass/trips.h"

namespace nearwarp::compiler {

using ptx::Compare;
using ptx::Opcode;

namespace {

constexpr uint64_t kMaxUnroll = 64;

OffloadTerms accesses_of(const Kernel& kernel, const std::vector<BlockId>& blocks) {
  OffloadTerms terms;
  for (BlockId b : blocks) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      terms.n_ld += is_counted_load(kernel.instructions[i]);
      terms.n_st += is_counted_store(kernel.instructions[i]);
    }
  }
  return terms;
}

bool is_immediate(const Operand& operand) { return operand.kind == Operand::Kind::kImmediate; }
bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::kRegister; }

/// The unroll factor, if `i` computes the iterations that remain for it: `and x, n, unroll - 1` or
/// `rem x, n, unroll`.
std::optional<uint32_t> unroll_of_split(const Instruction& i) {
  if ((i.op != Opcode::kAnd && i.op != Opcode::kRem) || i.guard != kNone || i.srcs.size() != 2 ||
      i.dsts.size() != 1 || i.dsts[0] == kNone || !is_register(i.srcs[0]) ||
      !is_immediate(i.srcs[1])) {
    return std::nullopt;
  }
  const uint64_t unroll = i.op == Opcode::kAnd ? i.srcs[1].bits + 1 : i.srcs[1].bits;
  if (unroll < 2 || unroll > kMaxUnroll) return std::nullopt;
  if (i.op == Opcode::kAnd && !std::has_single_bit(unroll)) return std::nullopt;
  return static_cast<uint32_t>(unroll);
}

/// `reg` as a sum of other registers, expanded along definitions as long as a register has only
/// one. nvcc may compute a value twice rather than keep it: equal sums tell that two registers hold
/// the same value.
LinearSum expanded(const Kernel& kernel, const Definitions& definitions, RegId reg, int depth = 0) {
  LinearSum itself;
  itself.terms[reg] = 1;
  const std::vector<InstrId>& written = definitions.of(reg);
  if (written.size() != 1 || depth > 16) return itself;
  const auto sum = linear_definition(kernel.instructions[written[0]]);
  if (!sum) return itself;
  LinearSum result;
  result.constant = sum->constant;
  for (const auto& [term, coefficient] : sum->terms) {
    if (definitions.of(term).size() != 1) return itself;
    result.add(expanded(kernel, definitions, term, depth + 1), coefficient);
  }
  return result;
}

/// The remainder of a number of iterations, which several instructions may compute.
struct Split {
  RegId rest = kNone;   ///< a register that holds the remainder
  uint32_t unroll = 1;  ///< the divisor
  LinearSum count;      ///< the number of iterations

  /// Does `reg` hold this remainder?
  bool is(const Kernel& kernel, const Definitions& definitions, RegId reg) const {
    if (reg == rest) return true;
    const std::vector<InstrId>& written = definitions.of(reg);
    if (written.size() != 1) return false;
    const Instruction& i = kernel.instructions[written[0]];
    return unroll_of_split(i) == unroll && expanded(kernel, definitions, i.srcs[0].reg) == count;
  }
};

/// The loop nearest to block `near` that may be the main loop: it has this parent, its step is a
/// multiple of `unroll`, and it has `unroll` times the accesses `one` of an iteration. kNone: none.
uint32_t main_loop(const Kernel& kernel, const std::vector<LoopTrips>& trips,
                   const std::vector<bool>& taken, uint32_t parent, BlockId near,
                   const OffloadTerms& one, uint32_t unroll) {
  uint32_t best = kNone, distance = kNone;
  for (uint32_t m = 0; m < kernel.loops.size(); ++m) {
    const Loop& loop = kernel.loops[m];
    if (taken[m] || loop.parent != parent || !trips[m].known || trips[m].step_reg != kNone ||
        trips[m].step % unroll != 0) {
      continue;
    }
    const OffloadTerms all = accesses_of(kernel, loop.blocks);
    if (all.n_ld != one.n_ld * unroll || all.n_st != one.n_st * unroll) continue;
    const uint32_t apart = loop.header < near ? near - loop.header : loop.header - near;
    if (apart >= distance) continue;
    distance = apart;
    best = m;
  }
  return best;
}

/// The instruction in front of a loop that defines its counter, if the loop may be a remainder
/// loop, which counts that register in steps of 1.
std::optional<InstrId> split_of_counter(const Definitions& definitions, const LoopTrips& rest,
                                        const Loop& loop) {
  if (!rest.known || rest.step != 1 || rest.step_reg != kNone) return std::nullopt;
  std::optional<InstrId> split;
  for (InstrId d : definitions.of(rest.induction)) {
    if (std::binary_search(loop.blocks.begin(), loop.blocks.end(), definitions.block(d))) continue;
    if (split) return std::nullopt;
    split = d;
  }
  return split;
}

/// The block that runs if the remainder is more than `k`, if block `b` ends with a branch on
/// (rest == k) or (rest != k).
std::optional<BlockId> beyond(const Kernel& kernel, const Definitions& definitions, BlockId b,
                              const Split& split, uint64_t k) {
  const Block& block = kernel.blocks[b];
  if (block.count == 0 || block.successors.size() != 2) return std::nullopt;
  const Instruction& branch = kernel.instructions[block.first + block.count - 1];
  if (branch.op != Opcode::kBra || branch.guard == kNone) return std::nullopt;
  const std::vector<InstrId>& tests = definitions.of(branch.guard);
  if (tests.size() != 1) return std::nullopt;
  const Instruction& test = kernel.instructions[tests[0]];
  if (test.op != Opcode::kSetp || test.srcs.size() != 2 || !is_register(test.srcs[0]) ||
      !split.is(kernel, definitions, test.srcs[0].reg) || !is_immediate(test.srcs[1]) ||
      test.srcs[1].bits != k || test.mod.bool_op != ptx::BoolOp::kNone ||
      (test.mod.compare != Compare::kEq && test.mod.compare != Compare::kNe)) {
    return std::nullopt;
  }
  const bool taken_is_equal = (test.mod.compare == Compare::kEq) != branch.guard_negated;
  return block.successors[taken_is_equal ? 1 : 0];
}

/// The copies of the body behind comparisons of the remainder with 0, 1, .. unroll - 2, of which
/// the first is at the end of block `first`; empty if there is no such chain.
std::vector<std::vector<BlockId>> copies_behind(const Kernel& kernel,
                                                const Definitions& definitions, BlockId first,
                                                const Split& split) {
  std::vector<BlockId> starts;
  BlockId decision = first;
  for (uint32_t k = 0; k + 1 < split.unroll; ++k) {
    if (k > 0) {
      // The next comparison is at the end of the copy, which may have several blocks.
      decision = kNone;
      for (BlockId b = 0; b < kernel.blocks.size() && decision == kNone; ++b) {
        if (dominates(kernel, starts.back(), b) && beyond(kernel, definitions, b, split, k))
          decision = b;
      }
      if (decision == kNone) return {};
    }
    const auto start = beyond(kernel, definitions, decision, split, k);
    if (!start || kernel.blocks[*start].predecessors.size() != 1) return {};
    starts.push_back(*start);
  }
  std::vector<std::vector<BlockId>> copies(starts.size());
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    for (size_t k = starts.size(); k-- > 0;) {
      if (!dominates(kernel, starts[k], b)) continue;
      copies[k].push_back(b);
      break;
    }
  }
  return copies;
}

}  // namespace

std::vector<UnrolledLoop> unrolled_loops(const Kernel& kernel, const Definitions& definitions,
                                         const std::vector<LoopTrips>& trips) {
  std::vector<UnrolledLoop> result;
  std::vector<bool> taken(kernel.loops.size(), false);
  for (uint32_t r = 0; r < kernel.loops.size(); ++r) {
    const Loop& loop = kernel.loops[r];
    if (taken[r]) continue;
    const auto split = split_of_counter(definitions, trips[r], loop);
    if (!split) continue;
    const auto unroll = unroll_of_split(kernel.instructions[*split]);
    if (!unroll) continue;
    taken[r] = true;  // so that main_loop() does not find the remainder loop itself
    const uint32_t main = main_loop(kernel, trips, taken, loop.parent, loop.header,
                                    accesses_of(kernel, loop.blocks), *unroll);
    taken[r] = main != kNone;
    if (main == kNone) continue;
    taken[main] = true;
    result.push_back({main, r, {}, *unroll, *split});
  }

  for (InstrId at = 0; at < kernel.instructions.size(); ++at) {
    const auto unroll = unroll_of_split(kernel.instructions[at]);
    if (!unroll) continue;
    const Instruction& i = kernel.instructions[at];
    if (definitions.of(i.dsts[0]).size() != 1) continue;
    const Split split{i.dsts[0], *unroll, expanded(kernel, definitions, i.srcs[0].reg)};
    for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
      if (!beyond(kernel, definitions, b, split, 0)) continue;
      auto copies = copies_behind(kernel, definitions, b, split);
      if (copies.empty()) continue;
      const OffloadTerms one = accesses_of(kernel, copies[0]);
      const bool alike = std::all_of(copies.begin(), copies.end(), [&](const auto& copy) {
        const OffloadTerms terms = accesses_of(kernel, copy);
        return terms.n_ld == one.n_ld && terms.n_st == one.n_st;
      });
      if (!alike) continue;
      const uint32_t main = main_loop(kernel, trips, taken, kernel.blocks[b].loop, b, one, *unroll);
      if (main == kNone) continue;
      taken[main] = true;
      result.push_back({main, kNone, std::move(copies), *unroll, at});
    }
  }
  return result;
}

}  // namespace nearwarp::compiler
