// Trains: flits of one packet that follow each other from cycle to cycle.
//
// WordRouters (word_router.h) move them in one go. A train stands in its first flit's place, with
// the number of flits behind it; their places are taken, and hold nothing. It is announced once, in
// the cycle in which its first flit comes. The router that it reaches moves all of it when the
// first flit wins a switch that nobody else wants: it puts the train into the far buffer, and says
// for each of its own places from when on it is free. Nothing more is to be done for the flits
// behind, unless somebody comes who wants the same output or input before the last of them has
// gone. Then the train is cut: those that have not gone are a train of their own, which stands
// where they are, and what was said ahead is taken back: their places in the far buffer, and of the
// train that has perhaps been made of them there, which is shorter now, and so on. All of that is
// in the future by more cycles than a router is stepped through at a time, so nobody has acted upon
// it.
//
// Terminals take flits one by one: behind a router's exit a train's flits are announced and stand
// in their places each.
#pragma once

#include "device/noc/places.h"

namespace nearwarp::noc {

/// Flits of the train whose first one is in a place.
NW_HD NW_INLINE uint32_t length_of(const Flit& first) { return first.vc + 1u; }
/// Its last `n` flits are none of it any more.
NW_HD NW_INLINE void shorten(Flit& first, uint32_t n) {
  first.vc = static_cast<uint8_t>(first.vc - n);
  first.flags &= static_cast<uint8_t>(~(kTail | kLast));
}
/// The cycle after the one in which its last flit wins the switch.
NW_HD NW_INLINE Cycle end_of(const FlitTrain& train) { return train.begin + train.flits; }
/// Does it leave nothing of the packet behind?
NW_HD NW_INLINE bool has_tail(const FlitTrain& train) {
  return train.flits == length_of(train.flit) && (train.flit.flags & kTail) != 0;
}

namespace train_detail {

/// Of `train` at terminal's `vc`, behind `link`: flits [from, end) do not come.
NW_HD NW_INLINE void take_back(const NetworkView& v, const NetworkLink& link, uint32_t vc,
                               Cycle arrival, uint32_t from, uint32_t end) {
  for (uint32_t j = from; j < end; ++j) {
    const uint32_t slot = (arrival + j) & v.slot_mask;
    *v.word(link.word + slot * v.arrival_words) &= ~(uint64_t{1} << vc);
    *v.word(link.due + slot) &= ~(uint64_t{1} << link.bit);
  }
}

}  // namespace train_detail

/// The train that passes router `r` is one among others from now on.
NW_HD NW_RARE inline void end_passage(const NetworkView& v, uint32_t r) {
  RouterWork& work = v.work(r);
  Passage& passage = work.passage;
  const uint32_t vc = passage.vc;
  const uint64_t bit = uint64_t{1} << vc;
  InputVc& in = v.inputs(r)[vc];
  OutputPort& to = v.ports(r)[in.out];
  in.front = passage.front;
  in.count = 1;
  to.sa_last = passage.sa_last;
  to.free &= ~(1u << in.out_vc);
  to.members |= bit;
  v.lasts(r)[vc >> v.p.vc_shift] = passage.last;
  work.present |= bit;
  work.active |= bit;
  work.moving |= bit;
  passage.vc = kNobody;
}

/// The train that went to place `far`, by `first_link` to its virtual channel `vc`, and whose first
/// flit reaches it in cycle `arrival`, has `kept` flits; `lost` more were promised. It is cycle
/// `t`.
NW_HD NW_RARE inline void cut_ahead(const NetworkView& v, const NetworkLink& first_link,
                                    uint32_t vc, uint32_t far, Cycle arrival, uint32_t kept,
                                    uint32_t lost, Cycle t) {
  const NetworkLink* link = &first_link;
  while (true) {
    for (uint32_t j = kept; j < kept + lost; ++j) {
      Flit& place = v.place(place_ahead(v.p, far, j));
      place.tag = t;
      place.flags = 0;
    }
    if (link->unit >= v.p.routers)
      return train_detail::take_back(v, *link, vc, arrival, kept, kept + lost);
    uint64_t& coming = *v.word(link->word + (arrival & v.slot_mask) * v.arrival_words);
    const uint64_t bit = uint64_t{1} << vc;
    const bool is_there = (coming & bit) == 0;
    if (kept == 0) {
      coming &= ~bit;
      return;
    }
    if (v.work(link->unit).passage.vc == vc && is_there) end_passage(v, link->unit);
    const InputVc& in = v.inputs(link->unit)[vc];
    if (!is_there || in.count > 1) return shorten(v.place(far), lost);
    // It is the only one there, and perhaps a part of it has gone.
    if ((v.work(link->unit).moving & bit) == 0) return shorten(v.place(in.front), lost);
    FlitTrain& train = v.trains(link->unit)[vc];
    shorten(train.flit, lost);
    kept = length_of(train.flit);
    if (train.flits <= kept) return;
    lost = train.flits - kept;
    train.flits = kept;
    OutputPort& port = v.ports(link->unit)[in.out];
    port.flits_sent -= lost;
    v.outputs(link->unit)[in.to].place = place_ahead(v.p, train.far, kept);
    link = &port.flits;
    vc = in.far_bit;
    far = train.far;
    arrival = train.begin + link->delay;
  }
}

/// Flits that OutputPort::flits_sent of a router's output has counted, and that leave in cycle
/// `now` or later.
NW_HD inline uint32_t counted_ahead(const NetworkView& v, uint32_t router, uint32_t output,
                                    Cycle now) {
  uint32_t flits = 0;
  if (v.p.longest_train == 1) return flits;
  const RouterWork& work = v.work(router);
  uint64_t moving = work.moving;
  if (work.passage.vc != kNobody) moving |= uint64_t{1} << work.passage.vc;
  for (; moving != 0; moving &= moving - 1) {
    const uint32_t vc = count_trailing_zeros(moving);
    if (v.inputs(router)[vc].out != output) continue;
    const FlitTrain& train = v.trains(router)[vc];
    const uint32_t ahead = end_of(train) - now;
    if (static_cast<int32_t>(ahead) > 0) flits += ahead < train.flits ? ahead : train.flits;
  }
  return flits;
}

}  // namespace nearwarp::noc
