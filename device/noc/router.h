// An input-queued virtual-channel router with wormhole flow control: one cycle of it.
//
// Stages [Dally & Towles, Principles and Practices of Interconnection Networks, ch. 16]: routing,
// VC allocation, switch allocation, traversal. A head goes through all, body and tail flits through
// the last two. Both allocators are iSLIP with one iteration (islip.h). A head asks for every free
// virtual channel of its virtual network at its output; a channel is free again when the tail has
// won the switch, whether or not the far buffer has emptied, or on request when that flit's credit
// has come back. In switch allocation each input of the switch puts forward, for each output, the
// first of its virtual channels in rotating order. An input port is one of these, or with input
// speed-up several.
//
// All of a cycle's allocation sees the state at the cycle's beginning: what one stage hands on or
// gives back in a cycle, the next can use in the cycle after. Only flits and credits that arrive in
// the cycle count at once.
//
// With internal speed-up all this happens twice a cycle: in two rounds, of which the second sees
// what the first has done, and each of which every stage of one cycle fits into (pipeline.h). Wires
// and arrivals keep to one flit per port and cycle, so flits may have to wait for an output's wire;
// an output that kOutputQueue of them wait for takes part in no switch allocation.
#pragma once

#include "device/noc/pipeline.h"
#include "device/noc/word_router.h"

namespace nearwarp::noc {

namespace router_detail {

/// One router in one round of a cycle. Input VCs are named by port << vc_shift | VC.
///
/// kPlain: it is one of a plain network (is_plain()).
template <bool kPlain>
class Router {
 public:
  NW_HD NW_INLINE Router(const NetworkView& v, uint32_t r, Cycle t, uint32_t round)
      : v_(v),
        r_(r),
        t_(t),
        round_(round),
        now_(t * speedup() + round),
        crossed_(round + 1 == speedup() ? t : t - 1),
        work_(v.work(r)),
        inputs_(v.inputs(r)),
        outputs_(v.outputs(r)),
        ports_(v.ports(r)),
        sa_vcs_(v.sa_vcs + (size_t{r} << (output_shift() + switch_shift()))) {}

  /// Goes on to a later cycle, in a plain network.
  NW_HD NW_INLINE void set_cycle(Cycle t) { t_ = now_ = crossed_ = t; }

