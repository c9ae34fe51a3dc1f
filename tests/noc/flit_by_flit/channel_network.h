// A network of virtual-channel routers between channels: what a machine's components meet through.
//
// Its terminals are network interfaces. A sending one takes packets from its input channels in
// turns, cuts them into flits and sends a flit per cycle; a receiving one takes a flit per cycle
// and sends a packet on to its output channel when the last flit has come. A packet that the output
// channel has no room for stays in the last buffer with the flits behind it, whose credits are
// missed up the way: so congestion spreads as in hardware.
//
// A packet takes a virtual channel that has room, at its sender and then in every router, as the
// routers' allocators give it. So packets between two interfaces may overtake each other. Those of
// kinds that keep their order (device/core/packet.h) leave their sender one at a time: the next one
// for the same output channel when the last one has been sent on there. Where flits are packets of
// their own, which must not overtake each other either, all for one output channel use one virtual
// channel, which they keep on the way (each virtual channel is a virtual network of its own then).
//
// The routers are a cluster: they are stepped cycle by cycle inside the machine's window, and only
// while something is under way.
#pragma once

#include <span>

#include "device/core/lanes.h"
#include "device/noc/channel_ends.h"
#include "tests/noc/flit_by_flit/build.h"
#include "tests/noc/flit_by_flit/router.h"

namespace nearwarp::flit_by_flit {

struct ChannelNetworkParams : ChannelEndsParams {
  NetworkParams net;
};

/// The packet that a terminal is sending.
struct Sender {
  uint32_t flits_left = 0;  ///< flits of the packet being sent that are left
  Flit flit;                ///< the packet's next one; before it, the last one's last
  bool blocked = false;     ///< out of `sending` until a credit or a parcel comes back
};

/// The receiving side.
struct Receiver {
  uint32_t waiting = 0;  ///< virtual channels with flits
  uint32_t next = 0;     ///< virtual channel that is looked at first
};

struct ChannelNetworkState : ChannelEndsState {
  NetworkState net;
  Ref<Sender> senders;         ///< [terminal]
  Ref<Receiver> receivers;     ///< [terminal]
  Ref<uint16_t> credits;       ///< [terminal * vcs + vc]: room at the network's entrance
  Ref<Flit> held;              ///< [(terminal * vcs + vc) * depth + position]: flits that have come
  Ref<StageQueue> held_queue;  ///< [terminal * vcs + vc]
  // Who has something to do.
  /// Bits of terminals: flits or packets to send, and nothing known to be missing.
  Ref<uint64_t> sending;
  Ref<uint64_t> receiving;    ///< bits of terminals that hold flits
  uint64_t active_until = 0;  ///< the first cycle in which nothing can be under way any more
};

namespace channel_network_detail {

/// The interfaces, in one cycle.
struct Interfaces {
  const ChannelNetworkParams& p;
  ChannelNetworkState& s;
  const NetworkView& v;
  std::byte* base;
  Cycle t;
  ChannelEnds ends;

  /// f(terminal) for every bit of the mask, as it is when its word's turn comes.
  template <class F>
  NW_HD NW_INLINE void each_of(const Ref<uint64_t>& mask, F&& f) const {
    const uint64_t* const words = mask.in(base);
    for (uint32_t w = 0; w < mask.count; ++w)
      for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1)
        f(w * 64 + count_trailing_zeros(bits));
  }
  NW_HD NW_INLINE void mark(const Ref<uint64_t>& mask, uint32_t n, bool set) const {
    uint64_t& word = mask.in(base)[n / 64];
    const uint64_t bit = uint64_t{1} << (n % 64);
    word = set ? word | bit : word & ~bit;
  }

  NW_HD NW_INLINE uint64_t ready_inputs(uint32_t n) const { return s.ends.in(base)[n].ready; }

