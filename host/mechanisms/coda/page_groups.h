// Physical pages of two modes (CODA, section 4.2): a fine-grain page (FGP) is spread over all
// stacks, a coarse-grain page (CGP) lies on one.
//
// As many pages as there are stacks, next to each other and aligned, are a group. The same bytes of
// memory are its pages in either mode, so a group is of one mode, and changes it only while all of
// its pages are free. In mode CGP page k of a group lies on stack k.
//
// Where stacks have units and a page may lie behind one of them (a third mode, for MPU's cores), a
// group has a row of pages for each unit: the same bytes again in each stack and unit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace nearwarp::coda {

enum class PageMode : uint8_t { kFgp, kCgp, kCgpUnit };

class PageGroups {
 public:
  using Frame = uint32_t;

  /// A group has `units` rows of `stacks` pages, a power of two each. `groups`: how many there are
  /// at most.
  PageGroups(uint32_t stacks, uint32_t groups, uint32_t units = 1);

  /// A free page of mode FGP; nothing if there is none. The one with the lowest number.
  std::optional<Frame> take_fgp();
  /// A free page of mode CGP on `stack`, likewise.
  std::optional<Frame> take_cgp(uint32_t stack);
  /// A free page of mode CGP-unit on `stack`, behind `unit`, likewise.
  std::optional<Frame> take_unit(uint32_t stack, uint32_t unit);
  /// Give a page back; it has been taken.
  void give_back(Frame frame);

  uint32_t pages_of_group() const { return pages_; }
  PageMode mode(Frame frame) const { return groups_[frame / pages_].mode; }
  bool taken(Frame frame) const { return groups_[frame / pages_].taken[frame % pages_]; }
  /// Pages that have been taken, and pages of the groups that they are in.
  uint64_t pages_taken() const { return pages_taken_; }
  uint64_t pages_held() const { return uint64_t{groups_held_} * pages_; }
  /// Share of the pages held that nobody has: what keeping groups uniform costs in memory.
  double fragmentation() const {
    return groups_held_ == 0
               ? 0
               : 1 - static_cast<double>(pages_taken_) / static_cast<double>(pages_held());
  }

 private:
  struct Group {
    PageMode mode = PageMode::kFgp;
    uint32_t used = 0;  ///< pages that are taken
    std::vector<bool> taken;
  };
  /// Pages of a group that are equally good for a request: `count` of them, `step` apart.
  struct PageRow {
    uint32_t first, step, count;
  };
  /// The pages of a group that are good for request number `which` of a mode: the stack for CGP,
  /// the stack and unit for CGP-unit.
  PageRow pages_for(PageMode mode, uint32_t which) const;
  /// The number of the request for which a page of a group of this mode is good.
  uint32_t request_of(PageMode mode, uint32_t page) const;
  std::optional<Frame> take(PageMode mode, uint32_t which);
  std::vector<std::set<uint32_t>>& open(PageMode mode) { return open_[static_cast<size_t>(mode)]; }

  uint32_t stacks_, pages_, max_groups_;
  std::vector<Group> groups_;  ///< those that have ever been used, from 0 on
  std::set<uint32_t> free_;    ///< groups all of whose pages are free again
  /// [mode][request]: groups of the mode, not all free, that have a free page for it.
  std::array<std::vector<std::set<uint32_t>>, 3> open_;
  uint64_t pages_taken_ = 0;
  uint32_t groups_held_ = 0;
};

}  // namespace nearwarp::coda
