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

#include "tests/noc/flit_by_flit/pipeline.h"

namespace nearwarp::flit_by_flit {

namespace router_detail {

/// One router in one round of a cycle. Input VCs are named by port << vc_shift | VC.
///
/// kPlain: of a network without speed-up, internal or of inputs, as most are. What is known of it
/// when this is compiled saves a fifth of the instructions.
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
        vc_shift_(v.p.vc_shift),
        input_shift_(v.p.input_shift),
        work_(v.work[r]),
        inputs_(v.input_vcs + (size_t{r} << (input_shift_ + vc_shift_))),
        outputs_(v.output_vcs + (size_t{r} << (v.p.output_shift + vc_shift_))),
        ports_(v.out_ports + (size_t{r} << v.p.output_shift)),
        sa_vcs_(v.sa_vcs + (size_t{r} << (v.p.output_shift + v.p.switch_shift))) {}

  NW_HD NW_INLINE uint32_t speedup() const { return kPlain ? 1 : v_.p.speedup; }
  NW_HD NW_INLINE uint32_t input_speedup_shift() const {
    return kPlain ? 0 : v_.p.input_speedup_shift;
  }

  /// Credits of the round `sent_in` of routers down the way.
  NW_HD NW_INLINE void take_credits(uint64_t ports, uint32_t sent_in) const {
    const uint32_t slot = t_ & v_.slot_mask, slots = v_.p.slots * speedup();
    uint32_t* const credits =
        v_.credit_slots + (size_t{r_} << v_.p.output_shift) * slots + slot * speedup() + sent_in;
    for (; ports != 0; ports &= ports - 1) {
      const uint32_t out = count_trailing_zeros(ports);
      take_vcs(credits[out * slots], [&](uint32_t vc) { take_credit(out, vc); });
    }
  }

  NW_HD NW_INLINE void take_flits(uint64_t ports) const {
    const uint32_t slot = t_ & v_.slot_mask, slots = v_.p.slots;
    const Flit* const flits = v_.flit_slots + (size_t{r_} << input_shift_) * slots + slot;
    for (; ports != 0; ports &= ports - 1) {
      const uint32_t port = count_trailing_zeros(ports);
      const Flit flit = flits[port * slots];
      const uint32_t vc = (port << vc_shift_) + flit.vc;
      InputVc& in = inputs_[vc];
      NW_ASSERT(in.count < v_.p.depth);
      uint32_t at = uint32_t{in.head} + in.count;
      at = at >= v_.p.depth ? at - v_.p.depth : at;
      buffer(vc)[at] = flit;
      in.count = static_cast<uint16_t>(in.count + 1);
      if (in.stage == VcStage::kIdle) {
        start_packet(vc, now_);
      } else if (in.stage == VcStage::kActive && in.count == 1) {
        start_flit(vc, now_);
      }
    }
  }

  /// Hand on what has been through the stages before the allocators.
  NW_HD NW_INLINE void advance_stages() const {
    for (uint32_t vc; (vc = dequeue(v_.head_entries, work_.heads)) != kNobody;) request_vc(vc);
    if (v_.p.sw_alloc_delay == 1) return;
    for (uint32_t vc; (vc = dequeue(v_.flit_entries, work_.flits)) != kNobody;) offer(vc);
  }

  /// Connections of a round: out[i], vc[i] for each input i of the switch of the mask that is
  /// returned.
  struct Matches {
    uint8_t out[kMaxPorts], vc[kMaxPorts];
  };
  NW_HD NW_INLINE uint64_t allocate_switch(Matches& match) const {
    SwitchNext* const next = v_.sa_next + (size_t{r_} << v_.p.switch_shift);
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
      const uint32_t out = pick_from(grants[in], next[in].port);
      const uint32_t number = pick_from(sa_vcs_[(out << v_.p.switch_shift) + in], next[in].vc);
      match.out[in] = static_cast<uint8_t>(out);
      match.vc[in] = static_cast<uint8_t>(number);
      // One beyond the last is as good as 0.
      next[in] = {static_cast<uint16_t>(out + 1), static_cast<uint16_t>(number + 1)};
      ports_[out].sa_next = in + 1;
    }
    return matched;
  }