  NW_HD NW_INLINE void take_arrivals() const {
    const uint32_t slot = t & v.slot_mask;
    for (uint32_t w = 0; w < terminal_units(v.p); ++w) {
      Arrivals& arrivals = v.arrivals[slot * v.units + v.p.routers + w];
      const Arrivals came = arrivals;
      arrivals = {};
      for (uint32_t round = 0; round < v.p.speedup; ++round)
        take_credits(w * 64, came.credits[round], slot, round);
      const Flit* const flits = v.flit_slots + (v.input_ports() + w * 64) * v.p.slots + slot;
      for (uint64_t bits = came.flits; bits != 0; bits &= bits - 1) {
        const uint32_t n = count_trailing_zeros(bits);
        take_flit(w * 64 + n, flits[n * v.p.slots]);
      }
    }
  }
  /// Credits of the terminals from `first` on, of the round `round` of their routers.
  NW_HD NW_INLINE void take_credits(uint32_t first, uint64_t bits, uint32_t slot,
                                    uint32_t round) const {
    uint32_t* const vcs =
        v.credit_slots + ((v.output_ports() + first) * v.p.slots + slot) * v.p.speedup + round;
    for (; bits != 0; bits &= bits - 1) {
      const uint32_t n = count_trailing_zeros(bits);
      take_vcs(vcs[n * v.p.slots * v.p.speedup], [&](uint32_t vc) { credits(first + n, vc) += 1; });
      wake_sender(first + n);
    }
  }
  /// Terminal `n` may have something to send.
  NW_HD NW_INLINE void start_sender(uint32_t n) const {
    s.senders.in(base)[n].blocked = false;
    mark(s.sending, n, true);
  }
  /// A credit or a parcel, which it may have lacked, has come back.
  NW_HD NW_INLINE void wake_sender(uint32_t n) const {
    if (s.senders.in(base)[n].blocked) start_sender(n);
  }
  NW_HD NW_INLINE void block_sender(uint32_t n) const {
    s.senders.in(base)[n].blocked = true;
    mark(s.sending, n, false);
  }
  NW_HD NW_INLINE void take_flit(uint32_t n, const Flit& flit) const {
    Receiver& r = s.receivers.in(base)[n];
    if (r.waiting == 0 && ((flit.flags & kLast) == 0 || deliver(flit.tag, 0))) {
      finish(n, r, flit.vc);  // nothing is before it: as if it had been held and taken
      return;
    }
    const uint32_t vc = n * v.p.vcs + flit.vc;
    StageQueue& q = s.held_queue.in(base)[vc];
    Flit& held = s.held.in(base)[vc * v.p.depth + (uint32_t{q.head} + q.count) % v.p.depth];
    held = flit;
    held.entered = t;  // here, from now on
    q.count = static_cast<uint16_t>(q.count + 1);
    r.waiting |= 1u << flit.vc;
    mark(s.receiving, n, true);
  }
  /// A flit of virtual channel `number` has gone.
  NW_HD NW_INLINE void finish(uint32_t n, Receiver& r, uint32_t number) const {
    r.next = number + 1;
    s.flits_inside -= 1;
    release(v, n, number, t);
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
      if ((flit.flags & kLast) != 0 && !deliver(flit.tag, Tick{t - flit.entered} * p.period))
        continue;
      q.head = static_cast<uint16_t>((q.head + 1u) % v.p.depth);
      q.count = static_cast<uint16_t>(q.count - 1);
      if (q.count == 0) r.waiting &= ~(1u << number);
      if (r.waiting == 0) mark(s.receiving, n, false);
      finish(n, r, number);
      return;
    }
  }
  NW_HD bool deliver(uint32_t tag, Tick waited) const {
    if (!ends.deliver(tag, waited)) return false;
    wake_sender(tag / kParcels);
    return true;
  }

  NW_HD NW_INLINE uint16_t& credits(uint32_t n, uint32_t vc) const {
    return s.credits.in(base)[n * v.p.vcs + vc];
  }

  /// Are virtual channels free for every packet to take? Not if each is a network of its own.
  NW_HD NW_INLINE bool allocates() const { return v.p.vnets != v.p.vcs; }
  /// The one that all packets for an output channel have to use.
  NW_HD NW_INLINE uint32_t vc_of(uint32_t output) const {
    return v.p.vcs == 1 ? 0 : output % v.p.vcs;
  }
  /// The next virtual channel, in turns behind `last`, that a packet can begin on; as many as there
  /// are if there is none.
  NW_HD NW_INLINE uint32_t next_vc(uint32_t n, uint32_t last) const {
    uint32_t vc = last;
    for (uint32_t i = 0; i < v.p.vcs; ++i) {
      vc = vc + 1 == v.p.vcs ? 0 : vc + 1;
      if (may_begin(v.p, credits(n, vc))) return vc;
    }
    return v.p.vcs;
  }
  /// Begin with the next packet that can go. Returns false if there is none.
  NW_HD bool take_packet(uint32_t n) const {
    const bool any = allocates();
    const uint32_t vc = any ? next_vc(n, s.senders.in(base)[n].flit.vc) : 0;
    if (vc == v.p.vcs) return false;
    const ChannelEnds::Begun begun = ends.take_packet(
        n,
        [&](const Packet& packet, uint32_t output) {
          if (!any) return may_begin(v.p, credits(n, vc_of(output)));
          return !keeps_order(packet.kind) || !ends.ordered_ahead(n, output);
        },
        [&](uint32_t input) {
          ends.look_at(input, [&](uint32_t sender) { start_sender(sender); });
        });
    if (begun.flits == 0) return false;
    Sender& sender = s.senders.in(base)[n];
    sender.flits_left = begun.flits;
    sender.flit.tag = begun.tag;
    sender.flit.source = static_cast<uint16_t>(n);
    sender.flit.destination = static_cast<uint16_t>(s.outputs.in(base)[begun.output].terminal);
    sender.flit.vc = static_cast<uint8_t>(any ? vc : vc_of(begun.output));
    sender.flit.vnet = any ? uint8_t{0} : sender.flit.vc;
    sender.flit.flags = kHead;
    return true;
  }

