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
#include "device/noc/build.h"
#include "device/noc/channel_ends.h"
#include "device/noc/network.h"

namespace nearwarp::noc {

struct ChannelNetworkParams : ChannelEndsParams {
  NetworkParams net;
};

/// The packet that a terminal is sending.
struct Sender {
  uint32_t flits_left = 0;  ///< of the packet that is being sent
  Flit flit;                ///< the packet's next one; before it, the last one's last
  bool blocked = false;     ///< out of `sending` until a credit or a parcel comes back
};

/// The receiving side.
struct Receiver {
  uint32_t waiting = 0;  ///< virtual channels with flits that have come, and have not gone
  uint32_t next = 0;     ///< virtual channel that is looked at first
};

struct ChannelNetworkState : ChannelEndsState {
  NetworkState net;
  Ref<Sender> senders;      ///< [terminal]
  Ref<Receiver> receivers;  ///< [terminal]
  // Who has something to do.
  /// Bits of terminals: flits or packets to send, and nothing known to be missing.
  Ref<uint64_t> sending;
  Ref<uint64_t> receiving;  ///< bits of terminals that hold flits
  Ref<uint64_t> stuck;      ///< within a window: those of which none can go before `next_room`
  Tick next_room = kNever;
  uint64_t active_until = 0;  ///< the first cycle in which nothing can be under way any more
};

namespace channel_network_detail {

/// The interfaces, in one cycle after the other.
struct Interfaces {
  const ChannelNetworkParams& p;
  ChannelNetworkState& s;
  const NetworkView& v;
  std::byte* base;
  Cycle t;
  ChannelEnds ends;
  uint64_t cycle;  ///< of which `t` are the lower bits
  Sender* senders;
  Receiver* receivers;

  NW_HD NW_INLINE Sender& sender(uint32_t n) const { return senders[n]; }
  NW_HD NW_INLINE void mark(const Ref<uint64_t>& mask, uint32_t n) const {
    mask.in(base)[n / 64] |= uint64_t{1} << (n % 64);
  }
  NW_HD NW_INLINE void unmark(const Ref<uint64_t>& mask, uint32_t n) const {
    mask.in(base)[n / 64] &= ~(uint64_t{1} << (n % 64));
  }

  /// Takes arrivals at the terminals of word `w`.
  NW_HD NW_INLINE void take_arrivals(uint32_t w, uint32_t slot) const {
    uint64_t& woken = v.woken[slot * terminal_words(v.p) + w];
    if (woken != 0) {
      for (uint64_t bits = woken; bits != 0; bits &= bits - 1)
        wake_sender(w * 64 + count_trailing_zeros(bits));
      woken = 0;
    }
    uint64_t& due = v.due[(router_words(v.p) + w) * v.p.slots + slot];
    for (uint64_t bits = due; bits != 0; bits &= bits - 1)
      take_flit(w * 64 + count_trailing_zeros(bits), slot);
    due = 0;
  }
  /// Terminal `n` may have something to send.
  NW_HD NW_INLINE void start_sender(uint32_t n) const {
    sender(n).blocked = false;
    mark(s.sending, n);
  }
  /// A credit or a parcel, which it may have lacked, has come back.
  NW_HD NW_INLINE void wake_sender(uint32_t n) const {
    if (sender(n).blocked) start_sender(n);
  }
  /// It lacks a credit for one of the virtual channels [first, end), or a parcel.
  NW_HD NW_APART void block_sender(uint32_t n, uint32_t first, uint32_t end) const {
    sender(n).blocked = true;
    unmark(s.sending, n);
    for (uint32_t vc = first; vc < end; ++vc) await_room(v, n, vc, t);
  }
  /// One has come to terminal `n`.
  NW_HD NW_INLINE void take_flit(uint32_t n, uint32_t slot) const {
    const uint32_t number = take_arrival_bit(v, n, slot);
    InputVc& in = v.exits[(n << v.p.vc_shift) + number];
    Receiver& r = receivers[n];
    if (r.waiting == 0) {
      // Nothing is before it: as if it had waited and been taken.
      Flit& flit = v.place(in.front);
      if ((flit.flags & kLast) == 0 || deliver(flit.tag, 0)) return finish(n, r, in, flit, number);
    }
    hold(n, r, in, number);
  }
  /// Keeps a flit at terminal `n` until it is taken.
  NW_HD NW_APART void hold(uint32_t n, Receiver& r, InputVc& in, uint32_t number) const {
    take_place(v, in).entered = t;  // here, from now on
    r.waiting |= 1u << number;
    mark(s.receiving, n);
    unmark(s.stuck, n);
  }
  /// A flit of virtual channel `number`, which is not counted any more, has gone.
  NW_HD NW_INLINE void finish(uint32_t n, Receiver& r, InputVc& in, Flit& flit,
                              uint32_t number) const {
    r.next = number + 1;
    s.flits_inside -= 1;
    in.front = next_place(v, in.front);
    give_back(v, flit, in, v.input_ports() + n, t);
  }

