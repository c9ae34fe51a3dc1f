// The model that networks of routers are compared with: each router is stepped in every cycle in
// which anything reaches it or waits in it, flit by flit, and each credit is an event.
//
// The state of a network of virtual-channel routers, and its wiring.
//
// Structure of arrays, an entry per router, port or virtual channel. Routers are all of one shape
// (ports that a router does not use cost memory only). What is under way between units, flits one
// way and credits the other, stands in rings of time slots that the receiving unit owns: one flit
// and one credit per port and cycle, so that every slot has one writer.
#pragma once

#include "device/core/shared_bits.h"
#include "device/core/types.h"
#include "device/noc/islip.h"

namespace nearwarp::flit_by_flit {

using namespace noc;  // what has no state; what is here hides what is there

inline constexpr uint32_t kMaxPorts = 64;  ///< ports of a router
inline constexpr uint32_t kMaxVcs = 32;    ///< virtual channels of a port
inline constexpr uint32_t kMaxSpeedup = 2;
inline constexpr uint32_t kMaxInputSpeedup = 8;
inline constexpr uint32_t kOutputQueue = 32;  ///< flits that wait for an output's wire at most
inline constexpr uint16_t kNobody = 0xffff;
/// Owner of a virtual channel whose last packet's tail has gone, and whose tail credit is awaited.
inline constexpr uint16_t kWaitsForTailCredit = 0xfffe;

/// Cycles of the network. Numbers wrap; only differences mean something.
using Cycle = uint32_t;

enum FlitFlag : uint8_t {
  kHead = 1,
  kTail = 2,
  kLast = 4,  ///< for terminals: the last flit of a packet has come
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
/// Routers and terminal units, rounded up to a multiple of 8.
NW_HD inline uint32_t unit_slots(const NetworkParams& p) {
  return (p.routers + terminal_units(p) + 7) / 8 * 8;
}

/// Where a port's flits, or credits, go. Units are the routers, then the terminals, 64 to a unit:
/// terminal n is port n % 64 of unit routers + n / 64.
struct NetworkLink {
  uint32_t ring = 0;   ///< first of the receiving port's slots
  uint32_t unit = 0;   ///< who receives
  uint16_t port = 0;   ///< port of the receiving unit
  uint16_t delay = 0;  ///< cycles from sending to receiving
};

enum class VcStage : uint8_t { kIdle, kRouting, kWaitingForVc, kActive };

struct InputVc {
  uint16_t head = 0, count = 0;  ///< of the ring of flits: first, and number
  VcStage stage = VcStage::kIdle;
  uint8_t out = 0;       ///< output port of the packet at the front
  uint8_t out_vc = 0;    ///< the output's virtual channel, once allocated
  bool offered = false;  ///< the flit at the front takes part in switch allocation
  PortVc accept_next;    ///< round-robin pointer of VC allocation: (output port, VC)
  uint32_t granted = 0;  ///< output VCs granted within a cycle; 0 in between
};

struct OutputVc {
  uint16_t owner = kNobody;  ///< input VC (port << vc_shift | VC) of the packet that has it
  uint16_t credits = 0;
  PortVc grant_next;  ///< round-robin pointer of VC allocation: input VC
};

/// An output port of a router, on one line: all that most flits need of it. "Input" is one of the
/// switch: see NetworkParams::input_speedup.
struct alignas(64) OutputPort {
  uint64_t sa_inputs = 0;  ///< inputs that request it in switch allocation
  uint64_t flits_sent = 0;
  NetworkLink flits;     ///< link on which flits leave
  uint32_t free = 0;     ///< bits of virtual channels without an owner
  uint32_t wanted = 0;   ///< bits of the channels of virtual networks with requests
  Cycle wire_free = 0;   ///< cycle from which its wire is free, minus the cycles of traversal
  uint32_t sa_next = 0;  ///< input that switch allocation looks at first
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

/// Arrivals at a unit in a cycle, by port. A router with internal speed-up may give credits of one
/// port back in each of its rounds.
struct Arrivals {
  uint64_t flits = 0, credits[kMaxSpeedup] = {};
};

/// Work of a router: one without any, whom nothing reaches, is not stepped.
struct RouterWork {
  uint64_t va_outputs = 0;  ///< output ports with requests for virtual channels that are free
  uint64_t sa_outputs = 0;  ///< output ports with requests for the switch
  StageQueue heads, flits;  ///< heads on their way to VC allocation, flits to switch allocation
};

struct NetworkState {
  // Wiring.
  Ref<NetworkLink> flit_links;    ///< [terminal]; routers' stand in their output ports
  Ref<NetworkLink> credit_links;  ///< [input port], then [terminal]
  Ref<uint8_t> routes;            ///< [router * terminals + destination]: output port
  // Under way.
  Ref<Flit> flit_slots;  ///< [(input port, then terminal) * slots + slot]
  /// [((output port, then terminal) * slots + slot) * speedup + round]: bits of virtual channels,
  /// one but for input speed-up. The receiver leaves 0.
  Ref<uint32_t> credit_slots;
  Ref<Arrivals> arrivals;  ///< [slot * units + unit]
  /// [slot * units + unit]: 1 if the router has something to do then. Whoever sends it something
  /// says so, and it does itself: all write the same, in any order. Nobody looks at terminals'.
  Ref<uint8_t> due;
  // Routers.
  Ref<RouterWork> work;       ///< [router]
  Ref<InputVc> input_vcs;     ///< [input VC]
  Ref<Flit> buffers;          ///< [input VC * depth + position]
  Ref<OutputVc> output_vcs;   ///< [output VC]
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
};

/// The state as pointers: what a step works with.
struct NetworkView {
  NetworkParams p;
  uint32_t units;  ///< number of units, as unit_slots() numbers them
  uint32_t slot_mask, vcs_per_vnet;
  uint32_t vnet_mask;  ///< bits of the channels of virtual network 0
  const NetworkLink *flit_links, *credit_links;
  const uint8_t* routes;
  Flit* flit_slots;
  uint32_t* credit_slots;
  Arrivals* arrivals;
  uint8_t* due;
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

