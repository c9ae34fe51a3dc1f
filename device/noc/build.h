// Lays a network out in an arena and wires it. Host only.
#pragma once

#include <algorithm>

#include "device/noc/network_state.h"

namespace nearwarp::noc {

/// Every link takes a cycle to write and one to cross at least.
inline constexpr uint32_t kLookahead = 2;

/// All of a network's state, nothing wired yet. `Allocator` is an ArenaBuilder. The number of time
/// slots in `p` is set here; `max_latency` is the longest of any wire, in cycles.
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
  const uint32_t in_vcs = ins << p.vc_shift, out_vcs = (outs + p.terminals) << p.vc_shift;
  NetworkState s;
  s.flit_links = arena.template allocate<NetworkLink>(p.terminals);
  s.credit_links = arena.template allocate<CreditLink>(ins + p.terminals);
  s.routes = arena.template allocate<uint8_t>(p.routers * p.terminals);
  s.flit_slots = arena.template allocate<Flit>((ins + p.terminals) * p.slots);
  s.arrivals = arena.template allocate<uint64_t>(p.slots * unit_slots(p));
  s.due = arena.template allocate<uint8_t>(p.slots * unit_slots(p));
  s.woken = arena.template allocate<uint64_t>(p.slots * terminal_units(p));
  s.credit_times = arena.template allocate<Cycle>(out_vcs << p.ring_shift);
  s.work = arena.template allocate<RouterWork>(p.routers);
  s.input_vcs = arena.template allocate<InputVc>(in_vcs);
  s.buffers = arena.template allocate<Flit>(in_vcs << p.ring_shift);
  s.output_vcs = arena.template allocate<OutputVc>(out_vcs);
  s.out_ports = arena.template allocate<OutputPort>(outs);
  s.va_ports = arena.template allocate<uint64_t>(outs * p.vnets);
  s.va_vcs = arena.template allocate<uint32_t>((outs * p.vnets) << p.input_shift);
  s.sa_vcs = arena.template allocate<uint32_t>(outs << p.switch_shift);
  s.sa_next = arena.template allocate<SwitchNext>(p.routers << p.switch_shift);
  s.head_entries = arena.template allocate<StageEntry>(in_vcs);
  s.flit_entries = arena.template allocate<StageEntry>(p.sw_alloc_delay > 1 ? in_vcs : 0);
  s.heads = arena.template allocate<uint64_t>(p.slots * p.routers);
  for (uint32_t i = 0; i < out_vcs; ++i)
    arena.get(s.output_vcs)[i].credits = static_cast<uint16_t>(p.depth);
  for (uint32_t i = 0; i < outs; ++i)
    arena.get(s.out_ports)[i].free = static_cast<uint32_t>(low_bits(p.vcs));
  return s;
}

/// Join output `from_port` of router `from` to input `to_port` of router `to`; both directions'
/// latencies in cycles, at least 1.
inline void wire_routers(const NetworkParams& p, const NetworkState& s, std::byte* base,
                         uint32_t from, uint32_t from_port, uint32_t to, uint32_t to_port,
                         uint32_t latency, uint32_t credit_latency) {
  const uint32_t out = (from << p.output_shift) + from_port, in = (to << p.input_shift) + to_port;
  s.out_ports.in(base)[out].flits = {in * p.slots, to, static_cast<uint16_t>(to_port),
                                     static_cast<uint16_t>(p.traversal_delay + latency + 1)};
  s.credit_links.in(base)[in] = {out << p.vc_shift, from, static_cast<uint16_t>(from_port),
                                 static_cast<uint16_t>(credit_latency + 1 + p.credit_delay)};
}

/// Terminal `n` sends into input `port` of `router`.
inline void wire_sender(const NetworkParams& p, const NetworkState& s, std::byte* base, uint32_t n,
                        uint32_t router, uint32_t port, uint32_t latency, uint32_t credit_latency) {
  const uint32_t outs = p.routers << p.output_shift, in = (router << p.input_shift) + port;
  s.flit_links.in(base)[n] = {in * p.slots, router, static_cast<uint16_t>(port),
                              static_cast<uint16_t>(latency + 1)};
  // A source uses a credit in the cycle in which it comes: terminals have no credit delay.
  s.credit_links.in(base)[in] = {(outs + n) << p.vc_shift, p.routers + n / 64,
                                 static_cast<uint16_t>(n % 64),
                                 static_cast<uint16_t>(credit_latency + 1)};
}

/// Terminal `n` takes what leaves at output `port` of `router`.
inline void wire_receiver(const NetworkParams& p, const NetworkState& s, std::byte* base,
                          uint32_t n, uint32_t router, uint32_t port, uint32_t latency,
                          uint32_t credit_latency) {
  const uint32_t ins = p.routers << p.input_shift, out = (router << p.output_shift) + port;
  s.out_ports.in(base)[out].flits = {(ins + n) * p.slots, p.routers + n / 64,
                                     static_cast<uint16_t>(n % 64),
                                     static_cast<uint16_t>(p.traversal_delay + latency + 1)};
  s.credit_links.in(base)[ins + n] = {out << p.vc_shift, router, static_cast<uint16_t>(port),
                                      static_cast<uint16_t>(credit_latency + 1 + p.credit_delay)};
}

}  // namespace nearwarp::noc
