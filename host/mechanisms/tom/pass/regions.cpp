// Finds regions, and the registers that are live at their borders.
#include "host/mechanisms/tom/pass/regions.h"

#include <algorithm>
#include <set>

#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {
namespace {

using Bits = BlockRegisters::Bits;

bool test(const Bits& bits, RegId reg) { return bits[reg / 64] >> (reg % 64) & 1; }
void set(Bits& bits, RegId reg) { bits[reg / 64] |= uint64_t{1} << (reg % 64); }
void clear(Bits& bits, RegId reg) { bits[reg / 64] &= ~(uint64_t{1} << (reg % 64)); }

std::vector<RegId> members(const Bits& bits) {
  std::vector<RegId> result;
  for (size_t word = 0; word < bits.size(); ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
      result.push_back(static_cast<RegId>(word * 64 + __builtin_ctzll(rest)));
  }
  return result;
}

/// The blocks that can be reached from `entry` without passing `exit`; empty if they are too many.
std::vector<BlockId> reachable(const Kernel& kernel, BlockId entry, BlockId exit) {
  const size_t most = std::clamp<size_t>(kMaxRegionBlocks * kMaxRegionBlocks / kernel.blocks.size(),
                                         32, kMaxRegionBlocks);
  std::vector<bool> seen(kernel.blocks.size(), false);
  std::vector<BlockId> result{entry};
  seen[entry] = true;
  for (size_t head = 0; head < result.size(); ++head) {
    if (result.size() > most) return {};
    for (BlockId s : kernel.blocks[result[head]].successors) {
      if (s == exit || seen[s]) continue;
      seen[s] = true;
      result.push_back(s);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool has(const std::vector<BlockId>& sorted, BlockId block) {
  return std::binary_search(sorted.begin(), sorted.end(), block);
}

/// The registers that are live at the end of the entry block, if `exit_live` are live at the exit.
Bits live_after_entry(const Kernel& kernel, const BlockRegisters& registers, const Region& region,
                      const Bits& exit_live) {
  const size_t words = exit_live.size();
  const auto index = [&](BlockId b) {
    return std::lower_bound(region.blocks.begin(), region.blocks.end(), b) - region.blocks.begin();
  };
  std::vector<Bits> in(region.blocks.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = registers.exposed(region.blocks[i]);
  bool backwards = false;  // is there an edge to the same block, or to one in front of it?
  Bits out(words);
  const auto out_of = [&](BlockId b) {
    std::fill(out.begin(), out.end(), 0);
    for (BlockId s : kernel.blocks[b].successors) {
      const Bits& next = s == region.exit ? exit_live : in[index(s)];
      backwards |= s != region.exit && s <= b;
      for (size_t w = 0; w < words; ++w) out[w] |= next[w];
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = in.size(); i-- > 0;) {
      out_of(region.blocks[i]);
      Bits& live = in[i];
      const Bits& killed = registers.killed(region.blocks[i]);
      for (size_t w = 0; w < words; ++w) {
        const uint64_t updated = live[w] | (out[w] & ~killed[w]);
        changed |= updated != live[w];
        live[w] = updated;
      }
    }
    if (!backwards) break;  // every block came after its successors
  }
  out_of(region.entry);
  return out;
}

void add_specials(std::set<ptx::SpecialReg>& set_of, const Instruction& instruction) {
  for (ptx::SpecialReg special : special_uses(instruction)) set_of.insert(special);
}

}  // namespace

BlockRegisters::BlockRegisters(const Kernel& kernel) {
  const Bits none((kernel.registers.size() + 63) / 64, 0);
  exposed_.assign(kernel.blocks.size(), none);
  killed_ = written_ = exposed_;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instruction = kernel.instructions[i];
      for (RegId reg : uses(instruction)) {
        if (!test(killed_[b], reg)) set(exposed_[b], reg);
      }
      for (RegId reg : defs(instruction)) {
        set(written_[b], reg);
        if (instruction.guard == kNone) set(killed_[b], reg);
      }
    }
  }
}

std::vector<Region> find_regions(const Kernel& kernel) {
  std::vector<Region> regions;
  for (BlockId entry = 0; entry < kernel.blocks.size(); ++entry) {
    for (BlockId exit = kernel.blocks[entry].ipdom; exit != kNone;
         exit = kernel.blocks[exit].ipdom) {
      Region region{entry, exit, reachable(kernel, entry, exit), false};
      if (region.blocks.empty()) break;  // regions with later exits are even larger
      bool single_entry = true;
      for (BlockId b : region.blocks) {
        for (BlockId p : kernel.blocks[b].predecessors) {
          const bool inside = has(region.blocks, p);
          if (b == entry) {
            region.entry_is_header |= inside;
          } else {
            single_entry &= inside;
          }
        }
      }
      if (!single_entry || (region.blocks.size() == 1 && !region.entry_is_header)) continue;
      regions.push_back(std::move(region));
    }
  }
  return regions;
}

void for_each_piece(const Kernel& kernel, const BlockRegisters& registers, const Region& region,
                    const std::vector<bool>& limited,
                    const std::function<void(const Piece&)>& visit) {
  Piece piece;
  piece.entry = region.entry;
  piece.blocks = region.blocks;
  piece.resume = kernel.blocks[region.exit].first;
  const Block& entry = kernel.blocks[region.entry];
  const Bits none((kernel.registers.size() + 63) / 64, 0);

  // All blocks but the entry block are in every piece; the entry block is cut below.
  Bits live_at_exit = none, live_out = none;
  for (RegId reg : kernel.live_in[region.exit]) set(live_at_exit, reg);
  std::set<ptx::SpecialReg> specials;
  piece.last = 0;
  for (BlockId b : region.blocks) {
    const Block& block = kernel.blocks[b];
    if (block.count > 0) piece.last = std::max(piece.last, block.first + block.count - 1);
    if (b == region.entry && !region.entry_is_header) continue;
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      if (limited[i]) return;
      add_specials(specials, kernel.instructions[i]);
    }
    for (size_t w = 0; w < live_out.size(); ++w) live_out[w] |= registers.written(b)[w];
  }
  for (size_t w = 0; w < live_out.size(); ++w) live_out[w] &= live_at_exit[w];
  Bits live = live_after_entry(kernel, registers, region, live_out);

  const auto emit = [&](InstrId first) {
    piece.first = first;
    piece.live_ins = members(live);
    piece.live_outs = members(live_out);
    piece.specials.assign(specials.begin(), specials.end());
    visit(piece);
  };
  for (InstrId i = entry.first + entry.count; i-- > entry.first;) {
    const Instruction& instruction = kernel.instructions[i];
    if (limited[i]) return;
    add_specials(specials, instruction);
    for (RegId reg : defs(instruction)) {
      if (test(live_at_exit, reg)) {
        // Lanes for which the guard does not hold return their old value.
        set(live_out, reg);
        if (instruction.guard != kNone) set(live, reg);
      }
      if (instruction.guard == kNone) clear(live, reg);
    }
    for (RegId reg : uses(instruction)) set(live, reg);
    if (!region.entry_is_header) emit(i);
  }
  if (region.entry_is_header) emit(entry.first);
}

}  // namespace nearwarp::compiler
