// The state of a network of virtual-channel routers, and its wiring.
//
// Structure of arrays, an entry per router, port or virtual channel. Routers are all of one shape
// (ports that a router does not use cost memory only). A flit under way stands in the buffer that
// it goes to already, and a bit says in which cycle it comes; a credit under way is the cycle from
// which the sender may use the place again. See places.h.
#pragma once

#include "device/core/types.h"
#include "device/noc/islip.h"

namespace nearwarp::noc {

inline constexpr uint32_t kMaxPorts = 64;  ///< of a router
inline constexpr uint32_t kMaxVcs = 32;    ///< of a port
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
  kLast = 4,     ///< for terminals: all of what was sent as one has come
  kHere = 8,     ///< of a place of a buffer: a flit is in it, or on its way there
  kAwaited = 16  ///< of such a place: its sender is to be woken when it is free
};

struct alignas(16) Flit {
  /// The terminals' own: when the packet was created, or which one it is. Of a place without kHere:
  /// the cycle from which it is free for the sender.
  uint32_t tag = 0;
  Cycle entered = 0;                     ///< when the packet's head left the source queue
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
  uint32_t lookahead = 1;   ///< the shortest delay of a link: units may be that far apart in time
  uint32_t slots = 4;       ///< time slots per ring: a power of two, for delay and lookahead
  uint32_t ring_shift = 0;  ///< log2 of the stride of virtual channels' rings of `depth` places
  // Strides are powers of two, so that numbers of ports and channels are made by shifting.
  uint32_t input_shift = 0;   ///< input port number: router << input_shift | port
  uint32_t output_shift = 0;  ///< output port number: router << output_shift | port
  uint32_t vc_shift = 0;      ///< VC number: port number << vc_shift | VC
  /// Input of the switch: router << switch_shift | (port << log2(input_speedup)) | which of the
  /// port's.
  uint32_t switch_shift = 0;
  uint32_t input_speedup_shift = 0;
};

// Words of bits by unit, of a time slot: the routers', then the terminals'.
NW_HD inline uint32_t router_words(const NetworkParams& p) { return (p.routers + 63) / 64; }
NW_HD inline uint32_t terminal_words(const NetworkParams& p) { return (p.terminals + 63) / 64; }
NW_HD inline uint32_t due_words(const NetworkParams& p) {
  return router_words(p) + terminal_words(p);
}
/// Units are the routers, then the terminals.
NW_HD inline uint32_t terminal_unit(const NetworkParams& p, uint32_t n) {
  return router_words(p) * 64 + n;
}
/// Words with a bit for each of a router's input virtual channels.
NW_HD inline uint32_t vc_words(const NetworkParams& p) {
  const uint32_t shift = p.input_shift + p.vc_shift;
  return shift <= 6 ? 1 : 1u << (shift - 6);
}
/// Words of a unit's arrivals in a time slot: of its virtual channels that a flit reaches then, and
/// of a WordRouter those whose heads ask for a channel from then on.
NW_HD inline uint32_t arrival_words(const NetworkParams& p) {
  return vc_words(p) > 1 ? vc_words(p) : 2;
}

/// Where a port's flits go.
struct NetworkLink {
  uint32_t unit = 0;  ///< who receives
  // As of NetworkView::word(), in slot 0.
  uint32_t word = 0;   ///< arrivals at the port's virtual channels
  uint32_t due = 0;    ///< the unit's flag that it has something to do
  uint16_t delay = 0;  ///< cycles from sending to receiving
  uint8_t first = 0;   ///< bit in `word` of the first of the port's channels
  uint8_t bit = 0;     ///< the unit's in `due`
};

/// Whom an input port's credits, or those of a receiving terminal, are for.
struct CreditLink {
  uint32_t unit = 0;
  uint32_t delay = 0;  ///< cycles until they can be used
};

enum class VcStage : uint8_t { kIdle, kRouting, kWaitingForVc, kActive };

/// A virtual channel of an input port, or of a receiving terminal.
struct InputVc {
  uint32_t front = 0;  ///< place of the first of its flits
  uint16_t count = 0;  ///< of those that are there
  /// Output VC (port << vc_shift | VC) of the packet at the front, or of the one before.
  uint16_t to = kNobody;
  uint8_t out = 0;            ///< that packet's output port
  uint8_t out_vc = 0;         ///< and virtual channel
  uint16_t credit_delay = 0;  ///< cycles until a place that has become free can be used
  uint8_t far_bit = 0;        ///< of a WordRouter: of the channel in NetworkLink::word
  VcStage stage = VcStage::kIdle;
  bool offered = false;  ///< the flit at the front takes part in switch allocation
};
static_assert(sizeof(InputVc) == 16);

/// A virtual channel of an output port, or of a terminal's entrance to the network.
struct OutputVc {
  uint32_t place = 0;  ///< of the far buffer, that its next flit goes to
  // Input VCs (port << vc_shift | VC).
  uint16_t owner = kNobody;  ///< of the packet that has it
  uint16_t last = kNobody;   ///< of the packet that had it before
};

