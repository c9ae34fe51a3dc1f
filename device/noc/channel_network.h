// A network of virtual-channel routers between channels: what a machine's components meet through.
//
// Its terminals are network interfaces. A sending one takes packets from its input channels in
// turns, cuts them into flits and sends a flit per cycle; a receiving one takes a flit per cycle
// and sends a packet on to its output channel when the last flit has come. A packet that the output
// channel has no room for stays in the last buffer with the flits behind it, whose credits are
// missed up the way: so congestion spreads as in hardware.
//
// Packets between two interfaces stay in order: all that go to one output channel use one virtual
// channel, which they keep on the way (each virtual channel is a virtual network of its own).
//
// The routers are a cluster: they are stepped cycle by cycle inside the machine's window, and only
// while something is under way.
#pragma once

#include <span>

#include "device/core/fault.h"
#include "device/noc/build.h"
#include "device/noc/router.h"
#include "device/noc/switch.h"

namespace nearwarp::noc {

inline constexpr uint32_t kParcels = 64;  ///< packets that an interface may have under way

struct ChannelNetworkParams {
  NetworkParams net;
  uint32_t period = 1;      ///< ticks per cycle
  uint32_t flit_bytes = 1;  ///< of a packet's bytes that a flit carries
  uint16_t component = 0;   ///< for faults
  uint16_t endpoints = 0;   ///< destinations in the route table
};

struct NetworkOutput {
  Ref<Channel> channel;
  uint32_t terminal = 0;
};

/// A packet under way; flits name it by their tag, sender * kParcels + number.
struct Parcel {
  Packet packet;
  uint16_t output = 0;
};

/// The sending side of a terminal.
struct Sender {
  uint32_t first = 0, count = 0;       ///< input channels
  uint32_t next = 0;                   ///< channel that is looked at first
  uint64_t free = ~uint64_t{0};        ///< parcels
  uint32_t parcel = 0;                 ///< that is being sent
  uint32_t flits = 0, flits_left = 0;  ///< of it
};

/// The receiving side.
struct Receiver {
  uint32_t waiting = 0;  ///< virtual channels with flits
  uint32_t next = 0;     ///< virtual channel that is looked at first
};

struct ChannelNetworkState {
  NetworkState net;
  Ref<Ref<Channel>> inputs;
  Ref<NetworkOutput> outputs;
  Ref<uint16_t> routes;     ///< [destination] for requests, [endpoints + destination] for replies
  Ref<Sender> senders;      ///< [terminal]
  Ref<Receiver> receivers;  ///< [terminal]
  Ref<Parcel> parcels;      ///< [terminal * kParcels + number]
  Ref<uint16_t> credits;    ///< [terminal * vcs + vc]: room at the network's entrance
  Ref<Flit> held;           ///< [(terminal * vcs + vc) * depth + position]: flits that have come
  Ref<StageQueue> held_queue;  ///< [terminal * vcs + vc]
  uint64_t active_until = 0;   ///< the first cycle in which nothing can be under way any more
  uint64_t flits_inside = 0;
  SwitchCounters counters;
  Fault fault;
};

namespace channel_network_detail {

/// The interfaces, in one cycle. Leader only.
struct Interfaces {
  const ChannelNetworkParams& p;
  ChannelNetworkState& s;
  const NetworkView& v;
  std::byte* base;
  Tick now;
  Cycle t;
  Horizon& horizon;

  /// Output channel of a packet; kNoRoute, and a fault, if there is none.
  NW_HD uint32_t output_of(const Packet& packet) const {
    const uint32_t row = is_reply(packet.kind) ? p.endpoints : 0;
    const uint32_t output =
        packet.dst < p.endpoints ? s.routes.in(base)[row + packet.dst] : kNoRoute;
    if (output == kNoRoute) record_fault(s.fault, kFaultNoRoute, p.component, now);
    return output;
  }

  NW_HD void take_arrivals(uint32_t n) const {
    const uint32_t slot = t & v.slot_mask;
    Arrivals& arrivals = v.arrivals[slot * v.units + v.p.routers + n];
    if (arrivals.credits != 0) {
      const uint32_t ring = (v.output_ports() + n) * v.p.slots;
      s.credits.in(base)[n * v.p.vcs + v.credit_slots[ring + slot]] += 1;
    }
    if (arrivals.flits != 0) {
      const Flit& flit = v.flit_slots[(v.input_ports() + n) * v.p.slots + slot];
      const uint32_t vc = n * v.p.vcs + flit.vc;
      StageQueue& q = s.held_queue.in(base)[vc];
      s.held.in(base)[vc * v.p.depth + (uint32_t{q.head} + q.count) % v.p.depth] = flit;
      q.count = static_cast<uint16_t>(q.count + 1);
      s.receivers.in(base)[n].waiting |= 1u << flit.vc;
    }
    arrivals = {};
  }

