// Flits and credits between the units of a network.
//
// The buffer of a virtual channel is a ring of places. Who sends a flit writes it into the place
// that it goes to, and a bit for the cycle in which it arrives: the receiver counts it then, and
// does not look at it before. When it has gone, the place holds the cycle from which the sender may
// use it, which is when the credit comes. So a credit is neither sent nor counted: the sender has
// one if its next place is free. One that lacks it finds out when it comes, or has the place wake
// it.
#pragma once

#include "device/core/shared_bits.h"
#include "device/noc/network_state.h"

namespace nearwarp::noc {

/// The place behind `place` in its ring.
NW_HD NW_INLINE uint32_t next_place(const NetworkView& v, uint32_t place) {
  const uint32_t next = place + sizeof(Flit);
  return (next & v.ring_mask) == v.ring_end ? place & ~v.ring_mask : next;
}
/// The place before one in its ring.
NW_HD NW_INLINE uint32_t place_before(const NetworkParams& p, uint32_t place) {
  const uint32_t mask = (sizeof(Flit) << p.ring_shift) - 1;
  return ((place & mask) == 0 ? place + p.depth * sizeof(Flit) : place) - sizeof(Flit);
}
/// May the sender use it in cycle `t`?
NW_HD NW_INLINE bool is_free(const Flit& place, Cycle t) {
  return (place.flags & kHere) == 0 && static_cast<int32_t>(t - place.tag) >= 0;
}
/// Does an output virtual channel have a credit in cycle `t`?
NW_HD NW_INLINE bool has_credit(const NetworkView& v, const OutputVc& o, Cycle t) {
  return is_free(v.place(o.place), t);
}
/// Have all its credits come back? They do in order.
NW_HD NW_INLINE bool has_all_credits(const NetworkView& v, const OutputVc& o, Cycle t) {
  return is_free(v.place(place_before(v.p, o.place)), t);
}

/// Unit `unit` has something to do in cycle `t`.
NW_HD NW_INLINE void mark_due(const NetworkView& v, uint32_t unit, Cycle t) {
  add_bits(v.due_of(unit) + (t & v.slot_mask), uint64_t{1} << (unit % 64));
}
/// Unit `unit`, which waits for a credit, has one in cycle `t`.
NW_HD NW_INLINE void wake(const NetworkView& v, uint32_t unit, Cycle t) {
  const uint32_t first = router_words(v.p);
  if (unit / 64 < first) return mark_due(v, unit, t);
  add_bits(v.woken + (t & v.slot_mask) * terminal_words(v.p) + (unit / 64 - first),
           uint64_t{1} << (unit % 64));
}
/// The sender `unit`, to whom it is not free in cycle `t`, is woken when it is.
NW_HD NW_INLINE void await(const NetworkView& v, uint32_t unit, Flit& place) {
  if ((place.flags & kHere) != 0) {
    place.flags |= kAwaited;
  } else {
    wake(v, unit, place.tag);
  }
}
NW_HD NW_RARE inline void await_apart(const NetworkView& v, uint32_t unit, Flit& place) {
  await(v, unit, place);
}
/// Wake the unit that sends to input port or terminal `port` when its credit has come back.
NW_HD NW_RARE inline void wake_sender(const NetworkView& v, uint32_t port, Cycle t) {
  wake(v, v.credit_links[port].unit, t + v.credit_links[port].delay);
}
/// Give the place of a flit that has gone back to the sender.
NW_HD NW_INLINE void give_back(const NetworkView& v, Flit& place, const InputVc& in, uint32_t port,
                               Cycle t) {
  const bool awaited = (place.flags & kAwaited) != 0;
  place.tag = t + in.credit_delay;
  place.flags = 0;
  if (awaited) wake_sender(v, port, t);
}

/// A flit arrives by `link`, on its virtual channel `vc`, when it has been sent in cycle `t`.
NW_HD NW_INLINE void announce(const NetworkView& v, const NetworkLink& link, uint32_t vc, Cycle t) {
  const uint32_t slot = (t + link.delay) & v.slot_mask;
  add_bits(v.word(link.word + slot * v.arrival_words), uint64_t{1} << (link.first + vc));
  add_bits(v.word(link.due + slot), uint64_t{1} << link.bit);
}
/// Send a flit by `link` in cycle `t`, on virtual channel `vc`, which is `o` and has a credit.
NW_HD NW_INLINE void put_flit(const NetworkView& v, const NetworkLink& link, OutputVc& o,
                              uint32_t vc, const Flit& flit, Cycle t) {
  Flit& place = v.place(o.place);
  place = flit;
  place.flags = static_cast<uint8_t>((flit.flags & (kHead | kTail | kLast)) | kHere);
  o.place = next_place(v, o.place);
  announce(v, link, vc, t);
}

/// Numbers of cycles wrap: a place must not have been free for as long as half of their range. So
/// those that are free are made to be so anew at the cycles whose numbers are multiples of this.
inline constexpr uint32_t kRenewShift = 29;
NW_HD NW_INLINE bool is_time_to_renew(Cycle t) { return (t & ((1u << kRenewShift) - 1)) == 0; }
/// Renews places that are free by `t`; if the network has been idle for long, all.
NW_HD NW_RARE inline void renew_places(const NetworkView& v, Cycle t, bool idle) {
  const uint32_t vcs = (v.input_ports() + v.p.terminals) << v.p.vc_shift;
  const uint32_t places = vcs << v.p.ring_shift;
  for (uint32_t i = 0; i < places; ++i)
    if ((v.places[i].flags & kHere) == 0 && (idle || is_free(v.places[i], t))) v.places[i].tag = t;
}

// Steps of terminals.

/// The place of the next flit of a terminal's virtual channel.
NW_HD NW_INLINE Flit& take_place(const NetworkView& v, InputVc& in) {
  const uint32_t mask = v.ring_mask, ring = v.p.depth * sizeof(Flit);
  uint32_t at = (in.front & mask) + in.count * sizeof(Flit);
  at -= at >= ring ? ring : 0;
  in.count = static_cast<uint16_t>(in.count + 1);
  return v.place((in.front & ~mask) + at);
}
/// The virtual channel of the flit that reaches terminal `n` in time slot `slot`, as its flag has
/// said.
NW_HD NW_INLINE uint32_t take_arrival_bit(const NetworkView& v, uint32_t n, uint32_t slot) {
  uint64_t& arrivals = v.terminal_arrivals(n)[slot * v.arrival_words];
  const uint32_t number = count_trailing_zeros(arrivals);
  arrivals = 0;
  return number;
}
/// The place of that flit. It stays there until release().
NW_HD NW_INLINE Flit& arrived(const NetworkView& v, uint32_t n, uint32_t slot) {
  const uint32_t number = take_arrival_bit(v, n, slot);
  Flit& place = take_place(v, v.exits[(n << v.p.vc_shift) + number]);
  place.vc = static_cast<uint8_t>(number);
  return place;
}
/// Take the flit that reaches terminal `n` in cycle `t`: flit(flit), if there is one.
template <class TakeFlit>
NW_HD NW_INLINE void take_arrival(const NetworkView& v, uint32_t n, Cycle t, TakeFlit&& flit) {
  const uint32_t slot = t & v.slot_mask, unit = terminal_unit(v.p, n);
  uint64_t& due = v.due_of(unit)[slot];
  const uint64_t bit = uint64_t{1} << (unit % 64);
  if ((due & bit) == 0) return;
  take_bits(&due, bit);
  flit(static_cast<const Flit&>(arrived(v, n, slot)));
}
/// The flit that it has had longest on virtual channel `vc`; there is one.
NW_HD NW_INLINE const Flit& oldest(const NetworkView& v, uint32_t n, uint32_t vc) {
  return v.place(v.exits[(n << v.p.vc_shift) + vc].front);
}
/// How many it has there, which it has not released.
NW_HD NW_INLINE uint32_t held(const NetworkView& v, uint32_t n, uint32_t vc) {
  return v.exits[(n << v.p.vc_shift) + vc].count;
}

NW_HD NW_INLINE OutputVc& entrance(const NetworkView& v, uint32_t n, uint32_t vc) {
  return v.entrances[(n << v.p.vc_shift) + vc];
}
/// Has terminal `n` room for a flit at its entrance's virtual channel `vc`?
NW_HD NW_INLINE bool has_room(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  return has_credit(v, entrance(v, n, vc), t);
}
/// May its next packet begin there? Its packets use a channel one after the other.
NW_HD NW_INLINE bool may_begin(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  if (v.p.wait_for_tail_credit == 0) return has_room(v, n, vc, t);
  return has_all_credits(v, entrance(v, n, vc), t);
}
/// Terminal `n` puts a flit, whose `vc` has room, on its way into the network.
NW_HD NW_INLINE void inject(const NetworkView& v, uint32_t n, const Flit& flit, Cycle t) {
  put_flit(v, v.flit_links[n], entrance(v, n, flit.vc), flit.vc, flit, t);
}
/// Terminal `n`, which lacks one, is to be found in `woken` when a credit for `vc` comes.
NW_HD NW_INLINE void await_room(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  const uint32_t place = entrance(v, n, vc).place, unit = terminal_unit(v.p, n);
  if (!is_free(v.place(place), t)) return await(v, unit, v.place(place));
  // The flit has room: a packet that has to begin waits for the credit of the tail before it.
  Flit& last = v.place(place_before(v.p, place));
  if (v.p.wait_for_tail_credit != 0 && !is_free(last, t)) await(v, unit, last);
}
/// Terminal `n` has room again for a flit on `vc`.
NW_HD NW_INLINE void release(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  InputVc& in = v.exits[(n << v.p.vc_shift) + vc];
  Flit& place = v.place(in.front);
  in.front = next_place(v, in.front);
  in.count = static_cast<uint16_t>(in.count - 1);
  give_back(v, place, in, v.input_ports() + n, t);
}

}  // namespace nearwarp::noc
