// Lays a network out in an arena and wires it. Host only.
#pragma once

#include <algorithm>
#include <new>

#include "device/noc/network_state.h"

namespace nearwarp::noc {

/// Cycles for which a router can be stepped ahead of others: every link takes at least one cycle to
/// be written and one to be crossed.
inline constexpr uint32_t kLookahead = 2;

/// Allocate a network's state, without wires. `Allocator` is an ArenaBuilder. `max_latency` is that
/// of the longest wire, in cycles. Fills in those members of `p` that follow from the others:
/// lookahead, slots and shifts.
template <class Allocator>
NetworkState make_network(Allocator& arena, NetworkParams& p, uint32_t max_latency) {
  NW_ASSERT(p.speedup >= 1 && p.speedup <= kMaxSpeedup);
  NW_ASSERT(p.input_speedup >= 1 && !has_several(p.input_speedup));
  NW_ASSERT(p.inputs * p.input_speedup <= kMaxPorts);
  const uint32_t queued = p.speedup > 1 ? kOutputQueue : 0;
  const uint32_t way = max_latency + 1 + queued + std::max(p.traversal_delay, p.credit_delay);
  const uint32_t longest = std::max(way, p.routing_delay + p.vc_alloc_delay + 1);
  p.lookahead = kLookahead;
  p.slots = 4;
  while (p.slots < longest + p.lookahead) p.slots *= 2;
  const auto shift_for = [](uint32_t n) {
    uint32_t shift = 0;
    while (1u << shift < n) ++shift;
    return shift;
  };
  p.input_shift = shift_for(p.inputs);
  p.output_shift = shift_for(p.outputs);
  p.vc_shift = shift_for(p.vcs);
  p.ring_shift = shift_for(p.depth);
  p.input_speedup_shift = shift_for(p.input_speedup);
  p.switch_shift = shift_for(p.inputs << p.input_speedup_shift);
  const uint32_t ins = p.routers << p.input_shift, outs = p.routers << p.output_shift;
  const uint32_t in_vcs = ins << p.vc_shift, terminal_vcs = p.terminals << p.vc_shift;
  NetworkState s;
  s.flit_links = arena.template allocate<NetworkLink>(p.terminals);
  s.credit_links = arena.template allocate<CreditLink>(ins + p.terminals);
  s.routes = arena.template allocate<uint8_t>(p.routers * p.terminals);
  s.woken = arena.template allocate<uint64_t>(p.slots * terminal_words(p));
  const BlockLayout layout = block_layout(p);
  const uint32_t terminal_bytes = p.terminals * p.slots * arrival_words(p) * 8;  // of arrivals
  NW_ASSERT((uint64_t{in_vcs} + terminal_vcs) * sizeof(Flit) << p.ring_shift < uint64_t{1} << 32);
  s.places = arena.template allocate<Flit>((in_vcs + terminal_vcs) << p.ring_shift);
  s.units = arena.template allocate<BlockLine>(p.routers * (layout.bytes / 64) +
                                               (terminal_bytes + 63) / 64);
  s.due = arena.template allocate<uint64_t>(p.slots * due_words(p));
  s.out_ports = arena.template allocate<OutputPort>(outs);
  s.exits = arena.template allocate<InputVc>(terminal_vcs);
  s.entrances = arena.template allocate<OutputVc>(terminal_vcs);
  s.va_ports = arena.template allocate<uint64_t>(outs * p.vnets);
  s.va_vcs = arena.template allocate<uint32_t>((outs * p.vnets) << p.input_shift);
  s.sa_vcs = arena.template allocate<uint32_t>(outs << p.switch_shift);
  s.head_entries = arena.template allocate<StageEntry>(in_vcs);
  s.flit_entries = arena.template allocate<StageEntry>(p.sw_alloc_delay > 1 ? in_vcs : 0);
  const NetworkView v = view_of(p, s, arena.base());
  for (uint32_t r = 0; r < p.routers; ++r) {
    new (&v.work(r)) RouterWork;
    for (uint32_t i = 0; i < 1u << (p.input_shift + p.vc_shift); ++i)
      (new (v.inputs(r) + i) InputVc)->front =
          (((r << (p.input_shift + p.vc_shift)) + i) << p.ring_shift) * sizeof(Flit);
    for (uint32_t i = 0; i < 1u << (p.output_shift + p.vc_shift); ++i)
      new (v.outputs(r) + i) OutputVc;
    for (uint32_t i = 0; i < 1u << p.output_shift; ++i)
      v.ports(r)[i].free = static_cast<uint32_t>(low_bits(p.vcs));
    for (uint32_t i = 0; i < 1u << p.switch_shift; ++i) new (v.lasts(r) + i) SwitchLast;
  }
  for (uint32_t i = 0; i < terminal_vcs; ++i)
    v.exits[i].front = ((in_vcs + i) << p.ring_shift) * sizeof(Flit);
  return s;
}

/// A port of a router.
struct RouterPort {
  uint32_t router, port;
};

/// Joins the routers and terminals of a network by wires. A wire's latency, in cycles, is at least
/// 1 and holds for both directions: flits and the credits for them.
class Wiring {
 public:
  Wiring(const NetworkParams& p, const NetworkState& s, std::byte* base)
      : v_(view_of(p, s, base)),
        flit_links_(s.flit_links.in(base)),
        credit_links_(s.credit_links.in(base)) {}

