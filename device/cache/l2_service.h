// A cycle of an L2 slice that has a service queue: it looks up its operands, and replies, in turns
// with the slice.
#pragma once

#include "device/cache/l2_departures.h"
#include "device/cache/l2_look_up.h"
#include "device/cache/service_queue.h"

namespace nearwarp::l2_detail {

/// Is an operand of the service queue what the fill under way brings next? It needs no way out.
NW_HD NW_INLINE bool fills_service(const L2SliceParams& p, const L2SliceState& s,
                                   const std::byte* base) {
  return s.filling != kNoMshr &&
         s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter].origin == L2Origin::kService;
}

/// Replies where there is a service queue: its operands need no way out, and it replies in turns
/// with the slice.
NW_HD NW_CALLED void reply_with_service(const L2SliceParams& p, L2SliceState& s, ServiceState& q,
                                        std::byte* base, Tick now, Horizon& horizon) {
  if (fills_service(p, s, base)) {
    answer_waiter(p, s, base, now, horizon);
    return;
  }
  const bool other =
      s.filling != kNoMshr || (s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now);
  if (q.to_reply.count == 0 || (other && !q.reply_turn)) {
    if (other && q.to_reply.count != 0 && can_send(*s.reply_out.in(base), base, now))
      q.reply_turn = true;
    if (next_reply(s, base) <= now) reply(p, s, base, now, horizon);
    return;
  }
  if (!can_send(*s.reply_out.in(base), base, now)) return;
  q.reply_turn = false;
  const uint32_t cycle = service::cycle_of(p, now);
  send(*s.reply_out.in(base), base, now, service::take_reply(p.endpoint, q, base, cycle), horizon);
}

/// A ComputePacket stands at the network's head: take it into the queue, or, if that is full, look
/// up its operands one after the other for the SM that sent it. Returns false, having changed
/// nothing, if it has to wait.
NW_HD inline bool take_compute_packet(const L2SliceParams& p, L2SliceState& s, ServiceState& q,
                                      std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  const Packet packet = front(in, base);
  const ComputeOrder order = unpack(packet);
  const uint32_t passed = q.passed;
  if (passed == 0 && q.free.any()) {
    service::accept(q, base, packet, service::cycle_of(p, now));
    pop_request(s, base, now, horizon);
    return true;
  }
  Packet read = packet;
  read.kind = PacketKind::kRead;
  read.line = order.line[passed];
  read.sectors = 0;
  if (look_up(p, s, base, now, read, L2Origin::kOperand) != Outcome::kTaken) return false;
  q.counters.refused += passed == 0 ? 1 : 0;
  q.passed = passed + 1 == order.operands ? 0 : passed + 1;
  if (q.passed == 0) pop_request(s, base, now, horizon);
  return true;
}

/// A read of an operand stands at the network's head: data goes to whoever it names.
NW_HD inline bool read_operand(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                               Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  Packet read = front(in, base);
  read.kind = PacketKind::kRead;
  if (look_up(p, s, base, now, read, L2Origin::kOperand) != Outcome::kTaken) return false;
  pop_request(s, base, now, horizon);
  return true;
}

/// One look-up in a cycle: the network's and the service queue's in turns.
NW_HD NW_CALLED void look_up_with_service(const L2SliceParams& p, L2SliceState& s, ServiceState& q,
                                          std::byte* base, Tick now, Horizon& horizon,
                                          bool& blocked, bool& service_blocked) {
  const bool others = has_packet(*s.request_in.in(base), base, now);
  const bool own = service::looks_up(q);
  const auto look_up_own = [&] {
    const Packet request = service::next_request(p, q, base);
    if (look_up(p, s, base, now, request, L2Origin::kService) != Outcome::kTaken) return false;
    service::looked_up(q, base, service::cycle_of(p, now));
    return true;
  };
  const auto look_up_others = [&] {
    const PacketKind kind = front(*s.request_in.in(base), base).kind;
    return kind == kComputePacket ? take_compute_packet(p, s, q, base, now, horizon)
           : kind == kOperandRead ? read_operand(p, s, base, now, horizon)
                                  : look_up_next(p, s, base, now, horizon) == Outcome::kTaken;
  };
  const bool own_first = own && q.own_turn;
  bool own_done = own_first && look_up_own();
  const bool others_done = others && !own_done && look_up_others();
  if (own && !own_first && !others_done) own_done = look_up_own();
  if (others_done) q.own_turn = true;
  if (own_done) q.own_turn = false;
  const bool none = !own_done && !others_done;
  blocked = others && none;
  service_blocked = own && none;
}

/// When the service queue does something, `from` or later.
NW_HD NW_CALLED Tick next_of_service(const L2SliceParams& p, const L2SliceState& s,
                                     const ServiceState& q, std::byte* base, Tick from,
                                     bool blocked, bool& poll) {
  if (fills_service(p, s, base)) return from;
  const Tick next = service::next_event(q, base, from, blocked);
  if (q.to_reply.count == 0) return next;
  const Tick ready = send_tick(*s.reply_out.in(base), base);
  poll |= ready >= kNever;
  return min_tick(next, ready);
}

}  // namespace nearwarp::l2_detail
