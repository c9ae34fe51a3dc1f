// Finds the loops inside candidates, and the registers that are live at their headers.
#include "host/mechanisms/tom/pass/loop_heads.h"

#include <algorithm>
#include <set>

#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {

namespace {

using Bits = BlockRegisters::Bits;

bool contains(const std::vector<BlockId>& sorted, BlockId block) {
  return std::binary_search(sorted.begin(), sorted.end(), block);
}
Bits bits_of(const Kernel& kernel, const std::vector<RegId>& registers) {
  Bits bits((kernel.registers.size() + 63) / 64, 0);
  for (const RegId r : registers) bits[r / 64] |= uint64_t{1} << (r % 64);
  return bits;
}
std::vector<RegId> members(const Bits& bits) {
  std::vector<RegId> list;
  for (RegId r = 0; r < bits.size() * 64; ++r)
    if ((bits[r / 64] >> (r % 64) & 1) != 0) list.push_back(r);
  return list;
}

bool is_inside(const std::vector<BlockId>& blocks, const Loop& loop) {
  return std::includes(blocks.begin(), blocks.end(), loop.blocks.begin(), loop.blocks.end());
}

bool is_chosen(const Kernel& kernel, const OffloadCandidate& c, uint32_t loop, LoopChoice choice) {
  if (!is_inside(c.blocks, kernel.loops[loop])) return false;
  if (choice == LoopChoice::kInnermost)
    return std::none_of(kernel.loops.begin(), kernel.loops.end(),
                        [&](const Loop& other) { return other.parent == loop; });
  const uint32_t parent = kernel.loops[loop].parent;
  return parent == kNone || !is_inside(c.blocks, kernel.loops[parent]);
}

/// The blocks of the candidate that can be reached from `header`, and `header` itself.
std::vector<BlockId> ahead_of(const Kernel& kernel, const OffloadCandidate& c, BlockId header) {
  std::set<BlockId> seen = {header};
  std::vector<BlockId> open = {header};
  while (!open.empty()) {
    const BlockId b = open.back();
    open.pop_back();
    for (const BlockId s : kernel.blocks[b].successors)
      if (contains(c.blocks, s) && seen.insert(s).second) open.push_back(s);
  }
  return {seen.begin(), seen.end()};
}

/// The registers that are live at the beginning of `header`, considering the candidate alone and
/// its live-outs as live behind it.
Bits live_at(const Kernel& kernel, const BlockRegisters& registers, const OffloadCandidate& c,
             const std::vector<BlockId>& ahead, BlockId header) {
  const Bits at_exit = bits_of(kernel, c.live_outs);
  std::vector<Bits> in;
  for (const BlockId b : ahead) in.push_back(registers.exposed(b));
  const auto index = [&](BlockId b) {
    return static_cast<size_t>(std::lower_bound(ahead.begin(), ahead.end(), b) - ahead.begin());
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = ahead.size(); i-- > 0;) {
      const Bits& killed = registers.killed(ahead[i]);
      for (const BlockId s : kernel.blocks[ahead[i]].successors) {
        const Bits& next = contains(ahead, s) ? in[index(s)] : at_exit;
        for (size_t w = 0; w < next.size(); ++w) {
          const uint64_t updated = in[i][w] | (next[w] & ~killed[w]);
          changed |= updated != in[i][w];
          in[i][w] = updated;
        }
      }
    }
  }
  return in[index(header)];
}

/// The registers that the candidate writes.
Bits written_by(const Kernel& kernel, const OffloadCandidate& c) {
  std::vector<RegId> written;
  for (const BlockId b : c.blocks) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      if (b == c.entry && i < c.first_instruction) continue;
      for (const RegId r : defs(kernel.instructions[i])) written.push_back(r);
    }
  }
  return bits_of(kernel, written);
}

}  // namespace

std::vector<CandidateLoop> loops_of(const Kernel& kernel, const BlockRegisters& registers,
                                    const OffloadCandidate& candidate, LoopChoice choice) {
  std::vector<CandidateLoop> result;
  if (candidate.kind == CandidateKind::kBlock) return result;
  const Bits written = written_by(kernel, candidate);
  for (uint32_t l = 0; l < kernel.loops.size(); ++l) {
    if (!is_chosen(kernel, candidate, l, choice)) continue;
    CandidateLoop one;
    one.loop = l;
    one.header = kernel.loops[l].header;
    const std::vector<BlockId> ahead = ahead_of(kernel, candidate, one.header);
    std::set<ptx::SpecialReg> specials;
    for (const BlockId b : ahead)
      for (uint32_t i = 0; i < kernel.blocks[b].count; ++i)
        for (const ptx::SpecialReg s :
             special_uses(kernel.instructions[kernel.blocks[b].first + i]))
          specials.insert(s);
    const Bits live = live_at(kernel, registers, candidate, ahead, one.header);
    one.live_in_bytes =
        packed_bytes(kernel, members(live)) + 4 * static_cast<uint32_t>(specials.size());
    Bits changed = bits_of(kernel, kernel.live_in[one.header]);
    for (size_t w = 0; w < changed.size(); ++w) changed[w] &= written[w];
    one.changed_bytes = packed_bytes(kernel, members(changed));
    result.push_back(one);
  }
  std::sort(result.begin(), result.end(),
            [](const CandidateLoop& a, const CandidateLoop& b) { return a.header < b.header; });
  return result;
}

}  // namespace nearwarp::compiler
