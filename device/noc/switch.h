// A packet switch: input FIFOs, a route table, output arbitration, busy ports.
//
// One template serves the two crossbars, the link ports and the stacks' switches; they differ only
// in their channels, ports and routes. Input channels share input ports (four SMs of a cluster
// share one), output channels share output ports (four SMs of a cluster; the two virtual channels
// of a cross-stack link). A port moves one flit per cycle, so it is busy for ceil(bytes / flit)
// cycles per packet; the packet arrives at the far end when its last flit does.
//
// Allocation is iSLIP with one iteration [McKeown, IEEE/ACM ToN 1999]: every free output port
// grants, in rotating order, one free input port that has a head for it; every granted input port
// accepts one grant in rotating order; the pointers move only when a packet moves, so a failed
// attempt changes nothing.
//
// Sizing: a channel that shall carry one packet per cycle needs slots for latency + credit latency
// in cycles. A port feeds a wire without gaps if ceil(bytes / flit) cycles are no longer than the
// wire's transfer: 136-byte replies over 80 GB/s (1.7 ns) need flits of at least 68 bytes at
// 1.25 GHz.
//
// Deadlock: requests and replies must come and go on different channels. Then a blocked request
// blocks only the head of its own channel; ports are held for the moment of a transfer, never while
// waiting for a credit, so replies pass. In a stack, requests wait only for vaults and cross-stack
// request channels, vaults only for reply channels, and replies only for SMs, L2 slices' fills and
// the RX link, all of which sink them without sending a request first.
#pragma once

#include <span>

#include "device/core/fault.h"
#include "device/core/lane_group.h"
#include "device/core/packet.h"
#include "device/core/step.h"

namespace nearwarp {

inline constexpr uint16_t kNoRoute = 0xffff;
inline constexpr uint32_t kMaxSwitchPorts = 64;
inline constexpr uint32_t kMaxSwitchInputs = 128;  // two words of bits

struct SwitchParams {
  uint32_t period = 1;      ///< ticks per cycle
  uint32_t flit_bytes = 1;  ///< a port moves one flit per cycle
  uint16_t component = 0;   ///< for faults
  uint16_t endpoints = 0;   ///< destinations in the route table
};

struct SwitchInput {
  Ref<Channel> channel;
  uint32_t head_slot = 0;      ///< arena offset of the slot at the channel's head
  uint16_t output = kNoRoute;  ///< while the head is registered: where it goes
  uint16_t port = 0;
};

struct SwitchOutput {
  Ref<Channel> channel;
  uint64_t requests = 0;  ///< input ports with a registered head for this channel
  uint32_t port = 0;
  uint32_t reserved = 0;
};

struct SwitchInPort {
  Tick free_at = 0;
  uint64_t grants = 0;            ///< within a cycle: output ports that granted; 0 between cycles
  uint16_t first = 0, count = 0;  ///< its input channels
  uint16_t next_channel = 0;      ///< rotating pointers
  uint16_t next_out = 0;
  uint32_t heads = 0;  ///< that are registered
  uint32_t reserved = 0;
};

struct SwitchOutPort {
  Tick free_at = 0;       ///< the switch's side: the last flit has passed
  Tick wire_free_at = 0;  ///< the wire's side: the transfer on any of its channels has ended
  uint64_t active = 0;    ///< its channels (bit 0: `first`) that have requests
  uint16_t first = 0, count = 0;  ///< its output channels
  uint16_t next_in = 0;           ///< rotating pointer
  uint16_t reserved = 0;
  uint32_t reserved2 = 0;
  uint64_t flits_sent = 0;
};

struct SwitchCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t flits = 0;
  uint64_t replies = 0;          ///< of `packets`
  uint64_t port_busy_ticks = 0;  ///< flits in time, summed over output ports
};

struct SwitchState {
  Ref<SwitchInput> inputs;
  Ref<SwitchOutput> outputs;
  Ref<SwitchInPort> in_ports;
  Ref<SwitchOutPort> out_ports;
  Ref<uint16_t> routes;  ///< [destination] for requests, [endpoints + destination] for replies
  uint64_t registered[kMaxSwitchInputs / 64] = {};  ///< inputs whose head stands in `requests`
  uint64_t active_ports = 0;                        ///< output ports with requests
  SwitchCounters counters;
  Fault fault;
};

/// A channel and the port that it belongs to; channels of one port stand together.
struct SwitchLink {
  Ref<Channel> channel;
  uint16_t port = 0;
};

