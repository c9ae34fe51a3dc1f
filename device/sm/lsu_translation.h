// Translation of the load-store unit's lines by page tables: the line at the head goes through the
// TLB; walks read page tables through the network; operations that wait for a page are parked, and
// those behind them pass.
#pragma once

#include "device/sm/mechanisms.h"
#include "device/sm/memory_packet.h"
#include "device/sm/tlb.h"

namespace nearwarp::sm {

/// The operation at the head leaves the queue.
template <class S>
NW_HD inline void lsu_pop(S& s) {
  s.lsu_head = s.lsu_head + 1 == kMaxLsuQueue ? 0 : s.lsu_head + 1;
  s.lsu_count -= 1;
  s.lines_valid = false;
}

/// Send a walker's next read. The caller has checked that the network takes it.
template <class V>
NW_HD NW_APART inline void send_walk_read(V& v, uint32_t walker, uint32_t now) {
  TlbState& t = v.s.tlb;
  const LineAddr line = tlb_next_read(v.p.tlb, t, v.base, walker);
  Packet p = memory_packet(v, PacketKind::kRead, line, kWalkTag | walker, v.p.header_bytes);
  if (v.p.in_stack && v.stack_of(line) != v.own_stack()) t.counters.walk_reads_remote += 1;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Page walks under way: one read per cycle.
template <class V>
NW_HD inline void walk_step(V& v, uint32_t now) {
  if (v.s.tlb.unsent == 0 || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t walker = count_trailing_zeros(v.s.tlb.unsent);
  if (v.placers() != 0 && v.s.tlb.walks.in(v.base)[walker].held) {
    hooks::send_for_walk(v, walker, now);
  } else {
    send_walk_read(v, walker, now);
  }
}

/// The operation at the head waits for a page that is on its way: let the ones behind it pass.
template <class V>
NW_HD inline void park(V& v) {
  auto& s = v.s;
  const uint32_t at = count_trailing_zeros(~s.parked_ops);
  ParkedOp& p = s.parked[at];
  p.op = s.lsu[s.lsu_head];
  p.next_line = s.lines.next;
  p.since = s.tlb.wait_since;
  p.page = tlb_stop_waiting(s.tlb);
  s.parked_ops |= 1u << at;
  lsu_pop(s);
}

/// A walk has ended: operations that waited for its page may go on.
template <class V>
NW_HD inline void wake_parked(V& v, uint32_t page) {
  auto& s = v.s;
  for (uint32_t m = s.parked_ops & ~s.parked_ready; m != 0; m &= m - 1) {
    const uint32_t at = count_trailing_zeros(m);
    if (s.parked[at].page == page) s.parked_ready |= 1u << at;
  }
}

/// A walker goes on to its next read, or its walk ends.
template <class V>
NW_HD inline void end_walk_read(V& v, uint32_t walker, uint32_t now) {
  const uint32_t page = tlb_reply(v.p.tlb, v.s.tlb, v.p.translation, v.base, walker, now);
  if (page != kNoPage) wake_parked(v, page);
}

/// Take the reply to a walker's read. A mechanism that places pages may not have placed this one.
template <class V>
NW_HD NW_APART inline void on_walk_reply(V& v, uint32_t walker, uint32_t now) {
  if (v.placers() != 0 && v.s.tlb.walks.in(v.base)[walker].left == 0 &&
      !hooks::on_walked(v, walker, now))
    return;
  end_walk_read(v, walker, now);
}

/// A mechanism has got an answer to a packet that it has sent for a walk.
template <class V>
NW_HD NW_APART inline void on_walk_packet(V& v, const Packet& p, uint32_t now) {
  if (hooks::on_walk_packet(v, p, now)) end_walk_read(v, p.tag & ((1u << kHeldWalkShift) - 1), now);
}

/// Between two operations: put one whose page has come back to the head.
template <class V>
NW_HD inline void unpark(V& v, uint32_t now) {
  auto& s = v.s;
  if (s.parked_ready == 0 || s.lines_valid) return;
  const uint32_t at = count_trailing_zeros(s.parked_ready);
  const ParkedOp& p = s.parked[at];
  s.parked_ready &= s.parked_ready - 1;
  s.parked_ops &= ~(1u << at);
  s.lsu_head = s.lsu_head == 0 ? kMaxLsuQueue - 1 : s.lsu_head - 1;
  s.lsu_count += 1;
  s.lsu[s.lsu_head] = p.op;
  s.resume_line = p.next_line;
  tlb_resume(v.p.tlb, s.tlb, v.p.translation, v.base, p.page, now - p.since);
}

/// The physical line of a virtual one whose page the TLB has given.
template <class V>
NW_HD NW_APART inline LineAddr physical_line(const V& v, uint32_t space, LineAddr line) {
  if (v.p.tlb.entries == 0) return v.physical(line, space);
  return tlb_physical(v.p.tlb, v.s.tlb, v.p.translation, v.base, space, line);
}
/// The physical line, with page tables or without; its copy, where data has one in every stack.
template <class V>
NW_HD NW_INLINE LineAddr line_of_data(const V& v, uint32_t space, LineAddr line) {
  const LineAddr at = v.p.translation.spaces.count == 0 ? line : physical_line(v, space, line);
  return at < kMaxMappedLines ? at | LineAddr{v.p.local_map} << kMapShift : at;
}

/// Translate the line at the head. Returns false if it has to wait for its page.
template <class V>
NW_HD inline bool translate_head(V& v, uint32_t space, uint32_t now, bool free) {
  if (v.p.tlb.entries == 0) return true;
  uint32_t walker = 0;
  switch (tlb_translate(v.p.tlb, v.s.tlb, v.base, v.s.lines, {space, now, free}, walker)) {
    case TlbResult::kReady:
      return true;
    case TlbResult::kWalk:
      if (v.placers() != 0) hooks::on_walk(v, walker, now);
      send_walk_read(v, walker, now);
      [[fallthrough]];
    case TlbResult::kLooked:
      v.s.lsu_stall = LsuStall::kNone;
      return false;
    case TlbResult::kNoCredit:
      v.s.lsu_stall = LsuStall::kCredit;
      return false;
    case TlbResult::kOnItsWay:
      v.s.lsu_stall = LsuStall::kNone;
      park(v);
      return false;
    case TlbResult::kNoWalker:
      v.s.lsu_stall = LsuStall::kReply;
      return false;
  }
  return false;
}

}  // namespace nearwarp::sm
