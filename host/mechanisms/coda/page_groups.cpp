// Groups of physical pages, each group of one mode (CODA, section 4.2).
#include "host/mechanisms/coda/page_groups.h"

#include <bit>

#include "device/core/macros.h"

namespace nearwarp::coda {

PageGroups::PageGroups(uint32_t stacks, uint32_t groups, uint32_t units)
    : stacks_(stacks), pages_(stacks * units), max_groups_(groups) {
  NW_ASSERT(std::has_single_bit(stacks) && std::has_single_bit(units));
  open(PageMode::kFgp).resize(1);
  open(PageMode::kCgp).resize(stacks);
  open(PageMode::kCgpUnit).resize(pages_);
}

PageGroups::PageRow PageGroups::pages_for(PageMode mode, uint32_t which) const {
  if (mode == PageMode::kFgp) return {0, 1, pages_};
  if (mode == PageMode::kCgp) return {which, stacks_, pages_ / stacks_};
  return {which, 0, 1};
}

uint32_t PageGroups::request_of(PageMode mode, uint32_t page) const {
  if (mode == PageMode::kFgp) return 0;
  return mode == PageMode::kCgp ? page % stacks_ : page;
}

std::optional<PageGroups::Frame> PageGroups::take(PageMode mode, uint32_t which) {
  std::set<uint32_t>& with_such_a_page = open(mode)[which];
  if (with_such_a_page.empty()) {  // no group of this mode has such a page: begin one
    if (free_.empty()) {
      if (groups_.size() == max_groups_) return std::nullopt;
      free_.insert(static_cast<uint32_t>(groups_.size()));
      groups_.emplace_back().taken.resize(pages_);
    }
    const uint32_t g = *free_.begin();
    free_.erase(free_.begin());
    groups_[g].mode = mode;
    groups_held_ += 1;
    for (std::set<uint32_t>& request : open(mode)) request.insert(g);
  }
  const uint32_t g = *with_such_a_page.begin();
  Group& group = groups_[g];
  const PageRow a = pages_for(mode, which);
  std::optional<uint32_t> page;
  bool more = false;
  for (uint32_t i = 0; i < a.count && !more; ++i) {
    const uint32_t at = a.first + i * a.step;
    if (group.taken[at]) continue;
    more = page.has_value();
    if (!page) page = at;
  }
  NW_ASSERT(page);
  group.taken[*page] = true;
  group.used += 1;
  pages_taken_ += 1;
  if (!more) with_such_a_page.erase(g);
  return g * pages_ + *page;
}

std::optional<PageGroups::Frame> PageGroups::take_fgp() { return take(PageMode::kFgp, 0); }

std::optional<PageGroups::Frame> PageGroups::take_cgp(uint32_t stack) {
  return take(PageMode::kCgp, stack);
}

std::optional<PageGroups::Frame> PageGroups::take_unit(uint32_t stack, uint32_t unit) {
  return take(PageMode::kCgpUnit, unit * stacks_ + stack);
}

void PageGroups::give_back(Frame frame) {
  NW_ASSERT(taken(frame));
  const uint32_t g = frame / pages_, page = frame % pages_;
  Group& group = groups_[g];
  group.taken[page] = false;
  group.used -= 1;
  pages_taken_ -= 1;
  open(group.mode)[request_of(group.mode, page)].insert(g);
  if (group.used != 0) return;
  for (std::set<uint32_t>& request : open(group.mode)) request.erase(g);
  free_.insert(g);
  groups_held_ -= 1;
}

}  // namespace nearwarp::coda