/// An output port of a router, on one line: all that most flits need of it. "Input" is one of the
/// switch: see NetworkParams::input_speedup.
struct alignas(64) OutputPort {
  uint64_t sa_inputs = 0;  ///< inputs with requests for it in switch allocation
  /// For a WordRouter: input virtual channels whose packets ask for it, or leave by it.
  uint64_t members = 0;
  uint64_t flits_sent = 0;
  NetworkLink flits;       ///< where they go
  uint32_t free = 0;       ///< bits of virtual channels without an owner
  uint32_t wanted = 0;     ///< bits of the channels of virtual networks with requests
  Cycle wire_free = 0;     ///< from then on its wire is, less the cycles of the traversal
  uint32_t sa_next = 0;    ///< input that switch allocation looks at first
  uint32_t waiting = 0;    ///< bits of virtual channels that wait for a credit
  uint32_t sa_last = ~0u;  ///< of a WordRouter: input virtual channel that has won it last
};
static_assert(sizeof(OutputPort) == 64);

/// An input of a router's switch: what has come through it last. Behind these it looks first.
struct SwitchLast {
  uint8_t port = 0xff;  ///< output port
  uint8_t vc = 0xff;    ///< virtual channel of its own
};

/// An input virtual channel on its way through a pipeline stage.
struct StageEntry {
  uint32_t due = 0;  ///< round (pipeline.h)
  uint16_t vc = 0;   ///< port << vc_shift | VC
};
struct StageQueue {
  uint16_t head = 0, count = 0;
};

/// For a WordRouter, as bits of input virtual channels, and of output ports.
struct VcWords {
  uint64_t present = 0;     ///< those with flits in their buffers
  uint64_t open = 0;        ///< whose packet has an output's channel that does not lack a credit
  uint64_t stalled = 0;     ///< whose packet has one that does
  uint64_t va_outputs = 0;  ///< output ports with heads that ask for a channel, and free ones
};

/// Work of a router: one without any, whom nothing reaches, is not stepped.
struct RouterWork {
  uint64_t va_outputs = 0;  ///< output ports with requests for virtual channels that are free
  uint64_t sa_outputs = 0;  ///< output ports with requests for the switch
  uint64_t waiting = 0;     ///< output ports with virtual channels that wait for a credit
  StageQueue heads, flits;  ///< on their way to VC allocation, and to switch allocation
  VcWords vcs;
};

/// A router's own state is one block of lines: its arrivals by slot, then these, whose offsets are
/// in bytes.
struct alignas(64) BlockLine {
  std::byte bytes[64];
};
struct BlockLayout {
  uint32_t work = 0, inputs = 0, outputs = 0, lasts = 0, bytes = 0;
};
NW_HD constexpr BlockLayout block_layout(uint32_t arrivals, uint32_t inputs, uint32_t outputs,
                                         uint32_t vcs, uint32_t switch_inputs) {
  const auto lines = [](size_t bytes) { return static_cast<uint32_t>((bytes + 63) / 64 * 64); };
  BlockLayout b;
  b.work = lines(arrivals * sizeof(uint64_t));
  b.inputs = b.work + lines(sizeof(RouterWork));
  b.outputs = b.inputs + lines(size_t{inputs} * vcs * sizeof(InputVc));
  b.lasts = b.outputs + lines(size_t{outputs} * vcs * sizeof(OutputVc));
  b.bytes = b.lasts + lines(switch_inputs * sizeof(SwitchLast));
  return b;
}
NW_HD inline BlockLayout block_layout(const NetworkParams& p) {
  return block_layout(p.slots * arrival_words(p), 1u << p.input_shift, 1u << p.output_shift,
                      1u << p.vc_shift, 1u << p.switch_shift);
}

struct NetworkState {
  // Wiring.
  Ref<NetworkLink> flit_links;   ///< [terminal]; routers' stand in their output ports
  Ref<CreditLink> credit_links;  ///< [input port], then [terminal]
  Ref<uint8_t> routes;           ///< [router * terminals + destination]: output port
  // Under way.
  /// [word * slots + slot]: units that have something to do then. Bits are set by senders
  /// and by the units themselves, in any order.
  Ref<uint64_t> due;
  /// [slot * terminal words + word]: terminals that waited for a credit, which comes then.
  Ref<uint64_t> woken;
  /// [(input VC, then terminal << vc_shift | VC) << ring_shift | position]. A place is named by its
  /// offset in bytes.
  Ref<Flit> places;
  /// Routers' blocks (BlockLayout), then [terminal * slots + slot] arrivals of terminals.
  Ref<BlockLine> units;
  Ref<OutputPort> out_ports;  ///< [output port]
  Ref<InputVc> exits;         ///< [terminal << vc_shift | VC]: what reaches terminals
  Ref<OutputVc> entrances;    ///< [terminal << vc_shift | VC]: by which they send
  // VC allocation: requests by output port and virtual network.
  Ref<uint64_t> va_ports;  ///< [output port * vnets + vnet]: input ports
  Ref<uint32_t> va_vcs;    ///< [that * inputs + input port]: virtual channels
  // Switch allocation: input virtual channels with a flit and a credit.
  Ref<uint32_t> sa_vcs;  ///< [output port << switch_shift | input]: virtual channels
  // Pipeline stages.
  Ref<StageEntry> head_entries;  ///< [router * input VCs + position]: heads, to VC allocation
  Ref<StageEntry> flit_entries;  ///< flits, to switch allocation; empty if that takes one cycle
};

