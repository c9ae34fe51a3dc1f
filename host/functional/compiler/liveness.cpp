// Liveness of virtual registers: each followed from its reads back to its writes.
#include "host/functional/compiler/liveness.h"

#include <algorithm>

#include "host/functional/compiler/graph.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::compiler {
namespace {

// Live registers, summed over blocks: 1 GiB. The largest kernel met, this project's own that steps
// systems, has more than half as many.
constexpr uint64_t kMostEntries = uint64_t{1} << 27;

// For every register, the blocks that read it before they write it, and those that write it without
// a guard. Only registers of the first kind can be live across an edge.
struct Exposure {
  std::vector<std::vector<BlockId>> reads, kills;
};

Exposure find_exposure(const Kernel& kernel) {
  Exposure exposure;
  exposure.reads.resize(kernel.registers.size());
  exposure.kills.resize(kernel.registers.size());
  const auto note = [](std::vector<BlockId>& blocks, BlockId b) {
    if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
  };
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instr = kernel.instructions[i];
      for_each_use(instr, [&](RegId r) {
        const std::vector<BlockId>& kills = exposure.kills[r];
        if (kills.empty() || kills.back() != b) note(exposure.reads[r], b);
      });
      if (instr.guard == kNone) for_each_def(instr, [&](RegId r) { note(exposure.kills[r], b); });
    }
  }
  return exposure;
}

}  // namespace

bool compute_liveness(Kernel* kernel) {
  const size_t num_blocks = kernel->blocks.size();
  const Exposure exposure = find_exposure(*kernel);
  kernel->live_in.assign(num_blocks, {});
  kernel->live_out.assign(num_blocks, {});
  Graph graph(num_blocks);
  for (BlockId b = 0; b < num_blocks; ++b) graph[b] = kernel->blocks[b].successors;
  std::vector<bool> reached(num_blocks, false);
  for (const BlockId b : reverse_postorder(graph)) reached[b] = true;

  // One register after the other, from its reads backwards to its writes: what is visited is what
  // is live, however many blocks and registers there are.
  std::vector<RegId> killed_in(num_blocks, kNone), live_at_begin(num_blocks, kNone),
      live_at_end(num_blocks, kNone);
  std::vector<BlockId> work;
  uint64_t entries = 0;
  for (RegId r = 0; r < kernel->registers.size(); ++r) {
    const auto begin = [&](BlockId b) {
      if (!reached[b] || live_at_begin[b] == r) return;
      live_at_begin[b] = r;
      kernel->live_in[b].push_back(r);
      work.push_back(b);
    };
    if (exposure.reads[r].empty()) continue;
    for (const BlockId b : exposure.kills[r]) killed_in[b] = r;
    for (const BlockId b : exposure.reads[r]) begin(b);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (const BlockId p : kernel->blocks[b].predecessors) {
        if (!reached[p] || live_at_end[p] == r) continue;
        live_at_end[p] = r;
        kernel->live_out[p].push_back(r);
        if (++entries > kMostEntries) return false;
        if (killed_in[p] != r) begin(p);
      }
    }
  }

  std::vector<BlockId> home(kernel->registers.size(), kNone);
  for (size_t r = 0; r < home.size(); ++r) {
    kernel->registers[r].block_local = exposure.reads[r].empty();
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

}  // namespace nearwarp::compiler