namespace switch_detail {

/// The first set bit at or after `from`, around the end; bits != 0.
NW_HD NW_INLINE uint32_t rotate_pick(uint64_t bits, uint32_t from) {
  const uint64_t later = from >= 64 ? 0 : bits & ~low_bits(from);
  return count_trailing_zeros(later != 0 ? later : bits);
}

NW_HD NW_INLINE Tick head_tick(const SwitchInput& in, const std::byte* base) {
  return load_shared_tick(&reinterpret_cast<const Slot*>(base + in.head_slot)->arrive);
}

/// Where a packet goes; kNoRoute if there is no way.
NW_HD NW_INLINE uint16_t output_of(const SwitchParams& p, const SwitchState& s,
                                   const std::byte* base, const Packet& packet) {
  const uint32_t row = is_reply(packet.kind) ? p.endpoints : 0;
  return packet.dst < p.endpoints ? s.routes.in(base)[row + packet.dst] : kNoRoute;
}

/// The same of the packet at the head of input `i`.
NW_HD NW_INLINE uint16_t output_of_head(const SwitchParams& p, const SwitchState& s,
                                        std::byte* base, uint32_t i) {
  const uint32_t slot = s.inputs.in(base)[i].head_slot;
  return output_of(p, s, base, reinterpret_cast<const Slot*>(base + slot)->packet);
}

/// Enter the arrived head of input `i`, which goes to `output`, into the request masks. Leader
/// only.
NW_HD NW_INLINE void register_head(const SwitchParams& p, SwitchState& s, std::byte* base,
                                   uint32_t i, uint16_t output, Tick now) {
  SwitchInput& in = s.inputs.in(base)[i];
  s.registered[i / 64] |= uint64_t{1} << (i % 64);
  in.output = output;
  if (output == kNoRoute) {
    record_fault(s.fault, kFaultNoRoute, p.component, now);
    return;
  }
  s.in_ports.in(base)[in.port].heads += 1;
  SwitchOutput& out = s.outputs.in(base)[output];
  out.requests |= uint64_t{1} << in.port;
  SwitchOutPort& port = s.out_ports.in(base)[out.port];
  port.active |= uint64_t{1} << (output - port.first);
  s.active_ports |= uint64_t{1} << out.port;
}

/// Take the head of input `i` out of the request masks. Leader only.
NW_HD NW_INLINE void unregister_head(SwitchState& s, std::byte* base, uint32_t i) {
  SwitchInput* inputs = s.inputs.in(base);
  const uint16_t output = inputs[i].output;
  s.registered[i / 64] &= ~(uint64_t{1} << (i % 64));
  inputs[i].output = kNoRoute;
  SwitchInPort& port = s.in_ports.in(base)[inputs[i].port];
  port.heads -= 1;
  if (port.heads != 0) {
    for (uint32_t k = port.first; k < uint32_t{port.first} + port.count; ++k) {
      if (inputs[k].output == output) return;  // another head of the port wants the same
    }
  }
  SwitchOutput& out = s.outputs.in(base)[output];
  out.requests &= ~(uint64_t{1} << inputs[i].port);
  if (out.requests != 0) return;
  SwitchOutPort& to = s.out_ports.in(base)[out.port];
  to.active &= ~(uint64_t{1} << (output - to.first));
  if (to.active == 0) s.active_ports &= ~(uint64_t{1} << out.port);
}

/// Move the head of input `i` through its port and those of `output`. Leader only.
NW_HD inline void transfer(const SwitchParams& p, SwitchState& s, std::byte* base, Tick now,
                           uint32_t i, uint32_t output, Horizon& horizon) {
  SwitchInput& in = s.inputs.in(base)[i];
  const SwitchOutput& out = s.outputs.in(base)[output];
  SwitchInPort& pi = s.in_ports.in(base)[in.port];
  SwitchOutPort& po = s.out_ports.in(base)[out.port];
  Channel& from = *in.channel.in(base);
  Channel& to = *out.channel.in(base);
  const Packet& packet = front(from, base);
  const uint32_t bytes = packet.bytes;
  const uint32_t flits = bytes > p.flit_bytes ? (bytes + p.flit_bytes - 1) / p.flit_bytes
                         : bytes != 0         ? 1
                                              : 0;
  const Tick held = flits > 1 ? Tick{flits} * p.period : p.period;
  s.counters.packets += 1;
  s.counters.bytes += bytes;
  s.counters.flits += flits;
  s.counters.replies += is_reply(packet.kind) ? 1 : 0;
  s.counters.port_busy_ticks += held;
  // Virtual channels of one port share its wire.
  const Tick start = max_tick(now, po.wire_free_at);
  send(to, base, start, packet, horizon, held - p.period);
  pop(from, base, now, horizon);
  in.head_slot = from.consumer_side.head;
  pi.free_at = now + held;
  pi.next_channel = static_cast<uint16_t>(i - pi.first + 1);
  pi.next_out = static_cast<uint16_t>(out.port + 1);
  po.wire_free_at = to.producer_side.free_at;
  // The next packet may come up to a cycle before the wire is free, so that a wire whose transfers
  // are no multiple of the cycle has no gaps.
  po.free_at =
      max_tick(now + held, po.wire_free_at < p.period ? 0 : po.wire_free_at - p.period + 1);
  po.next_in = static_cast<uint16_t>(in.port + 1);
  po.flits_sent += flits;
}

/// Of a head that has just arrived, alone: can it be moved without being registered? Nobody else
/// asks for its port or its output, which are free, so it wins both.
NW_HD NW_INLINE bool passes(const SwitchState& s, std::byte* base, const SwitchInput& in,
                            uint32_t output, Tick now) {
  if (output == kNoRoute) return false;
  const SwitchInPort& from = s.in_ports.in(base)[in.port];
  const SwitchOutput& out = s.outputs.in(base)[output];
  const SwitchOutPort& to = s.out_ports.in(base)[out.port];
  return from.heads == 0 && from.free_at <= now && to.active == 0 && to.free_at <= now &&
         credit_tick(*out.channel.in(base), base) <= now;
}

/// The accept phase at input port `at`: the output port to take and the input channel to serve.
struct Choice {
  uint32_t out_port, input;
};
NW_HD NW_INLINE Choice choose(const SwitchState& s, std::byte* base, uint32_t at, Tick now) {
  const SwitchInPort& port = s.in_ports.in(base)[at];
  const SwitchInput* inputs = s.inputs.in(base);
  const SwitchOutput* outputs = s.outputs.in(base);
  Choice c;
  c.out_port = rotate_pick(port.grants, port.next_out);
  const SwitchOutPort& out = s.out_ports.in(base)[c.out_port];
  c.input = port.first;
  if (port.count == 1) return c;
  uint32_t k = port.next_channel < port.count ? port.next_channel : 0;
  for (uint32_t n = 0; n < port.count; ++n) {
    const uint32_t output = inputs[port.first + k].output;  // kNoRoute lies beyond every port
    if (output - out.first < out.count &&
        (out.count == 1 || credit_tick(*outputs[output].channel.in(base), base) <= now)) {
      c.input = port.first + k;
      break;
    }
    k = k + 1 == port.count ? 0 : k + 1;
  }
  return c;
}

}  // namespace switch_detail

