// Pages that lie in the stack whose SM touches them first.
//
// Nobody knows beforehand who that is, so such a page has a place for each stack: a whole page
// group (CODA, section 4.2: as many pages as there are stacks, all of one mode), of which it uses
// the page that lies in the stack of its first toucher. Every SM notes its touch, with the time,
// when it begins to walk for the page, and reads who was the first when the walk ends. A walk's
// read goes through the network, so that its end lies in a later window than its beginning: by then
// all touches of that time are noted, and later ones change nothing. The order in which SMs are
// stepped does not show.
//
// Or the page lies elsewhere before, and whoever was first moves it (first_touch.h). Then its note
// says from when on it may be used by others.
#pragma once

#include "device/core/translation.h"

namespace nearwarp::coda {

inline constexpr uint32_t kMaxMoveLines = 64;  ///< of a page

enum class FirstTouchMode : uint8_t {
  kPlaced,        ///< it is in its stack as if that had been known
  kMovedFromCgp,  ///< it is in one stack before: page by page, one after the other
  kMovedFromFgp,  ///< it is spread over all stacks before
};

/// Notes on a page.
struct PageTouch {
  Tick first = kNever;  ///< the first touch: its time, and who (Toucher)
  Tick moved = kNever;  ///< the page has its place from then on
};

/// Pages of an address space that are placed by their first touch.
struct FirstTouchPages {
  Ref<PageTouch> pages;          ///< by virtual page
  uint32_t first_group = 0;      ///< page group of page 0; every page has one of its own
  uint32_t first_fgp_frame = 0;  ///< frame of page 0 while it is spread
};

/// The rule of a system, and its pages.
struct FirstTouch {
  FirstTouchMode mode = FirstTouchMode::kPlaced;
  uint8_t stack_bits = 0;  ///< log2 of the stacks
  uint8_t map = 0;         ///< address map of pages that lie in one stack
  /// Ticks after which a new entry of a page table can be read; at least those of a window.
  uint32_t seen_ticks = 0;
  Ref<FirstTouchPages> spaces;  ///< by address space

  NW_HD bool moves() const { return mode != FirstTouchMode::kPlaced; }
};

/// Who touches a page. Of several in the same tick the first is that of the stack which comes first
/// from stack (page mod stacks) on, so that ties spread pages; then the SM with the lowest number.
struct Toucher {
  static constexpr uint32_t kBits = 16, kSmBits = 10;
  uint32_t stack = 0, sm = 0;

  NW_HD Tick key(Tick now, uint32_t page, uint32_t stack_bits) const {
    const uint32_t turn = (stack - page) & ((1u << stack_bits) - 1);
    return now << kBits | turn << kSmBits | sm;
  }
  NW_HD static Toucher of(Tick key, uint32_t page, uint32_t stack_bits) {
    const auto low = static_cast<uint32_t>(key & ((1u << kBits) - 1));
    return {((low >> kSmBits) + page) & ((1u << stack_bits) - 1), low & ((1u << kSmBits) - 1)};
  }
};
static_assert(Toucher::kBits == 16);

/// Where a page that is placed by its first touch lies in one stack: its frame.
NW_HD NW_INLINE uint32_t cgp_frame(const FirstTouchPages& space, uint32_t page, uint32_t stack,
                                   uint32_t stack_bits) {
  return (space.first_group + page) << stack_bits | stack;
}

/// The entry of a page once it has its place, with the note of who was first.
NW_HD NW_INLINE PageEntry touched_entry(const FirstTouch& rule, const FirstTouchPages& space,
                                        Tick first, uint32_t page, uint32_t page_shift) {
  const Toucher who = Toucher::of(first, page, rule.stack_bits);
  return PageEntry::of(cgp_frame(space, page, who.stack, rule.stack_bits) << page_shift, rule.map);
}

}  // namespace nearwarp::coda
