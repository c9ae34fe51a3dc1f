// Pages that are placed by their first touch, as one SM sees them (pages.h).
//
// A walk for such a page is a touch. Where pages have to be moved, the SM with the first touch does
// so before its walk ends: it reads the page's lines from their old place, past its L1, and writes
// each line to the new place when it has come, one packet per cycle, as far as the network takes
// them. When all writes are acknowledged, the page has its place; other SMs learn that from the
// page table, which they read again until then. No SM has used the page before, so no cache and no
// TLB holds anything of it.
//
// Every SM writes the page's entry into the page table when its walk ends. All write the same
// entry, so their order makes no difference.
#pragma once

#include "device/mechanisms/coda/pages.h"
#include "device/sm/mechanisms.h"
#include "device/sm/memory_packet.h"

namespace nearwarp::coda {

/// The page that a walker moves; sets of its lines are bits.
struct PageMove {
  uint64_t to_read = 0, to_write = 0;
  uint32_t unacknowledged = 0;  ///< lines whose write has not been acknowledged yet
};

struct FirstTouchCounters {
  uint64_t moves = 0;                        ///< pages that this SM has moved
  uint64_t move_reads = 0, move_writes = 0;  ///< lines that it has read and written for that
};

struct OnSm : sm::WalkHooks {
  template <uint32_t /*kWords*/>
  struct State {
    PageMove moves[sm::kMaxWalkers];  ///< by walker
    FirstTouchCounters counters;
  };
  using Params = FirstTouch;

  /// The pages of the walk's address space, if the walk's page is placed by its first touch; else
  /// null.
  template <class O>
  NW_HD static const FirstTouchPages* pages_of(const O& o, const sm::Walk& walk) {
    const uint32_t number = walk.page >> sm::kSpaceShift;
    if (number >= o.p.spaces.count) return nullptr;
    const FirstTouchPages& space = o.p.spaces.in(o.v.base)[number];
    return sm::tlb_page_number(walk.page) < space.pages.count ? &space : nullptr;
  }
  template <class O>
  NW_HD static sm::Walk& walk_of(O& o, uint32_t walker) {
    return o.v.s.tlb.walks.in(o.v.base)[walker];
  }

  template <class O>
  NW_HD static void on_walk(O& o, uint32_t walker, uint32_t now) {
    const sm::Walk& walk = walk_of(o, walker);
    const FirstTouchPages* space = pages_of(o, walk);
    if (space == nullptr) return;
    const uint32_t page = sm::tlb_page_number(walk.page);
    const Toucher self{number_of(o.v.s.stack), o.v.s.index};
    lower_shared_tick(&space->pages.in(o.v.base)[page].first,
                      self.key(o.v.tick(now), page, o.p.stack_bits));
  }

  template <class O>
  NW_HD static bool on_walked(O& o, uint32_t walker, uint32_t now) {
    sm::Walk& walk = walk_of(o, walker);
    const FirstTouchPages* space = pages_of(o, walk);
    if (space == nullptr) return true;
    const uint32_t page = sm::tlb_page_number(walk.page);
    const PageTouch& touch = space->pages.in(o.v.base)[page];
    const Tick first = load_shared_tick(&touch.first);
    if (o.p.moves() && !is_there(o, page, touch, first, now)) {
      if (Toucher::of(first, page, o.p.stack_bits).sm == o.v.s.index) {
        begin_move(o, walker);
      } else {
        sm::tlb_read_again(o.v.s.tlb, o.v.base, walker);
      }
      return false;
    }
    place(o, *space, page, first);
    return true;
  }