  /// Wire router `from` to router `to`.
  void join(RouterPort from, RouterPort to, uint32_t latency) const {
    output(from).flits = way_to(to, v_.p.traversal_delay + latency + 1);
    join(vcs_from(from), vcs_to(to), input(to), {from.router, latency + 1 + v_.p.credit_delay});
  }

  /// Wire terminal `n`, as a source of flits, to router `to`.
  void join_sender(uint32_t n, RouterPort to, uint32_t latency) const {
    flit_links_[n] = way_to(to, latency + 1);
    // Terminals have no credit delay: a source uses a credit in the cycle in which it arrives.
    join(v_.entrances + (n << v_.p.vc_shift), vcs_to(to), input(to),
         {terminal_unit(v_.p, n), latency + 1});
  }

  /// Wire router `from` to terminal `n`, as a sink of flits.
  void join_receiver(uint32_t n, RouterPort from, uint32_t latency) const {
    output(from).flits = way_to(terminal_unit(v_.p, n), v_.terminal_arrivals(n), 0,
                                v_.p.traversal_delay + latency + 1);
    join(vcs_from(from), v_.exits + (n << v_.p.vc_shift), v_.input_ports() + n,
         {from.router, latency + 1 + v_.p.credit_delay});
  }

 private:
  OutputPort& output(RouterPort from) const { return v_.ports(from.router)[from.port]; }
  OutputVc* vcs_from(RouterPort from) const {
    return v_.outputs(from.router) + (from.port << v_.p.vc_shift);
  }
  InputVc* vcs_to(RouterPort to) const { return v_.inputs(to.router) + (to.port << v_.p.vc_shift); }
  /// The number of an input port among those of all routers.
  uint32_t input(RouterPort to) const { return (to.router << v_.p.input_shift) + to.port; }

  /// Join the virtual channels from `out` on to those from `in` on, which belong to input port or
  /// terminal `to`. Credits return over `back`.
  void join(OutputVc* out, InputVc* in, uint32_t to, const CreditLink& back) const {
    credit_links_[to] = back;
    for (uint32_t k = 0; k < v_.p.vcs; ++k) {
      in[k].credit_delay = static_cast<uint16_t>(back.delay);
      out[k].place = in[k].front;
    }
  }

  /// The link to a unit whose virtual channels have the bits from `first` on in an arrival word.
  NetworkLink way_to(uint32_t unit, const uint64_t* word, uint32_t first, uint32_t delay) const {
    return {unit,
            v_.number_of(word),
            v_.number_of(v_.due_of(unit)),
            static_cast<uint16_t>(delay),
            static_cast<uint8_t>(first),
            static_cast<uint8_t>(unit % 64)};
  }
  NetworkLink way_to(RouterPort to, uint32_t delay) const {
    const uint32_t bit = to.port << v_.p.vc_shift;
    return way_to(to.router, v_.router_arrivals(to.router) + bit / 64, bit % 64, delay);
  }

  NetworkView v_;
  NetworkLink* flit_links_;
  CreditLink* credit_links_;
};

}  // namespace nearwarp::noc
