// Moves instructions so that those of a chain follow one another.
#include "host/mechanisms/opportunistic/pass/reorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/functional/compiler/visit.h"

namespace nearwarp::opportunistic {

namespace {

using compiler::InstrId;
using compiler::Instruction;
using compiler::Kernel;
using compiler::RegId;
using ptx::Opcode;

/// May the instruction be moved: does it only compute registers from registers, or load a
/// parameter?
bool can_move(const Instruction& in) {
  if (in.op == Opcode::kLd) return in.mod.space == ptx::Space::kParam;
  switch (in.op) {
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kPrefetch:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kCpAsync:
    case Opcode::kMbarrier:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
      return false;
    default:
      return in.op < Opcode::kPrefetch;  // arithmetic, logic, comparison, moves
  }
}

/// The registers that a set of instructions reads and writes.
struct Touched {
  std::set<RegId> reads, writes;

  void add(const Instruction& in) {
    compiler::for_each_use(in, [&](RegId r) { reads.insert(r); });
    compiler::for_each_def(in, [&](RegId r) { writes.insert(r); });
  }
  /// Can the instruction be moved in front of all of them?
  bool lets_pass(const Instruction& in) const {
    bool free = true;
    compiler::for_each_use(in, [&](RegId r) { free = free && writes.count(r) == 0; });
    compiler::for_each_def(
        in, [&](RegId r) { free = free && writes.count(r) == 0 && reads.count(r) == 0; });
    return free;
  }
};

}  // namespace

std::string bring_together(const Kernel& kernel, Chain& c) {
  const InstrId first = c.instructions.front(), last = c.instructions.back();
  Touched stay;  // registers of the chain's instructions, and of those that are moved behind it
  Touched sunk;  // registers of the instructions that are moved behind the chain
  for (InstrId i = first; i <= last; ++i) {
    const Instruction& in = kernel.instructions[i];
    if (std::binary_search(c.instructions.begin(), c.instructions.end(), i)) {
      if (!sunk.lets_pass(in))
        return fmt::format("line {} needs what lies in between", in.ptx_line);
      stay.add(in);
      continue;
    }
    if (!can_move(in))
      return fmt::format("{} lies in between (line {})",
                         in.address.base != compiler::kNone || in.address.symbol != compiler::kNone
                             ? "a memory access"
                             : "an instruction that must not move",
                         in.ptx_line);
    if (stay.lets_pass(in)) {
      c.hoisted.push_back(i);
    } else {
      c.sunk.push_back(i);
      sunk.add(in);
      stay.add(in);
    }
  }
  return {};
}

}  // namespace nearwarp::opportunistic
