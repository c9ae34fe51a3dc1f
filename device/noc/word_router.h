// The same router where all of a router's input virtual channels are bits of one word.
//
// For plain networks (is_plain() in router.h) of one virtual network whose routers have at most 64
// input virtual channels, as meshes of published machines have. What takes part in an allocation
// then is a few operations on words: heads at an output are its members without a virtual channel,
// flits for the switch are those that are there, have a channel, and do not lack a credit. Nobody
// registers a request, and nobody takes one back. Results are those of router.h to the bit.
#pragma once

#include "device/noc/pipeline.h"
#include "device/noc/trains.h"

namespace nearwarp::noc {

namespace router_detail {

/// log2 of ports, virtual channels and flits of a buffer of a usual network, and its time slots
/// (is_usual() in router.h).
inline constexpr uint32_t kUsualShift = 3;
inline constexpr uint32_t kUsualSlots = 16;

/// kUsual: of a usual network, whose addresses are made without asking for its strides.
template <bool kUsual>
class WordRouter {
 public:
  /// `head_delay`: cycles from a head's beginning to its first request.
  NW_HD NW_INLINE WordRouter(const NetworkView& v, uint32_t r, uint32_t head_delay)
      : v_(v),
        r_(r),
        head_delay_(head_delay),
        block_(v.units + size_t{r} * layout().bytes),
        ports_(v.out_ports + (size_t{r} << output_shift())),
        due_(v.due + r / 64 * slots()) {}

  /// Has it something to do in cycle `t`?
  NW_HD NW_INLINE bool is_due(Cycle t) const {
    return (due_[t & slot_mask()] >> (r_ % 64) & 1) != 0;
  }

  /// Step it through cycle `t`, in which it is due.
  NW_HD NW_INLINE void step(Cycle t) {
    t_ = t;
    RouterWork& work = this->work();
    uint64_t* const coming = coming_in(t);
    const uint64_t flits = coming[0];
    uint64_t heads = coming[1];
    coming[0] = coming[1] = 0;
    if (work.passage.vc != kNobody) leave_passage(t);
    if (work.moving != 0) heads |= end_trains(t);
    if (work.active == 0 && pass(flits, heads)) return;
    if (work.stalled != 0) take_credits();
    heads |= take_flits(flits);
    // Both allocators see the state of the cycle's beginning: the switch is decided first, and
    // tails give their channels back when their train has ended.
    const uint64_t ready = work.present & work.active & ~work.stalled;
    uint64_t contested = 0, winners = ready & ~work.moving;
    if (winners != 0 && has_several(ready)) {
      contested = contested_of(ready);
      if (contested != 0) winners = (winners & ~contested) | settle(contested);
    }
    if ((heads | work.va_outputs) != 0) allocate_vcs(heads);
    for (; winners != 0; winners &= winners - 1) {
      const uint32_t vc = count_trailing_zeros(winners);
      if ((contested >> vc & 1) != 0 || length_of(v_.place(input(vc).front)) == 1) {
        traverse(vc);
      } else {
        start(vc, t);
      }
    }
    if ((work.present & work.active & ~work.stalled & ~work.moving) != 0) look_ahead(contested != 0);
    if (work.va_outputs != 0) mark_due(t + 1);
  }
  /// Trains that have gone before cycle `t`, in which the router is not stepped, are noticed.
  NW_HD NW_INLINE void rest(Cycle t) {
    t_ = t;
    if (static_cast<int32_t>(t - work().passage.end) >= 0) work().passage.vc = kNobody;
    const uint64_t heads = end_trains(t);
    if (heads != 0) begin_later(heads, t);
  }

