// Lays out a network of the flit-by-flit reference model in an arena and wires it. Host only.
#pragma once

#include <algorithm>

#include "device/noc/network_state.h"
#include "host/timing/noc/topology.h"
#include "tests/noc/flit_by_flit/network_state.h"

namespace nearwarp::flit_by_flit {

/// A flit or credit arrives two cycles after it is sent at the earliest: a cycle to write the link,
/// one at least to cross it.
inline constexpr uint32_t kLookahead = 2;

/// Allocate all of a network's state, without wiring it. `Allocator` is an ArenaBuilder. Sets the
/// time slots, the shifts and the lookahead in `p`; `max_latency` is that of the slowest wire, in
/// cycles.
template <class Allocator>
NetworkState make_network(Allocator& arena, NetworkParams& p, uint32_t max_latency) {
  NW_ASSERT(p.speedup >= 1 && p.speedup <= kMaxSpeedup);
  NW_ASSERT(p.input_speedup >= 1 && !has_several(p.input_speedup));
  NW_ASSERT(p.inputs * p.input_speedup <= kMaxPorts);
  const uint32_t queued = p.speedup > 1 ? kOutputQueue : 0;
  const uint32_t longest = max_latency + 1 + queued + std::max(p.traversal_delay, p.credit_delay);
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
  p.input_speedup_shift = shift_for(p.input_speedup);
  p.switch_shift = shift_for(p.inputs << p.input_speedup_shift);
  const uint32_t ins = p.routers << p.input_shift, outs = p.routers << p.output_shift;
  const uint32_t in_vcs = ins << p.vc_shift, out_vcs = outs << p.vc_shift;
  const uint32_t units = unit_slots(p);
  NetworkState s;
  s.flit_links = arena.template allocate<NetworkLink>(p.terminals);
  s.credit_links = arena.template allocate<NetworkLink>(ins + p.terminals);
  s.routes = arena.template allocate<uint8_t>(p.routers * p.terminals);
  s.flit_slots = arena.template allocate<Flit>((ins + p.terminals) * p.slots);
  s.credit_slots = arena.template allocate<uint32_t>((outs + p.terminals) * p.slots * p.speedup);
  s.arrivals = arena.template allocate<Arrivals>(p.slots * units);
  s.due = arena.template allocate<uint8_t>(p.slots * units);
  s.work = arena.template allocate<RouterWork>(p.routers);
  s.input_vcs = arena.template allocate<InputVc>(in_vcs);
  s.buffers = arena.template allocate<Flit>(in_vcs * p.depth);
  s.output_vcs = arena.template allocate<OutputVc>(out_vcs);
  s.out_ports = arena.template allocate<OutputPort>(outs);
  s.va_ports = arena.template allocate<uint64_t>(outs * p.vnets);
  s.va_vcs = arena.template allocate<uint32_t>((outs * p.vnets) << p.input_shift);
  s.sa_vcs = arena.template allocate<uint32_t>(outs << p.switch_shift);
  s.sa_next = arena.template allocate<SwitchNext>(p.routers << p.switch_shift);
  s.head_entries = arena.template allocate<StageEntry>(in_vcs);
  s.flit_entries = arena.template allocate<StageEntry>(p.sw_alloc_delay > 1 ? in_vcs : 0);
  for (uint32_t i = 0; i < out_vcs; ++i)
    arena.get(s.output_vcs)[i].credits = static_cast<uint16_t>(p.depth);
  for (uint32_t i = 0; i < outs; ++i)
    arena.get(s.out_ports)[i].free = static_cast<uint32_t>(low_bits(p.vcs));
  return s;
}

/// Connect output `from_port` of router `from` to input `to_port` of router `to`. The latencies, of
/// flits and of credits the other way, are in cycles, at least 1.
inline void wire_routers(const NetworkParams& p, const NetworkState& s, std::byte* base,
                         uint32_t from, uint32_t from_port, uint32_t to, uint32_t to_port,
                         uint32_t latency, uint32_t credit_latency) {
  const uint32_t out = (from << p.output_shift) + from_port, in = (to << p.input_shift) + to_port;
  s.out_ports.in(base)[out].flits = {in * p.slots, to, static_cast<uint16_t>(to_port),
                                     static_cast<uint16_t>(p.traversal_delay + latency + 1)};
  s.credit_links.in(base)[in] = {out * p.slots, from, static_cast<uint16_t>(from_port),
                                 static_cast<uint16_t>(credit_latency + 1 + p.credit_delay)};
}

/// Connect terminal `n`, as a sender, to input `port` of `router`.
inline void wire_sender(const NetworkParams& p, const NetworkState& s, std::byte* base, uint32_t n,
                        uint32_t router, uint32_t port, uint32_t latency, uint32_t credit_latency) {
  const uint32_t outs = p.routers << p.output_shift, in = (router << p.input_shift) + port;
  s.flit_links.in(base)[n] = {in * p.slots, router, static_cast<uint16_t>(port),
                              static_cast<uint16_t>(latency + 1)};
  // A source uses a credit in the cycle in which it comes: terminals have no credit delay.
  s.credit_links.in(base)[in] = {(outs + n) * p.slots, p.routers + n / 64,
                                 static_cast<uint16_t>(n % 64),
                                 static_cast<uint16_t>(credit_latency + 1)};
}

/// Connect terminal `n`, as a receiver, to output `port` of `router`.
inline void wire_receiver(const NetworkParams& p, const NetworkState& s, std::byte* base,
                          uint32_t n, uint32_t router, uint32_t port, uint32_t latency,
                          uint32_t credit_latency) {
  const uint32_t ins = p.routers << p.input_shift, out = (router << p.output_shift) + port;
  s.out_ports.in(base)[out].flits = {(ins + n) * p.slots, p.routers + n / 64,
                                     static_cast<uint16_t>(n % 64),
                                     static_cast<uint16_t>(p.traversal_delay + latency + 1)};
  s.credit_links.in(base)[ins + n] = {out * p.slots, router, static_cast<uint16_t>(port),
                                      static_cast<uint16_t>(credit_latency + 1 + p.credit_delay)};
}

/// Wire all routers and terminals of a topology; wires between routers have `latency`.
inline void wire(const noc::Topology& topology, const NetworkParams& params,
                 const NetworkState& state, std::byte* base, uint32_t latency) {
  for (const noc::Wire& w : topology.wires)
    wire_routers(params, state, base, w.from, w.from_port, w.to, w.to_port, latency, latency);
  for (uint32_t n = 0; n < params.terminals; ++n) {
    const noc::Attachment& a = topology.terminals[n];
    if (a.in_router != noc::kNoRouter)
      wire_sender(params, state, base, n, a.in_router, a.in_port, 1, 1);
    if (a.out_router != noc::kNoRouter)
      wire_receiver(params, state, base, n, a.out_router, a.out_port, 1, 1);
  }
  std::copy(topology.routes.begin(), topology.routes.end(), state.routes.in(base));
}

/// The reference model's parameters for a network of the product's model.
inline NetworkParams params_like(const noc::NetworkParams& n) {
  NetworkParams p;
  p.routers = n.routers, p.terminals = n.terminals, p.inputs = n.inputs, p.outputs = n.outputs;
  p.vcs = n.vcs, p.vnets = n.vnets, p.depth = n.depth;
  p.routing_delay = n.routing_delay, p.vc_alloc_delay = n.vc_alloc_delay;
  p.sw_alloc_delay = n.sw_alloc_delay, p.traversal_delay = n.traversal_delay;
  p.credit_delay = n.credit_delay, p.speedup = n.speedup, p.input_speedup = n.input_speedup;
  p.wait_for_tail_credit = n.wait_for_tail_credit;
  return p;
}

}  // namespace nearwarp::flit_by_flit
