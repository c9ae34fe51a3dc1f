// The same router where all of a router's input virtual channels are bits of one word.
//
// For plain networks (is_plain() in router.h) of one virtual network whose routers have at most 64
// input virtual channels, as meshes of published machines have. What takes part in an allocation
// then is a few operations on words: heads at an output are its members without a virtual channel,
// flits for the switch are those that are there, have a channel, and do not lack a credit. Nobody
// registers a request, and nobody takes one back. Results are those of router.h to the bit.
#pragma once

#include "device/noc/pipeline.h"

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
        work_(v.work[r]),
        inputs_(v.input_vcs + (size_t{r} << (input_shift() + vc_shift()))),
        first_output_vc_(r << (output_shift() + vc_shift())),
        buffers_(v.buffers + (size_t{r} << (input_shift() + vc_shift() + ring_shift()))),
        ports_(v.out_ports + (size_t{r} << output_shift())),
        next_(v.sa_next + (size_t{r} << input_shift())) {}

  /// Step it through cycle `t`, in which it is due.
  NW_HD NW_INLINE void step(Cycle t) {
    t_ = t;
    const uint32_t slot = t & slot_mask();
    uint64_t& arrivals = v_.arrivals[slot * v_.units + r_];
    uint64_t& coming = v_.heads[slot * v_.p.routers + r_];
    const uint64_t ports = arrivals;
    uint64_t heads = coming;
    arrivals = coming = 0;
    if (work_.stalled != 0) take_credits();
    if (ports != 0) heads |= take_flits(ports);
    // Both allocators see the state of the cycle's beginning: the switch is decided first, and
    // tails give their channels back last.
    const uint64_t ready = work_.present & work_.active & ~work_.stalled;
    if (has_several(ready)) {
      uint8_t winners[kMaxPorts];
      const uint32_t n = allocate_switch(ready, winners);
      allocate_vcs(heads);
      for (uint32_t i = 0; i < n; ++i) traverse(winners[i]);
    } else if (ready != 0) {
      const uint32_t vc = count_trailing_zeros(ready), port = vc >> vc_shift();
      const uint32_t out = inputs_[vc].out;
      next_[port] = {static_cast<uint16_t>(out + 1),
                     static_cast<uint16_t>((vc & low_bits(vc_shift())) + 1)};
      ports_[out].sa_next = port + 1;
      allocate_vcs(heads);
      traverse(vc);
    } else {
      allocate_vcs(heads);
    }
    if (work_.va_outputs != 0 || (work_.present & work_.active & ~work_.stalled) != 0)
      mark_due(v_, r_, t + 1);
  }

 private:
  static constexpr uint32_t kShift = kUsualShift;
  NW_HD NW_INLINE uint32_t vc_shift() const { return kUsual ? kShift : v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return kUsual ? kShift : v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return kUsual ? kShift : v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t ring_shift() const { return kUsual ? kShift : v_.p.ring_shift; }
  NW_HD NW_INLINE uint32_t ring_mask() const { return (1u << ring_shift()) - 1; }
  NW_HD NW_INLINE uint32_t slots() const { return kUsual ? 1u << kShift : v_.p.slots; }
  NW_HD NW_INLINE uint32_t slot_mask() const { return slots() - 1; }
  NW_HD NW_INLINE static uint64_t bit(uint32_t n) { return uint64_t{1} << n; }
  NW_HD NW_INLINE uint32_t output_vc(const InputVc& in) const {
    return first_output_vc_ + (uint32_t{in.out} << vc_shift()) + in.out_vc;
  }

  NW_HD NW_INLINE void stall(uint32_t vc, uint32_t at) const {
    work_.stalled |= bit(vc);
    v_.output_vcs[at].waiting = 1;
    if (v_.output_vcs[at].coming != 0) mark_due(v_, r_, next_credit(v_, at));
  }
  NW_HD NW_INLINE void take_credits() const {
    for (uint64_t left = work_.stalled; left != 0; left &= left - 1) {
      const uint32_t vc = count_trailing_zeros(left), at = output_vc(inputs_[vc]);
      if (!has_credit(v_, at, t_)) continue;
      v_.output_vcs[at].waiting = 0;
      work_.stalled &= ~bit(vc);
    }
  }

  /// Put flits that arrive into their buffers. Returns the heads that ask for a channel at once.
  NW_HD NW_INLINE uint64_t take_flits(uint64_t ports) const {
    const Flit* const flits =
        v_.flit_slots + ((size_t{r_} << input_shift()) * slots()) + (t_ & slot_mask());
    uint64_t idle = 0;
    for (; ports != 0; ports &= ports - 1) {
      const uint32_t port = count_trailing_zeros(ports);
      const Flit& flit = flits[port * slots()];
      const uint32_t vc = (port << vc_shift()) + flit.vc;
      InputVc& in = inputs_[vc];
      NW_ASSERT(in.count < v_.p.depth);
      buffers_[(vc << ring_shift()) + ((uint32_t{in.head} + in.count) & ring_mask())] = flit;
      in.count = static_cast<uint16_t>(in.count + 1);
      idle |= bit(vc) & ~work_.present;
      work_.present |= bit(vc);
    }
    idle &= ~work_.active;
    if (idle == 0 || head_delay_ == 0) return idle;
    begin_later(idle, t_ + head_delay_);
    return 0;
  }
  /// Heads that ask for a channel from cycle `due` on.
  NW_HD NW_INLINE void begin_later(uint64_t heads, Cycle due) const {
    v_.heads[(due & slot_mask()) * v_.p.routers + r_] |= heads;
    mark_due(v_, r_, due);
  }

  /// Connections of a cycle: input virtual channels; returns their number.
  NW_HD NW_INLINE uint32_t allocate_switch(uint64_t ready, uint8_t* winners) const {
    uint64_t grants[kMaxPorts];
    uint64_t matched = 0;
    for (uint64_t left = ready; left != 0;) {
      const uint32_t out = inputs_[count_trailing_zeros(left)].out;
      const uint64_t mine = left & ports_[out].members;
      left &= ~mine;
      const uint32_t in = pick_from(mine, ports_[out].sa_next << vc_shift()) >> vc_shift();
      const bool more = (matched >> in & 1) != 0;
      grants[in] = (more ? grants[in] : 0) | bit(out);
      matched |= bit(in);
    }
    uint32_t n = 0;
    for (; matched != 0; matched &= matched - 1) {
      const uint32_t in = count_trailing_zeros(matched);
      const uint32_t out = pick_from(grants[in], next_[in].port), first = in << vc_shift();
      const uint64_t vcs = (ready & ports_[out].members) >> first & low_bits(1u << vc_shift());
      const uint32_t number = pick_from(vcs, next_[in].vc);
      // One beyond the last is as good as 0.
      next_[in] = {static_cast<uint16_t>(out + 1), static_cast<uint16_t>(number + 1)};
      ports_[out].sa_next = in + 1;
      winners[n++] = static_cast<uint8_t>(first + number);
    }
    return n;
  }

  /// Between the heads that have asked, with new ones `heads`, and the free channels.
  NW_HD NW_INLINE void allocate_vcs(uint64_t heads) const {
    for (; heads != 0; heads &= heads - 1) {
      const uint32_t vc = count_trailing_zeros(heads);
      InputVc& in = inputs_[vc];
      const uint16_t to = buffers_[(vc << ring_shift()) + in.head].destination;
      const uint32_t out = v_.routes[size_t{r_} * v_.p.terminals + to];
      in.out = static_cast<uint8_t>(out);
      ports_[out].members |= bit(vc);
      work_.va_outputs |= uint64_t{ports_[out].free != 0} << out;
    }
    for (uint64_t outs = work_.va_outputs; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      OutputPort& port = ports_[out];
      const uint64_t wanting = port.members & ~work_.active;
      if (has_several(wanting)) {
        grant(out, wanting);
      } else {
        give(count_trailing_zeros(wanting), out, port.free);  // alone: everything is granted
      }
      if (port.free == 0 || (port.members & ~work_.active) == 0) work_.va_outputs &= ~bit(out);
    }
  }
  /// Grant and accept between several heads and the output's free channels.
  NW_HD NW_INLINE void grant(uint32_t out, uint64_t wanting) const {
    uint8_t winners[kMaxVcs];
    uint32_t channels[kMaxVcs];
    uint32_t n = 0;
    for (uint32_t b = ports_[out].free; b != 0; b &= b - 1) {
      const uint32_t k = count_trailing_zeros(b);
      const PortVc from = v_.output_vcs[first_output_vc_ + (out << vc_shift()) + k].grant_next;
      const uint32_t vc = pick_from(wanting, (uint32_t{from.port} << vc_shift()) + from.vc);
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
    InputVc& in = inputs_[vc];
    const uint32_t taken = pick_from(granted, in.accept_next.port == out ? in.accept_next.vc : 0);
    in.accept_next = after({static_cast<uint8_t>(out), static_cast<uint8_t>(taken)}, v_.p.vcs);
    in.out_vc = static_cast<uint8_t>(taken);
    const uint32_t port = vc >> vc_shift(), number = vc - (port << vc_shift());
    const uint32_t at = output_vc(in);
    v_.output_vcs[at].grant_next =
        after({static_cast<uint8_t>(port), static_cast<uint8_t>(number)}, v_.p.vcs);
    ports_[out].free &= ~(1u << taken);
    work_.active |= bit(vc);
    if (!has_credit(v_, at, t_)) stall(vc, at);
  }

  /// Move the flit at the front of `vc`.
  NW_HD NW_INLINE void traverse(uint32_t vc) const {
    InputVc& in = inputs_[vc];
    OutputPort& to = ports_[in.out];
    const uint32_t at = output_vc(in);
    OutputVc& o = v_.output_vcs[at];
    NW_ASSERT(o.credits > 0);
    o.credits = static_cast<uint16_t>(o.credits - 1);
    const Flit& from = buffers_[(vc << ring_shift()) + in.head];
    const bool tail = (from.flags & kTail) != 0;
    to.flits_sent += 1;
    Flit& sent = put_flit(v_, to.flits, from, t_);
    sent.vc = in.out_vc;
    sent.hops = static_cast<uint8_t>(sent.hops + 1);
    in.head = static_cast<uint16_t>((in.head + 1u) & ring_mask());
    in.count = static_cast<uint16_t>(in.count - 1);
    work_.present &= ~(uint64_t{in.count == 0} << vc);
    const uint32_t port = vc >> vc_shift();
    put_credit(v_, v_.credit_links[(size_t{r_} << input_shift()) + port], vc - (port << vc_shift()),
               t_);
    if (!tail) {
      if (!has_credit(v_, at, t_)) stall(vc, at);
      return;
    }
    work_.active &= ~bit(vc);
    to.members &= ~bit(vc);
    to.free |= 1u << in.out_vc;
    work_.va_outputs |= uint64_t{(to.members & ~work_.active) != 0} << in.out;
    if (in.count != 0) begin_later(bit(vc), t_ + 1 + head_delay_);
  }

  const NetworkView& v_;
  uint32_t r_;
  uint32_t head_delay_;
  Cycle t_ = 0;
  RouterWork& work_;
  InputVc* inputs_;
  uint32_t first_output_vc_;
  Flit* buffers_;
  OutputPort* ports_;
  SwitchNext* next_;
};

}  // namespace router_detail
}  // namespace nearwarp::noc
