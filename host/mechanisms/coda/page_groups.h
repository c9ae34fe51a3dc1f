// Physical pages of two modes (CODA, section 4.2): FGP, spread over all stacks, and CGP, each on
// one.
//
// As many pages as there are stacks, next to each other and aligned, are a group. The same bytes of
// memory are its pages in either mode, so a group is of one mode, and changes it only while all of
// its pages are free. In mode CGP page k of a group lies on stack k.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace nearwarp::coda {

enum class PageMode : uint8_t { kFgp, kCgp };

class PageGroups {
 public:
  using Frame = uint32_t;

  /// `stacks`: pages of a group, a power of two. `groups`: how many there are at most.
  PageGroups(uint32_t stacks, uint32_t groups);

  /// A free page of mode FGP; nothing if there is none. The one with the lowest number.
  std::optional<Frame> take_fgp();
  /// A free page of mode CGP on `stack`, likewise.
  std::optional<Frame> take_cgp(uint32_t stack);
  /// Give a page back; it has been taken.
  void give_back(Frame frame);

  PageMode mode(Frame frame) const { return groups_[frame / stacks_].mode; }
  bool taken(Frame frame) const {
    return (groups_[frame / stacks_].taken >> (frame % stacks_) & 1) != 0;
  }
  /// Pages that have been taken, and pages of the groups that they are in.
  uint64_t pages_taken() const { return pages_taken_; }
  uint64_t pages_held() const { return uint64_t{groups_held_} * stacks_; }
  /// Share of the pages held that nobody has: what keeping groups uniform costs in memory.
  double fragmentation() const {
    return groups_held_ == 0
               ? 0
               : 1 - static_cast<double>(pages_taken_) / static_cast<double>(pages_held());
  }

 private:
  struct Group {
    PageMode mode = PageMode::kFgp;
    uint64_t taken = 0;  ///< pages
  };
  std::optional<Frame> take(PageMode mode, std::set<uint32_t>& open, uint64_t among);

  uint32_t stacks_, most_;
  std::vector<Group> groups_;    ///< those that have ever been used, from 0 on
  std::set<uint32_t> free_;      ///< of these, those all of whose pages are free again
  std::set<uint32_t> open_fgp_;  ///< groups of the mode with some free pages and some taken
  std::vector<std::set<uint32_t>> open_cgp_;  ///< [stack]: those whose page of the stack is free
  uint64_t pages_taken_ = 0;
  uint32_t groups_held_ = 0;
};

}  // namespace nearwarp::coda