 private:
  static constexpr uint32_t kShift = kUsualShift;
  NW_HD NW_INLINE uint32_t vc_shift() const { return kUsual ? kShift : v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return kUsual ? kShift : v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return kUsual ? kShift : v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t slots() const { return kUsual ? kUsualSlots : v_.p.slots; }
  NW_HD NW_INLINE uint32_t slot_mask() const { return slots() - 1; }
  NW_HD NW_INLINE BlockLayout layout() const {
    constexpr uint32_t kSize = 1u << kShift;
    constexpr BlockLayout kLayout =
        block_layout(kUsualSlots * 2, kSize, kSize, kSize, kSize, kSize * kSize);
    return kUsual ? kLayout : v_.layout;
  }
  NW_HD NW_INLINE static uint64_t bit(uint32_t n) { return uint64_t{1} << n; }
  NW_HD NW_INLINE uint32_t ahead(uint32_t place, uint32_t n) const {
    if (!kUsual) return place_ahead(v_.p, place, n);
    constexpr uint32_t kRing = sizeof(Flit) << kShift;
    return (place & ~(kRing - 1)) | ((place + n * sizeof(Flit)) & (kRing - 1));
  }
  // What the block has.
  NW_HD NW_INLINE RouterWork& work() const {
    return *reinterpret_cast<RouterWork*>(block_ + layout().work);
  }
  NW_HD NW_INLINE InputVc& input(uint32_t vc) const {
    return reinterpret_cast<InputVc*>(block_ + layout().inputs)[vc];
  }
  NW_HD NW_INLINE OutputVc& output(uint32_t vc) const {
    return reinterpret_cast<OutputVc*>(block_ + layout().outputs)[vc];
  }
  NW_HD NW_INLINE FlitTrain& train(uint32_t vc) const {
    return reinterpret_cast<FlitTrain*>(block_ + layout().trains)[vc];
  }
  NW_HD NW_INLINE SwitchLast& last(uint32_t port) const {
    return reinterpret_cast<SwitchLast*>(block_ + layout().lasts)[port];
  }
  /// Of cycle `t`: virtual channels that a flit reaches, and those whose head asks for a channel.
  NW_HD NW_INLINE uint64_t* coming_in(Cycle t) const {
    return reinterpret_cast<uint64_t*>(block_) + (t & slot_mask()) * 2;
  }
  /// It has something to do in cycle `t`.
  NW_HD NW_INLINE void mark_due(Cycle t) const { add_bits(due_ + (t & slot_mask()), bit(r_ % 64)); }

  /// The packet of `vc` lacks a credit for `place`.
  NW_HD NW_INLINE void stall(uint32_t vc, Flit& place) const {
    work().stalled |= bit(vc);
    await_apart(v_, r_, place);
  }
  NW_HD NW_INLINE void take_credits() const {
    for (uint64_t left = work().stalled; left != 0; left &= left - 1) {
      const uint32_t vc = count_trailing_zeros(left);
      Flit& place = v_.place(output(input(vc).to).place);
      if (is_free(place, t_)) {
        work().stalled &= ~bit(vc);
      } else {  // it was to be free now, and then a train was cut
        await_apart(v_, r_, place);
      }
    }
  }

  /// Count trains that arrive. Returns the heads that ask for a channel at once.
  NW_HD NW_INLINE uint64_t take_flits(uint64_t flits) const {
    if (flits == 0) return 0;
    for (uint64_t left = flits; left != 0; left &= left - 1) {
      InputVc& in = input(count_trailing_zeros(left));
      NW_ASSERT(in.count < v_.p.depth);
      in.count = static_cast<uint16_t>(in.count + 1);
    }
    RouterWork& work = this->work();
    const uint64_t idle = flits & ~(work.present | work.active);
    work.present |= flits;
    for (uint64_t left = flits & work.moving; left != 0; left &= left - 1)
      mark_due(end_of(train(count_trailing_zeros(left))));
    if (idle == 0 || head_delay_ == 0) return idle;
    begin_later(idle, t_ + head_delay_);
    return 0;
  }
  /// Heads that ask for a channel from cycle `due` on.
  NW_HD NW_INLINE void begin_later(uint64_t heads, Cycle due) const {
    coming_in(due)[1] |= heads;
    mark_due(due);
  }

  /// Those of `ready` that want an output that others want, too, or of whose input port several
  /// could win.
  NW_HD NW_INLINE uint64_t contested_of(uint64_t ready) const {
    uint64_t contested = 0, ports = 0, several = 0;
    for (uint64_t left = ready; left != 0;) {
      const uint32_t vc = count_trailing_zeros(left);
      const uint64_t mine = ready & ports_[input(vc).out].members, port = bit(vc >> vc_shift());
      if (has_several(mine)) contested |= mine;
      several |= ports & port;
      ports |= port;
      left &= left - 1;
    }
    for (; several != 0; several &= several - 1)
      contested |= ready & low_bits(1u << vc_shift())
                               << (count_trailing_zeros(several) << vc_shift());
    return contested;
  }
  /// What takes part in the switch allocation of the next cycle wins if nobody contests it.
  NW_HD NW_INLINE void look_ahead(bool contested) const {
    const Cycle next = t_ + 1;
    if (contested) return mark_due(next);
    const RouterWork& work = this->work();
    // The last of those trains goes in this cycle.
    const uint64_t heads = end_trains(next);
    if (heads != 0) begin_later(heads, next);
    const uint64_t ready = work.present & work.active & ~work.stalled;
    if (has_several(ready) && contested_of(ready) != 0) return mark_due(next);
    for (uint64_t left = ready & ~work.moving; left != 0; left &= left - 1)
      start(count_trailing_zeros(left), next);
  }
  /// Which of the contested ones win.
  NW_HD NW_INLINE uint64_t settle(uint64_t contested) const {
    for (uint64_t left = contested & work().moving; left != 0; left &= left - 1)
      cut(count_trailing_zeros(left));
    return arbitrate(contested);
  }
  /// The winners where several want an output, or an input port has several that could win.
  NW_HD NW_INLINE uint64_t arbitrate(uint64_t ready) const {
    const uint32_t numbers = low_bits32(vc_shift());
    uint64_t grants[kMaxPorts];
    uint64_t matched = 0;
    for (uint64_t left = ready; left != 0;) {
      const uint32_t out = input(count_trailing_zeros(left)).out;
      const uint64_t mine = left & ports_[out].members;
      left &= ~mine;
      const uint32_t in = pick_from(mine, (ports_[out].sa_last | numbers) + 1) >> vc_shift();
      const bool more = (matched >> in & 1) != 0;
      grants[in] = (more ? grants[in] : 0) | bit(out);
      matched |= bit(in);
    }
    uint64_t winners = 0;
    for (; matched != 0; matched &= matched - 1) {
      const uint32_t in = count_trailing_zeros(matched);
      const uint32_t out = pick_from(grants[in], last(in).port + 1u), first = in << vc_shift();
      const uint64_t vcs = (ready & ports_[out].members) >> first & low_bits(1u << vc_shift());
      winners |= bit(first + pick_from(vcs, (last(in).vc & numbers) + 1));
    }
    return winners;
  }

  /// Between the heads that have asked, with new ones `heads`, and the free channels.
  NW_HD NW_INLINE void allocate_vcs(uint64_t heads) const {
    RouterWork& work = this->work();
    uint64_t outs = work.va_outputs, more = 0;
    for (; heads != 0; heads &= heads - 1) {
      const uint32_t vc = count_trailing_zeros(heads);
      InputVc& in = input(vc);
      const uint16_t to = v_.place(in.front).destination;
      const uint32_t out = v_.routes[size_t{r_} * v_.p.terminals + to];
      in.out = static_cast<uint8_t>(out);
      ports_[out].members |= bit(vc);
      if (ports_[out].free == 0) await_channel(out);
      outs |= uint64_t{ports_[out].free != 0} << out;
    }
    for (; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      OutputPort& port = ports_[out];
      const uint64_t wanting = port.members & ~work.active;
      if (!has_several(wanting)) {  // alone: everything is granted
        give(count_trailing_zeros(wanting), out, port.free);
        continue;
      }
      grant(out, wanting);
      if ((port.members & ~work.active) == 0) continue;
      if (port.free == 0) {
        await_channel(out);
      } else {
        more |= bit(out);
      }
    }
    work.va_outputs = more;
  }
  /// A head waits until one of the output's channels is free.
  NW_HD NW_INLINE void await_channel(uint32_t out) const {
    for (uint64_t left = ports_[out].members & work().moving; left != 0; left &= left - 1)
      mark_due(end_of(train(count_trailing_zeros(left))));
  }
  /// Grant and accept between several heads and the output's free channels.
  NW_HD NW_INLINE void grant(uint32_t out, uint64_t wanting) const {
    uint8_t winners[kMaxVcs];
    uint32_t channels[kMaxVcs];
    uint32_t n = 0;
    for (uint32_t b = ports_[out].free; b != 0; b &= b - 1) {
      const uint32_t k = count_trailing_zeros(b);
      const uint32_t vc = pick_from(wanting, output((out << vc_shift()) + k).last + 1u);
      uint32_t i = 0;
      while (i < n && winners[i] != vc) ++i;
      channels[i] = (i < n ? channels[i] : 0) | 1u << k;
      winners[i] = static_cast<uint8_t>(vc);
      n += i == n ? 1 : 0;
    }
    for (uint32_t i = 0; i < n; ++i) give(winners[i], out, channels[i]);
  }
  /// Which of an output's channels the head takes that are granted to it.
  NW_HD NW_INLINE uint32_t choose(const InputVc& in, uint32_t out, uint32_t granted) const {
    const uint32_t before = in.to;  // none: of no port
    return pick_from(granted,
                     before >> vc_shift() == out ? (before & low_bits32(vc_shift())) + 1 : 0);
  }
  /// The head of `vc` takes one of the output's virtual channels `granted`.
  NW_HD NW_INLINE void give(uint32_t vc, uint32_t out, uint32_t granted) const {
    InputVc& in = input(vc);
    const uint32_t taken = choose(in, out, granted);
    in.out_vc = static_cast<uint8_t>(taken);
    in.to = static_cast<uint16_t>((out << vc_shift()) + taken);
    in.far_bit = static_cast<uint8_t>(ports_[out].flits.first + taken);
    OutputVc& o = output(in.to);
    o.last = static_cast<uint16_t>(vc);
    ports_[out].free &= ~(1u << taken);
    work().active |= bit(vc);
    if (!is_free(v_.place(o.place), t_)) stall(vc, v_.place(o.place));
  }

  /// The router's only train has gone, or is one among others from now on.
  NW_HD NW_INLINE void leave_passage(Cycle t) const {
    Passage& passage = work().passage;
    if (static_cast<int32_t>(t - passage.end) >= 0) {
      passage.vc = kNobody;
    } else {
      end_passage(v_, r_);
    }
  }
  /// Nobody is in the router but a packet that comes, whose head asks for a channel at once: until
  /// somebody else comes it goes through in one step. Returns false if that is not so.
  NW_HD NW_INLINE bool pass(uint64_t flits, uint64_t heads) const {
    RouterWork& work = this->work();
    if ((flits == 0) == (heads == 0) || (heads == 0 && head_delay_ != 0)) return false;
    const uint64_t all = flits | heads | work.present;
    if (has_several(all) || (flits & work.present) != 0) return false;
    const uint32_t vc = count_trailing_zeros(all);
    InputVc& in = input(vc);
    if (heads != 0 && in.count != 1) return false;
    const Flit first = v_.place(in.front);
    const uint32_t out = v_.routes[size_t{r_} * v_.p.terminals + first.destination];
    OutputPort& to = ports_[out];
    if ((first.flags & kTail) == 0 || to.free == 0) return false;
    const uint32_t taken = choose(in, out, to.free), n = length_of(first);
    const uint32_t number = (out << vc_shift()) + taken;
    OutputVc& o = output(number);
    if (!is_free(v_.place(ahead(o.place, n - 1)), t_)) return false;
    in.out = static_cast<uint8_t>(out);
    in.out_vc = static_cast<uint8_t>(taken);
    in.to = static_cast<uint16_t>(number);
    in.far_bit = static_cast<uint8_t>(to.flits.first + taken);
    in.count = 0;
    o.last = static_cast<uint16_t>(vc);
    work.present = 0;
    const Cycle begin = t_ + 1;
    SwitchLast& input_last = last(vc >> vc_shift());
    Passage& passage = work.passage;
    passage.end = begin + n;
    passage.vc = static_cast<uint16_t>(vc);
    passage.last = input_last;
    passage.sa_last = to.sa_last;
    passage.front = in.front;
    input_last = {static_cast<uint16_t>(out), static_cast<uint16_t>(vc)};
    to.sa_last = vc;
    FlitTrain& train = this->train(vc);
    train.flit = first;
    train.begin = begin;
    train.far = o.place;
    train.flits = n;
    give_back_at(v_.place(in.front), in, vc, begin);
    const uint32_t tail = first.flags & (kTail | kLast);
    put(to, in, o.place, first, begin, n - 1, tail);
    if (n != 1) start_behind(vc, in, to, o.place, begin, n, tail);
    o.place = ahead(o.place, n);
    in.front = ahead(in.front, n);
    to.flits_sent += n;
    return true;
  }

  /// The flit at the front of `vc` wins the switch: it goes into the far buffer.
  NW_HD NW_INLINE void traverse(uint32_t vc) const {
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    OutputVc& o = output(in.to);
    Flit& place = v_.place(in.front);
    const Flit flit = place;
    const uint32_t behind = flit.vc;
    give_back_at(place, in, vc, t_);
    put(to, in, o.place, flit, t_, 0, behind == 0 ? flit.flags & (kTail | kLast) : 0);
    o.place = ahead(o.place, 1);
    in.front = ahead(in.front, 1);
    to.flits_sent += 1;
    to.sa_last = vc;
    last(vc >> vc_shift()) = {in.out, static_cast<uint16_t>(vc)};
    if (behind != 0) {
      Flit& rest = v_.place(in.front);
      const uint32_t flags = (flit.flags & (kTail | kLast)) | (rest.flags & kAwaited) | kHere;
      rest = flit;
      rest.vc = static_cast<uint8_t>(behind - 1);
      rest.flags = static_cast<uint8_t>(flags);
    } else {
      const uint64_t heads = leave(vc, in, to, flit.flags, t_ + 1);
      if (heads != 0) begin_later(heads, t_ + 1);
      if ((flit.flags & kTail) != 0) return;
    }
    if (!is_free(v_.place(o.place), t_)) stall(vc, v_.place(o.place));
  }
  /// Flits of `vc` win the switch from cycle `begin` on, which is this one or the next: they go into
  /// the far buffer.
  NW_HD NW_INLINE void start(uint32_t vc, Cycle begin) const {
    InputVc& in = input(vc);
    OutputPort& to = ports_[in.out];
    OutputVc& o = output(in.to);
    FlitTrain& train = this->train(vc);
    const Flit first = v_.place(in.front);
    const uint32_t length = length_of(first);
    uint32_t n = length;
    if (n != 1)
      while (n > 1 && !is_free(v_.place(ahead(o.place, n - 1)), t_)) --n;
    train.flit = first;
    train.begin = begin;
    train.far = o.place;
    train.flits = n;
    give_back_at(v_.place(in.front), in, vc, begin);
    const uint32_t tail = n == length ? first.flags & (kTail | kLast) : 0;
    put(to, in, o.place, first, begin, n - 1, tail);
    if (n != 1) start_behind(vc, in, to, o.place, begin, n, tail);
    o.place = ahead(o.place, n);
    to.flits_sent += n;
    work().moving |= bit(vc);
    // Who waits for its end?
    if (n != length || in.count > 1 || (tail != 0 && (to.members & ~work().active) != 0))
      mark_due(begin + n);
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
    const uint32_t slot = (t + to.flits.delay) & slot_mask();
    add_bits(v_.word(to.flits.word + slot * 2), bit(in.far_bit));
    add_bits(v_.word(to.flits.due + slot), bit(to.flits.bit));
  }
  /// The same of those behind the first.
  NW_HD NW_INLINE void start_behind(uint32_t vc, const InputVc& in, const OutputPort& to,
                                    uint32_t far, Cycle begin, uint32_t n, uint32_t tail) const {
    for (uint32_t j = 1; j < n; ++j)
      give_back_at(v_.place(ahead(in.front, j)), in, vc, begin + j);
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
  /// All flits of a train of `flags` have gone before cycle `t`. Returns the head behind it, if that
  /// asks for a channel then.
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

  const NetworkView& v_;
  uint32_t r_;
  uint32_t head_delay_;
  Cycle t_ = 0;
  std::byte* block_;
  OutputPort* ports_;
  uint64_t* due_;  ///< its word of flags, by slot
};

}  // namespace router_detail
}  // namespace nearwarp::noc
