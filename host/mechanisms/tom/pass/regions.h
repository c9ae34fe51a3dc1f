// Single-entry single-exit regions of a kernel, and the registers that cross their borders.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// Blocks that control enters only at `entry` and leaves only to `exit`.
struct Region {
  BlockId entry = kNone;
  BlockId exit = kNone;          ///< outside
  std::vector<BlockId> blocks;   ///< sorted
  bool entry_is_header = false;  ///< an edge inside the region goes back to `entry`
};

/// The most blocks of a region. Kernels of thousands of blocks (straight code with a branch in
/// every division or exponential) have so many regions that the limit is lowered with the number of
/// blocks, down to 32, since pieces are evaluated one by one.
inline constexpr size_t kMaxRegionBlocks = 256;
/// All regions of at least two blocks, and loops of one block; by entry, then by size. Larger
/// regions than the limit are left out.
std::vector<Region> find_regions(const Kernel& kernel);

/// A piece of code, and the registers that cross its borders.
struct Piece {
  BlockId entry = kNone;
  InstrId first = kNone;  ///< in `entry`
  InstrId last = kNone;   ///< in instruction order, inclusive
  std::vector<BlockId> blocks;
  InstrId resume = kNone;
  std::vector<RegId> live_ins, live_outs;
  std::vector<ptx::SpecialReg> specials;
};

/// Registers read, overwritten and written by each block.
class BlockRegisters {
 public:
  using Bits = std::vector<uint64_t>;
  explicit BlockRegisters(const Kernel& kernel);
  const Bits& exposed(BlockId b) const { return exposed_[b]; }  ///< read before overwritten
  const Bits& killed(BlockId b) const { return killed_[b]; }    ///< overwritten in every lane
  const Bits& written(BlockId b) const { return written_[b]; }  ///< perhaps only under a guard

 private:
  std::vector<Bits> exposed_, killed_, written_;
};

/// Call visit(piece) for the pieces that a region makes: one for each place in the entry block
/// where it may begin, from the latest to the earliest; only the whole region if its entry is a
/// loop's header. It stops before an instruction of the entry block that is forbidden (`limited`,
/// by instruction), and makes no piece if the rest of the region has one. Pieces are made one at a
/// time, since all pieces of a large entry block together have far more registers than the kernel.
void for_each_piece(const Kernel& kernel, const BlockRegisters& registers, const Region& region,
                    const std::vector<bool>& limited,
                    const std::function<void(const Piece&)>& visit);

}  // namespace nearwarp::compiler