/// Step a switch through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// State:  request masks by output channel and port, rotating pointers, busy ports.
/// Units:  times in ticks of the machine's base clock.
template <class G>
NW_HD NW_APART StepResult step_switch(const G& g, const SwitchParams& p, SwitchState& s,
                                      std::byte* base, Window window, Horizon& horizon) {
  using namespace switch_detail;
  SwitchInput* const inputs = s.inputs.in(base);
  SwitchOutput* const outputs = s.outputs.in(base);
  SwitchInPort* const in_ports = s.in_ports.in(base);
  SwitchOutPort* const out_ports = s.out_ports.in(base);
  const uint32_t n = s.inputs.count, words = n > 64 ? 2 : 1;
  const Tick period = p.period;
  const Tick first = cycle_at_or_after(window.begin, p.period) * period;

  // Inputs whose unregistered head arrives within the window, and the first arrival that is known
  // to lie beyond it.
  uint64_t coming[kMaxSwitchInputs / 64] = {};
  Tick arrival_beyond = kNever;
  const uint32_t length = ticks_ahead(window.end, window.begin);
  for (uint32_t at = 0; at < n; at += kLanesOfGroup) {
    const uint32_t m = n - at < kLanesOfGroup ? n - at : kLanesOfGroup;
    LaneValues<G, uint32_t> ahead;
    g.each_scalar(m, [&](uint32_t i) {
      ahead.set(i, ticks_ahead(head_tick(inputs[at + i], base), window.begin));
    });
    coming[at / 64] |= g.ballot(m, [&](uint32_t i) { return ahead[i] < length; }) << (at % 64);
    const uint32_t first_beyond =
        g.minimum(m, [&](uint32_t i) { return ahead[i] < length ? kNoKey : ahead[i]; });
    arrival_beyond = min_tick(arrival_beyond, tick_of_key(first_beyond, window.begin));
  }
  for (uint32_t w = 0; w < kMaxSwitchInputs / 64; ++w) coming[w] &= ~s.registered[w];

  // Input ports that may be busy.
  uint64_t busy =
      g.ballot(s.in_ports.count, [&](uint32_t i) { return in_ports[i].free_at > first; });

  // `next` is the same in all lanes: it is made of own state and of arrivals and credits before the
  // window's end. `visible` may also hold later ones, which lanes may or may not see yet.
  Tick t = first, visible = kNever;
  Tick next_arrival = window.begin;  // of `coming`, or earlier
  bool poll = false;
  // Input `i`, whose port is busy until `in_free`, has a new head at `arrival`; for `next`.
  const auto expect = [&](uint32_t i, Tick arrival, Tick in_free) -> Tick {
    if (arrival >= window.end) {
      arrival_beyond = min_tick(arrival_beyond, arrival);
      return kNever;
    }
    coming[i / 64] |= uint64_t{1} << (i % 64);
    next_arrival = min_tick(next_arrival, arrival);
    return max_tick(arrival, in_free);
  };
  while (t < window.end) {
    Tick next = kNever;
    // Heads that have arrived by now.
    if (next_arrival <= t) {
      next_arrival = kNever;
      uint64_t arrived[kMaxSwitchInputs / 64];
      uint32_t heads = 0, last = 0;
      for (uint32_t w = 0; w < words; ++w) {
        arrived[w] = 0;
        for (uint64_t bits = coming[w]; bits != 0; bits &= bits - 1) {
          const uint32_t bit = count_trailing_zeros(bits);
          const Tick arrival = head_tick(inputs[w * 64 + bit], base);
          if (arrival <= t) {
            arrived[w] |= uint64_t{1} << bit;
            last = w * 64 + bit;
            heads += 1;
          } else {
            next_arrival = min_tick(next_arrival, arrival);
          }
        }
        coming[w] &= ~arrived[w];
      }
      const uint16_t output = heads == 1 ? output_of_head(p, s, base, last) : kNoRoute;
      if (passes(s, base, inputs[last], output, t)) {
        g.leader([&] { transfer(p, s, base, t, last, output, horizon); });
        const uint32_t port = inputs[last].port;
        busy |= uint64_t{1} << port;
        next = expect(last, head_tick(inputs[last], base), in_ports[port].free_at);
      } else {
        for (uint32_t w = 0; w < words; ++w) {
          for (uint64_t bits = arrived[w]; bits != 0; bits &= bits - 1) {
            const uint32_t i = w * 64 + count_trailing_zeros(bits);
            g.leader([&] { register_head(p, s, base, i, output_of_head(p, s, base, i), t); });
          }
        }
      }
    }
    next = min_tick(next, next_arrival);

    poll = false;
    visible = kNever;
    if (s.active_ports != 0) {
      // Input ports that have become free.
      for (uint64_t bits = busy; bits != 0; bits &= bits - 1) {
        const uint32_t i = count_trailing_zeros(bits);
        if (in_ports[i].free_at <= t) busy &= ~(uint64_t{1} << i);
      }

      // Request and grant.
      uint64_t granted = 0, waiting_in = 0;
      for (uint64_t bits = s.active_ports; bits != 0; bits &= bits - 1) {
        const uint32_t o = count_trailing_zeros(bits);
        const SwitchOutPort& port = out_ports[o];
        if (port.free_at > t) {
          next = min_tick(next, port.free_at);
          continue;
        }
        uint64_t candidates = 0;
        for (uint64_t c = port.active; c != 0; c &= c - 1) {
          const SwitchOutput& out = outputs[port.first + count_trailing_zeros(c)];
          const Tick when = credit_tick(*out.channel.in(base), base);
          if (when <= t) {
            candidates |= out.requests;
          } else if (when < window.end) {
            next = min_tick(next, when);
          } else {
            visible = min_tick(visible, when);
            poll |= when >= kNever;
          }
        }
        waiting_in |= candidates & busy;
        candidates &= ~busy;
        if (candidates == 0) continue;
        const uint32_t i = rotate_pick(candidates, port.next_in);
        granted |= uint64_t{1} << i;
        g.leader([&] { in_ports[i].grants |= uint64_t{1} << o; });
      }

      // Accept.
      for (uint64_t bits = granted; bits != 0; bits &= bits - 1) {
        const uint32_t i = count_trailing_zeros(bits);
        const Choice c = choose(s, base, i, t);
        // An output whose grant was refused is free for others in the next cycle.
        if (has_several(in_ports[i].grants)) next = min_tick(next, t + period);
        const uint32_t output = inputs[c.input].output;
        g.leader([&] {
          in_ports[i].grants = 0;
          unregister_head(s, base, c.input);
          transfer(p, s, base, t, c.input, output, horizon);
        });
        const Tick in_free = in_ports[i].free_at;
        busy |= uint64_t{1} << i;
        if (in_ports[i].heads != 0) next = min_tick(next, in_free);
        if (out_ports[c.out_port].active != 0) next = min_tick(next, out_ports[c.out_port].free_at);
        next = min_tick(next, expect(c.input, head_tick(inputs[c.input], base), in_free));
      }
      for (uint64_t bits = waiting_in; bits != 0; bits &= bits - 1) {
        next = min_tick(next, max_tick(in_ports[count_trailing_zeros(bits)].free_at, t + period));
      }
    }
    t = next >= kNever ? kNever : cycle_at_or_after(max_tick(next, t + 1), p.period) * period;
  }

  StepResult result;
  result.poll = poll;
  const Tick soonest = cycle_at_or_after(window.end, p.period) * period;
  result.wake = max_tick(t, soonest);
  visible = min_tick(visible, arrival_beyond);
  result.wake = min_tick(result.wake, max_tick(visible, soonest));
  return result;
}

