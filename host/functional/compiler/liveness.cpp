// Liveness of virtual registers: backward data flow over bit sets.
#include "host/functional/compiler/liveness.h"

#include <algorithm>
#include <bit>

#include "host/functional/compiler/graph.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::compiler {
namespace {

constexpr uint64_t kMaxWords = uint64_t{1} << 22;  // 32 MiB per family of sets

// Only registers that some block reads before it writes them can be live across an edge; numbering
// these keeps the sets small.
struct CrossBlock {
  std::vector<uint32_t> number;  // register -> dense index or kNone
  std::vector<RegId> registers;
};

CrossBlock find_cross_block(const Kernel& kernel) {
  CrossBlock cross;
  cross.number.assign(kernel.registers.size(), kNone);
  std::vector<BlockId> killed_in(kernel.registers.size(), kNone);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instr = kernel.instructions[i];
      for_each_use(instr, [&](RegId r) {
        if (killed_in[r] != b && cross.number[r] == kNone) {
          cross.number[r] = static_cast<uint32_t>(cross.registers.size());
          cross.registers.push_back(r);
        }
      });
      if (instr.guard == kNone) for_each_def(instr, [&](RegId r) { killed_in[r] = b; });
    }
  }
  return cross;
}

}  // namespace

bool compute_liveness(Kernel* kernel) {
  const CrossBlock cross = find_cross_block(*kernel);
  const size_t num_blocks = kernel->blocks.size();
  const size_t words = (cross.registers.size() + 63) / 64;
  if (num_blocks * words > kMaxWords) return false;
  std::vector<uint64_t> use(num_blocks * words), kill(num_blocks * words);
  std::vector<uint64_t> in(num_blocks * words), out(num_blocks * words);
  Graph graph(num_blocks);
  for (BlockId b = 0; b < num_blocks; ++b) {
    const Block& block = kernel->blocks[b];
    graph[b] = block.successors;
    uint64_t* block_use = use.data() + b * words;
    uint64_t* block_kill = kill.data() + b * words;
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instr = kernel->instructions[i];
      for_each_use(instr, [&](RegId r) {
        const uint32_t n = cross.number[r];
        if (n != kNone && !(block_kill[n / 64] >> n % 64 & 1)) {
          block_use[n / 64] |= uint64_t{1} << n % 64;
        }
      });
      if (instr.guard != kNone) continue;
      for_each_def(instr, [&](RegId r) {
        const uint32_t n = cross.number[r];
        if (n != kNone) block_kill[n / 64] |= uint64_t{1} << n % 64;
      });
    }
  }
  const std::vector<uint32_t> order = reverse_postorder(graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const size_t base = *it * words;
      for (const BlockId s : graph[*it]) {
        for (size_t w = 0; w < words; ++w) out[base + w] |= in[s * words + w];
      }
      for (size_t w = 0; w < words; ++w) {
        const uint64_t next = use[base + w] | (out[base + w] & ~kill[base + w]);
        changed = changed || next != in[base + w];
        in[base + w] = next;
      }
    }
  }
  const auto list = [&](const std::vector<uint64_t>& sets, size_t b) {
    std::vector<RegId> ids;
    for (size_t w = 0; w < words; ++w) {
      for (uint64_t bits = sets[b * words + w]; bits != 0; bits &= bits - 1) {
        ids.push_back(cross.registers[w * 64 + static_cast<size_t>(std::countr_zero(bits))]);
      }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  kernel->live_in.resize(num_blocks);
  kernel->live_out.resize(num_blocks);
  for (size_t b = 0; b < num_blocks; ++b) {
    kernel->live_in[b] = list(in, b);
    kernel->live_out[b] = list(out, b);
  }

  std::vector<BlockId> home(kernel->registers.size(), kNone);
  for (size_t r = 0; r < home.size(); ++r) {
    kernel->registers[r].block_local = cross.number[r] == kNone;
  }
  for (BlockId b = 0; b < num_blocks; ++b) {
    const auto visit = [&](RegId r) {
      if (home[r] != kNone && home[r] != b) kernel->registers[r].block_local = false;
      home[r] = b;
    };
    const Block& block = kernel->blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      for_each_use(kernel->instructions[i], visit);
      for_each_def(kernel->instructions[i], visit);
    }
  }
  return true;
}

uint32_t occupancy_registers(const Kernel& kernel, uint32_t sm_registers, uint64_t block_threads) {
  constexpr uint32_t kMost = 255, kLeast = 16, kStep = 8;
  uint32_t limit = kMost;
  const auto fit = [&](uint64_t threads, uint64_t blocks) {
    const uint64_t whole = (threads + 31) / 32 * 32 * blocks;
    limit = std::min(limit, static_cast<uint32_t>(sm_registers / whole) / kStep * kStep);
  };
  if (kernel.bounds.max_threads != 0)
    fit(kernel.bounds.max_threads, std::max(kernel.bounds.min_blocks, 1u));
  if (block_threads != 0) fit(block_threads, 1);
  if (kernel.bounds.max_registers != 0) limit = std::min(limit, kernel.bounds.max_registers);
  return std::min(kernel.num_physical, std::max(limit, kLeast));
}

}  // namespace nearwarp::compiler
