// The same router where all of a router's input virtual channels are bits of one word.
//
// For plain networks (is_plain() in router.h) of one virtual network whose routers have at most 64
// input virtual channels, as meshes of published machines have. What takes part in an allocation
// then is a few operations on words: heads at an output are its members without a virtual channel,
// flits for the switch are those that are there, have a channel, and do not lack a credit. Nobody
// registers a request, and nobody takes one back. Results are those of router.h to the bit.
#pragma once

#include "device/noc/word_moves.h"

namespace nearwarp::noc {

namespace router_detail {

template <bool kUsual, bool kTrains>
class WordRouter : WordMoves<kUsual, kTrains> {
  using Base = WordMoves<kUsual, kTrains>;

 public:
  using Base::Base;

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
    if (kTrains) {
      if (work.passage.vc != kNobody) leave_passage(t);
      if (work.moving != 0) heads |= end_trains(t);
      if (work.active == 0 && pass(flits, heads)) return;
    }
    if (work.stalled != 0) take_credits();
    heads |= take_flits(flits);
    // Both allocators see the state of the cycle's beginning: the switch is decided first, and
    // tails give their channels back when their train has ended.
    const uint64_t ready = work.present & work.active & ~work.stalled;
    uint64_t contested = 0, winners = ready & ~moving();
    if (winners != 0 && has_several(ready)) {
      contested = contested_of(ready);
      if (contested != 0) winners = (winners & ~contested) | settle(contested);
    }
    if ((heads | work.va_outputs) != 0) allocate_vcs(heads);
    for (; winners != 0; winners &= winners - 1) {
      const uint32_t vc = count_trailing_zeros(winners);
      if (!kTrains || ((contested | ~work.longer) >> vc & 1) != 0) {
        traverse(vc);  // that is less work than a train of one
      } else {
        start(vc, t);
      }
    }
    const uint64_t next = work.present & work.active & ~work.stalled & ~moving();
    if (next != 0) {
      if (!kTrains || contested != 0 || (next & work.longer) == 0) {
        mark_due(t + 1);
      } else {
        look_ahead();
      }
    }
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
  NW_HD NW_INLINE uint64_t moving() const { return kTrains ? work().moving : 0; }
  using Base::ahead, Base::begin_later, Base::bit, Base::coming_in, Base::cut, Base::due_,
      Base::end_trains, Base::head_delay_, Base::input, Base::last, Base::mark_due, Base::output,
      Base::ports_, Base::r_, Base::send, Base::slot_mask, Base::stall, Base::start, Base::t_,
      Base::train, Base::traverse, Base::v_, Base::vc_shift, Base::work;

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
    for (uint64_t left = flits & moving(); left != 0; left &= left - 1)
      mark_due(end_of(train(count_trailing_zeros(left))));
    if (idle == 0 || head_delay_ == 0) return idle;
    begin_later(idle, t_ + head_delay_);
    return 0;
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
  NW_HD NW_INLINE void look_ahead() const {
    const Cycle next = t_ + 1;
    const RouterWork& work = this->work();
    // The last of those trains goes in this cycle.
    const uint64_t heads = end_trains(next);
    if (heads != 0) begin_later(heads, next);
    const uint64_t ready = work.present & work.active & ~work.stalled;
    if (has_several(ready) && contested_of(ready) != 0) return mark_due(next);
    for (uint64_t left = ready & ~work.moving; left != 0; left &= left - 1) {
      const uint32_t vc = count_trailing_zeros(left);
      if ((work.longer >> vc & 1) == 0) {
        mark_due(next);
      } else {
        start(vc, next);
      }
    }
  }
  /// Which of the contested ones win.
  NW_HD NW_INLINE uint64_t settle(uint64_t contested) const {
    for (uint64_t left = contested & moving(); left != 0; left &= left - 1)
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
      const Flit& first = v_.place(in.front);
      const uint16_t to = first.destination;
      if (kTrains && first.vc != 0) work.longer |= bit(vc);
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
    for (uint64_t left = ports_[out].members & moving(); left != 0; left &= left - 1)
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
  /// Nobody is in the router but a packet that comes, or whose head asks for a channel: until
  /// somebody else comes, whose head will ask later, it goes through in one step. Returns false if
  /// that is not so.
  NW_HD NW_INLINE bool pass(uint64_t flits, uint64_t heads) const {
    RouterWork& work = this->work();
    if ((flits == 0) == (heads == 0)) return false;
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
    const Cycle begin = t_ + 1 + (heads == 0 ? head_delay_ : 0);
    SwitchLast& input_last = last(vc >> vc_shift());
    Passage& passage = work.passage;
    passage.end = begin + n;
    passage.vc = static_cast<uint16_t>(vc);
    passage.last = input_last;
    passage.sa_last = to.sa_last;
    passage.front = in.front;
    input_last = {static_cast<uint16_t>(out), static_cast<uint16_t>(vc)};
    to.sa_last = vc;
    send(vc, in, to, o, first, begin, n, first.flags & (kTail | kLast));
    in.front = ahead(in.front, n);
    return true;
  }
};

}  // namespace router_detail
}  // namespace nearwarp::noc