/// Lay out a switch. The channels must exist already (their rings empty), those of one port next to
/// each other and ports in ascending order from 0. Routes start out empty: see set_route().
/// `params.endpoints` must be set.
template <class Allocator>
SwitchState make_switch(Allocator& arena, const SwitchParams& params,
                        std::span<const SwitchLink> inputs, std::span<const SwitchLink> outputs) {
  SwitchState s;
  const auto n_in = static_cast<uint32_t>(inputs.size());
  const auto n_out = static_cast<uint32_t>(outputs.size());
  NW_ASSERT(n_in <= kMaxSwitchInputs);
  NW_ASSERT(n_in == 0 || inputs[n_in - 1].port < kMaxSwitchPorts);
  NW_ASSERT(n_out == 0 || outputs[n_out - 1].port < kMaxSwitchPorts);
  s.inputs = arena.template allocate<SwitchInput>(n_in);
  s.outputs = arena.template allocate<SwitchOutput>(n_out);
  s.in_ports = arena.template allocate<SwitchInPort>(n_in == 0 ? 0u : inputs[n_in - 1].port + 1u);
  s.out_ports =
      arena.template allocate<SwitchOutPort>(n_out == 0 ? 0u : outputs[n_out - 1].port + 1u);
  s.routes = arena.template allocate<uint16_t>(2u * params.endpoints);
  std::byte* base = arena.base();
  for (uint32_t i = 0; i < n_in; ++i) {
    SwitchInput& in = s.inputs.in(base)[i];
    in.channel = inputs[i].channel;
    in.head_slot = inputs[i].channel.in(base)->slots.offset;
    in.port = inputs[i].port;
    SwitchInPort& port = s.in_ports.in(base)[in.port];
    if (port.count == 0) port.first = static_cast<uint16_t>(i);
    port.count = static_cast<uint16_t>(port.count + 1);
  }
  for (uint32_t e = 0; e < 2u * params.endpoints; ++e) s.routes.in(base)[e] = kNoRoute;
  for (uint32_t o = 0; o < n_out; ++o) {
    s.outputs.in(base)[o].channel = outputs[o].channel;
    SwitchOutPort& port = s.out_ports.in(base)[outputs[o].port];
    if (port.count == 0) port.first = static_cast<uint16_t>(o);
    port.count = static_cast<uint16_t>(port.count + 1);
    s.outputs.in(base)[o].port = outputs[o].port;
  }
  return s;
}

/// Packets for `endpoint` leave by these output channels (indices into make_switch()'s outputs).
inline void set_route(const SwitchParams& params, const SwitchState& s, std::byte* base,
                      uint16_t endpoint, uint16_t request_output, uint16_t reply_output) {
  s.routes.in(base)[endpoint] = request_output;
  s.routes.in(base)[params.endpoints + endpoint] = reply_output;
}

}  // namespace nearwarp