  /// Take one flit that has come; with a tail, its packet leaves. If none can go, the terminal is
  /// not looked at before the first of their output channels may have room.
  NW_HD NW_APART void receive(uint32_t n) const {
    Receiver& r = receivers[n];
    Tick room = kNever;
    for (uint32_t left = r.waiting; left != 0;) {
      const uint32_t number = pick_from(left, r.next);
      left &= ~(1u << number);
      InputVc& in = v.exits[(n << v.p.vc_shift) + number];
      Flit& flit = v.place(in.front);
      if ((flit.flags & kLast) != 0 && !deliver(flit.tag, Tick{t - flit.entered} * p.period)) {
        room = min_tick(room, send_tick(ends.channel_of(flit.tag), base));
        continue;
      }
      in.count = static_cast<uint16_t>(in.count - 1);
      if (in.count == 0) r.waiting &= ~(1u << number);
      if (r.waiting == 0) unmark(s.receiving, n);
      return finish(n, r, in, flit, number);
    }
    unmark(s.receiving, n);
    mark(s.stuck, n);
    s.next_room = min_tick(s.next_room, room);
  }
  NW_HD NW_INLINE bool deliver(uint32_t tag, Tick waited) const {
    if (!ends.deliver(tag, waited)) return false;
    wake_sender(tag / kParcels);
    return true;
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
      if (may_begin(v, n, vc, t)) return vc;
    }
    return v.p.vcs;
  }
  /// Begin with the next packet that can go. Returns false if there is none.
  NW_HD NW_APART bool take_packet(uint32_t n) const {
    const bool any = allocates();
    Sender& sender = this->sender(n);
    const uint32_t vc = any ? next_vc(n, sender.flit.vc) : 0;
    if (vc == v.p.vcs) return false;
    const ChannelEnds::Begun begun = ends.take_packet(
        n,
        [&](const Packet& packet, uint32_t output) {
          if (!any) return may_begin(v, n, vc_of(output), t);
          return !keeps_order(packet.kind) || !ends.ordered_ahead(n, output);
        },
        [&](uint32_t input) { ends.look_at(input, [&](uint32_t other) { start_sender(other); }); });
    if (begun.flits == 0) return false;
    sender.flits_left = begun.flits;
    sender.flit.tag = begun.tag;
    sender.flit.source = static_cast<uint16_t>(n);
    sender.flit.destination = static_cast<uint16_t>(s.outputs.in(base)[begun.output].terminal);
    sender.flit.vc = static_cast<uint8_t>(any ? vc : vc_of(begun.output));
    sender.flit.vnet = any ? uint8_t{0} : sender.flit.vc;
    return true;
  }

  /// Send the next flit, or block until what it lacks is there.
  NW_HD NW_INLINE void send(uint32_t n) const {
    Sender& sender = this->sender(n);
    uint32_t flags = p.split ? kHead | kTail : 0;
    if (sender.flits_left == 0) {
      if (!take_packet(n)) return block_sender(n, 0, v.p.vcs);  // the one it begins on has room
      flags |= kHead;
    } else {
      const uint32_t vc = sender.flit.vc;
      if (p.split ? !may_begin(v, n, vc, t) : !has_room(v, n, vc, t))
        return block_sender(n, vc, vc + 1);
    }
    sender.flits_left -= 1;
    s.flits_inside += 1;
    if (sender.flits_left == 0) {
      flags |= kTail | kLast;
      if (s.ends.in(base)[n].ready == 0) unmark(s.sending, n);
    }
    sender.flit.entered = t;
    sender.flit.flags = static_cast<uint8_t>(flags);
    inject(v, n, sender.flit, t);
  }

