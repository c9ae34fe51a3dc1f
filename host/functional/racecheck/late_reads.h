// Reads of shared memory that continue after their instruction: matrix products of warpgroups
// (wgmma) read their factors, and bulk stores their source, until a warp has waited for the group
// that the read was committed to.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nearwarp::racecheck {

/// A read by a product of the four warps of a warpgroup, or by a thread's bulk copy.
struct LateRead {
  uint32_t owner = 0;        ///< product_owner() or copy_owner()
  uint32_t group = 0;        ///< the owner's group, in the order of commits
  uint32_t instruction = 0;  ///< index into the kernel's instructions
  uint32_t warp = 0, lane = 0;
};

/// Late reads of a block's shared memory. Groups of an owner end in the order of their commits.
class LateReads {
 public:
  /// Times at which warps have waited, by their position in the warpgroup; 0: the warp has not
  /// waited. For a thread's copies only the first element is used.
  using Times = std::array<uint32_t, 4>;
  static uint32_t product_owner(uint32_t warp) { return warp / 4; }
  static uint32_t copy_owner(uint32_t warp, uint32_t lane) { return 32 + warp * 32 + lane; }
  static bool is_product(uint32_t owner) { return owner < 32; }

  void clear() {
    pieces_.clear();
    owners_.clear();
  }
  /// Adds a read of [address, address + bytes). Earlier reads of these bytes by its owner are
  /// replaced.
  void add(uint64_t address, uint32_t bytes, const LateRead& read);
  /// Notes that the owner's warp at position `place` has waited at `time` for all groups below
  /// `groups`.
  void end(uint32_t owner, uint32_t groups, uint32_t place, uint32_t time);
  /// The times at which the owner's warps have waited for a group.
  Times ended(uint32_t owner, uint32_t group) const;

  /// Calls visit(read) for the reads of [address, address + bytes), which is about to be written,
  /// and removes them.
  template <class Visit>
  void written(uint64_t address, uint32_t bytes, Visit&& visit) {
    if (pieces_.empty()) return;
    for (uint64_t piece = address / kPiece; piece * kPiece < address + bytes; ++piece) {
      const auto it = pieces_.find(piece);
      if (it == pieces_.end()) continue;
      for (const LateRead& read : it->second) visit(read);
      pieces_.erase(it);
    }
  }

 private:
  static constexpr uint64_t kPiece = 16;  ///< bytes; all these reads are of multiples of it
  struct Owner {
    std::vector<Times> ended;  ///< by group
    Times next{};              ///< by position, the first group that the warp has not waited for
  };
  std::unordered_map<uint64_t, std::vector<LateRead>> pieces_;
  std::unordered_map<uint32_t, Owner> owners_;
};

}  // namespace nearwarp::racecheck