  /// Take one flit that has come; with a tail, its packet leaves.
  NW_HD void receive(uint32_t n) const {
    Receiver& r = s.receivers.in(base)[n];
    for (uint32_t left = r.waiting; left != 0;) {
      const uint32_t number = pick_from(left, r.next);
      left &= ~(1u << number);
      const uint32_t vc = n * v.p.vcs + number;
      StageQueue& q = s.held_queue.in(base)[vc];
      const Flit& flit = s.held.in(base)[vc * v.p.depth + q.head];
      if ((flit.flags & kTail) != 0 && !deliver(flit.tag)) continue;
      q.head = static_cast<uint16_t>((q.head + 1u) % v.p.depth);
      q.count = static_cast<uint16_t>(q.count - 1);
      if (q.count == 0) r.waiting &= ~(1u << number);
      r.next = number + 1;
      s.flits_inside -= 1;
      release(v, n, number, t);
      return;
    }
  }
  NW_HD bool deliver(uint32_t tag) const {
    const Parcel& parcel = s.parcels.in(base)[tag];
    Channel& channel = *s.outputs.in(base)[parcel.output].channel.in(base);
    if (!can_send(channel, base, now)) return false;
    nearwarp::send(channel, base, now, parcel.packet, horizon);
    s.senders.in(base)[tag / kParcels].free |= uint64_t{1} << (tag % kParcels);
    s.counters.packets_out += 1;
    s.counters.replies += is_reply(parcel.packet.kind) ? 1 : 0;
    return true;
  }

  NW_HD uint16_t& credits(uint32_t n, uint32_t output) const {
    return s.credits.in(base)[n * v.p.vcs + output % v.p.vcs];
  }

  /// Begin with the next packet that can go. Returns false if there is none.
  NW_HD bool take_packet(uint32_t n) const {
    Sender& sender = s.senders.in(base)[n];
    if (sender.free == 0) return false;
    uint32_t k = sender.next;
    for (uint32_t i = 0; i < sender.count; ++i, ++k) {
      k = k >= sender.count ? 0 : k;
      Channel& channel = *s.inputs.in(base)[sender.first + k].in(base);
      if (!has_packet(channel, base, now)) continue;
      const Packet& packet = front(channel, base);
      const uint32_t output = output_of(packet);
      if (output == kNoRoute || credits(n, output) == 0) continue;
      const uint32_t number = count_trailing_zeros(sender.free);
      sender.free &= ~(uint64_t{1} << number);
      sender.parcel = n * kParcels + number;
      s.parcels.in(base)[sender.parcel] = {packet, static_cast<uint16_t>(output)};
      const uint32_t flits = (packet.bytes + p.flit_bytes - 1) / p.flit_bytes;
      sender.flits = sender.flits_left = flits > 0 ? flits : 1;
      sender.next = k + 1;
      s.counters.packets_in += 1;
      s.counters.bytes += packet.bytes;
      s.counters.flits += sender.flits;
      pop(channel, base, now, horizon);
      return true;
    }
    return false;
  }

  NW_HD void send(uint32_t n) const {
    Sender& sender = s.senders.in(base)[n];
    if (sender.flits_left == 0 && !take_packet(n)) return;
    const uint32_t output = s.parcels.in(base)[sender.parcel].output;
    uint16_t& room = credits(n, output);
    if (room == 0) return;
    room = static_cast<uint16_t>(room - 1);
    Flit flit;
    flit.tag = sender.parcel;
    flit.entered = t;
    flit.source = static_cast<uint16_t>(n);
    flit.destination = static_cast<uint16_t>(s.outputs.in(base)[output].terminal);
    flit.vc = flit.vnet = static_cast<uint8_t>(output % v.p.vcs);
    flit.flags = static_cast<uint8_t>((sender.flits_left == sender.flits ? kHead : 0) |
                                      (sender.flits_left == 1 ? kTail : 0));
    inject(v, n, flit, t);
    sender.flits_left -= 1;
    s.flits_inside += 1;
  }

