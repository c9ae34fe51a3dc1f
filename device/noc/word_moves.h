// How a WordRouter moves flits: one by one where several want the same, and else as trains.
#pragma once

#include "device/noc/word_state.h"

namespace nearwarp::noc::router_detail {

template <bool kUsual, bool kTrains>
class WordMoves : protected WordState<kUsual, kTrains> {
  using Base = WordState<kUsual, kTrains>;

 public:
  using Base::Base;

 protected:
  using Base::ahead, Base::begin_later, Base::bit, Base::head_delay_, Base::input,
      Base::input_shift, Base::last, Base::mark_due, Base::output, Base::ports_, Base::r_,
      Base::slot_mask, Base::stall, Base::t_, Base::train, Base::v_, Base::vc_shift, Base::work;

  /// The flit at the front of `vc` wins the switch: it goes into the far buffer.
  NW_HD NW_INLINE void traverse(uint32_t vc) const {
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    OutputVc& o = output(in.to);
    Flit& place = v_.place(in.front);
    Flit& far = v_.place(o.place);
    NW_ASSERT(is_free(far, t_));
    const uint32_t flags = place.flags, behind = kTrains ? place.vc : 0;
    far = place;
    far.hops = static_cast<uint8_t>(far.hops + 1);
    announce(to, in, t_);
    o.place = ahead(o.place, 1);
    in.front = ahead(in.front, 1);
    to.flits_sent += 1;
    to.sa_last = vc;
    last(vc >> vc_shift()) = {in.out, static_cast<uint16_t>(vc)};
    if (behind != 0) leave_rest(vc, v_.place(in.front), far, behind);
    far.flags &= static_cast<uint8_t>(~kAwaited);
    give_back_at(place, in, vc, t_);
    if (behind == 0) {
      const uint64_t heads = leave(vc, in, to, flags, t_ + 1);
      if (heads != 0) begin_later(heads, t_ + 1);
      if ((flags & kTail) != 0) return;
    }
    if (!is_free(v_.place(o.place), t_)) stall(vc, v_.place(o.place));
  }
  /// The first of a train has gone to `far` by itself, from before `rest`.
  NW_HD NW_INLINE void leave_rest(uint32_t vc, Flit& rest, Flit& far, uint32_t behind) const {
    const uint32_t awaited = rest.flags & kAwaited, flags = far.flags;
    rest = far;
    rest.hops = static_cast<uint8_t>(far.hops - 1);
    rest.vc = static_cast<uint8_t>(behind - 1);
    rest.flags = static_cast<uint8_t>((flags & (kTail | kLast)) | awaited | kHere);
    far.vc = 0;
    far.flags = static_cast<uint8_t>((flags & kHead) | kHere);
    if (behind == 1) work().longer &= ~bit(vc);
  }
  /// Flits of `vc` win the switch from cycle `begin` on, which is this one or the next: they go
  /// into the far buffer.
  NW_HD NW_INLINE void start(uint32_t vc, Cycle begin) const {
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    OutputVc& o = output(in.to);
    const Flit first = v_.place(in.front);
    const uint32_t length = length_of(first);
    uint32_t n = length;
    if (n != 1)
      while (n > 1 && !is_free(v_.place(ahead(o.place, n - 1)), t_)) --n;
    const uint32_t tail = n == length ? first.flags & (kTail | kLast) : 0;
    send(vc, in, to, o, first, begin, n, tail);
    work().moving |= bit(vc);
    // Who waits for its end?
    if (n != length || in.count > 1 || (tail != 0 && (to.members & ~work().active) != 0))
      mark_due(begin + n);
  }
  /// The train of `vc` that begins with `first`, or `n` flits of it with the `tail` of those.
  NW_HD NW_INLINE void send(uint32_t vc, const InputVc& in, OutputPort& to, OutputVc& o,
                            const Flit& first, Cycle begin, uint32_t n, uint32_t tail) const {
    FlitTrain& train = this->train(vc);
    train.flit = first;
    train.begin = begin;
    train.far = o.place;
    train.flits = n;
    give_back_at(v_.place(in.front), in, vc, begin);
    put(to, in, o.place, first, begin, n - 1, tail);
    if (n != 1) send_behind(vc, in, to, o.place, begin, n, tail);
    o.place = ahead(o.place, n);
    to.flits_sent += n;
  }
  /// A flit leaves its place in cycle `t`.
  NW_HD NW_INLINE void give_back_at(Flit& place, const InputVc& in, uint32_t vc, Cycle t) const {
    const uint32_t flags = place.flags;
    place.tag = t + in.credit_delay;
    place.flags = 0;
    if ((flags & kAwaited) != 0) wake_sender(v_, (r_ << input_shift()) + (vc >> vc_shift()), t);
  }
  /// It goes to place `at` in cycle `t`, with so many flits behind it and the `tail` of all.
  NW_HD NW_INLINE void put(const OutputPort& to, const InputVc& in, uint32_t at, const Flit& flit,
                           Cycle t, uint32_t behind, uint32_t tail) const {
    Flit& far = v_.place(at);
    NW_ASSERT(is_free(far, t_));
    far = flit;
    far.hops = static_cast<uint8_t>(flit.hops + 1);
    far.vc = static_cast<uint8_t>(behind);
    far.flags = static_cast<uint8_t>((flit.flags & kHead) | tail | kHere);
    announce(to, in, t);
  }
  /// Something gets there that is sent in cycle `t`.
  NW_HD NW_INLINE void announce(const OutputPort& to, const InputVc& in, Cycle t) const {
    const uint32_t slot = (t + to.flits.delay) & slot_mask();
    add_bits(v_.word(to.flits.word + slot * 2), bit(in.far_bit));
    add_bits(v_.word(to.flits.due + slot), bit(to.flits.bit));
  }
  /// The same of those behind the first.
  NW_HD NW_INLINE void send_behind(uint32_t vc, const InputVc& in, const OutputPort& to,
                                   uint32_t far, Cycle begin, uint32_t n, uint32_t tail) const {
    for (uint32_t j = 1; j < n; ++j) give_back_at(v_.place(ahead(in.front, j)), in, vc, begin + j);
    put_behind(to.flits, in.far_bit, far, begin, n, tail);
  }
  /// The places behind the first of `n` flits; of a terminal, each with its flit.
  NW_HD NW_INLINE void put_behind(const NetworkLink& link, uint32_t vc, uint32_t far, Cycle begin,
                                  uint32_t n, uint32_t tail) const {
    if (link.unit < v_.p.routers) {
      for (uint32_t j = 1; j < n; ++j) v_.place(ahead(far, j)).flags = kHere;
      return;
    }
    Flit& first = v_.place(far);
    first.flags &= static_cast<uint8_t>(~(kTail | kLast));
    Flit flit = first;
    flit.flags = kHere;
    for (uint32_t j = 1; j < n; ++j) {
      if (j + 1 == n) flit.flags = static_cast<uint8_t>(kHere | tail);
      v_.place(ahead(far, j)) = flit;
      const uint32_t slot = (begin + j + link.delay) & slot_mask();
      add_bits(v_.word(link.word + slot * 2), bit(vc));
      add_bits(v_.word(link.due + slot), bit(link.bit));
    }
  }

