// The interfaces between a network and the channels around it, for any network between the
// terminals: which packets have arrived, where they go, and where they are kept while their flits
// are under way.
//
// A sending terminal takes packets from its input channels in round-robin order. A packet under way
// is kept as a parcel of its sender; its flits carry the parcel's tag.
#pragma once

#include "device/core/bits.h"
#include "device/core/channel.h"
#include "device/core/fault.h"
#include "device/noc/islip.h"
#include "device/noc/switch_state.h"

namespace nearwarp::noc {

inline constexpr uint32_t kParcels = 64;  ///< packets that a terminal may have under way
/// Input channels of a network: eight at each of 64 ports.
inline constexpr uint32_t kMaxInputs = 512;
inline constexpr uint32_t kInputWords = kMaxInputs / 64;  ///< words of a bit per input

struct ChannelEndsParams {
  uint32_t period = 1;      ///< ticks per cycle
  uint32_t flit_bytes = 1;  ///< bytes of a packet that one flit carries
  /// Each flit travels as a packet of its own, in order. A packet has at least one flit for each
  /// sector, in requests and acknowledgements, too.
  bool split = false;
  uint16_t component = 0;  ///< for faults
  uint16_t endpoints = 0;  ///< destinations in the route table
};

struct NetworkOutput {
  Ref<Channel> channel;
  uint32_t terminal = 0;
};

/// A packet under way; flits name it by their tag, sender * kParcels + number.
struct Parcel {
  Packet packet;
  uint16_t output = 0;
  Tick begun = 0;  ///< tick at which its first flit could leave its sender
  Tick until = 0;  ///< if it was delivered ahead of time: the tick of its delivery
};

/// Times of packets in ticks, summed over packets.
struct PacketTimes {
  uint64_t injection = 0;  ///< waiting at the sending terminal
  uint64_t transit = 0;    ///< from leaving it until the last flit is at the receiving terminal
  uint64_t ejection = 0;   ///< waiting there for earlier packets, and for room in the channel
};

struct PacketCounters {
  uint64_t packets_in = 0, packets_out = 0;
  uint64_t bytes = 0;
  uint64_t flits = 0;
  uint64_t replies = 0;  ///< included in packets_out
};

/// A sending terminal's channels and parcels.
struct SendingEnd {
  uint32_t first = 0, count = 0;  ///< input channels
  uint32_t next = 0;              ///< channel that has the highest priority
  uint64_t ready = 0;             ///< channels whose head has arrived, as bits; bit 0: `first`
  uint64_t free = ~uint64_t{0};   ///< free parcels, as bits
  uint64_t leaving = 0;           ///< parcels that become free at Parcel::until, as bits
};

struct ChannelEndsState {
  Ref<Ref<Channel>> inputs;
  Ref<uint16_t> sender_of;  ///< [input]: its sending terminal
  Ref<NetworkOutput> outputs;
  Ref<uint16_t> routes;  ///< [destination] for requests, [endpoints + destination] for replies
  Ref<SendingEnd> ends;  ///< [sending terminal]
  Ref<Parcel> parcels;   ///< [sending terminal * kParcels + number]
  uint64_t ready[kInputWords] = {};   ///< inputs whose head has arrived, as bits
  uint64_t coming[kInputWords] = {};  ///< inputs whose head arrives later in this window, as bits
  Tick next_head = 0;                 ///< the earliest of their arrivals
  uint64_t flits_inside = 0;
  PacketCounters counters;
  PacketTimes times;
  Fault fault;
};

/// Words that hold a bit for each input.
NW_HD NW_INLINE uint32_t input_words(const ChannelEndsState& s) {
  return (s.inputs.count + 63) / 64;
}

/// A view of a network's ends in one cycle.
struct ChannelEnds {
  const ChannelEndsParams& p;
  ChannelEndsState& s;
  std::byte* base;
  Tick window_end;
  Horizon& horizon;
  Tick now = 0;