  // Strides.
  NW_HD NW_INLINE uint32_t vc_shift() const { return v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t switch_shift() const { return v_.p.switch_shift; }
  NW_HD NW_INLINE uint32_t vnets() const { return v_.p.vnets; }

  NW_HD NW_INLINE uint32_t speedup() const { return kPlain ? 1 : v_.p.speedup; }
  NW_HD NW_INLINE uint32_t input_speedup_shift() const {
    return kPlain ? 0 : v_.p.input_speedup_shift;
  }

  /// Virtual channels that have waited for a credit, and have one now.
  NW_HD NW_INLINE void take_credits() const {
    for (uint64_t outs = work_.waiting; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      for (uint32_t vcs = ports_[out].waiting; vcs != 0; vcs &= vcs - 1)
        take_credits(out, count_trailing_zeros(vcs));
    }
  }

  /// Count flits that arrive.
  NW_HD NW_INLINE void take_flits() const {
    const uint32_t words = vc_words(v_.p);
    uint64_t* const arrivals = v_.router_arrivals(r_) + (t_ & v_.slot_mask) * v_.arrival_words;
    for (uint32_t w = 0; w < words; ++w) {
      for (uint64_t left = arrivals[w]; left != 0; left &= left - 1)
        take_flit(w * 64 + count_trailing_zeros(left));
      arrivals[w] = 0;
    }
  }
  NW_HD NW_INLINE void take_flit(uint32_t vc) const {
    const InputVc& in = inputs_[vc];
    NW_ASSERT(inputs_[vc].count < v_.p.depth);
    inputs_[vc].count = static_cast<uint16_t>(inputs_[vc].count + 1);
    if (in.stage == VcStage::kIdle) {
      start_packet(vc, now_);
    } else if (in.stage == VcStage::kActive && inputs_[vc].count == 1) {
      start_flit(vc, now_);
    }
  }

  /// Hand on what has been through the stages before the allocators.
  NW_HD NW_INLINE void advance_stages() const {
    for (uint32_t vc; (vc = dequeue(v_.head_entries, work_.heads)) != kNobody;) request_vc(vc);
    if (sw_alloc_delay() == 1) return;
    for (uint32_t vc; (vc = dequeue(v_.flit_entries, work_.flits)) != kNobody;) offer(vc);
  }

  /// Connections of a round: out[i], vc[i] for each input i of the switch of the mask that is
  /// returned.
  struct Matches {
    uint8_t out[kMaxPorts], vc[kMaxPorts];
  };
  NW_HD NW_INLINE uint64_t allocate_switch(Matches& match) const {
    SwitchLast* const last = v_.lasts(r_);
    if (kPlain && !has_several(work_.sa_outputs)) {  // an output alone: it grants, and is accepted
      const uint32_t out = count_trailing_zeros(work_.sa_outputs);
      OutputPort& port = ports_[out];
      const uint32_t in = has_several(port.sa_inputs) ? pick_from(port.sa_inputs, port.sa_next)
                                                      : count_trailing_zeros(port.sa_inputs);
      const uint32_t vcs = sa_vcs_[(out << switch_shift()) + in];
      const uint32_t number =
          has_several(vcs) ? pick_from(vcs, last[in].vc + 1u) : count_trailing_zeros(vcs);
      match.out[in] = static_cast<uint8_t>(out);
      match.vc[in] = static_cast<uint8_t>(number);
      last[in] = {static_cast<uint8_t>(out), static_cast<uint8_t>(number)};
      port.sa_next = in + 1;
      return uint64_t{1} << in;
    }
    uint64_t grants[kMaxPorts];
    uint64_t matched = 0;
    for (uint64_t outs = work_.sa_outputs; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      const OutputPort& port = ports_[out];
      if (speedup() != 1 && queued(port) == kOutputQueue) continue;
      const uint32_t in = pick_from(port.sa_inputs, port.sa_next);
      const bool more = (matched >> in & 1) != 0;
      grants[in] = (more ? grants[in] : 0) | uint64_t{1} << out;
      matched |= uint64_t{1} << in;
    }
    for (uint64_t ins = matched; ins != 0; ins &= ins - 1) {
      const uint32_t in = count_trailing_zeros(ins);
      const uint32_t out = pick_from(grants[in], last[in].port + 1u);
      const uint32_t number = pick_from(sa_vcs_[(out << switch_shift()) + in], last[in].vc + 1u);
      match.out[in] = static_cast<uint8_t>(out);
      match.vc[in] = static_cast<uint8_t>(number);
      last[in] = {static_cast<uint8_t>(out), static_cast<uint8_t>(number)};
      ports_[out].sa_next = in + 1;
    }
    return matched;
  }

  /// Requests between each output's heads and its free channels.
  NW_HD NW_INLINE void allocate_vcs() const {
    for (uint64_t outs = work_.va_outputs; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      for (uint32_t left = ports_[out].wanted & ports_[out].free; left != 0;) {
        const uint32_t n = vnet_of(count_trailing_zeros(left)), mine = left & vcs_of(n);
        left &= ~mine;
        allocate_vcs(out, ((r_ << output_shift()) + out) * vnets() + n, mine);
      }
    }
  }

  /// Move what has won the switch.
  NW_HD NW_INLINE void traverse(uint64_t matched, const Matches& match) const {
    for (; matched != 0; matched &= matched - 1) {
      const uint32_t in = count_trailing_zeros(matched);
      traverse(in >> input_speedup_shift(), match.vc[in], match.out[in]);
    }
  }
  /// Move the flit at the front of virtual channel `number` of `port` to output `out`.
  NW_HD NW_APART_ON_GPU void traverse(uint32_t port, uint32_t number, uint32_t out) const {
    const uint32_t vc = (port << vc_shift()) + number;
    InputVc& in = inputs_[vc];
    Flit& flit = v_.place(in.front);
    in.front = next_place(v_, in.front);
    inputs_[vc].count = static_cast<uint16_t>(inputs_[vc].count - 1);
    const uint32_t out_vc = in.out_vc;
    const bool tail = (flit.flags & kTail) != 0;
    send(flit, out, out_vc);
    give_back(v_, flit, in, (r_ << input_shift()) + port, t_);
    if (tail) end_packet(out, out_vc);
    const bool stays = !tail && inputs_[vc].count != 0 && sw_alloc_delay() == 1;
    const bool lacks_credit = stays && !has_credit(v_, output_vc(out, out_vc), t_);
    if (!stays || lacks_credit) withdraw_switch_request(port, number, out);
    if (lacks_credit) await_credit(out, out_vc);
    if (stays) return;
    in.offered = false;
    if (tail) {
      in.stage = VcStage::kIdle;
      if (inputs_[vc].count != 0) start_packet(vc, now_ + 1);
    } else if (inputs_[vc].count != 0) {
      start_flit(vc, now_ + 1);
    }
  }

 private:
  /// Cycles for which the wire of an output is spoken for when a flit that wins the switch now has
  /// crossed it.
  NW_HD NW_INLINE uint32_t queued(const OutputPort& port) const {
    const Cycle ahead = port.wire_free - crossed_;
    return ahead <= kOutputQueue ? ahead : 0;  // beyond: it became free in the past
  }

  NW_HD NW_INLINE OutputVc& output_vc(uint32_t out, uint32_t number) const {
    return outputs_[(out << vc_shift()) + number];
  }
  NW_HD NW_INLINE uint32_t sw_alloc_delay() const { return kPlain ? 1 : v_.p.sw_alloc_delay; }
  NW_HD NW_INLINE bool waits_for_tail_credit() const {
    return !kPlain && v_.p.wait_for_tail_credit != 0;
  }

  /// Virtual channel `number` of output `out` lacks a credit, or its tail's: it is looked at again
  /// when the next one comes.
  NW_HD NW_INLINE void await_credit(uint32_t out, uint32_t number) const {
    ports_[out].waiting |= 1u << number;
    work_.waiting |= uint64_t{1} << out;
    look_again(out, number);
  }
  NW_HD NW_INLINE void look_again(uint32_t out, uint32_t number) const {
    const OutputVc& o = output_vc(out, number);
    const bool tail = o.owner == kWaitsForTailCredit;
    await(v_, r_, v_.place(tail ? place_before(v_.p, o.place) : o.place));
  }
  NW_HD NW_INLINE void take_credits(uint32_t out, uint32_t number) const {
    const OutputVc& o = output_vc(out, number);
    const bool tail = o.owner == kWaitsForTailCredit;
    if (!(tail ? has_all_credits(v_, o, t_) : has_credit(v_, o, t_))) return;
    ports_[out].waiting &= ~(1u << number);
    work_.waiting &= ~(static_cast<uint64_t>(ports_[out].waiting == 0) << out);
    if (tail) {
      release_vc(out, number);
    } else {
      request_switch(o.owner, out);
    }
  }

  /// A flit crosses the switch.
  NW_HD NW_INLINE void send(const Flit& flit, uint32_t out, uint32_t out_vc) const {
    OutputPort& to = ports_[out];
    OutputVc& o = outputs_[(out << vc_shift()) + out_vc];
    NW_ASSERT(is_free(v_.place(o.place), t_));
    Flit& far = v_.place(o.place);
    to.flits_sent += 1;
    Cycle leaves = crossed_;
    if (speedup() != 1) {
      leaves += queued(to);
      to.wire_free = leaves + 1;
    }
    put_flit(v_, to.flits, o, out_vc, flit, leaves);
    far.hops = static_cast<uint8_t>(far.hops + 1);
  }
  /// A tail has crossed the switch.
  NW_HD NW_INLINE void end_packet(uint32_t out, uint32_t out_vc) const {
    if (waits_for_tail_credit()) {
      outputs_[(out << vc_shift()) + out_vc].owner = kWaitsForTailCredit;
      await_credit(out, out_vc);
    } else {
      release_vc(out, out_vc);
    }
  }
  NW_HD NW_INLINE void release_vc(uint32_t out, uint32_t number) const {
    outputs_[(out << vc_shift()) + number].owner = kNobody;
    ports_[out].free |= 1u << number;
    work_.va_outputs |= static_cast<uint64_t>(ports_[out].wanted >> number & 1) << out;
  }
  NW_HD NW_INLINE uint32_t vnet_of(uint32_t number) const {
    return vnets() == 1 ? 0 : v_.vcs_per_vnet == 1 ? number : number / v_.vcs_per_vnet;
  }
  NW_HD NW_INLINE uint32_t vcs_of(uint32_t vnet) const {
    return v_.vnet_mask << (vnet * v_.vcs_per_vnet);
  }

  NW_HD NW_INLINE void enqueue(StageEntry* entries, StageQueue& q, uint32_t vc, Round due) const {
    const uint32_t size = 1u << (input_shift() + vc_shift());
    const uint32_t at = (uint32_t{q.head} + q.count) & (size - 1);
    entries[size_t{r_} * size + at] = {due, static_cast<uint16_t>(vc)};
    q.count = static_cast<uint16_t>(q.count + 1);
  }
  /// The first entry if it is due; kNobody if not.
  NW_HD NW_INLINE uint32_t dequeue(const StageEntry* entries, StageQueue& q) const {
    if (q.count == 0) return kNobody;
    const uint32_t size = 1u << (input_shift() + vc_shift());
    const StageEntry e = entries[size_t{r_} * size + q.head];
    if (static_cast<int32_t>(now_ - e.due) < 0) return kNobody;
    q.head = static_cast<uint16_t>((q.head + 1u) & (size - 1));
    q.count = static_cast<uint16_t>(q.count - 1);
    return e.vc;
  }

  /// The head at the front of `vc` enters the pipeline in round `begin`.
  NW_HD NW_INLINE void start_packet(uint32_t vc, Round begin) const {
    InputVc& in = inputs_[vc];
    in.out = v_.routes[size_t{r_} * v_.p.terminals + v_.place(in.front).destination];
    const Round due = first_vc_request(v_.p, begin);
    if (due == begin) {
      request_vc(vc);
    } else {
      in.stage = VcStage::kRouting;
      enqueue(v_.head_entries, work_.heads, vc, due);
      if (kPlain) mark_due(v_, r_, due);  // a cycle has one round
    }
  }

  NW_HD NW_INLINE void request_vc(uint32_t vc) const {
    InputVc& in = inputs_[vc];
    in.stage = VcStage::kWaitingForVc;
    const uint32_t port = vc >> vc_shift(), number = vc - (port << vc_shift()), out = in.out;
    const uint32_t vnet = vnet_of(number), vcs = vcs_of(vnet);
    const uint32_t at = ((r_ << output_shift()) + out) * vnets() + vnet;
    v_.va_vcs[(size_t{at} << input_shift()) + port] |= 1u << number;
    v_.va_ports[at] |= uint64_t{1} << port;
    ports_[out].wanted |= vcs;
    work_.va_outputs |= static_cast<uint64_t>((ports_[out].free & vcs) != 0) << out;
  }
  NW_HD NW_INLINE void withdraw_vc_request(uint32_t at, uint32_t out, PortVc who) const {
    uint32_t& vcs = v_.va_vcs[(size_t{at} << input_shift()) + who.port];
    vcs &= ~(1u << who.vc);
    const uint64_t ports = v_.va_ports[at] &= ~(static_cast<uint64_t>(vcs == 0) << who.port);
    if (ports == 0) ports_[out].wanted &= ~vcs_of(vnet_of(who.vc));
    const uint32_t ready = ports_[out].wanted & ports_[out].free;
    work_.va_outputs &= ~(static_cast<uint64_t>(ready == 0) << out);
  }

  /// The input of the switch that virtual channel `number` of `port` uses.
  NW_HD NW_INLINE uint32_t switch_input(uint32_t port, uint32_t number) const {
    return kPlain ? port : (port << v_.p.input_speedup_shift) + (number & (v_.p.input_speedup - 1));
  }
  NW_HD NW_INLINE void request_switch(uint32_t vc, uint32_t out) const {
    const uint32_t port = vc >> vc_shift(), number = vc - (port << vc_shift());
    const uint32_t in = switch_input(port, number);
    sa_vcs_[(out << switch_shift()) + in] |= 1u << number;
    ports_[out].sa_inputs |= uint64_t{1} << in;
    work_.sa_outputs |= uint64_t{1} << out;
  }
  NW_HD NW_INLINE void withdraw_switch_request(uint32_t port, uint32_t number, uint32_t out) const {
    const uint32_t in = switch_input(port, number);
    uint32_t& vcs = sa_vcs_[(out << switch_shift()) + in];
    vcs &= ~(1u << number);
    const uint64_t ins = ports_[out].sa_inputs &= ~(static_cast<uint64_t>(vcs == 0) << in);
    work_.sa_outputs &= ~(static_cast<uint64_t>(ins == 0) << out);
  }

  /// The flit at the front of `vc`, whose packet has its virtual channel, takes part in switch
  /// allocation from now on.
  NW_HD NW_INLINE void offer(uint32_t vc) const {
    InputVc& in = inputs_[vc];
    in.offered = true;
    if (has_credit(v_, output_vc(in.out, in.out_vc), t_)) {
      request_switch(vc, in.out);
    } else {
      await_credit(in.out, in.out_vc);
    }
  }
  /// Offers it after the stages of switch allocation, which the flit enters in round `begin`.
  NW_HD NW_INLINE void start_flit(uint32_t vc, Round begin) const {
    if (sw_alloc_delay() == 1) {
      offer(vc);
    } else {
      enqueue(v_.flit_entries, work_.flits, vc, first_switch_request(v_.p, begin));
    }
  }

  /// Grant and accept between the heads that want output `out` and its free channels `available`.
  NW_HD NW_INLINE void allocate_vcs(uint32_t out, uint32_t at, uint32_t available) const {
    const uint32_t* const requests = v_.va_vcs + (size_t{at} << input_shift());
    const uint64_t ports = v_.va_ports[at];
    const uint32_t first = count_trailing_zeros(ports), first_vcs = requests[first];
    if (!has_several(ports) && !has_several(first_vcs)) {
      accept_vc(
          out, at,
          {static_cast<uint8_t>(first), static_cast<uint8_t>(count_trailing_zeros(first_vcs))},
          available);  // alone: everything is granted
      return;
    }
    PortVc winners[kMaxVcs];
    uint32_t channels[kMaxVcs];
    uint32_t n = 0;
    for (uint32_t b = available; b != 0; b &= b - 1) {
      const uint32_t k = count_trailing_zeros(b);
      const PortVc who =
          pick_from(ports, requests, next_input(outputs_[(out << vc_shift()) + k].last));
      uint32_t i = 0;
      while (i < n && (winners[i].port != who.port || winners[i].vc != who.vc)) ++i;
      channels[i] = (i < n ? channels[i] : 0) | 1u << k;
      winners[i] = who;
      n += i == n ? 1 : 0;
    }
    for (uint32_t i = 0; i < n; ++i) accept_vc(out, at, winners[i], channels[i]);
  }

  /// Where an output's virtual channel looks first, which input virtual channel `last` had before.
  NW_HD NW_INLINE PortVc next_input(uint32_t last) const {
    if (last == kNobody) return {};
    const uint32_t port = last >> vc_shift(), number = last - (port << vc_shift());
    return after({static_cast<uint8_t>(port), static_cast<uint8_t>(number)}, v_.p.vcs);
  }
  /// The head of `who` takes one of the output's virtual channels `granted`.
  NW_HD NW_INLINE void accept_vc(uint32_t out, uint32_t at, PortVc who, uint32_t granted) const {
    const uint32_t vc = (uint32_t{who.port} << vc_shift()) + who.vc;
    give_vc(out, who, granted);
    withdraw_vc_request(at, out, who);
    start_flit(vc, now_ + 1);
  }
  /// The head of `who` gets one of them; its request stays.
  NW_HD NW_INLINE void give_vc(uint32_t out, PortVc who, uint32_t granted) const {
    const uint32_t vc = (uint32_t{who.port} << vc_shift()) + who.vc;
    InputVc& in = inputs_[vc];
    const uint32_t before = in.to;  // none: of no port
    const bool same = before != kNobody && before >> vc_shift() == out;
    const uint32_t taken = pick_from(granted, same ? (before & low_bits32(vc_shift())) + 1 : 0);
    in.to = static_cast<uint16_t>((out << vc_shift()) + taken);
    in.stage = VcStage::kActive;
    in.out_vc = static_cast<uint8_t>(taken);
    OutputVc& o = outputs_[(out << vc_shift()) + taken];
    o.owner = static_cast<uint16_t>(vc);
    o.last = static_cast<uint16_t>(vc);
    ports_[out].free &= ~(1u << taken);
  }

  const NetworkView& v_;
  uint32_t r_;
  Cycle t_;
  uint32_t round_;  ///< of the cycle
  Round now_;
  /// A flit that wins the switch now begins to cross it in the next round: the cycle before the
  /// one that it is in. Links add the cycles of the traversal.
  Cycle crossed_;
  RouterWork& work_;
  InputVc* inputs_;
  OutputVc* outputs_;
  OutputPort* ports_;
  uint32_t* sa_vcs_;
};

}  // namespace router_detail

/// Does anything in the router wait to go on?
NW_HD NW_INLINE bool has_requests(const RouterWork& w) {
  return (w.va_outputs | w.sa_outputs | w.heads.count | w.flits.count) != 0;
}
/// Has router `r` something to do in cycle `t`?
NW_HD NW_INLINE bool is_due(const NetworkView& v, uint32_t r, Cycle t) {
  return (v.due_of(r)[t & v.slot_mask] >> (r % 64) & 1) != 0;
}
/// Is a network without speed-up, internal or of inputs, whose flits enter switch allocation at
/// once, and whose channels are free when a tail has gone? Then it is stepped by step_plain().
NW_HD NW_INLINE bool is_plain(const NetworkParams& p) {
  return p.speedup == 1 && p.input_speedup == 1 && p.sw_alloc_delay == 1 &&
         p.wait_for_tail_credit == 0;
}

/// Is it plain, of one virtual network and of routers of five to eight ports with eight virtual
/// channels of eight flits, and wires of a cycle or two? Meshes are, as published ones have them
/// and `nearwarp noc` by default.
NW_HD NW_INLINE bool is_usual(const NetworkParams& p) {
  constexpr uint32_t kShift = router_detail::kUsualShift;
  return is_plain(p) && p.vnets == 1 && p.slots == 1u << kShift && p.vc_shift == kShift &&
         p.input_shift == kShift && p.output_shift == kShift && p.ring_shift == kShift &&
         p.depth == 1u << kShift && p.vcs == 1u << kShift;
}
/// Which of the functions below steps a network.
enum class Stepping : uint8_t { kAny, kPlain, kWord, kUsual };
NW_HD NW_INLINE Stepping stepping_of(const NetworkParams& p) {
  if (!is_plain(p)) return Stepping::kAny;
  return is_usual(p) ? Stepping::kUsual : fits_a_word(p) ? Stepping::kWord : Stepping::kPlain;
}

/// Step router `r` through cycle `t`.
///
/// Reads:  flits and credits that reach it in this cycle; sends both, a cycle or more ahead.
/// State:  its own entries of the arrays of network_state.h.
NW_HD NW_APART inline void step_router(const NetworkView& v, uint32_t r, Cycle t) {
  for (uint32_t round = 0; round < v.p.speedup; ++round) {
    if (round != 0 && !has_requests(v.work(r))) break;
    using Router = router_detail::Router<false>;
    const Router router(v, r, t, round);
    if (round == 0) {
      router.take_credits();
      router.take_flits();
    }
    router.advance_stages();
    // The switch is decided before virtual channels are handed out, and tails give theirs back
    // after that: both allocators see the state of the round's beginning.
    Router::Matches match;
    const uint64_t matched = router.allocate_switch(match);
    router.allocate_vcs();
    router.traverse(matched, match);
  }
  if (has_requests(v.work(r))) mark_due(v, r, t + 1);
}

/// Steps a router of a plain network through those of the cycles [begin, end) in which it is due.
NW_HD NW_APART_ON_GPU void step_plain(const NetworkView& v, uint32_t r, Cycle begin, Cycle end) {
  using Router = router_detail::Router<true>;
  RouterWork& work = v.work(r);
  Router router(v, r, begin, 0);
  for (Cycle t = begin; t != end; ++t) {
    if (!is_due(v, r, t)) continue;
    router.set_cycle(t);
    if (work.waiting != 0) router.take_credits();
    router.take_flits();
    router.advance_stages();
    Router::Matches match;
    const uint64_t matched = work.sa_outputs == 0 ? 0 : router.allocate_switch(match);
    if (work.va_outputs != 0) router.allocate_vcs();
    router.traverse(matched, match);
    if ((work.va_outputs | work.sa_outputs) != 0) mark_due(v, r, t + 1);
  }
}

/// Steps a router whose input virtual channels fit a word. `head_delay`: WordRouter's.
template <bool kUsual>
NW_HD NW_APART_ON_GPU void step_word(const NetworkView& v, DueRouter due, uint32_t head_delay,
                                     Cycle begin, Cycle end) {
  router_detail::WordRouter<kUsual> router(v, due, head_delay);
  router.step(begin, end);
}

}  // namespace nearwarp::noc
