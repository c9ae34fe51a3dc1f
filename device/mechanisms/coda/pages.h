// First-touch placement: pages that lie in the stack whose SM touches them first.
//
// The stack is not known beforehand, so such a page has a frame in each stack: a whole page group
// (CODA, section 4.2: as many pages as there are stacks, all of one mode), of which it uses only
// the frame in the stack of its first touch. Every SM notes its touch, with the time, when it
// begins to walk for the page, and reads which SM was first when the walk ends. A walk's read goes
// through the network, so its end lies in a later window than its beginning: by then all touches of
// that time have been noted, and later ones change nothing. So the order in which SMs are stepped
// does not matter.
//
// Alternatively the page lies elsewhere at first, and the SM that touches it first moves it
// (first_touch.h). Then its note says when other SMs may begin to use it.
#pragma once

#include "device/core/translation.h"

namespace nearwarp::coda {

inline constexpr uint32_t kMaxMoveLines = 64;  ///< lines of a page that can be moved

enum class FirstTouchMode : uint8_t {
  kPlaced,        ///< the page is in the right stack from the beginning, as if that were known
  kMovedFromCgp,  ///< pages lie in one stack each, page after page in the next, until they are
                  ///< moved
  kMovedFromFgp,  ///< pages are spread over all stacks until they are moved
};

/// Notes on a page that is placed by its first touch.
struct PageTouch {
  Tick first = kNever;  ///< Toucher::key() of the first touch: its time and SM
  Tick moved = kNever;  ///< the tick from which on the page is in its final place
};

/// Pages of an address space that are placed by their first touch.
struct FirstTouchPages {
  Ref<PageTouch> pages;          ///< by virtual page
  uint32_t first_group = 0;      ///< page group of page 0; every page has one of its own
  uint32_t first_fgp_frame = 0;  ///< frame of page 0 while pages are spread (kMovedFromFgp)
};

/// The rule of a system, and its pages.
struct FirstTouch {
  FirstTouchMode mode = FirstTouchMode::kPlaced;
  uint8_t stack_bits = 0;  ///< log2 of the stacks
  uint8_t map = 0;         ///< address map of pages that lie in one stack
  /// Ticks after which a new entry of a page table can be read; at least the length of a window.
  uint32_t seen_ticks = 0;
  Ref<FirstTouchPages> spaces;  ///< by address space

  NW_HD bool moves() const { return mode != FirstTouchMode::kPlaced; }
};

/// The SM that touches a page, and its stack. Of several touches in the same tick the first is that
/// of the stack which comes first from stack (page mod stacks) on, so that ties spread pages; in
/// one stack it is that of the SM with the lowest number.
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

/// The frame in `stack` of a page that is placed by its first touch.
NW_HD NW_INLINE uint32_t cgp_frame(const FirstTouchPages& space, uint32_t page, uint32_t stack,
                                   uint32_t stack_bits) {
  return (space.first_group + page) << stack_bits | stack;
}

/// The page table entry of a page in its final place. `first`: PageTouch::first.
NW_HD NW_INLINE PageEntry touched_entry(const FirstTouch& rule, const FirstTouchPages& space,
                                        Tick first, uint32_t page, uint32_t page_shift) {
  const Toucher who = Toucher::of(first, page, rule.stack_bits);
  return PageEntry::of(cgp_frame(space, page, who.stack, rule.stack_bits) << page_shift, rule.map);
}

}  // namespace nearwarp::coda