/// The state as pointers: what a step works with.
struct NetworkView {
  NetworkParams p;
  BlockLayout layout;
  uint32_t arrival_words;
  uint32_t slot_mask, vcs_per_vnet;
  uint32_t vnet_mask;  ///< bits of the channels of virtual network 0
  /// Masks of a place's offset: what is within its ring, and what that is behind the last place.
  uint32_t ring_mask, ring_end;
  const NetworkLink* flit_links;
  const CreditLink* credit_links;
  const uint8_t* routes;
  uint64_t *due, *woken;
  Flit* places;
  std::byte* units;
  uint64_t* ends;        ///< terminals' arrivals
  uint32_t ends_stride;  ///< words of one terminal
  OutputPort* out_ports;
  InputVc* exits;
  OutputVc* entrances;
  uint64_t* va_ports;
  uint32_t* va_vcs;
  uint32_t* sa_vcs;
  StageEntry *head_entries, *flit_entries;

  NW_HD uint32_t input_ports() const { return p.routers << p.input_shift; }
  NW_HD Flit& place(uint32_t offset) const {
    return *reinterpret_cast<Flit*>(reinterpret_cast<std::byte*>(places) + offset);
  }
  NW_HD std::byte* block(uint32_t router) const { return units + size_t{router} * layout.bytes; }
  /// Words of arrivals and flags, counted from the places on: who moves a flit needs one address.
  NW_HD uint64_t* word(uint32_t number) const {
    return reinterpret_cast<uint64_t*>(places) + number;
  }
  NW_HD uint32_t number_of(const uint64_t* word) const {
    return static_cast<uint32_t>(word - reinterpret_cast<const uint64_t*>(places));
  }
  NW_HD uint64_t* router_arrivals(uint32_t router) const {
    return reinterpret_cast<uint64_t*>(block(router));
  }
  NW_HD uint64_t* terminal_arrivals(uint32_t n) const { return ends + n * ends_stride; }
  NW_HD uint64_t* due_of(uint32_t unit) const { return due + unit / 64 * p.slots; }
  NW_HD RouterWork& work(uint32_t router) const {
    return *reinterpret_cast<RouterWork*>(block(router) + layout.work);
  }
  NW_HD OutputPort* ports(uint32_t router) const {
    return out_ports + (size_t{router} << p.output_shift);
  }
  NW_HD InputVc* inputs(uint32_t router) const {
    return reinterpret_cast<InputVc*>(block(router) + layout.inputs);
  }
  NW_HD OutputVc* outputs(uint32_t router) const {
    return reinterpret_cast<OutputVc*>(block(router) + layout.outputs);
  }
  NW_HD SwitchLast* lasts(uint32_t router) const {
    return reinterpret_cast<SwitchLast*>(block(router) + layout.lasts);
  }
};

NW_HD inline NetworkView view_of(const NetworkParams& p, const NetworkState& s, std::byte* base) {
  NetworkView v;
  v.p = p;
  v.layout = block_layout(p);
  v.arrival_words = arrival_words(p);
  v.slot_mask = p.slots - 1;
  v.vcs_per_vnet = p.vcs / p.vnets;
  v.vnet_mask = static_cast<uint32_t>(low_bits(v.vcs_per_vnet));
  v.ring_mask = static_cast<uint32_t>((sizeof(Flit) << p.ring_shift) - 1);
  v.ring_end = static_cast<uint32_t>(p.depth * sizeof(Flit)) & v.ring_mask;
  v.flit_links = s.flit_links.in(base);
  v.credit_links = s.credit_links.in(base);
  v.routes = s.routes.in(base);
  v.due = s.due.in(base);
  v.woken = s.woken.in(base);
  v.places = s.places.in(base);
  v.units = reinterpret_cast<std::byte*>(s.units.in(base));
  v.ends = reinterpret_cast<uint64_t*>(v.block(p.routers));
  v.ends_stride = p.slots * v.arrival_words;
  v.out_ports = s.out_ports.in(base);
  v.exits = s.exits.in(base);
  v.entrances = s.entrances.in(base);
  v.va_ports = s.va_ports.in(base);
  v.va_vcs = s.va_vcs.in(base);
  v.sa_vcs = s.sa_vcs.in(base);
  v.head_entries = s.head_entries.in(base);
  v.flit_entries = s.flit_entries.in(base);
  return v;
}

}  // namespace nearwarp::noc
