// Places in a kernel's code.
#include "host/functional/racecheck/kernel_places.h"

#include <algorithm>
#include <array>

namespace nearwarp::racecheck {

using compiler::Block;
using compiler::kNone;

KernelPlaces::KernelPlaces(const compiler::Kernel& kernel) : kernel_(kernel) {
  constexpr uint32_t kOfPtx = ~0u;  // in place of a file
  std::map<std::array<uint32_t, 4>, uint32_t> lines;
  first_.reserve(kernel.instructions.size());
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const compiler::Instruction& in = kernel.instructions[i];
    std::array<uint32_t, 4> line = {kOfPtx, in.ptx_line, 0, 0};
    if (in.source_line != 0)
      line = {in.source_file, in.source_line, in.caller_file, in.caller_line};
    first_.push_back(lines.try_emplace(line, i).first->second);
  }
}

uint32_t KernelPlaces::block_of(uint32_t instruction) const {
  const auto after = std::upper_bound(kernel_.blocks.begin(), kernel_.blocks.end(), instruction,
                                      [](uint32_t i, const Block& b) { return i < b.first; });
  return static_cast<uint32_t>(after - kernel_.blocks.begin()) - 1;
}

bool KernelPlaces::reaches(uint32_t from, uint32_t to) const {
  std::vector<bool> seen(kernel_.blocks.size(), false);
  std::vector<uint32_t> open = {from};
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    for (const uint32_t next : kernel_.blocks[block].successors) {
      if (next == to) return true;
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  return false;
}

bool KernelPlaces::past(uint32_t barrier, uint32_t instruction) {
  if (barrier >= kernel_.instructions.size() || instruction >= kernel_.instructions.size())
    return false;
  const uint32_t from = block_of(barrier), to = block_of(instruction);
  const auto [it, is_new] = past_.try_emplace({from, to}, false);
  if (!is_new) return it->second;
  uint32_t block = kernel_.blocks[from].ipdom;
  while (block != kNone && block != to) block = kernel_.blocks[block].ipdom;
  return it->second = block == to && !reaches(to, from);
}

bool KernelPlaces::only_ends(uint32_t block) const {
  const Block& b = kernel_.blocks[block];
  for (uint32_t i = b.first; i < b.first + b.count; ++i) {
    const compiler::Instruction& in = kernel_.instructions[i];
    const bool ends = in.op == ptx::Opcode::kRet || in.op == ptx::Opcode::kExit;
    if (!ends && in.op != ptx::Opcode::kBra && in.op != ptx::Opcode::kNop) return false;
    if (in.guard != kNone) return false;
  }
  return b.successors.empty() ||
         (b.successors.size() == 1 && b.successors[0] > block && only_ends(b.successors[0]));
}

}  // namespace nearwarp::racecheck
