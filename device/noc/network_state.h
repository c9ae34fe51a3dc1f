// The state of a network of virtual-channel routers, and its wiring.
//
// Structure of arrays, an entry per router, port or virtual channel. Routers are all of one shape
// (ports that a router does not use cost memory only). Flits under way stand in rings of time slots
// that the receiving unit owns: one per port and cycle, so that every slot has one writer. Credits
// under way are times, in a ring of each output virtual channel: its unit counts those that have
// come when it needs one, and is woken by one only if it has said that it waits.
#pragma once

#include "device/core/shared_bits.h"
#include "device/core/types.h"
#include "device/noc/islip.h"

namespace nearwarp::noc {

inline constexpr uint32_t kMaxPorts = 64;  ///< of a router
inline constexpr uint32_t kMaxVcs = 32;    ///< of a port
inline constexpr uint32_t kMaxSpeedup = 2;
inline constexpr uint32_t kMaxInputSpeedup = 8;
inline constexpr uint32_t kOutputQueue = 32;  ///< flits that wait for an output's wire at most
inline constexpr uint16_t kNobody = 0xffff;
/// Of a virtual channel whose last packet's tail has gone, and whose tail credit is awaited.
inline constexpr uint16_t kWaitsForTailCredit = 0xfffe;

/// Cycles of the network. Numbers wrap; only differences mean something.
using Cycle = uint32_t;

enum FlitFlag : uint8_t {
  kHead = 1,
  kTail = 2,
  kLast = 4,  ///< for terminals: all of what was sent as one has come
};

struct alignas(16) Flit {
  uint32_t tag = 0;   ///< the terminals' own: when the packet was created, or which one it is
  Cycle entered = 0;  ///< when the packet's head left the source queue
  uint16_t source = 0, destination = 0;  ///< terminals
  uint8_t flags = 0;
  uint8_t vc = 0;
  uint8_t vnet = 0;
  uint8_t hops = 0;  ///< routers passed
};
static_assert(sizeof(Flit) == 16);

/// Fixed properties; all delays in cycles of the network.
struct NetworkParams {
  uint32_t routers = 1, terminals = 1;
  uint32_t inputs = 1, outputs = 1;  ///< ports of every router
  uint32_t vcs = 1;                  ///< per port, all virtual networks together
  uint32_t vnets = 1;                ///< virtual networks; each has vcs / vnets channels
  uint32_t depth = 1;                ///< flits of a virtual channel's buffer
  uint32_t routing_delay = 1;        ///< 0: the route is known when the head arrives
  uint32_t vc_alloc_delay = 1, sw_alloc_delay = 1, traversal_delay = 1;  ///< at least 1
  uint32_t credit_delay = 0;  ///< from a credit's arrival to its use
  uint32_t speedup = 1;       ///< routings, allocations and traversals per cycle, 1 or 2
  /// Inputs of the switch that each input port has: virtual channel v uses the port's input v
  /// modulo their number. A power of two.
  uint32_t input_speedup = 1;
  /// 0: an output's virtual channel is free when the tail has won the switch; 1: when that flit's
  /// credit has come back.
  uint32_t wait_for_tail_credit = 0;
  uint32_t lookahead = 1;  ///< the shortest delay of a link: units may be that far apart in time
  uint32_t slots = 4;      ///< time slots per ring: a power of two, for delay and lookahead
  /// log2 of the places of a virtual channel's ring of flits, and of that of credits under way.
  uint32_t ring_shift = 0;
  // Strides are powers of two, so that numbers of ports and channels are made by shifting.
  uint32_t input_shift = 0;   ///< input port number: router << input_shift | port
  uint32_t output_shift = 0;  ///< output port number: router << output_shift | port
  uint32_t vc_shift = 0;      ///< VC number: port number << vc_shift | VC
  /// Input of the switch: router << switch_shift | (port << log2(input_speedup)) | which of the
  /// port's.
  uint32_t switch_shift = 0;
  uint32_t input_speedup_shift = 0;
};

NW_HD inline uint32_t terminal_units(const NetworkParams& p) { return (p.terminals + 63) / 64; }
NW_HD inline uint32_t units_of(const NetworkParams& p) { return p.routers + terminal_units(p); }
/// The same, rounded up to a multiple of 8: of what is looked at eight at a time.
NW_HD inline uint32_t unit_slots(const NetworkParams& p) { return (units_of(p) + 7) / 8 * 8; }

/// Where a port's flits go. Units are the routers, then the terminals, 64 to a unit:
/// terminal n is port n % 64 of unit routers + n / 64.
struct NetworkLink {
  uint32_t ring = 0;   ///< first of the receiving port's slots
  uint32_t unit = 0;   ///< who receives
  uint16_t port = 0;   ///< of the receiving unit
  uint16_t delay = 0;  ///< cycles from sending to receiving
};

/// Where an input port's credits go, or those of a receiving terminal: to the virtual channels from
/// `first` on. `unit` and `port` as of flits.
struct CreditLink {
  uint32_t first = 0;
  uint32_t unit = 0;
  uint16_t port = 0;
  uint16_t delay = 0;
};

enum class VcStage : uint8_t { kIdle, kRouting, kWaitingForVc, kActive };

struct InputVc {
  uint16_t head = 0, count = 0;  ///< of the ring of flits
  VcStage stage = VcStage::kIdle;
  uint8_t out = 0;       ///< output port of the packet at the front
  uint8_t out_vc = 0;    ///< and its virtual channel, once it has one
  bool offered = false;  ///< the flit at the front takes part in switch allocation
  PortVc accept_next;    ///< of VC allocation: (output port, VC)
  uint32_t granted = 0;  ///< within a cycle, output VCs; 0 in between
};

/// A virtual channel of an output port, or of a terminal's entrance to the network.
struct OutputVc {
  uint16_t owner = kNobody;   ///< input VC (port << vc_shift | VC) of the packet that has it
  PortVc grant_next;          ///< of VC allocation: input VC
  uint16_t credits = 0;       ///< that have been counted
  uint16_t coming = 0;        ///< credits that have not been: on their way, or there
  uint16_t first_coming = 0;  ///< place of the first of them in the ring of times
  uint16_t waiting = 0;       ///< 1: its unit wants to be woken by the next one that comes
};

/// An output port of a router, on one line: all that most flits need of it. "Input" is one of the
/// switch: see NetworkParams::input_speedup.
struct alignas(64) OutputPort {
  uint64_t sa_inputs = 0;  ///< inputs with requests for it in switch allocation
  /// Of a WordRouter: input virtual channels whose packets ask for it, or leave by it.
  uint64_t members = 0;
  uint64_t flits_sent = 0;
  NetworkLink flits;     ///< where they go
  uint32_t free = 0;     ///< bits of virtual channels without an owner
  uint32_t wanted = 0;   ///< bits of the channels of virtual networks with requests
  Cycle wire_free = 0;   ///< from then on its wire is, less the cycles of the traversal
  uint32_t sa_next = 0;  ///< input that switch allocation looks at first
  uint32_t waiting = 0;  ///< bits of virtual channels with OutputVc::waiting
};

/// An input of a router's switch.
struct SwitchNext {
  uint16_t port = 0;  ///< output port that is looked at first
  uint16_t vc = 0;    ///< virtual channel of its own that is
};

/// An input virtual channel on its way through a pipeline stage.
struct StageEntry {
  uint32_t due = 0;  ///< round (pipeline.h)
  uint16_t vc = 0;   ///< port << vc_shift | VC
};
struct StageQueue {
  uint16_t head = 0, count = 0;
};

/// What a router has to do: one without work, whom nothing reaches, is not stepped.
struct RouterWork {
  uint64_t va_outputs = 0;  ///< output ports with requests for virtual channels that are free
  uint64_t sa_outputs = 0;  ///< output ports with requests for the switch
  uint64_t waiting = 0;     ///< output ports with virtual channels that wait for a credit
  StageQueue heads, flits;  ///< on their way to VC allocation, and to switch allocation
  // Of a WordRouter, as bits of input virtual channels.
  uint64_t present = 0;  ///< those with flits in their buffers
  uint64_t active = 0;   ///< whose packet has an output's virtual channel
  uint64_t stalled = 0;  ///< and that lacks a credit
};

struct NetworkState {
  // Wiring.
  Ref<NetworkLink> flit_links;   ///< [terminal]; routers' stand in their output ports
  Ref<CreditLink> credit_links;  ///< [input port], then [terminal]
  Ref<uint8_t> routes;           ///< [router * terminals + destination]: output port
  // Under way.
  Ref<Flit> flit_slots;    ///< [(input port, then terminal) * slots + slot]
  Ref<uint64_t> arrivals;  ///< [slot * units + unit]: ports that a flit reaches
  /// [slot * units + unit]: 1 if the unit has something to do then. Whoever sends it something says
  /// so, and it does itself: all write the same, in any order.
  Ref<uint8_t> due;
  /// [slot * terminal units + unit]: bits of terminals that waited for a credit, which comes then.
  Ref<uint64_t> woken;
  Ref<Cycle> credit_times;  ///< [output VC << ring_shift | place]: when a credit comes
  // Routers.
  Ref<RouterWork> work;       ///< [router]
  Ref<InputVc> input_vcs;     ///< [input VC]
  Ref<Flit> buffers;          ///< [input VC << ring_shift | position]
  Ref<OutputVc> output_vcs;   ///< [output VC], then [terminal << vc_shift | VC]
  Ref<OutputPort> out_ports;  ///< [output port]
  // VC allocation: requests by output port and virtual network.
  Ref<uint64_t> va_ports;  ///< [output port * vnets + vnet]: input ports
  Ref<uint32_t> va_vcs;    ///< [that * inputs + input port]: virtual channels
  // Switch allocation: input virtual channels with a flit and a credit.
  Ref<uint32_t> sa_vcs;     ///< [output port << switch_shift | input]: virtual channels
  Ref<SwitchNext> sa_next;  ///< [router << switch_shift | input]
  // Pipeline stages.
  Ref<StageEntry> head_entries;  ///< [router * input VCs + position]: heads, to VC allocation
  Ref<StageEntry> flit_entries;  ///< flits, to switch allocation; empty if that takes one cycle
  /// [slot * routers + router], of WordRouters: input VCs whose heads ask for a channel from then
  /// on.
  Ref<uint64_t> heads;
};

/// The same as pointers: what a step works with.
struct NetworkView {
  NetworkParams p;
  uint32_t units;  ///< as of unit_slots()
  uint32_t slot_mask, vcs_per_vnet;
  uint32_t vnet_mask;  ///< bits of the channels of virtual network 0
  const NetworkLink* flit_links;
  const CreditLink* credit_links;
  const uint8_t* routes;
  Flit* flit_slots;
  uint64_t *arrivals, *woken;
  uint8_t* due;
  Cycle* credit_times;
  RouterWork* work;
  InputVc* input_vcs;
  Flit* buffers;
  OutputVc* output_vcs;
  OutputPort* out_ports;
  uint64_t* va_ports;
  uint32_t* va_vcs;
  uint32_t* sa_vcs;
  SwitchNext* sa_next;
  StageEntry *head_entries, *flit_entries;
  uint64_t* heads;

