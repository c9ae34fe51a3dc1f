// Physical pages of two modes (CODA, section 4.2).
#include "host/mechanisms/coda/page_groups.h"

#include <bit>

#include "device/core/macros.h"

namespace nearwarp::coda {

PageGroups::PageGroups(uint32_t stacks, uint32_t groups)
    : stacks_(stacks), most_(groups), open_cgp_(stacks) {
  NW_ASSERT(std::has_single_bit(stacks) && stacks <= 64);
}

std::optional<PageGroups::Frame> PageGroups::take(PageMode mode, std::set<uint32_t>& open,
                                                  uint64_t among) {
  if (open.empty() && free_.empty()) {
    if (groups_.size() == most_) return std::nullopt;
    free_.insert(static_cast<uint32_t>(groups_.size()));
    groups_.emplace_back();
  }
  const uint32_t g = open.empty() ? *free_.begin() : *open.begin();
  Group& group = groups_[g];
  if (open.empty()) {  // a group of its own
    free_.erase(free_.begin());
    group.mode = mode;
    groups_held_ += 1;
    if (mode == PageMode::kFgp) {
      open_fgp_.insert(g);
    } else {
      for (std::set<uint32_t>& of_stack : open_cgp_) of_stack.insert(g);
    }
  }
  const auto page = static_cast<uint32_t>(std::countr_zero(among & ~group.taken));
  group.taken |= uint64_t{1} << page;
  pages_taken_ += 1;
  if (mode == PageMode::kCgp) {
    open_cgp_[page].erase(g);
  } else if (std::popcount(group.taken) == static_cast<int>(stacks_)) {
    open_fgp_.erase(g);
  }
  return g * stacks_ + page;
}

std::optional<PageGroups::Frame> PageGroups::take_fgp() {
  return take(PageMode::kFgp, open_fgp_, ~uint64_t{0});
}

std::optional<PageGroups::Frame> PageGroups::take_cgp(uint32_t stack) {
  return take(PageMode::kCgp, open_cgp_[stack], uint64_t{1} << stack);
}

void PageGroups::give_back(Frame frame) {
  NW_ASSERT(taken(frame));
  const uint32_t g = frame / stacks_, page = frame % stacks_;
  Group& group = groups_[g];
  group.taken &= ~(uint64_t{1} << page);
  pages_taken_ -= 1;
  if (group.mode == PageMode::kCgp) {
    open_cgp_[page].insert(g);
  } else {
    open_fgp_.insert(g);
  }
  if (group.taken != 0) return;
  open_fgp_.erase(g);
  for (std::set<uint32_t>& of_stack : open_cgp_) of_stack.erase(g);
  free_.insert(g);
  groups_held_ -= 1;
}

}  // namespace nearwarp::coda