  NW_HD NW_INLINE void allocate_vcs() const {
    for (uint64_t outs = work_.va_outputs; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      for (uint32_t left = ports_[out].wanted & ports_[out].free; left != 0;) {
        const uint32_t n = vnet_of(count_trailing_zeros(left)), mine = left & vcs_of(n);
        left &= ~mine;
        allocate_vcs(out, ((r_ << v_.p.output_shift) + out) * v_.p.vnets + n, mine);
      }
    }
  }

  /// Move the flit at the front of virtual channel `number` of `port` to output `out`.
  NW_HD NW_APART_ON_GPU void traverse(uint32_t port, uint32_t number, uint32_t out) const {
    const uint32_t vc = (port << vc_shift_) + number;
    InputVc& in = inputs_[vc];
    Flit flit = buffer(vc)[in.head];
    in.head = static_cast<uint16_t>(in.head + 1u == v_.p.depth ? 0 : in.head + 1);
    in.count = static_cast<uint16_t>(in.count - 1);
    const uint32_t out_vc = in.out_vc;
    OutputVc& o = outputs_[(out << vc_shift_) + out_vc];
    NW_ASSERT(o.credits > 0);
    o.credits = static_cast<uint16_t>(o.credits - 1);
    flit.vc = static_cast<uint8_t>(out_vc);
    flit.hops = static_cast<uint8_t>(flit.hops + 1);
    OutputPort& to = ports_[out];
    to.flits_sent += 1;
    Cycle leaves = crossed_;
    if (speedup() != 1) {
      leaves += queued(to);
      to.wire_free = leaves + 1;
    }
    put_flit(v_, to.flits, flit, leaves);
    put_credit(v_, v_.credit_links[(size_t{r_} << input_shift_) + port], number, t_, round_,
               speedup());
    const bool tail = (flit.flags & kTail) != 0;
    if (tail && v_.p.wait_for_tail_credit != 0) {
      o.owner = kWaitsForTailCredit;
    } else if (tail) {
      release_vc(out, out_vc);
    }
    const bool stays = !tail && in.count != 0 && v_.p.sw_alloc_delay == 1;
    if (!stays || o.credits == 0) withdraw_switch_request(port, number, out);
    if (stays) return;
    in.offered = false;
    if (tail) {
      in.stage = VcStage::kIdle;
      if (in.count != 0) start_packet(vc, now_ + 1);
    } else if (in.count != 0) {
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

  /// A place in the far buffer of virtual channel `number` of output `out` is free again.
  NW_HD NW_INLINE void take_credit(uint32_t out, uint32_t number) const {
    OutputVc& o = outputs_[(out << vc_shift_) + number];
    o.credits = static_cast<uint16_t>(o.credits + 1);
    if (o.owner == kWaitsForTailCredit) {
      // Credits come back in order: the last one is the tail's.
      if (o.credits == v_.p.depth) release_vc(out, number);
    } else if (o.credits == 1 && o.owner != kNobody && inputs_[o.owner].offered) {
      request_switch(o.owner, out);
    }
  }
  NW_HD NW_INLINE void release_vc(uint32_t out, uint32_t number) const {
    outputs_[(out << vc_shift_) + number].owner = kNobody;
    ports_[out].free |= 1u << number;
    work_.va_outputs |= static_cast<uint64_t>(ports_[out].wanted >> number & 1) << out;
  }
  NW_HD NW_INLINE uint32_t vnet_of(uint32_t number) const {
    return v_.p.vnets == 1 ? 0 : v_.vcs_per_vnet == 1 ? number : number / v_.vcs_per_vnet;
  }
  NW_HD NW_INLINE uint32_t vcs_of(uint32_t vnet) const {
    return v_.vnet_mask << (vnet * v_.vcs_per_vnet);
  }

  NW_HD NW_INLINE Flit* buffer(uint32_t vc) const {
    return v_.buffers + ((size_t{r_} << (input_shift_ + vc_shift_)) + vc) * v_.p.depth;
  }

  NW_HD NW_INLINE void enqueue(StageEntry* entries, StageQueue& q, uint32_t vc, Round due) const {
    const uint32_t size = 1u << (input_shift_ + vc_shift_);
    const uint32_t at = (uint32_t{q.head} + q.count) & (size - 1);
    entries[size_t{r_} * size + at] = {due, static_cast<uint16_t>(vc)};
    q.count = static_cast<uint16_t>(q.count + 1);
  }
  /// The first entry if it is due; kNobody if not.
  NW_HD NW_INLINE uint32_t dequeue(const StageEntry* entries, StageQueue& q) const {
    if (q.count == 0) return kNobody;
    const uint32_t size = 1u << (input_shift_ + vc_shift_);
    const StageEntry e = entries[size_t{r_} * size + q.head];
    if (static_cast<int32_t>(now_ - e.due) < 0) return kNobody;
    q.head = static_cast<uint16_t>((q.head + 1u) & (size - 1));
    q.count = static_cast<uint16_t>(q.count - 1);
    return e.vc;
  }

  /// The head at the front of `vc` enters the pipeline in round `begin`.
  NW_HD NW_INLINE void start_packet(uint32_t vc, Round begin) const {
    InputVc& in = inputs_[vc];
    in.out = v_.routes[size_t{r_} * v_.p.terminals + buffer(vc)[in.head].destination];
    const Round due = first_vc_request(v_.p, begin);
    if (due == begin) {
      request_vc(vc);
    } else {
      in.stage = VcStage::kRouting;
      enqueue(v_.head_entries, work_.heads, vc, due);
    }
  }

  NW_HD NW_INLINE void request_vc(uint32_t vc) const {
    InputVc& in = inputs_[vc];
    in.stage = VcStage::kWaitingForVc;
    const uint32_t port = vc >> vc_shift_, number = vc - (port << vc_shift_), out = in.out;
    const uint32_t vnet = vnet_of(number), vcs = vcs_of(vnet);
    const uint32_t at = ((r_ << v_.p.output_shift) + out) * v_.p.vnets + vnet;
    v_.va_vcs[(size_t{at} << input_shift_) + port] |= 1u << number;
    v_.va_ports[at] |= uint64_t{1} << port;
    ports_[out].wanted |= vcs;
    work_.va_outputs |= static_cast<uint64_t>((ports_[out].free & vcs) != 0) << out;
  }
  NW_HD NW_INLINE void withdraw_vc_request(uint32_t at, uint32_t out, PortVc who) const {
    uint32_t& vcs = v_.va_vcs[(size_t{at} << input_shift_) + who.port];
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
    const uint32_t port = vc >> vc_shift_, number = vc - (port << vc_shift_);
    const uint32_t in = switch_input(port, number);
    sa_vcs_[(out << v_.p.switch_shift) + in] |= 1u << number;
    ports_[out].sa_inputs |= uint64_t{1} << in;
    work_.sa_outputs |= uint64_t{1} << out;
  }
  NW_HD NW_INLINE void withdraw_switch_request(uint32_t port, uint32_t number, uint32_t out) const {
    const uint32_t in = switch_input(port, number);
    uint32_t& vcs = sa_vcs_[(out << v_.p.switch_shift) + in];
    vcs &= ~(1u << number);
    const uint64_t ins = ports_[out].sa_inputs &= ~(static_cast<uint64_t>(vcs == 0) << in);
    work_.sa_outputs &= ~(static_cast<uint64_t>(ins == 0) << out);
  }

  /// The flit at the front of `vc`, whose packet has its virtual channel, takes part in switch
  /// allocation from now on.
  NW_HD NW_INLINE void offer(uint32_t vc) const {
    InputVc& in = inputs_[vc];
    in.offered = true;
    if (outputs_[(uint32_t{in.out} << vc_shift_) + in.out_vc].credits != 0)
      request_switch(vc, in.out);
  }
  /// Offers it after the stages of switch allocation, which the flit enters in round `begin`.
  NW_HD NW_INLINE void start_flit(uint32_t vc, Round begin) const {
    if (v_.p.sw_alloc_delay == 1) {
      offer(vc);
    } else {
      enqueue(v_.flit_entries, work_.flits, vc, first_switch_request(v_.p, begin));
    }
  }

  /// Grant and accept between the heads that want output `out` and its free channels `available`.
  NW_HD NW_INLINE void allocate_vcs(uint32_t out, uint32_t at, uint32_t available) const {
    const uint32_t* const requests = v_.va_vcs + (size_t{at} << input_shift_);
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
    uint32_t n = 0;
    for (uint32_t b = available; b != 0; b &= b - 1) {
      const uint32_t k = count_trailing_zeros(b);
      const PortVc who = pick_from(ports, requests, outputs_[(out << vc_shift_) + k].grant_next);
      uint32_t& channels = inputs_[(uint32_t{who.port} << vc_shift_) + who.vc].granted;
      winners[n] = who;
      n += channels == 0 ? 1 : 0;
      channels |= 1u << k;
    }
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t& channels =
          inputs_[(uint32_t{winners[i].port} << vc_shift_) + winners[i].vc].granted;
      accept_vc(out, at, winners[i], channels);
      channels = 0;
    }
  }

  /// The head of `who` takes one of the output's virtual channels `granted`.
  NW_HD NW_INLINE void accept_vc(uint32_t out, uint32_t at, PortVc who, uint32_t granted) const {
    const uint32_t vc = (uint32_t{who.port} << vc_shift_) + who.vc;
    InputVc& in = inputs_[vc];
    const uint32_t taken = pick_from(granted, in.accept_next.port == out ? in.accept_next.vc : 0);
    in.accept_next = after({static_cast<uint8_t>(out), static_cast<uint8_t>(taken)}, v_.p.vcs);
    in.stage = VcStage::kActive;
    in.out_vc = static_cast<uint8_t>(taken);
    OutputVc& o = outputs_[(out << vc_shift_) + taken];
    o.owner = static_cast<uint16_t>(vc);
    o.grant_next = after(who, v_.p.vcs);
    ports_[out].free &= ~(1u << taken);
    withdraw_vc_request(at, out, who);
    start_flit(vc, now_ + 1);
  }

  const NetworkView& v_;
  uint32_t r_;
  Cycle t_;
  uint32_t round_;  ///< number of the cycle's round
  Round now_;
  /// A flit that wins the switch now begins to cross it in the next round: the cycle before the
  /// one that it is in. Links add the cycles of the traversal.
  Cycle crossed_;
  uint32_t vc_shift_, input_shift_;
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
/// Flags of the routers that must be stepped in cycle `t`.
NW_HD NW_INLINE const uint8_t* due_in(const NetworkView& v, Cycle t) {
  return v.due + (t & v.slot_mask) * v.units;
}
/// Is step_router<true>() the network's?
NW_HD NW_INLINE bool is_plain(const NetworkParams& p) {
  return p.speedup == 1 && p.input_speedup == 1;
}

/// Step router `r` through cycle `t`.
///
/// Reads:  flits and credits that arrive at it in this cycle; sends both, a cycle or more ahead.
/// State:  its own entries of the arrays of network_state.h.
template <bool kPlain>
NW_HD NW_APART void step_router(const NetworkView& v, uint32_t r, Cycle t) {
  const uint32_t at = (t & v.slot_mask) * v.units + r;
  const Arrivals now = v.arrivals[at];
  v.arrivals[at] = {};
  v.due[at] = 0;
  const uint32_t rounds = kPlain ? 1 : v.p.speedup;
  for (uint32_t round = 0; round < rounds; ++round) {
    if (round != 0 && !has_requests(v.work[r])) break;
    using Router = router_detail::Router<kPlain>;
    const Router router(v, r, t, round);
    if (round == 0) {
      for (uint32_t k = 0; k < rounds; ++k) router.take_credits(now.credits[k], k);
      router.take_flits(now.flits);
    }
    router.advance_stages();
    // The switch is decided before virtual channels are handed out, and tails give theirs back
    // after that: both allocators see the state of the round's beginning.
    typename Router::Matches match;
    const uint64_t matched = router.allocate_switch(match);
    router.allocate_vcs();
    for (uint64_t ins = matched; ins != 0; ins &= ins - 1) {
      const uint32_t in = count_trailing_zeros(ins);
      router.traverse(in >> router.input_speedup_shift(), match.vc[in], match.out[in]);
    }
  }
  if (has_requests(v.work[r])) set_flag(v.due + ((t + 1) & v.slot_mask) * v.units + r);
}
/// Steps a router of a network that is `plain` or not.
NW_HD NW_INLINE void step_router(const NetworkView& v, uint32_t r, Cycle t, bool plain) {
  plain ? step_router<true>(v, r, t) : step_router<false>(v, r, t);
}

}  // namespace nearwarp::flit_by_flit