  NW_HD uint32_t input_ports() const { return p.routers << p.input_shift; }
  NW_HD uint32_t output_ports() const { return p.routers << p.output_shift; }
  /// The first virtual channel of terminal `n`'s entrance.
  NW_HD uint32_t entrance(uint32_t n) const { return (output_ports() + n) << p.vc_shift; }
};

NW_HD inline NetworkView view_of(const NetworkParams& p, const NetworkState& s, std::byte* base) {
  NetworkView v;
  v.p = p;
  v.units = unit_slots(p);
  v.slot_mask = p.slots - 1;
  v.vcs_per_vnet = p.vcs / p.vnets;
  v.vnet_mask = static_cast<uint32_t>(low_bits(v.vcs_per_vnet));
  v.flit_links = s.flit_links.in(base);
  v.credit_links = s.credit_links.in(base);
  v.routes = s.routes.in(base);
  v.flit_slots = s.flit_slots.in(base);
  v.arrivals = s.arrivals.in(base);
  v.due = s.due.in(base);
  v.woken = s.woken.in(base);
  v.credit_times = s.credit_times.in(base);
  v.work = s.work.in(base);
  v.input_vcs = s.input_vcs.in(base);
  v.buffers = s.buffers.in(base);
  v.output_vcs = s.output_vcs.in(base);
  v.out_ports = s.out_ports.in(base);
  v.va_ports = s.va_ports.in(base);
  v.va_vcs = s.va_vcs.in(base);
  v.sa_vcs = s.sa_vcs.in(base);
  v.sa_next = s.sa_next.in(base);
  v.head_entries = s.head_entries.in(base);
  v.flit_entries = s.flit_entries.in(base);
  v.heads = s.heads.in(base);
  return v;
}

/// Unit `unit` has something to do in cycle `t`.
NW_HD NW_INLINE void mark_due(const NetworkView& v, uint32_t unit, Cycle t) {
  set_flag(v.due + (t & v.slot_mask) * v.units + unit);
}

/// Send a flit over a link in cycle `t`. Returns the one under way.
NW_HD NW_INLINE Flit& put_flit(const NetworkView& v, const NetworkLink& link, const Flit& flit,
                               Cycle t) {
  const uint32_t slot = (t + link.delay) & v.slot_mask;
  Flit& sent = v.flit_slots[link.ring + slot];
  sent = flit;
  const uint32_t at = slot * v.units + link.unit;
  add_bits(v.arrivals + at, uint64_t{1} << link.port);
  set_flag(v.due + at);
  return sent;
}

/// Count the credits of virtual channel `at` that have come by `t`.
NW_HD NW_INLINE void count_credits(const NetworkView& v, uint32_t at, Cycle t) {
  OutputVc& o = v.output_vcs[at];
  const Cycle* const times = v.credit_times + (size_t{at} << v.p.ring_shift);
  while (o.coming != 0 && static_cast<int32_t>(t - times[o.first_coming]) >= 0) {
    o.credits = static_cast<uint16_t>(o.credits + 1);
    o.coming = static_cast<uint16_t>(o.coming - 1);
    o.first_coming = static_cast<uint16_t>((o.first_coming + 1u) & ((1u << v.p.ring_shift) - 1));
  }
}
/// Does virtual channel `at` have a credit in cycle `t`?
NW_HD NW_INLINE bool has_credit(const NetworkView& v, uint32_t at, Cycle t) {
  if (v.output_vcs[at].credits != 0) return true;
  if (v.output_vcs[at].coming != 0) count_credits(v, at, t);
  return v.output_vcs[at].credits != 0;
}
/// When the first one comes that has not been counted; there is one.
NW_HD NW_INLINE Cycle next_credit(const NetworkView& v, uint32_t at) {
  return v.credit_times[(size_t{at} << v.p.ring_shift) + v.output_vcs[at].first_coming];
}
/// A unit that waits for credits is woken by one in cycle `when`.
NW_HD NW_INLINE void wake_by_credit(const NetworkView& v, uint32_t unit, uint32_t port,
                                    Cycle when) {
  mark_due(v, unit, when);
  if (unit < v.p.routers) return;
  const uint32_t at = (when & v.slot_mask) * terminal_units(v.p) + (unit - v.p.routers);
  add_bits(v.woken + at, uint64_t{1} << port);
}
/// Send a credit for virtual channel `vc` in cycle `t`.
NW_HD NW_INLINE void put_credit(const NetworkView& v, const CreditLink& link, uint32_t vc,
                                Cycle t) {
  const uint32_t at = link.first + vc;
  OutputVc& o = v.output_vcs[at];
  const uint32_t place = (uint32_t{o.first_coming} + o.coming) & ((1u << v.p.ring_shift) - 1);
  v.credit_times[(size_t{at} << v.p.ring_shift) + place] = t + link.delay;
  if (o.waiting != 0 && o.coming == 0) wake_by_credit(v, link.unit, link.port, t + link.delay);
  o.coming = static_cast<uint16_t>(o.coming + 1);
}

/// Numbers of cycles wrap: credits must not stay uncounted for as long as half of their range.
/// So all are counted at the cycles whose numbers are multiples of this.
inline constexpr uint32_t kCountAllShift = 29;
NW_HD NW_INLINE bool is_time_to_count(Cycle t) { return (t & ((1u << kCountAllShift) - 1)) == 0; }
/// Those that have come by `t`; of a network in which nothing has been under way for long, all.
NW_HD NW_RARE inline void count_all_credits(const NetworkView& v, Cycle t, bool idle) {
  const uint32_t vcs = (v.output_ports() + v.p.terminals) << v.p.vc_shift;
  for (uint32_t at = 0; at < vcs; ++at) {
    OutputVc& o = v.output_vcs[at];
    if (idle && o.coming != 0)  // the last one has come, whatever its number is now
      t = v.credit_times[(size_t{at} << v.p.ring_shift) +
                         ((o.first_coming + o.coming - 1u) & ((1u << v.p.ring_shift) - 1))];
    count_credits(v, at, t);
  }
}

/// Take the flit that reaches terminal `n` in cycle `t`: flit(flit), if there is one.
template <class TakeFlit>
NW_HD NW_INLINE void take_arrival(const NetworkView& v, uint32_t n, Cycle t, TakeFlit&& flit) {
  const uint32_t slot = t & v.slot_mask;
  uint64_t& arrivals = v.arrivals[slot * v.units + v.p.routers + n / 64];
  const uint64_t bit = uint64_t{1} << (n % 64);
  if ((arrivals & bit) == 0) return;
  take_bits(&arrivals, bit);
  flit(v.flit_slots[(v.input_ports() + n) * v.p.slots + slot]);
}

/// Has terminal `n` room for a flit at its entrance's virtual channel `vc`?
NW_HD NW_INLINE bool has_room(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  return has_credit(v, v.entrance(n) + vc, t);
}
/// May its next packet begin there? Its packets use a channel one after the other.
NW_HD NW_INLINE bool may_begin(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  if (v.p.wait_for_tail_credit == 0) return has_room(v, n, vc, t);
  const uint32_t at = v.entrance(n) + vc;
  count_credits(v, at, t);
  return v.output_vcs[at].credits == v.p.depth;
}
/// Terminal `n` puts a flit, whose `vc` has room, on its way into the network.
NW_HD NW_INLINE void inject(const NetworkView& v, uint32_t n, const Flit& flit, Cycle t) {
  OutputVc& o = v.output_vcs[v.entrance(n) + flit.vc];
  o.credits = static_cast<uint16_t>(o.credits - 1);
  put_flit(v, v.flit_links[n], flit, t);
}
/// Terminal `n`, which lacks one, is to be found in `woken` when a credit for `vc` comes.
NW_HD NW_INLINE void await_room(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  const uint32_t at = v.entrance(n) + vc;
  count_credits(v, at, t);
  v.output_vcs[at].waiting = 1;
  if (v.output_vcs[at].coming != 0)
    wake_by_credit(v, v.p.routers + n / 64, n % 64, next_credit(v, at));
}
/// Terminal `n` has room again for a flit on `vc`.
NW_HD NW_INLINE void release(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  put_credit(v, v.credit_links[v.input_ports() + n], vc, t);
}

}  // namespace nearwarp::noc