  /// Send the write of a line that has come, or if there is none the read of the next line.
  template <class O>
  NW_HD static void send_for_walk(O& o, uint32_t walker, uint32_t now) {
    auto& v = o.v;
    PageMove& m = o.s.moves[walker];
    const sm::Walk& walk = walk_of(o, walker);
    const FirstTouchPages& space = *pages_of(o, walk);
    const uint32_t page = sm::tlb_page_number(walk.page);
    const bool writes = m.to_write != 0;
    const uint32_t i = count_trailing_zeros(writes ? m.to_write : m.to_read);
    const uint32_t tag = sm::kHeldWalkTag | i << sm::kHeldWalkShift | walker;
    Packet p;
    if (writes) {
      m.to_write &= m.to_write - 1;
      o.s.counters.move_writes += 1;
      const Tick first = load_shared_tick(&space.pages.in(v.base)[page].first);
      const LineAddr line =
          touched_entry(o.p, space, first, page, v.p.translation.page_shift).first_line() + i;
      const uint32_t bytes = v.p.grid.line_bytes();
      p = sm::memory_packet(v, PacketKind::kWrite, line, tag, v.p.header_bytes + bytes);
      p.sectors = static_cast<uint32_t>(low_bits(bytes / v.p.sector_bytes));
      if (v.p.mark_words) p.written_words() = low_bits(bytes / 4);
    } else {
      m.to_read &= m.to_read - 1;
      o.s.counters.move_reads += 1;
      p = sm::memory_packet(v, PacketKind::kRead, line_before_move(o, space, page) + i, tag,
                            v.p.header_bytes);
    }
    if (m.to_read == 0 && m.to_write == 0) v.s.tlb.unsent &= ~(1u << walker);
    send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  }

  /// Take the reply to a read or a write of a move. With the last write's the walk ends: it returns
  /// true.
  template <class O>
  NW_HD static bool on_walk_packet(O& o, const Packet& packet, uint32_t now) {
    auto& v = o.v;
    const uint32_t walker = packet.tag & ((1u << sm::kHeldWalkShift) - 1);
    PageMove& m = o.s.moves[walker];
    if (packet.kind == PacketKind::kReadReply) {
      m.to_write |= sm::bit((packet.tag - sm::kHeldWalkTag) >> sm::kHeldWalkShift);
      v.s.tlb.unsent |= 1u << walker;
      return false;
    }
    sm::Walk& walk = walk_of(o, walker);
    NW_ASSERT(walk.held && m.unacknowledged > 0);
    m.unacknowledged -= 1;
    if (m.unacknowledged != 0) return false;
    walk.held = false;
    const FirstTouchPages& space = *pages_of(o, walk);
    const uint32_t page = sm::tlb_page_number(walk.page);
    PageTouch& touch = space.pages.in(v.base)[page];
    store_shared_tick(&touch.moved, v.tick(now) + o.p.seen_ticks);
    place(o, space, page, load_shared_tick(&touch.first));
    return true;
  }

 private:
  /// May this SM use the page, as one that is in its place?
  template <class O>
  NW_HD static bool is_there(const O& o, uint32_t page, const PageTouch& touch, Tick first,
                             uint32_t now) {
    const Toucher who = Toucher::of(first, page, o.p.stack_bits);
    const uint32_t before = page & ((1u << o.p.stack_bits) - 1);
    if (o.p.mode == FirstTouchMode::kMovedFromCgp && before == who.stack) return true;
    const Tick moved = load_shared_tick(&touch.moved);
    return who.sm == o.v.s.index ? moved != kNever : moved <= o.v.tick(now);
  }
  /// Begin to move the page of a walk, all lines of which are still in their old place.
  template <class O>
  NW_HD static void begin_move(O& o, uint32_t walker) {
    const uint32_t lines = 1u << o.v.p.translation.page_shift;
    walk_of(o, walker).held = true;
    o.s.moves[walker] = {low_bits(lines), 0, lines};
    o.v.s.tlb.unsent |= 1u << walker;
    o.s.counters.moves += 1;
  }
  /// The first line of the page before it is moved, with its map.
  template <class O>
  NW_HD static LineAddr line_before_move(const O& o, const FirstTouchPages& space, uint32_t page) {
    const uint32_t shift = o.v.p.translation.page_shift;
    if (o.p.mode == FirstTouchMode::kMovedFromFgp) return (space.first_fgp_frame + page) << shift;
    const uint32_t stack = page & ((1u << o.p.stack_bits) - 1);
    return PageEntry::of(cgp_frame(space, page, stack, o.p.stack_bits) << shift, o.p.map)
        .first_line();
  }
  template <class O>
  NW_HD static void place(O& o, const FirstTouchPages& space, uint32_t page, Tick first) {
    const uint32_t number = static_cast<uint32_t>(&space - o.p.spaces.in(o.v.base));
    const Translation& t = o.v.p.translation;
    write_entry(t, o.v.base, number, page, touched_entry(o.p, space, first, page, t.page_shift));
  }
};

}  // namespace nearwarp::coda