  /// Has the sender of terminal `n` anything to send?
  NW_HD bool has_more(uint32_t n) const {
    const Sender& sender = s.senders.in(base)[n];
    if (sender.flits_left != 0) return true;
    for (uint32_t k = 0; k < sender.count; ++k)
      if (has_packet(*s.inputs.in(base)[sender.first + k].in(base), base, now)) return true;
    return false;
  }
};

}  // namespace channel_network_detail

/// Step a network through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// Units:  times in ticks of the machine's base clock, a cycle of the network every `period` ticks.
template <class G>
NW_HD NW_APART StepResult step_channel_network(const G& g, const ChannelNetworkParams& p,
                                               ChannelNetworkState& s, std::byte* base,
                                               Window window, Horizon& horizon) {
  const NetworkView v = view_of(p.net, s.net, base);
  const Ref<Channel>* const inputs = s.inputs.in(base);
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);
  const uint64_t end = cycle_at_or_after(window.end, p.period);
  StepResult result;
  while (true) {
    if (cycle >= s.active_until) {  // nothing is under way: go on where a packet arrives
      const uint32_t ahead = g.minimum(s.inputs.count, [&](uint32_t i) -> uint32_t {
        const Tick arrival = head_arrival(*inputs[i].in(base), base);
        const Tick after = arrival > window.begin ? arrival - window.begin : 0;
        return after < 0xffffffffu ? static_cast<uint32_t>(after) : 0xffffffffu;
      });
      if (ahead == 0xffffffffu) return result;
      const uint64_t next = cycle_at_or_after(window.begin + ahead, p.period);
      cycle = next > cycle ? next : cycle;
    }
    if (cycle >= end) break;
    const auto t = static_cast<Cycle>(cycle);
    g.each_scalar(v.p.routers, [&](uint32_t r) {
      if (has_work(v, r, t)) step_router(v, r, t);
    });
    g.leader([&] {
      const channel_network_detail::Interfaces at{p, s, v, base, cycle * p.period, t, horizon};
      bool more = false;
      for (uint32_t n = 0; n < v.p.terminals; ++n) {
        at.take_arrivals(n);
        at.receive(n);
        at.send(n);
        more |= at.has_more(n);
      }
      // Credits are on their way for some cycles after the last flit has gone.
      if (more || s.flits_inside != 0) s.active_until = cycle + 1 + p.net.slots;
    });
    cycle += 1;
  }
  result.wake = cycle * p.period;
  return result;
}

/// Lay out a network's interfaces around routers that make_network() has laid out and wired.
/// Channels of one port stand together, ports in ascending order, as for make_switch();
/// `senders[port]` and `receivers[port]` are terminals. Routes start out empty: see set_route().
template <class Allocator>
ChannelNetworkState make_channel_network(Allocator& arena, const ChannelNetworkParams& p,
                                         const NetworkState& net,
                                         std::span<const SwitchLink> inputs,
                                         std::span<const SwitchLink> outputs,
                                         std::span<const uint32_t> senders,
                                         std::span<const uint32_t> receivers) {
  ChannelNetworkState s;
  s.net = net;
  const auto n_in = static_cast<uint32_t>(inputs.size());
  const auto n_out = static_cast<uint32_t>(outputs.size());
  const uint32_t terminals = p.net.terminals, vcs = terminals * p.net.vcs;
  s.inputs = arena.template allocate<Ref<Channel>>(n_in);
  s.outputs = arena.template allocate<NetworkOutput>(n_out);
  s.routes = arena.template allocate<uint16_t>(2u * p.endpoints);
  s.senders = arena.template allocate<Sender>(terminals);
  s.receivers = arena.template allocate<Receiver>(terminals);
  s.parcels = arena.template allocate<Parcel>(terminals * kParcels);
  s.credits = arena.template allocate<uint16_t>(vcs);
  s.held = arena.template allocate<Flit>(vcs * p.net.depth);
  s.held_queue = arena.template allocate<StageQueue>(vcs);
  for (uint32_t i = 0; i < vcs; ++i) arena.get(s.credits)[i] = static_cast<uint16_t>(p.net.depth);
  for (uint32_t i = 0; i < n_in; ++i) {
    arena.get(s.inputs)[i] = inputs[i].channel;
    Sender& sender = arena.get(s.senders)[senders[inputs[i].port]];
    if (sender.count == 0) sender.first = i;
    sender.count += 1;
  }
  for (uint32_t o = 0; o < n_out; ++o)
    arena.get(s.outputs)[o] = {outputs[o].channel, receivers[outputs[o].port]};
  for (uint32_t e = 0; e < 2u * p.endpoints; ++e) arena.get(s.routes)[e] = kNoRoute;
  return s;
}

/// Packets for `endpoint` leave by these output channels, as of the same function for switches.
inline void set_route(const ChannelNetworkParams& params, const ChannelNetworkState& s,
                      std::byte* base, uint16_t endpoint, uint16_t request_output,
                      uint16_t reply_output) {
  s.routes.in(base)[endpoint] = request_output;
  s.routes.in(base)[params.endpoints + endpoint] = reply_output;
}

}  // namespace nearwarp::noc
