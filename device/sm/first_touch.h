// Pages that are placed by their first touch, as one SM sees them (device/core/first_touch.h).
//
// A walk for such a page is a touch. Where pages have to be moved, the SM that was first does so
// before its walk ends: it reads the page's lines from where they are, past its L1, and writes each
// where the page belongs when it has come, one packet per cycle, as far as the network takes them.
// When all writes are acknowledged, the page has its place; others learn that from the page table,
// which they read again until then. Nobody has used the page before, so no cache and no TLB holds
// anything of it.
#pragma once

#include "device/sm/memory_packet.h"
#include "device/sm/sm_view.h"

namespace nearwarp::sm {

template <class V>
NW_HD inline Toucher self(const V& v) {
  return {v.s.stack, v.s.index};
}

/// The page's space, if it is placed by its first touch; else null.
template <class V>
NW_HD inline const FirstTouchPages* first_touch_pages(const V& v, uint32_t page) {
  const FirstTouchPages& touched = v.p.translation.spaces.in(v.base)[page >> kSpaceShift].touched;
  return tlb_page_number(page) < touched.pages.count ? &touched : nullptr;
}

/// The walker begins to walk.
template <class V>
NW_HD NW_APART void note_touch(V& v, uint32_t walker, uint32_t now) {
  const uint32_t page = v.s.tlb.walks.in(v.base)[walker].page;
  const FirstTouchPages* touched = first_touch_pages(v, page);
  if (touched == nullptr) return;
  const uint32_t number = tlb_page_number(page);
  lower_shared_tick(&touched->pages.in(v.base)[number].first,
                    self(v).key(v.tick(now), number, v.p.translation.first_touch.stack_bits));
}

/// Begin to move the page, whose lines are all still where they were.
template <class V>
NW_HD inline void begin_move(V& v, uint32_t walker) {
  TlbState& t = v.s.tlb;
  Walk& w = t.walks.in(v.base)[walker];
  const uint32_t lines = 1u << v.p.translation.page_shift;
  w.moves = true;
  w.to_read = low_bits(lines);
  w.unacknowledged = lines;
  t.unsent |= 1u << walker;
  t.counters.moves += 1;
}

/// A walker has got an entry. May the page be used? If not, the SM begins to move it, or the walker
/// reads the entry again.
template <class V>
NW_HD NW_APART bool page_is_there(V& v, uint32_t walker, uint32_t now) {
  TlbState& t = v.s.tlb;
  Walk& w = t.walks.in(v.base)[walker];
  if (w.left != 0) return true;  // not the page's own entry yet
  const FirstTouchPages* touched = first_touch_pages(v, w.page);
  if (touched == nullptr) return true;
  const FirstTouchRule& rule = v.p.translation.first_touch;
  const uint32_t page = tlb_page_number(w.page);
  const PageTouch& touch = touched->pages.in(v.base)[page];
  const Toucher who = Toucher::of(load_shared_tick(&touch.first), page, rule.stack_bits);
  const uint32_t before = page & ((1u << rule.stack_bits) - 1);
  if (rule.mode == FirstTouchMode::kMovedFromCgp && before == who.stack) return true;
  const Tick moved = load_shared_tick(&touch.moved);
  const bool mine = who.sm == v.s.index;
  if (mine ? moved != kNever : moved <= v.tick(now)) return true;
  if (mine) {
    begin_move(v, walker);
    return false;
  }
  w.left = 1;
  t.unsent |= 1u << walker;
  t.counters.repeats += 1;
  return false;
}

/// The first line of the page before it is moved, with its map.
template <class V>
NW_HD inline LineAddr line_before_move(const V& v, const FirstTouchPages& touched, uint32_t page) {
  const FirstTouchRule& rule = v.p.translation.first_touch;
  const uint32_t shift = v.p.translation.page_shift;
  if (rule.mode == FirstTouchMode::kMovedFromFgp) return (touched.first_fgp_frame + page) << shift;
  const uint32_t stack = page & ((1u << rule.stack_bits) - 1);
  return PageEntry::of(cgp_frame(touched, page, stack, rule.stack_bits) << shift, rule.map)
      .first_line();
}

/// Send a write of a line that has come, or else a read of one that has to. The caller has checked
/// that the network takes it.
template <class V>
NW_HD NW_APART void send_moved_line(V& v, uint32_t walker, uint32_t now) {
  TlbState& t = v.s.tlb;
  Walk& w = t.walks.in(v.base)[walker];
  const FirstTouchPages& touched = *first_touch_pages(v, w.page);
  const uint32_t page = tlb_page_number(w.page);
  const bool writes = w.to_write != 0;
  const uint32_t i = count_trailing_zeros(writes ? w.to_write : w.to_read);
  const uint32_t tag = kMoveTag | i << kMoveLineShift | walker;
  Packet p;
  if (writes) {
    w.to_write &= w.to_write - 1;
    t.counters.move_writes += 1;
    const LineAddr line = touched_entry(v.p.translation, touched, v.base, page).first_line() + i;
    const uint32_t bytes = v.p.grid.line_bytes();
    p = memory_packet(v, PacketKind::kWrite, line, tag, v.p.header_bytes + bytes);
    p.sectors = static_cast<uint32_t>(low_bits(bytes / v.p.sector_bytes));
    if (v.p.mark_words) p.written_words() = low_bits(bytes / 4);
  } else {
    w.to_read &= w.to_read - 1;
    t.counters.move_reads += 1;
    p = memory_packet(v, PacketKind::kRead, line_before_move(v, touched, page) + i, tag,
                      v.p.header_bytes);
  }
  if (w.to_read == 0 && w.to_write == 0) t.unsent &= ~(1u << walker);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// A line has come that is to be written.
template <class V>
NW_HD NW_APART void on_line_to_move(V& v, uint32_t tag) {
  const uint32_t walker = tag & ((1u << kMoveLineShift) - 1);
  const uint32_t line = (tag - kMoveTag) >> kMoveLineShift;
  v.s.tlb.walks.in(v.base)[walker].to_write |= bit(line);
  v.s.tlb.unsent |= 1u << walker;
}

/// A line has been written. Returns the page when that was the last one, and the walk has ended;
/// else kNoPage.
template <class V>
NW_HD NW_APART uint32_t on_moved_line(V& v, uint32_t tag, uint32_t now) {
  const uint32_t walker = tag & ((1u << kMoveLineShift) - 1);
  Walk& w = v.s.tlb.walks.in(v.base)[walker];
  NW_ASSERT(w.moves && w.unacknowledged > 0);
  w.unacknowledged -= 1;
  if (w.unacknowledged != 0) return kNoPage;
  w.moves = false;
  PageTouch& touch = first_touch_pages(v, w.page)->pages.in(v.base)[tlb_page_number(w.page)];
  store_shared_tick(&touch.moved, v.tick(now) + v.p.translation.first_touch.seen_ticks);
  return tlb_reply(v.p.tlb, v.s.tlb, v.p.translation, v.base, walker, now);
}

}  // namespace nearwarp::sm