  /// Trains that have gone before cycle `t`. Returns the heads behind them that ask for a channel
  /// then.
  NW_HD NW_INLINE uint64_t end_trains(Cycle t) const {
    uint64_t heads = 0;
    for (uint64_t left = work().moving; left != 0; left &= left - 1) {
      const uint32_t vc = count_trailing_zeros(left);
      if (static_cast<int32_t>(t - end_of(train(vc))) >= 0) heads |= end(vc, train(vc).flits, t);
    }
    return heads;
  }
  /// Somebody else may win from this cycle on: only those flits have gone that have by now.
  NW_HD NW_INLINE void cut(uint32_t vc) const {
    const FlitTrain& train = this->train(vc);
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    const uint32_t gone = t_ - train.begin, lost = train.flits - gone;
    for (uint32_t j = gone; j < train.flits; ++j) v_.place(ahead(in.front, j)).flags = kHere;
    to.flits_sent -= lost;
    output(in.to).place = ahead(train.far, gone);
    cut_ahead(v_, to.flits, in.far_bit, train.far, train.begin + to.flits.delay, gone, lost, t_);
    end(vc, gone, t_);
  }
  /// The train of `vc` has ended before cycle `t` with its first `gone` flits. Returns the head
  /// behind it, if that asks for a channel then.
  NW_HD NW_INLINE uint64_t end(uint32_t vc, uint32_t gone, Cycle t) const {
    const FlitTrain& train = this->train(vc);
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    work().moving &= ~bit(vc);
    if (gone != 0) {
      to.sa_last = vc;
      last(vc >> vc_shift()) = {in.out, static_cast<uint16_t>(vc)};
    }
    in.front = ahead(in.front, gone);
    const uint32_t length = length_of(train.flit);
    if (length - gone < 2) work().longer &= ~bit(vc);
    if (gone != length) {
      Flit& rest = v_.place(in.front);
      const uint32_t kept = gone == 0 ? kHead | kTail | kLast : kTail | kLast;
      const uint32_t flags = (train.flit.flags & kept) | (rest.flags & kAwaited) | kHere;
      rest = train.flit;
      rest.vc = static_cast<uint8_t>(length - gone - 1);
      rest.flags = static_cast<uint8_t>(flags);
    } else {
      const uint64_t heads = leave(vc, in, to, train.flit.flags, t);
      if ((train.flit.flags & kTail) != 0) return heads;
    }
    Flit& place = v_.place(output(in.to).place);
    if (!is_free(place, t_)) stall(vc, place);
    return 0;
  }
  /// All flits of a train of `flags` have gone before cycle `t`. Returns the head behind it, if
  /// that asks for a channel then.
  NW_HD NW_INLINE uint64_t leave(uint32_t vc, InputVc& in, OutputPort& to, uint32_t flags,
                                 Cycle t) const {
    RouterWork& work = this->work();
    in.count = static_cast<uint16_t>(in.count - 1);
    if (in.count == 0) work.present &= ~bit(vc);
    if ((flags & kTail) == 0) return 0;
    work.active &= ~bit(vc);
    to.members &= ~bit(vc);
    to.free |= 1u << in.out_vc;
    work.va_outputs |= uint64_t{(to.members & ~work.active) != 0} << in.out;
    if (in.count == 0) return 0;
    if (head_delay_ == 0) return bit(vc);
    begin_later(bit(vc), t + head_delay_);
    return 0;
  }
};

}  // namespace nearwarp::noc::router_detail
