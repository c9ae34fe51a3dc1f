// Cuts straight-line code into basic blocks and removes those that cannot be reached.
#include <algorithm>
#include <unordered_set>

#include "host/functional/compiler/graph.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::compiler {
namespace {

using ptx::Opcode;

// Does this instruction end its basic block?
bool ends_block(const Instruction& instr) {
  switch (instr.op) {
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kBar:
    case Opcode::kBarRed:
    case Opcode::kWgmmaWait:
    case Opcode::kPhaseWait:
    case Opcode::kSystem:
      return true;
    case Opcode::kTrap:
      return instr.guard == kNone;
    default:
      return false;
  }
}

bool falls_through(const Instruction& instr) {
  return !ends_block(instr) || instr.guard != kNone || instr.op == Opcode::kBar ||
         instr.op == Opcode::kBarRed || instr.op == Opcode::kWgmmaWait ||
         instr.op == Opcode::kPhaseWait || instr.op == Opcode::kSystem;
}

// Begins a new block at an instruction whose register operand, a mask of lanes, is defined in the
// same block: lanes of the mask wait for each other at the head of the block, where it must have
// its value.
void part_members_from_their_use(const std::vector<Instruction>& flat, std::vector<bool>* leader) {
  std::unordered_set<RegId> defined;  // registers defined since the last leader
  for (uint32_t i = 0; i < flat.size(); ++i) {
    if ((*leader)[i]) defined.clear();
    const Operand* members = members_of(flat[i]);
    if (members != nullptr && members->kind == OperandKind::kRegister &&
        defined.count(members->reg) != 0) {
      (*leader)[i] = true;
      defined.clear();
    }
    for_each_def(flat[i], [&](RegId reg) { defined.insert(reg); });
  }
}

void append_unique(std::vector<uint32_t>* list, uint32_t value) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(value);
}

}  // namespace

void build_blocks(FlatCode code, Kernel* kernel) {
  std::vector<Instruction>& flat = code.instructions;
  const auto size = static_cast<uint32_t>(flat.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  for (uint32_t i = 0; i < size; ++i) {
    if (ends_block(flat[i])) leader[i + 1] = true;
    for (const uint32_t label : flat[i].targets) leader[code.labels[label]] = true;
    // A wait for an mbarrier's phase is repeated from the head of its block.
    if (flat[i].op == Opcode::kPhaseWait) leader[i - flat[i].mod.detail] = true;
    if (flat[i].after_call != kNone) leader[code.labels[flat[i].after_call]] = true;
  }
  part_members_from_their_use(flat, &leader);
  std::vector<uint32_t> block_of(size + 1, kNone), first;
  for (uint32_t i = 0; i < size; ++i) {
    if (leader[i]) first.push_back(i);
    block_of[i] = static_cast<uint32_t>(first.size() - 1);
  }
  const auto num_blocks = static_cast<uint32_t>(first.size());
  first.push_back(size);
  // Lowering ends the code with an unguarded ret, so that every fall-through has a next block, and
  // labels at the very end stand before that ret.
  Graph graph(num_blocks);
  for (uint32_t b = 0; b < num_blocks; ++b) {
    Instruction& last = flat[first[b + 1] - 1];
    for (uint32_t& target : last.targets) target = block_of[code.labels[target]];
    if (last.after_call != kNone) last.after_call = block_of[code.labels[last.after_call]];
    if (last.op == Opcode::kBra) {
      graph[b] = last.targets;
    } else {
      for (const uint32_t target : last.targets) append_unique(&graph[b], target);
    }
    if (falls_through(last) && b + 1 < num_blocks) {
      if (last.op == Opcode::kBra) {
        graph[b].push_back(b + 1);
      } else {
        append_unique(&graph[b], b + 1);
      }
    }
  }
  std::vector<uint32_t> reachable = reverse_postorder(graph);
  std::sort(reachable.begin(), reachable.end());
  std::vector<uint32_t> number(num_blocks, kNone);
  for (uint32_t i = 0; i < reachable.size(); ++i) number[reachable[i]] = i;
  kernel->blocks.resize(reachable.size());
  kernel->instructions.reserve(size);
  for (uint32_t i = 0; i < reachable.size(); ++i) {
    const uint32_t old = reachable[i];
    Block& block = kernel->blocks[i];
    block.first = static_cast<InstrId>(kernel->instructions.size());
    block.count = first[old + 1] - first[old];
    for (const uint32_t s : graph[old]) block.successors.push_back(number[s]);
    for (uint32_t k = first[old]; k < first[old + 1]; ++k) {
      for (uint32_t& target : flat[k].targets) target = number[target];
      if (flat[k].after_call != kNone) flat[k].after_call = number[flat[k].after_call];
      kernel->instructions.push_back(std::move(flat[k]));
    }
  }
  for (uint32_t b = 0; b < kernel->blocks.size(); ++b) {
    for (const uint32_t s : kernel->blocks[b].successors) {
      std::vector<uint32_t>& list = kernel->blocks[s].predecessors;
      if (list.empty() || list.back() != b) list.push_back(b);
    }
  }
}

}  // namespace nearwarp::compiler