  /// All of them.
  NW_HD NW_APART void step() const {
    ends.take_heads([&](uint32_t sender) { start_sender(sender); });
    const uint32_t words = terminal_words(v.p), slot = t & v.slot_mask;
    for (uint32_t w = 0; w < words; ++w) take_arrivals(w, slot);
    if (s.next_room <= ends.now) look_for_room();
    uint64_t* const receiving = s.receiving.in(base);
    for (uint32_t w = 0; w < words; ++w)
      lanes::each_bit(receiving[w], [&](uint32_t i) { receive(w * 64 + i); });
    uint64_t* const sending = s.sending.in(base);
    uint64_t more = s.flits_inside;
    for (uint32_t w = 0; w < words; ++w) {
      lanes::each_bit(sending[w], [&](uint32_t i) { send(w * 64 + i); });
      more |= sending[w];
    }
    // Credits are on their way for some cycles after the last flit has gone.
    if ((more | s.flits_inside) != 0) s.active_until = cycle + 1 + p.net.slots;
  }
  /// Lets receivers that are stuck go on.
  NW_HD NW_APART void look_for_room() const {
    uint64_t* const stuck = s.stuck.in(base);
    for (uint32_t w = 0; w < terminal_words(v.p); ++w) {
      s.receiving.in(base)[w] |= stuck[w];
      stuck[w] = 0;
    }
    s.next_room = kNever;
  }
};

}  // namespace channel_network_detail

/// Step a network through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// Units:  times in ticks of the machine's base clock, a cycle of the network every `period` ticks.
NW_HD NW_APART inline StepResult step_channel_network(const ChannelNetworkParams& p,
                                                      ChannelNetworkState& s, std::byte* base,
                                                      Window window, Horizon& horizon) {
  const NetworkView v = view_of(p.net, s.net, base);
  const Stepping stepping = stepping_of(p.net);
  const Ref<Channel>* const inputs = s.inputs.in(base);
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);
  const uint64_t end = cycle_at_or_after(window.end, p.period);
  uint64_t coming[kInputWords];
  const uint32_t words = input_words(s);
  for (uint32_t w = 0; w < words; ++w) {
    const uint32_t first = w * 64, n = s.inputs.count > first ? s.inputs.count - first : 0;
    coming[w] = lanes::ballot(n < 64 ? n : 64, [&](uint32_t i) {
      return head_arrival(*inputs[first + i].in(base), base) < window.end;
    });
  }
  for (uint32_t w = 0; w < words; ++w) s.coming[w] = coming[w] & ~s.ready[w];
  channel_network_detail::Interfaces interfaces{p,
                                                s,
                                                v,
                                                base,
                                                0,
                                                {p, s, base, window.end, horizon},
                                                0,
                                                s.senders.in(base),
                                                s.receivers.in(base)};
  // Between windows nothing of them is left in the state, wherever they were cut.
  const auto forget_window = [&] {
    for (uint32_t w = 0; w < words; ++w) s.coming[w] = 0;
    s.next_head = 0;
    interfaces.look_for_room();
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
    if (cycle >= s.active_until && (cycle ^ s.active_until) >> kRenewShift != 0)
      renew_places(v, static_cast<Cycle>(cycle), true);
    // As many as nothing crosses a wire in: a router's state is at hand then.
    const uint64_t left = end - cycle;
    const auto t = static_cast<Cycle>(cycle);
    const uint32_t cycles = left < v.p.lookahead ? static_cast<uint32_t>(left) : v.p.lookahead;
    step_routers(v, stepping, t, t + cycles);
    interfaces.t = t;
    interfaces.ends.now = cycle * p.period;
    for (uint32_t k = 0; k < cycles; ++k) {
      interfaces.cycle = cycle;
      interfaces.step();
      interfaces.t += 1;
      interfaces.ends.now += p.period;
      cycle += 1;
    }
  }
  forget_window();
  result.wake = cycle * p.period;
  return result;
}

/// Lay out a network's interfaces around routers that make_network() has laid out and wired.
/// Routes start out empty: see set_route().
template <class Allocator>
ChannelNetworkState make_channel_network(Allocator& arena, const ChannelNetworkParams& p,
                                         const NetworkState& net, const NetworkPorts& ports) {
  ChannelNetworkState s;
  s.net = net;
  const uint32_t terminals = p.net.terminals;
  make_channel_ends(arena, p, s, ports, terminals);
  s.senders = arena.template allocate<Sender>(terminals);
  s.receivers = arena.template allocate<Receiver>(terminals);
  s.sending = arena.template allocate<uint64_t>((terminals + 63) / 64);
  s.receiving = arena.template allocate<uint64_t>((terminals + 63) / 64);
  s.stuck = arena.template allocate<uint64_t>((terminals + 63) / 64);
  return s;
}

}  // namespace nearwarp::noc