  NW_HD uint32_t input_ports() const { return p.routers << p.input_shift; }
  NW_HD uint32_t output_ports() const { return p.routers << p.output_shift; }
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
  v.credit_slots = s.credit_slots.in(base);
  v.arrivals = s.arrivals.in(base);
  v.due = s.due.in(base);
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
  return v;
}

/// Send a flit over a link in cycle `t`.
NW_HD NW_INLINE void put_flit(const NetworkView& v, const NetworkLink& link, const Flit& flit,
                              Cycle t) {
  const uint32_t slot = (t + link.delay) & v.slot_mask, at = slot * v.units + link.unit;
  v.flit_slots[link.ring + slot] = flit;
  add_bits(&v.arrivals[at].flits, uint64_t{1} << link.port);
  set_flag(v.due + at);
}

/// Send a credit for virtual channel `vc` in round `round` of cycle `t`; `speedup` is the
/// network's.
NW_HD NW_INLINE void put_credit(const NetworkView& v, const NetworkLink& link, uint32_t vc, Cycle t,
                                uint32_t round, uint32_t speedup) {
  const uint32_t slot = (t + link.delay) & v.slot_mask, at = slot * v.units + link.unit;
  v.credit_slots[(link.ring + slot) * speedup + round] |= 1u << vc;
  add_bits(&v.arrivals[at].credits[round], uint64_t{1} << link.port);
  set_flag(v.due + at);
}

/// Take the credits of a slot: credit(vc) for each.
template <class TakeCredit>
NW_HD NW_INLINE void take_vcs(uint32_t& slot, TakeCredit&& credit) {
  uint32_t vcs = slot;
  slot = 0;
  for (; vcs != 0; vcs &= vcs - 1) credit(count_trailing_zeros(vcs));
}

/// Take what reaches terminal `n` in cycle `t`: credit(vc) for each credit, flit(flit) for a flit.
template <class TakeCredit, class TakeFlit>
NW_HD NW_INLINE void take_arrivals(const NetworkView& v, uint32_t n, Cycle t, TakeCredit&& credit,
                                   TakeFlit&& flit) {
  const uint32_t slot = t & v.slot_mask;
  Arrivals& arrivals = v.arrivals[slot * v.units + v.p.routers + n / 64];
  const uint64_t bit = uint64_t{1} << (n % 64);
  const uint32_t at = ((v.output_ports() + n) * v.p.slots + slot) * v.p.speedup;
  for (uint32_t round = 0; round < v.p.speedup; ++round) {
    if ((arrivals.credits[round] & bit) == 0) continue;
    take_bits(&arrivals.credits[round], bit);
    take_vcs(v.credit_slots[at + round], credit);
  }
  if ((arrivals.flits & bit) == 0) return;
  take_bits(&arrivals.flits, bit);
  flit(v.flit_slots[(v.input_ports() + n) * v.p.slots + slot]);
}

/// May a terminal's head take a virtual channel of which it has so many credits? Its packets use
/// one after the other.
NW_HD NW_INLINE bool may_begin(const NetworkParams& p, uint32_t credits) {
  return p.wait_for_tail_credit != 0 ? credits == p.depth : credits != 0;
}

/// Terminal `n` puts a flit, whose `vc` has a credit, on its way into the network.
NW_HD NW_INLINE void inject(const NetworkView& v, uint32_t n, const Flit& flit, Cycle t) {
  put_flit(v, v.flit_links[n], flit, t);
}
/// Terminal `n` has room again for a flit on `vc`.
NW_HD NW_INLINE void release(const NetworkView& v, uint32_t n, uint32_t vc, Cycle t) {
  put_credit(v, v.credit_links[v.input_ports() + n], vc, t, 0, v.p.speedup);
}

}  // namespace nearwarp::flit_by_flit
