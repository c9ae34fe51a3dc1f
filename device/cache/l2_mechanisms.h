// Mechanisms at an L2 slice (device/core/mechanisms.h): their cycle. A slice looks up one request a
// cycle, the network's and those of mechanisms in turns, and sends one reply, its own and theirs in
// turns. It looks up whole lines for them; slices by sectors have no mechanisms.
#pragma once

#include "device/cache/l2_departures.h"
#include "device/cache/l2_look_up.h"

namespace nearwarp::l2 {

/// Hooks at an L2 slice: a type OnL2Slice.
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

/// In MemoryHooks::take_packet(): look up `line` for whoever sent `packet`: it gets the line with
/// the packet's tag, as a packet of kind `reply`, whose sectors say nothing. False: it has to wait,
/// and nothing was changed.
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

/// Is a mechanism's own request what the fill under way answers next? It needs no way out.
NW_HD NW_INLINE bool fills_own(const L2SliceParams& p, const L2SliceState& s,
                               const std::byte* base) {
  return s.filling != kNoMshr &&
         s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter].origin == L2Origin::kOwn;
}

/// `from_memory` is about to be taken: is it the acknowledgement of a mechanism's write?
template <class V>
NW_HD NW_INLINE void tell_written(V& v, const Packet& from_memory, Tick now) {
  if (from_memory.kind == PacketKind::kWriteAck && is_of_mechanism(v.s.attached, from_memory.tag))
    memory_hooks::on_written(v, from_memory.tag, now);
}

/// One reply: of the slice, or of a mechanism.
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
  const uint32_t party = memory_hooks::next_party(wanted, s.last_reply);
  // A reply of the slice's that nobody else waits for does not cost it its turn.
  if (party != 0 || has_several(wanted)) s.last_reply = party;
  if (party == 0) {
    reply(v.p, s, v.base, now, v.horizon);
  } else {
    send(out, v.base, now, memory_hooks::take_reply(v, party - 1, now), v.horizon);
  }
}

/// Look up what stands at the network's head.
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

/// Look up what mechanism `number` wants.
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

/// One look-up, of the network or of a mechanism. `own_blocked`: mechanisms whose request has to
/// wait for something inside the slice, as parties.
template <class V>
NW_HD NW_CALLED void look_up_with_mechanisms(V& v, Tick now, bool& blocked, uint32_t& own_blocked) {
  const bool others = has_packet(*v.s.request_in.in(v.base), v.base, now);
  const uint32_t own = memory_hooks::with_requests(v);
  uint32_t left = own | (others ? memory_hooks::kNetwork : 0);
  bool done = false;
  while (left != 0 && !done) {
    const uint32_t party = memory_hooks::next_party(left, v.s.last_look_up);
    left &= ~(1u << party);
    done = party == 0 ? look_up_others(v, now) : look_up_own(v, party - 1, now);
    if (done) v.s.last_look_up = party;
  }
  blocked = others && !done;
  own_blocked = done ? 0 : own;
}

/// When a mechanism does something, `from` or later.
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