  /// Mark the inputs ready whose head has arrived by now, and call f(sending terminal) for each.
  template <class F>
  NW_HD NW_INLINE void take_heads(F&& f) const {
    if (s.next_head > now) return;
    Tick next = kNever;
    for (uint32_t w = 0; w < input_words(s); ++w) {
      for (uint64_t bits = s.coming[w]; bits != 0; bits &= bits - 1) {
        const uint32_t i = w * 64 + count_trailing_zeros(bits);
        const Tick arrival = arrival_at(i);
        if (arrival > now) {
          next = min_tick(next, arrival);
          continue;
        }
        s.coming[w] &= ~(bits & (~bits + 1));
        f(set_ready(i, true));
      }
    }
    s.next_head = next;
  }
  /// The tick at which the head of input `i` arrives; kNever if there is none.
  NW_HD NW_INLINE Tick arrival_at(uint32_t i) const {
    return head_arrival(*s.inputs.in(base)[i].in(base), base);
  }
  /// Note whether the head of input `i` has arrived. Returns the sending terminal.
  NW_HD NW_INLINE uint32_t set_ready(uint32_t i, bool is_ready) const {
    const uint32_t n = s.sender_of.in(base)[i];
    SendingEnd& end = s.ends.in(base)[n];
    const uint64_t bit = uint64_t{1} << (i % 64), own = uint64_t{1} << (i - end.first);
    s.ready[i / 64] = is_ready ? s.ready[i / 64] | bit : s.ready[i / 64] & ~bit;
    end.ready = is_ready ? end.ready | own : end.ready & ~own;
    return n;
  }
  /// Note when the new head of input `i`, if it has one, arrives: by now (then f(sending terminal)
  /// is called), later in the window, or beyond it.
  template <class F>
  NW_HD NW_INLINE void look_at(uint32_t i, F&& f) const {
    const Tick arrival = arrival_at(i);
    const uint32_t n = set_ready(i, arrival <= now);
    if (arrival <= now) {
      f(n);
    } else if (arrival < window_end) {
      s.coming[i / 64] |= uint64_t{1} << (i % 64);
      s.next_head = min_tick(s.next_head, arrival);
    }
  }

  /// Output channel of a packet; kNoRoute, and a fault, if there is none.
  NW_HD uint32_t output_of(const Packet& packet) const {
    const uint32_t row = is_reply(packet.kind) ? p.endpoints : 0;
    const uint32_t output =
        node_of(packet.dst) < p.endpoints ? s.routes.in(base)[row + node_of(packet.dst)] : kNoRoute;
    if (output == kNoRoute) record_fault(s.fault, kFaultNoRoute, p.component, now);
    return output;
  }

  /// A packet that a terminal has begun to send: its parcel's tag, its output, and its length.
  struct Begun {
    uint32_t tag = 0, output = 0, flits = 0;
  };
  /// Is a packet that others must not overtake under way from terminal `n` to `output`?
  NW_HD NW_APART bool ordered_ahead(uint32_t n, uint32_t output) const {
    const Parcel* const parcels = s.parcels.in(base) + n * kParcels;
    for (uint64_t bits = ~s.ends.in(base)[n].free; bits != 0; bits &= bits - 1) {
      const Parcel& parcel = parcels[count_trailing_zeros(bits)];
      if (parcel.output == output && keeps_order(parcel.packet.kind)) return true;
    }
    return false;
  }
  /// Take the next packet of terminal `n` for which may_begin(packet, output channel) is true, and
  /// call look_at(input) for the input's next head. Returns zero flits if there is no such packet,
  /// or no free parcel.
  template <class MayBegin, class LookAt>
  NW_HD NW_INLINE Begun take_packet(uint32_t n, MayBegin&& may_begin, LookAt&& look_at) const {
    SendingEnd& end = s.ends.in(base)[n];
    if (end.free == 0) return {};
    for (uint64_t left = end.ready; left != 0;) {
      const uint32_t k = pick_from(left, end.next);
      left &= ~(uint64_t{1} << k);
      Channel& channel = *s.inputs.in(base)[end.first + k].in(base);
      const Packet& packet = front(channel, base);
      const uint32_t output = output_of(packet);
      if (output == kNoRoute || !may_begin(packet, output)) continue;
      const uint32_t number = count_trailing_zeros(end.free);
      end.free &= ~(uint64_t{1} << number);
      end.next = k + 1;
      const Begun begun{n * kParcels + number, output, flits_of(packet)};
      // Members are set one by one, so that the struct's padding stays as it is.
      Parcel& parcel = s.parcels.in(base)[begun.tag];
      parcel.packet = packet;
      parcel.output = static_cast<uint16_t>(output);
      parcel.begun = now;
      s.times.injection += now - head_arrival(channel, base);
      s.counters.packets_in += 1;
      s.counters.bytes += packet.bytes;
      s.counters.flits += begun.flits;
      pop(channel, base, now, horizon);
      look_at(end.first + k);
      return begun;
    }
    return {};
  }
  /// The number of flits that a packet has.
  NW_HD NW_INLINE uint32_t flits_of(const Packet& packet) const {
    uint32_t flits = (packet.bytes + p.flit_bytes - 1) / p.flit_bytes;
    const uint32_t least = p.split ? population_count(packet.sectors) : 0;
    flits = flits > least ? flits : least;
    return flits > 0 ? flits : 1;
  }