  /// Send the next flit, or block until what it lacks is there.
  NW_HD void send(uint32_t n) const {
    Sender& sender = s.senders.in(base)[n];
    if (sender.flits_left == 0 && !take_packet(n)) return block_sender(n);
    uint16_t& room = credits(n, sender.flit.vc);
    if (p.split ? !may_begin(v.p, room) : room == 0) return block_sender(n);
    room = static_cast<uint16_t>(room - 1);
    Flit& flit = sender.flit;
    flit.entered = t;
    if (sender.flits_left == 1) flit.flags |= kTail | kLast;
    if (p.split) flit.flags |= kHead | kTail;
    inject(v, n, flit, t);
    flit.flags = 0;
    sender.flits_left -= 1;
    if (sender.flits_left == 0 && ready_inputs(n) == 0) mark(s.sending, n, false);
    s.flits_inside += 1;
  }

  /// All of them.
  NW_HD NW_APART void step() const {
    ends.take_heads([&](uint32_t sender) { start_sender(sender); });
    take_arrivals();
    each_of(s.receiving, [&](uint32_t n) { receive(n); });
    each_of(s.sending, [&](uint32_t n) { send(n); });
    bool more = s.flits_inside != 0;
    each_of(s.sending, [&](uint32_t) { more = true; });
    // Credits are on their way for some cycles after the last flit has gone.
    if (more) s.active_until = ends.now / p.period + 1 + p.net.slots;
  }
};

}  // namespace channel_network_detail

/// Step a network through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// Units:  times in ticks of the machine's base clock, a cycle of the network every `period` ticks.
NW_HD NW_APART StepResult step_channel_network(const ChannelNetworkParams& p,
                                               ChannelNetworkState& s, std::byte* base,
                                               Window window, Horizon& horizon) {
  const NetworkView v = view_of(p.net, s.net, base);
  const bool plain = is_plain(p.net);
  const Ref<Channel>* const inputs = s.inputs.in(base);
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);
  const uint64_t end = cycle_at_or_after(window.end, p.period);
  uint64_t coming[kMaxSwitchInputs / 64];
  for (uint32_t w = 0; w < kMaxSwitchInputs / 64; ++w) {
    const uint32_t first = w * 64, n = s.inputs.count > first ? s.inputs.count - first : 0;
    coming[w] = lanes::ballot(n < 64 ? n : 64, [&](uint32_t i) {
      return head_arrival(*inputs[first + i].in(base), base) < window.end;
    });
  }
  for (uint32_t w = 0; w < kMaxSwitchInputs / 64; ++w) s.coming[w] = coming[w] & ~s.ready[w];
  // Between windows nothing of them is left in the state, wherever they were cut.
  const auto forget_window = [&] {
    for (uint32_t w = 0; w < kMaxSwitchInputs / 64; ++w) s.coming[w] = 0;
    s.next_head = 0;
  };
  StepResult result;
  while (true) {
    if (cycle >= s.active_until) {  // nothing is under way: go on where a packet arrives
      const uint32_t ahead = lanes::minimum(s.inputs.count, [&](uint32_t i) -> uint32_t {
        const Tick arrival = head_arrival(*inputs[i].in(base), base);
        const Tick after = arrival > window.begin ? arrival - window.begin : 0;
        return after < 0xffffffffu ? static_cast<uint32_t>(after) : 0xffffffffu;
      });
      if (ahead == 0xffffffffu) {
        forget_window();
        return result;
      }
      const uint64_t next = cycle_at_or_after(window.begin + ahead, p.period);
      cycle = next > cycle ? next : cycle;
    }
    if (cycle >= end) break;
    const auto t = static_cast<Cycle>(cycle);
    for (uint32_t r = 0; r < v.p.routers; ++r)
      if (due_in(v, t)[r] != 0) step_router(v, r, t, plain);
    const channel_network_detail::Interfaces at{
        p, s, v, base, t, {p, s, base, window.end, horizon, cycle * p.period}};
    at.step();
    cycle += 1;
  }
  forget_window();
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
  const uint32_t terminals = p.net.terminals, vcs = terminals * p.net.vcs;
  make_channel_ends(arena, p, s, {inputs, outputs, senders, receivers}, terminals);
  s.senders = arena.template allocate<Sender>(terminals);
  s.receivers = arena.template allocate<Receiver>(terminals);
  s.credits = arena.template allocate<uint16_t>(vcs);
  s.held = arena.template allocate<Flit>(vcs * p.net.depth);
  s.held_queue = arena.template allocate<StageQueue>(vcs);
  s.sending = arena.template allocate<uint64_t>((terminals + 63) / 64);
  s.receiving = arena.template allocate<uint64_t>((terminals + 63) / 64);
  for (uint32_t i = 0; i < vcs; ++i) arena.get(s.credits)[i] = static_cast<uint16_t>(p.net.depth);
  return s;
}

}  // namespace nearwarp::flit_by_flit
