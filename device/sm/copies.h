// The copy engine: bulk copies between global and shared memory, line by line, past the L1.
//
// A copy is one instruction of one thread. The engine goes through its steps, which are in the
// trace of that thread's warp, with a cursor of its own; the warp's goes on behind them at once.
// Boxes are read in the order in which they were asked for, a line in each cycle in which the
// network has room and the load-store unit leaves it (estimated: as much as shared memory takes).
// When a box's last line has come, its bytes arrive at the mbarrier; lines for other blocks of the
// cluster are sent on to them (multicast.h). Stores belong to groups that can be waited for.
// Estimated: translation takes no time, and shared memory has room for what the engine moves.
#pragma once

#include "device/sm/memory_packet.h"
#include "device/sm/phases.h"

namespace nearwarp::sm {

template <class V>
NW_HD NW_INLINE CopyEngine& copy_engine(const V& v) {
  return *v.s.copies.in(v.base);
}

NW_HD NW_INLINE bool is_step(Action action) {
  return action == Action::kCopyRead || action == Action::kCopyWrite ||
         action == Action::kCopyReduce;
}

/// Go past the steps of a box and its end, at which `end` is called with the cursor.
template <class V, class F>
NW_HD NW_INLINE void pass_box(const V& v, Cursor& at, const uint64_t* words, uint32_t first_block,
                              F&& end) {
  while (at.pc != kEndOfTrace) {
    const ImageInstr& in = v.instr(at.pc);
    if (!is_step(in.action)) break;
    at.trace_pos = read_access(words, at.trace_pos, at.mask, true).next;
    advance(at, words, v.system.image, first_block);
  }
  while (at.pc != kEndOfTrace && v.instr(at.pc).action == Action::kCopyEnd) {
    Access a;
    a.next = at.trace_pos;
    const bool signals = (v.instr(at.pc).flags & kHasRecord) != 0;
    if (signals) a = read_access(words, at.trace_pos, at.mask, true);
    end(a);
    at.trace_pos = a.next;
    advance(at, words, v.system.image, first_block);
    if (!signals) break;
  }
}

/// Warps that wait for the engine, or for their groups, try again.
template <class V>
NW_HD NW_CALLED void wake_for_copies(V& v, uint32_t now) {
  const auto waiting = v.s.in_phase[static_cast<uint32_t>(Phase::kAtCopy)];
  waiting.each([&](uint32_t warp) {
    enter_phase(v, warp, Phase::kRunning);
    schedule(v, warp, now, now + 1);
  });
}

/// All of a box has come or gone.
template <class V>
NW_HD NW_CALLED void end_box(V& v, uint32_t index, uint32_t now) {
  CopyEngine& c = copy_engine(v);
  Box& b = c.boxes[index];
  c.free_boxes |= 1u << index;
  WarpCopies& w = v.s.warp_copies.in(v.base)[b.warp];
  NW_ASSERT(w.boxes > 0);
  w.boxes = static_cast<uint16_t>(w.boxes - 1);  // only now, since the warp may retire from here on
  wake_for_copies(v, now);
  if (w.boxes == 0) try_retire(v, b.warp, now);
}

/// The part of a box that other blocks get, if any do; else null.
template <class V>
NW_HD NW_INLINE SharedBox* shared_box(const V& v, uint32_t index) {
  if (!v.clusters()) return nullptr;
  SharedBox& shared = v.s.shared_boxes.in(v.base)[index];
  return shared.ranks != 0 ? &shared : nullptr;
}

/// The engine is through with a box, and its last line has come or gone.
template <class V>
NW_HD NW_CALLED void box_is_here(V& v, uint32_t index, uint32_t now) {
  const Box& b = copy_engine(v).boxes[index];
  if (b.event_mask != 0)
    arrive_at_phases(v, v.warps[b.warp].block_slot,
                     {v.system.trace(b.thread_block).words, b.events, b.event_mask}, now, now);
  if (shared_box(v, index) != nullptr) {
    v.s.boxes_to_share |= 1u << index;
  } else {
    end_box(v, index, now);
  }
}

/// An event at the end of a box is another block's, which so gets the box.
template <class V>
NW_HD NW_CALLED void share_box(V& v, uint32_t index, uint32_t block, uint64_t word) {
  const uint32_t other = trace::phase_event(word).block;
  if (other == 0 || !hears_others(v, block)) return;
  SharedBox& shared = v.s.shared_boxes.in(v.base)[index];
  shared.ranks = static_cast<uint16_t>(shared.ranks | 1u << (other - 1));
  shared.events[other - 1] = word;
}

/// May the warp go on that waits for all but its newest `pending` groups, or for what they read?
template <class V>
NW_HD NW_CALLED bool groups_are_done(const V& v, uint32_t warp, uint32_t pending, bool read) {
  const CopyEngine& c = copy_engine(v);
  const uint8_t groups = v.s.warp_copies.in(v.base)[warp].group;
  bool done = true;
  for (uint32_t m = ~c.free_boxes; m != 0; m &= m - 1) {
    const Box& b = c.boxes[count_trailing_zeros(m)];
    const uint8_t age = static_cast<uint8_t>(groups - b.group);  // 0: not committed yet
    done &= b.warp != warp || !b.grouped || age <= pending || (read && b.all_sent);
  }
  return done;
}

/// The products that the warp has asked for are a group, which is done at cycle `at`.
template <class V>
NW_HD NW_CALLED void commit_products(V& v, uint32_t warp, uint32_t at) {
  WarpCopies& own = v.s.warp_copies.in(v.base)[warp];
  own.products_done[own.products % kProductGroups] = at;
  own.products = static_cast<uint8_t>(own.products + 1);
}

/// The warp waits for all but its newest `pending` groups of products: the cycle at which they are
/// done.
template <class V>
NW_HD NW_CALLED uint32_t products_done(const V& v, uint32_t warp, uint32_t pending) {
  const WarpCopies& own = v.s.warp_copies.in(v.base)[warp];
  if (pending >= kProductGroups) return 0;
  return own.products_done[(own.products + kProductGroups - 1 - pending) % kProductGroups];
}

/// Segments of asynchronous loads that are done are left behind, and what they tell mbarriers of
/// arrives.
template <class V>
NW_HD NW_CALLED void leave_segments(V& v, uint32_t warp, uint32_t now) {
  AsyncLoads& a = v.s.warp_copies.in(v.base)[warp].loads;
  const Warp& w = v.warps[warp];
  while (a.oldest != a.open) {
    const uint32_t k = a.oldest % AsyncLoads::kSegments;
    if (a.loading[k] != 0) return;
    a.oldest += 1;
    // Later segments are ready no earlier, for waits.
    uint32_t& next = a.ready[a.oldest % AsyncLoads::kSegments];
    next = a.ready[k] > next ? a.ready[k] : next;
    const uint32_t mask = a.event_mask[k];
    a.event_mask[k] = 0;
    if (mask != 0)
      arrive_at_phases(v, w.block_slot, {v.words(w), a.record[k], mask},
                       a.ready[k] > now ? a.ready[k] : now, now);
  }
}

/// An asynchronous load of the warp has been issued: its segment.
template <class V>
NW_HD NW_CALLED uint8_t begin_async_load(V& v, uint32_t warp) {
  AsyncLoads& a = v.s.warp_copies.in(v.base)[warp].loads;
  a.loading[a.open % AsyncLoads::kSegments] += 1;
  return static_cast<uint8_t>(a.open);
}

/// One of a segment has come, whose data are there at cycle `at`.
template <class V>
NW_HD NW_CALLED void end_async_load(V& v, uint32_t warp, uint32_t segment, uint32_t at,
                                    uint32_t now) {
  AsyncLoads& a = v.s.warp_copies.in(v.base)[warp].loads;
  uint32_t& ready = a.ready[segment % AsyncLoads::kSegments];
  ready = at > ready ? at : ready;
  uint16_t& loading = a.loading[segment % AsyncLoads::kSegments];
  NW_ASSERT(loading > 0);
  loading = static_cast<uint16_t>(loading - 1);
  if (loading != 0) return;
  leave_segments(v, warp, now);
  if (v.warps[warp].phase == Phase::kAtCopy) wake_for_copies(v, now);
}

/// An instruction about copies is issued.
template <class V>
NW_HD NW_INLINE void count_issue_of_copy(V& v, uint32_t warp, const ImageInstr& in) {
  const uint32_t threads = population_count(v.warps[warp].at.mask);
  v.s.counters.count_issue(in, threads);
  if (v.who(v.warps[warp].count) != 0) hooks::after_issue(v, warp, threads);
}

/// The warp's next instruction is about asynchronous loads. Returns false if it waits.
template <class V>
NW_HD NW_CALLED bool issue_for_loads(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  Warp& w = v.warps[warp];
  AsyncLoads& a = v.s.warp_copies.in(v.base)[warp].loads;
  const bool waits = in.action == Action::kLoadWait      ? !a.all_but(in.number())
                     : in.action == Action::kLoadWaitAll ? !a.none_is_under_way()
                                                         : a.is_full();
  if (waits) {
    enter_phase(v, warp, Phase::kAtCopy);
    return false;
  }
  count_issue_of_copy(v, warp, in);
  const uint64_t* words = v.words(w);
  const uint32_t k = a.open % AsyncLoads::kSegments;
  if (in.action == Action::kLoadCommit) {
    a.committed[a.groups % AsyncLoads::kSegments] = a.open;
    a.groups += 1;
  } else if (in.action == Action::kLoadsArrive) {
    const Access events = read_access(words, w.at.trace_pos, w.at.mask, true);
    w.at.trace_pos = events.next;
    a.record[k] = events.record;
    a.event_mask[k] = events.mask;
  }
  if (in.action == Action::kLoadCommit || in.action == Action::kLoadsArrive) a.open += 1;
  advance(w.at, words, v.system.image, w.first_block);
  leave_segments(v, warp, now);
  const uint32_t ready = in.action == Action::kLoadWait ? a.ready_but(in.number())
                         : in.action == Action::kLoadWaitAll
                             ? a.ready[a.open % AsyncLoads::kSegments]
                             : 0;
  continue_warp(v, warp, now, ready > now + 1 ? ready : now + 1);
  return true;
}

/// The warp's next instruction asks for a box, or is about groups of them. Returns false if it
/// waits.
template <class V>
NW_HD NW_CALLED bool issue_copy(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  if (in.action >= Action::kLoadCommit) return issue_for_loads(v, warp, in, now);
  Warp& w = v.warps[warp];
  CopyEngine& c = copy_engine(v);
  WarpCopies& own = v.s.warp_copies.in(v.base)[warp];
  const uint64_t* words = v.words(w);
  const bool waits = in.action == Action::kCopyWait || in.action == Action::kCopyWaitRead;
  const bool asks = in.action < Action::kCopyCommit;
  if ((asks && c.free_boxes == 0) ||
      (waits && !groups_are_done(v, warp, in.number(), in.action == Action::kCopyWaitRead))) {
    enter_phase(v, warp, Phase::kAtCopy);
    return false;
  }
  count_issue_of_copy(v, warp, in);
  if (asks) {
    const uint32_t index = count_trailing_zeros(c.free_boxes);
    c.free_boxes &= c.free_boxes - 1;
    c.order[(c.head + v.s.boxes_to_send) % kMaxBoxes] = static_cast<uint8_t>(index);
    v.s.boxes_to_send += 1;
    c.copies += 1;
    Box& b = c.boxes[index];
    b = Box{};
    b.at = w.at;
    b.thread_block = w.thread_block;
    b.first_block = w.first_block;
    b.warp = static_cast<uint8_t>(warp);
    b.space = w.space;
    b.group = own.group;
    b.grouped = in.action == Action::kCopyWrite || in.action == Action::kCopyReduce;
    own.boxes = static_cast<uint16_t>(own.boxes + 1);
    if (v.clusters()) {
      SharedBox& shared = v.s.shared_boxes.in(v.base)[index] = SharedBox{};
      shared.number = static_cast<uint32_t>(c.copies);
    }
    pass_box(v, w.at, words, w.first_block, [&](const Access& a) {
      if (a.mask != 0) share_box(v, index, w.block_slot, words[a.record + 1]);
    });
  } else {
    if (in.action == Action::kCopyCommit) own.group = static_cast<uint8_t>(own.group + 1);
    advance(w.at, words, v.system.image, w.first_block);
  }
  uint32_t next = now + 1;
  if (in.action == Action::kProductWait) {
    const uint32_t done = products_done(v, warp, in.number());
    next = done > next ? done : next;
  }
  continue_warp(v, warp, now, next);
  return true;
}

/// The engine is through with the box at its head.
template <class V>
NW_HD NW_CALLED void leave_engine(V& v, uint32_t index, uint32_t now) {
  CopyEngine& c = copy_engine(v);
  Box& b = c.boxes[index];
  const uint64_t* words = v.system.trace(b.thread_block).words;
  pass_box(v, b.at, words, b.first_block, [&](const Access& a) {
    if (a.mask == 0 || trace::phase_event(words[a.record + 1]).block != 0) return;
    b.events = a.record;
    b.event_mask = a.mask;
  });
  b.all_sent = true;
  c.head = (c.head + 1) % kMaxBoxes;
  v.s.boxes_to_send -= 1;
  if (b.lines == 0) {
    box_is_here(v, index, now);
  } else if (b.grouped) {
    wake_for_copies(v, now);
  }
}

/// The lines of the next step of the box at the head; false if there is none.
template <class V>
NW_HD NW_CALLED bool find_step(V& v, Box& b) {
  CopyEngine& c = copy_engine(v);
  const uint64_t* words = v.system.trace(b.thread_block).words;
  while (b.at.pc != kEndOfTrace && is_step(v.instr(b.at.pc).action)) {
    c.action = v.instr(b.at.pc).action;
    const Access a = read_access(words, b.at.trace_pos, b.at.mask, true);
    if (a.mask != 0) coalesce(a.in(words), v.p.grid, c.lines);
    b.at.trace_pos = a.next;
    advance(b.at, words, v.system.image, b.first_block);
    if (a.mask == 0) continue;  // all of it is outside of the tensor
    c.lines.next = 0;
    c.lines_valid = true;
    return true;
  }
  return false;
}

/// Read or write a line of the box at the head.
template <class V>
NW_HD NW_CALLED void copy_step(V& v, uint32_t now) {
  CopyEngine& c = copy_engine(v);
  const uint32_t index = c.order[c.head];
  Box& b = c.boxes[index];
  if (!c.lines_valid && !find_step(v, b)) {
    leave_engine(v, index, now);
    return;
  }
  if (!can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t i = c.lines.next;
  const LineAddr line =
      v.p.translation.spaces.count == 0 ? c.lines.line[i] : v.physical(c.lines.line[i], b.space);
  const uint8_t sectors = c.lines.sectors[i];
  const uint32_t data = population_count(sectors) * v.p.sector_bytes;
  const bool reads = c.action == Action::kCopyRead, writes = c.action == Action::kCopyWrite;
  Packet p = memory_packet(v,
                           reads    ? PacketKind::kRead
                           : writes ? PacketKind::kWrite
                                    : PacketKind::kAtomic,
                           line, kCopyTag | index, v.p.header_bytes + (reads ? 0 : data));
  p.sectors = reads && v.p.l1.by_sectors == 0 ? 0 : sectors;
  if (writes && v.p.mark_words) {
    for (uint32_t k = 0; k < 8; ++k)
      if ((sectors >> k & 1) != 0) p.written_words() |= uint64_t{0xff} << (8 * k);
  }
  if (!reads && !writes) p.lanes_of_address() = 1;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  (reads ? c.load_lines : writes ? c.store_lines : c.atomic_lines) += 1;
  b.lines += 1;
  c.lines.next = i + 1;
  if (c.lines.next < c.lines.count) return;
  c.lines_valid = false;
  if (b.at.pc == kEndOfTrace || !is_step(v.instr(b.at.pc).action)) leave_engine(v, index, now);
}

/// A line of a box has come, or has been written.
template <class V>
NW_HD NW_CALLED void on_copied_line(V& v, uint32_t index, uint32_t now) {
  Box& b = copy_engine(v).boxes[index];
  NW_ASSERT(b.lines > 0);
  b.lines -= 1;
  if (SharedBox* const shared = shared_box(v, index); shared != nullptr) {
    shared->lines += 1;
    v.s.boxes_to_share |= 1u << index;
  }
  if (b.lines == 0 && b.all_sent) box_is_here(v, index, now);
}

}  // namespace nearwarp::sm