  NW_HD NW_INLINE Channel& channel_of(uint32_t tag) const {
    return *s.outputs.in(base)[s.parcels.in(base)[tag].output].channel.in(base);
  }
  /// Free the parcels that were delivered ahead of time and whose delivery is due by now. Returns
  /// the tick at which the next one is due.
  NW_HD NW_INLINE Tick free_parcels(uint32_t n) const {
    SendingEnd& end = s.ends.in(base)[n];
    const Parcel* const parcels = s.parcels.in(base) + n * kParcels;
    Tick next = kNever;
    for (uint64_t bits = end.leaving; bits != 0; bits &= bits - 1) {
      const Tick until = parcels[count_trailing_zeros(bits)].until;
      if (until <= now) {
        end.free |= bits & (~bits + 1);
      } else {
        next = min_tick(next, until);
      }
    }
    end.leaving &= ~end.free;
    return next;
  }
  /// Deliver a packet whose last flit arrived `waited` ticks ago, if its output channel has room
  /// now. Returns whether it was delivered.
  NW_HD NW_INLINE bool deliver(uint32_t tag, Tick waited) const {
    if (!send_on(tag, now, waited)) return false;
    s.ends.in(base)[tag / kParcels].free |= uint64_t{1} << (tag % kParcels);
    return true;
  }
  /// Deliver a packet ahead of time: it will have arrived, and be sent on, at `when`.
  NW_HD NW_INLINE bool deliver_ahead(uint32_t tag, Tick when, Tick waited) const {
    if (!send_on(tag, when, waited)) return false;
    s.parcels.in(base)[tag].until = when;
    s.ends.in(base)[tag / kParcels].leaving |= uint64_t{1} << (tag % kParcels);
    return true;
  }

 private:
  NW_HD NW_INLINE bool send_on(uint32_t tag, Tick when, Tick waited) const {
    const Parcel& parcel = s.parcels.in(base)[tag];
    const Packet& packet = parcel.packet;
    Channel& channel = channel_of(tag);
    if (credit_tick(channel, base) > now || channel.producer_side.free_at > when) return false;
    s.times.transit += when - waited - parcel.begun;
    s.times.ejection += waited;
    nearwarp::send(channel, base, when, packet, horizon);
    s.counters.packets_out += 1;
    s.counters.replies += is_reply(packet.kind) ? 1 : 0;
    return true;
  }
};

/// The channels around a network, and the terminals that they are connected to. As for
/// make_switch(), channels are in ascending order of their ports.
struct NetworkPorts {
  std::span<const SwitchLink> inputs, outputs;
  std::span<const uint32_t> senders;    ///< by input port: the terminal that sends its packets
  std::span<const uint32_t> receivers;  ///< by output port: the terminal that receives its packets
};

/// Lay out the ends of a network of which `sending` terminals can send. Routes start out empty:
/// set_route() fills them.
template <class Allocator>
void make_channel_ends(Allocator& arena, const ChannelEndsParams& p, ChannelEndsState& s,
                       const NetworkPorts& ports, uint32_t sending) {
  const auto& [inputs, outputs, senders, receivers] = ports;
  const auto n_in = static_cast<uint32_t>(inputs.size());
  const auto n_out = static_cast<uint32_t>(outputs.size());
  NW_ASSERT(n_in <= kMaxInputs);
  s.inputs = arena.template allocate<Ref<Channel>>(n_in);
  s.sender_of = arena.template allocate<uint16_t>(n_in);
  s.outputs = arena.template allocate<NetworkOutput>(n_out);
  s.routes = arena.template allocate<uint16_t>(2u * p.endpoints);
  s.ends = arena.template allocate<SendingEnd>(sending);
  s.parcels = arena.template allocate<Parcel>(sending * kParcels);
  for (uint32_t i = 0; i < n_in; ++i) {
    arena.get(s.inputs)[i] = inputs[i].channel;
    arena.get(s.sender_of)[i] = static_cast<uint16_t>(senders[inputs[i].port]);
    SendingEnd& end = arena.get(s.ends)[senders[inputs[i].port]];
    if (end.count == 0) end.first = i;
    end.count += 1;
    NW_ASSERT(end.count <= 64);
  }
  for (uint32_t o = 0; o < n_out; ++o)
    arena.get(s.outputs)[o] = {outputs[o].channel, receivers[outputs[o].port]};
  for (uint32_t e = 0; e < 2u * p.endpoints; ++e) arena.get(s.routes)[e] = kNoRoute;
}

/// Have packets for `endpoint` leave by these output channels, as the function of this name does
/// for switches.
inline void set_route(const ChannelEndsParams& params, const ChannelEndsState& s, std::byte* base,
                      uint16_t endpoint, uint16_t request_output, uint16_t reply_output) {
  s.routes.in(base)[endpoint] = request_output;
  s.routes.in(base)[params.endpoints + endpoint] = reply_output;
}

}  // namespace nearwarp::noc
