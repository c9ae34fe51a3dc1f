// Reads of shared memory that go on behind their instruction: products of warp groups (wgmma) read
// their factors, bulk copies what they store, until somebody has waited for the group that the read
// was committed to.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nearwarp::racecheck {

/// A read by a product, which its four warps make together, or by a thread's copy.
struct LateRead {
  uint32_t owner = 0;        ///< product_owner() or copy_owner()
  uint32_t group = 0;        ///< of the owner, in the order of commits
  uint32_t instruction = 0;  ///< index into the kernel's instructions
  uint32_t warp = 0, lane = 0;
};

/// Late reads of a block's shared memory. Groups of an owner end in the order of their commits.
class LateReads {
 public:
  /// Times of the warps that have waited, by their place in the warp group (of a thread's copies:
  /// the first); 0: has not.
  using Times = std::array<uint32_t, 4>;
  static uint32_t product_owner(uint32_t warp) { return warp / 4; }
  static uint32_t copy_owner(uint32_t warp, uint32_t lane) { return 32 + warp * 32 + lane; }
  static bool is_product(uint32_t owner) { return owner < 32; }

  void clear() {
    pieces_.clear();
    owners_.clear();
  }
  /// An owner's last read of a place stands for those before it.
  void add(uint64_t address, uint32_t bytes, const LateRead& read);
  /// A warp at place `place` of the owner has waited, at `time`, for all groups before `groups`.
  void end(uint32_t owner, uint32_t groups, uint32_t place, uint32_t time);
  /// Who has waited for a group, and when.
  Times ended(uint32_t owner, uint32_t group) const;

  /// visit(read) for the reads of [address, address + bytes), which is about to be written; they
  /// are forgotten then.
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
  static constexpr uint64_t kPiece = 16;  ///< bytes; both kinds read multiples of it
  struct Owner {
    std::vector<Times> ended;  ///< by group
    Times next{};              ///< the first group that each place has not waited for
  };
  std::unordered_map<uint64_t, std::vector<LateRead>> pieces_;
  std::unordered_map<uint32_t, Owner> owners_;
};

}  // namespace nearwarp::racecheck
