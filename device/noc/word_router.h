// The same router where all of a router's input virtual channels are bits of one word.
//
// For plain networks (is_plain() in router.h) of one virtual network whose routers have at most 64
// input virtual channels, as meshes of published machines have. What takes part in an allocation
// then is a few operations on words: heads at an output are its members without a virtual channel,
// flits for the switch are those that are there, have a channel, and do not lack a credit. Nobody
// registers a request, and nobody takes one back. Results are those of router.h to the bit.
#pragma once

#include "device/noc/pipeline.h"
#include "device/noc/places.h"

namespace nearwarp::noc {

/// Is a network stepped by WordRouter? Of those without speed-ups and waiting for tail credits.
NW_HD NW_INLINE bool fits_a_word(const NetworkParams& p) {
  return p.vnets == 1 && p.input_shift + p.vc_shift <= 6;
}

namespace router_detail {

/// log2 of ports, virtual channels, flits of a buffer and time slots of a usual network
/// (is_usual() in router.h).
inline constexpr uint32_t kUsualShift = 3;

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
    if (work.stalled != 0) take_credits();
    heads |= take_flits(flits);
    // Both allocators see the state of the cycle's beginning: the switch is decided first, and
    // tails give their channels back last.
    const uint64_t ready = work.present & work.active & ~work.stalled;
    if (!has_several(ready)) {
      if ((heads | work.va_outputs) != 0) allocate_vcs(heads);
      if (ready != 0) traverse(count_trailing_zeros(ready));
    } else {
      uint64_t moving = allocate_switch(ready);
      if ((heads | work.va_outputs) != 0) allocate_vcs(heads);
      for (; moving != 0; moving &= moving - 1) traverse(count_trailing_zeros(moving));
    }
    if (work.va_outputs != 0 || (work.present & work.active & ~work.stalled) != 0) mark_due(t + 1);
  }

 private:
  static constexpr uint32_t kShift = kUsualShift;
  NW_HD NW_INLINE uint32_t vc_shift() const { return kUsual ? kShift : v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return kUsual ? kShift : v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return kUsual ? kShift : v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t slots() const { return kUsual ? 1u << kShift : v_.p.slots; }
  NW_HD NW_INLINE uint32_t slot_mask() const { return slots() - 1; }
  NW_HD NW_INLINE BlockLayout layout() const {
    constexpr uint32_t kSize = 1u << kShift;
    constexpr BlockLayout kLayout = block_layout(kSize * 2, kSize, kSize, kSize, kSize);
    return kUsual ? kLayout : v_.layout;
  }
  NW_HD NW_INLINE static uint64_t bit(uint32_t n) { return uint64_t{1} << n; }
  NW_HD NW_INLINE uint32_t behind(uint32_t place) const {
    if (!kUsual) return next_place(v_, place);
    constexpr uint32_t kRing = sizeof(Flit) << kShift;
    const uint32_t next = place + sizeof(Flit);
    return next % kRing == 0 ? next - kRing : next;
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
      if (has_credit(v_, output(input(vc).to), t_)) work().stalled &= ~bit(vc);
    }
  }

  /// Count flits that arrive. Returns the heads that ask for a channel at once.
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
    if (idle == 0 || head_delay_ == 0) return idle;
    begin_later(idle, t_ + head_delay_);
    return 0;
  }
  /// Heads that ask for a channel from cycle `due` on.
  NW_HD NW_INLINE void begin_later(uint64_t heads, Cycle due) const {
    coming_in(due)[1] |= heads;
    mark_due(due);
  }

  /// Connections of a cycle between several flits: the input virtual channels that win.
  NW_HD NW_INLINE uint64_t allocate_switch(uint64_t ready) const {
    uint64_t ports = 0, contested = 0;
    for (uint64_t left = ready; left != 0 && contested == 0;) {
      const uint32_t vc = count_trailing_zeros(left);
      const uint64_t mine = left & ports_[input(vc).out].members, port = bit(vc >> vc_shift());
      contested = (mine & (mine - 1)) | (ports & port);
      ports |= port;
      left &= ~mine;
    }
    return contested == 0 ? ready : arbitrate(ready);
  }
  /// The same where several want an output, or an input port has several that could win.
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
      if (port.free != 0 && (port.members & ~work.active) != 0) more |= bit(out);
    }
    work.va_outputs = more;
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
  /// The head of `vc` takes one of the output's virtual channels `granted`.
  NW_HD NW_INLINE void give(uint32_t vc, uint32_t out, uint32_t granted) const {
    InputVc& in = input(vc);
    const uint32_t before = in.to;  // none: of no port
    const uint32_t taken =
        pick_from(granted, before >> vc_shift() == out ? (before & low_bits32(vc_shift())) + 1 : 0);
    in.out_vc = static_cast<uint8_t>(taken);
    in.to = static_cast<uint16_t>((out << vc_shift()) + taken);
    in.far_bit = static_cast<uint8_t>(ports_[out].flits.first + taken);
    OutputVc& o = output(in.to);
    o.last = static_cast<uint16_t>(vc);
    ports_[out].free &= ~(1u << taken);
    work().active |= bit(vc);
    if (!is_free(v_.place(o.place), t_)) stall(vc, v_.place(o.place));
  }

  /// Move the flit at the front of `vc` into the far buffer.
  NW_HD NW_INLINE void traverse(uint32_t vc) const {
    InputVc& in = input(vc);
    const uint32_t out = in.out;
    OutputPort& to = ports_[out];
    OutputVc& o = output(in.to);
    Flit& from = v_.place(in.front);
    Flit& far = v_.place(o.place);
    NW_ASSERT(is_free(far, t_));
    const uint32_t flags = from.flags, place = behind(o.place);
    far = from;
    far.hops = static_cast<uint8_t>(far.hops + 1);
    from.tag = t_ + in.credit_delay;
    from.flags = 0;
    in.front = behind(in.front);
    o.place = place;
    if ((flags & kAwaited) != 0) {
      far.flags = static_cast<uint8_t>(flags & ~kAwaited);
      wake_sender(v_, (r_ << input_shift()) + (vc >> vc_shift()), t_);
    }
    const uint32_t slot = (t_ + to.flits.delay) & slot_mask();
    add_bits(v_.word(to.flits.word + slot * 2), bit(in.far_bit));
    add_bits(v_.word(to.flits.due + slot), bit(to.flits.bit));
    to.flits_sent += 1;
    to.sa_last = vc;
    last(vc >> vc_shift()) = {static_cast<uint16_t>(out), static_cast<uint16_t>(vc)};
    in.count = static_cast<uint16_t>(in.count - 1);
    RouterWork& work = this->work();
    if (in.count == 0) work.present &= ~bit(vc);
    if ((flags & kTail) == 0) {
      if (!is_free(v_.place(place), t_)) stall(vc, v_.place(place));
      return;
    }
    work.active &= ~bit(vc);
    to.members &= ~bit(vc);
    to.free |= 1u << in.out_vc;
    work.va_outputs |= uint64_t{(to.members & ~work.active) != 0} << out;
    if (in.count != 0) begin_later(bit(vc), t_ + 1 + head_delay_);
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
