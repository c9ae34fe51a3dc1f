// The cycle of an L2 slice with mechanisms (device/core/mechanisms.h). The slice looks up one
// request per cycle and sends one reply per cycle; the network and the mechanisms take turns at
// both. Mechanisms look up whole lines; slices by sectors have no mechanisms.
#pragma once

#include "device/cache/l2_departures.h"
#include "device/cache/l2_look_up.h"

namespace nearwarp::l2 {

/// Mechanisms have hooks at an L2 slice if they have a type OnL2Slice.
struct Place {
  template <class M>
  static constexpr bool kHas = requires {
    typename M::OnL2Slice;
  };
  template <class M>
  using HooksOf = typename M::OnL2Slice;
};
template <class List>
using View = ComponentView<List, Place, L2SliceParams, L2SliceState>;

/// Look up `line` for the sender of `packet`, in MemoryHooks::take_packet(). The sender gets the
/// line with the packet's tag, in a packet of kind `reply` whose sectors have no meaning. Returns
/// false, and changes nothing, if the look-up has to wait.
template <class O>
NW_HD inline bool read_for(O& o, const Packet& packet, LineAddr line, PacketKind reply, Tick now) {
  Packet read = packet;
  read.kind = PacketKind::kRead;
  read.line = line;
  read.sectors = static_cast<uint32_t>(reply);
  return l2_detail::look_up(o.v.p, o.v.s, o.v.base, now, read, L2Origin::kFor) ==
         l2_detail::Outcome::kTaken;
}

}  // namespace nearwarp::l2

namespace nearwarp::l2_detail {

/// Does the fill under way answer a mechanism's own request next? That needs no reply channel.
NW_HD NW_INLINE bool fills_own(const L2SliceParams& p, const L2SliceState& s,
                               const std::byte* base) {
  return s.filling != kNoMshr &&
         s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter].origin == L2Origin::kOwn;
}

/// Tell a mechanism if packet `from_memory` is the acknowledgement of its write.
template <class V>
NW_HD NW_INLINE void tell_written(V& v, const Packet& from_memory, Tick now) {
  if (from_memory.kind == PacketKind::kWriteAck && is_of_mechanism(v.s.attached, from_memory.tag))
    memory_hooks::on_written(v, from_memory.tag, now);
}

/// Send one reply, of the slice or of a mechanism; or hand a mechanism the data of its own read.
template <class V>
NW_HD NW_CALLED void reply_with_mechanisms(V& v, Tick now) {
  L2SliceState& s = v.s;
  if (fills_own(v.p, s, v.base)) {
    const uint32_t at = s.filling * v.p.mshr_merges + s.next_waiter;
    memory_hooks::on_data(v, s.waiters.in(v.base)[at].tag, now);
    answer_waiter(v.p, s, v.base, now, v.horizon);
    return;
  }
  Channel& out = *s.reply_out.in(v.base);
  if (!can_send(out, v.base, now)) return;
  const bool slice =
      s.filling != kNoMshr || (s.reply_count != 0 && s.replies.in(v.base)[s.reply_head].due <= now);
  const uint32_t wanted = memory_hooks::with_replies(v) | (slice ? memory_hooks::kNetwork : 0);
  if (wanted == 0) return;
  const uint32_t contender = memory_hooks::next_contender(wanted, s.last_reply);
  // The slice keeps its turn if no mechanism wanted to reply.
  if (contender != 0 || has_several(wanted)) s.last_reply = contender;
  if (contender == 0) {
    reply(v.p, s, v.base, now, v.horizon);
  } else {
    send(out, v.base, now, memory_hooks::take_reply(v, contender - 1, now), v.horizon);
  }
}

/// Look up the request at the network's head, or show it to the mechanism that owns it. Returns
/// whether that used the slice's look-up of this cycle.
template <class V>
NW_HD NW_INLINE bool look_up_others(V& v, Tick now) {
  const Packet& head = front(*v.s.request_in.in(v.base), v.base);
  if (block_of(head.kind) != kMemoryBlock) {
    const Packet request = head;
    PacketTaken taken = PacketTaken::kYes;
    if (!memory_hooks::take_packet(v, request, now, taken))
      record_fault(v.s.fault, kFaultUnexpectedPacket, v.p.endpoint, now);
    if (taken == PacketTaken::kYes) pop_request(v.s, v.base, now, v.horizon);
    return taken != PacketTaken::kNo;
  }
  if constexpr (memory_hooks::see_requests<V>(typename V::Mechanisms())) {
    const Packet request = head;
    if (look_up_next(v.p, v.s, v.base, now, v.horizon) != Outcome::kTaken) return false;
    if (v.s.fault.code == kFaultNone) memory_hooks::on_request(v, request, now);
    return true;
  } else {
    return look_up_next(v.p, v.s, v.base, now, v.horizon) == Outcome::kTaken;
  }
}

/// Look up the request of mechanism `number`. Returns false if it has to wait.
template <class V>
NW_HD NW_INLINE bool look_up_own(V& v, uint32_t number, Tick now) {
  Packet request = memory_hooks::next_request(v, number);
  if (request.kind == PacketKind::kWrite)
    request.bytes = static_cast<uint16_t>(v.p.header_bytes + population_count(request.sectors) *
                                                                 uint32_t{v.p.sector_bytes});
  const Outcome outcome = look_up(v.p, v.s, v.base, now, request, L2Origin::kOwn);
  if (outcome != Outcome::kTaken && outcome != Outcome::kAnswered) return false;
  const Tick due = now + Tick{v.p.latency_cycles} * v.p.period;
  memory_hooks::on_taken(v, number, now, outcome == Outcome::kAnswered ? due : kNever);
  return true;
}

/// Do one look-up, for the network or for a mechanism. Sets `blocked` if the network's request has
/// to wait for something inside the slice, and `own_blocked` to the contenders whose request has
/// to.
template <class V>
NW_HD NW_CALLED void look_up_with_mechanisms(V& v, Tick now, bool& blocked, uint32_t& own_blocked) {
  const bool others = has_packet(*v.s.request_in.in(v.base), v.base, now);
  const uint32_t own = memory_hooks::with_requests(v);
  uint32_t left = own | (others ? memory_hooks::kNetwork : 0);
  bool done = false;
  while (left != 0 && !done) {
    const uint32_t contender = memory_hooks::next_contender(left, v.s.last_look_up);
    left &= ~(1u << contender);
    done = contender == 0 ? look_up_others(v, now) : look_up_own(v, contender - 1, now);
    if (done) v.s.last_look_up = contender;
  }
  blocked = others && !done;
  own_blocked = done ? 0 : own;
}

/// The earliest tick, `from` or later, at which a mechanism can do something. `poll` is set if it
/// waits for a credit that is not known yet.
template <class V>
NW_HD NW_CALLED Tick next_of_mechanisms(V& v, Tick from, uint32_t own_blocked, bool& poll) {
  if (fills_own(v.p, v.s, v.base) || (memory_hooks::with_requests(v) & ~own_blocked) != 0)
    return from;
  const Tick next = memory_hooks::next(v, from);
  if (memory_hooks::with_replies(v) == 0) return next;
  const Tick ready = send_tick(*v.s.reply_out.in(v.base), v.base);
  poll |= ready >= kNever;
  return min_tick(next, ready);
}

}  // namespace nearwarp::l2_detail
