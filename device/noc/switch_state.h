// The state of a packet switch: see switch.h.
#pragma once

#include <algorithm>
#include <span>

#include "device/core/channel.h"
#include "device/core/fault.h"

namespace nearwarp {

inline constexpr uint16_t kNoRoute = 0xffff;
inline constexpr uint32_t kMaxSwitchPorts = 64;
inline constexpr uint32_t kMaxSwitchInputs = 128;
inline constexpr uint32_t kSwitchInputWords = kMaxSwitchInputs / 64;  ///< words of a set of inputs
/// Cycles that a switch steps at once, one per bit of a word.
inline constexpr uint32_t kSwitchCycles = 64;

struct SwitchParams {
  uint32_t period = 1;      ///< ticks per cycle
  uint32_t flit_bytes = 1;  ///< a port moves one flit per cycle
  uint16_t component = 0;   ///< for faults
  uint16_t endpoints = 0;   ///< destinations in the route table
};

struct SwitchInput {
  Ref<Channel> channel;
  uint32_t head_slot = 0;      ///< arena offset of the slot at the channel's head
  uint16_t output = kNoRoute;  ///< the head's output channel while it is registered or being taken
  uint16_t port = 0;
};

struct alignas(32) SwitchOutput {
  Ref<Channel> channel;
  uint64_t requests = 0;  ///< input ports with a registered head for this channel
  uint32_t port = 0;
  uint32_t reserved = 0;
  Tick waited = 0;  ///< ticks from arrival to the first flit on this channel, summed over packets
};
static_assert(sizeof(SwitchOutput) == 32);

struct SwitchInPort {
  uint64_t free_from = 0;         ///< the first cycle in which it can move another packet
  uint64_t grants = 0;            ///< output ports that granted in this cycle; 0 between cycles
  uint16_t first = 0, count = 0;  ///< its input channels
  uint16_t next_channel = 0;      ///< round-robin pointer over its channels
  uint16_t next_out = 0;          ///< round-robin pointer over output ports
  uint32_t heads = 0;             ///< its channels whose head is registered and has a route
  uint32_t reserved = 0;
};

struct alignas(64) SwitchOutPort {
  uint64_t free_from = 0;  ///< the first cycle in which the switch can send it another packet
  Tick wire_free_at = 0;   ///< the tick at which transfers on its channels have ended
  uint64_t active = 0;     ///< its channels (bit 0: `first`) that have requests
  uint16_t first = 0, count = 0;  ///< its output channels
  uint16_t next_in = 0;           ///< round-robin pointer over input ports
  uint16_t reserved = 0;
  uint32_t reserved2 = 0;
  uint64_t flits_sent = 0;
};

struct SwitchCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t flits = 0;
  uint64_t replies = 0;          ///< those of `packets` that are replies
  uint64_t port_busy_ticks = 0;  ///< ticks in which output ports move flits, summed over ports
};

/// The inputs whose head is examined in a cycle; none between steps.
struct SwitchCycle {
  uint64_t heads[kSwitchInputWords] = {};
};

struct SwitchState {
  Ref<SwitchInput> inputs;
  Ref<SwitchOutput> outputs;
  Ref<SwitchInPort> in_ports;
  Ref<SwitchOutPort> out_ports;
  Ref<uint16_t> routes;     ///< [destination] for requests, [endpoints + destination] for replies
  Ref<SwitchCycle> cycles;  ///< kSwitchCycles of them, from the first cycle of a step on
  uint64_t registered[kSwitchInputWords] = {};  ///< inputs whose head is in SwitchOutput::requests
  uint64_t active_ports = 0;                    ///< output ports with requests
  SwitchCounters counters;
  Fault fault;
};

/// A channel and the port that it belongs to. Channels of a port are next to each other in lists.
struct SwitchLink {
  Ref<Channel> channel;
  uint16_t port = 0;
};

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
  s.cycles = arena.template allocate<SwitchCycle>(kSwitchCycles);
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
  std::fill_n(s.routes.in(base), 2u * params.endpoints, kNoRoute);
  for (uint32_t o = 0; o < n_out; ++o) {
    s.outputs.in(base)[o].channel = outputs[o].channel;
    SwitchOutPort& port = s.out_ports.in(base)[outputs[o].port];
    if (port.count == 0) port.first = static_cast<uint16_t>(o);
    port.count = static_cast<uint16_t>(port.count + 1);
    s.outputs.in(base)[o].port = outputs[o].port;
  }
  return s;
}

/// Route requests and replies for `endpoint` to output channels, which are indices into the outputs
/// that make_switch() was given.
inline void set_route(const SwitchParams& params, const SwitchState& s, std::byte* base,
                      uint16_t endpoint, uint16_t request_output, uint16_t reply_output) {
  s.routes.in(base)[endpoint] = request_output;
  s.routes.in(base)[params.endpoints + endpoint] = reply_output;
}

}  // namespace nearwarp
