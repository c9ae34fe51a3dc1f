// The state of a crossbar between channels: see crossbar.h.
#pragma once

#include "device/noc/channel_ends.h"
#include "device/noc/pipeline.h"

namespace nearwarp::noc {

// Delays in cycles, as in a network of routers with wires of one cycle (build.h).
inline constexpr uint32_t kEnterDelay = 2;   ///< from an interface to the crossbar
inline constexpr uint32_t kLeaveDelay = 3;   ///< from the crossbar's wire to an interface
inline constexpr uint32_t kCreditDelay = 2;  ///< of a credit, to an interface or to the crossbar

/// Most flits of a train, and so how many cycles ahead decisions are made.
inline constexpr uint32_t kTrainFlits = 16;
/// How many cycles ahead events may lie. This covers, added up, the queue for a wire, a train, the
/// delays, and a receiver that is a whole buffer behind (it looks again after each train).
inline constexpr uint32_t kEventSlots = 128;
/// How many cycles ahead the arrival of a credit may be known.
inline constexpr uint32_t kCreditCycles = 64;
/// How many cycles ahead a packet may be received.
inline constexpr uint32_t kAheadCycles = 40;
/// The longest routing delay.
inline constexpr uint32_t kMaxRoutingDelay = 16;
// kCreditCycles covers two cases: a train that has been received ahead of time, followed by the
// flits of the next one (in no other case does a receiver take flits later than the cycle it is
// stepped in); and a train that wins the switch as it comes out of routing, and finds the queue for
// the wire nearly full.
static_assert(kAheadCycles + 1 + kTrainFlits + kCreditDelay < kCreditCycles);
static_assert(kEnterDelay + kMaxRoutingDelay + 2 + kOutputQueue + kLeaveDelay + kCreditDelay <
              kCreditCycles);
static_assert(kCreditCycles + kTrainFlits < kEventSlots);

struct CrossbarParams : ChannelEndsParams {
  uint32_t senders = 0, receivers = 0;  ///< ports on either side, at most kMaxPorts
  uint32_t depth = 1;                   ///< flits in the buffer of an input, and of a receiver
  /// Its speedup and routing_delay are the crossbar's. Ports have one virtual channel.
  NetworkParams router;
  uint32_t ring = 1;  ///< slots for trains in a ring: a power of two, at least `depth`
};

/// Flits of one packet that follow each other in successive cycles. (The struct has no padding,
/// since padding would be copied with it.)
struct Train {
  uint32_t tag = 0;    ///< parcel
  Cycle first = 0;     ///< when its first flit arrives
  uint16_t flits = 0;  ///< flits that have not gone on
  uint16_t out = 0;    ///< receiver
  uint32_t last = 0;   ///< 1: the packet ends with it
};

/// Head and length of a ring whose entries are in CrossbarState::buffers or `held`.
struct TrainQueue {
  uint16_t head = 0, count = 0;
};

/// Room in the buffer at the end of a wire, as the beginning of the wire knows it.
struct Room {
  uint32_t flits = 0;
  Cycle counted = 0;  ///< credits that came until this cycle are in `flits`
  /// Credits that are still to come. Bit k of `coming`: one comes in cycle counted + 1 + k; bit k
  /// of `second`: another one does, which is of another round.
  uint64_t coming = 0, second = 0;
};

struct alignas(64) CrossbarSender {
  Room room;
  uint32_t tag = 0;
  uint32_t flits_left = 0;   ///< of the packet that is being sent
  Cycle free_at = 0;         ///< when the current train has been sent
  uint16_t fresh_flits = 0;  ///< within a cycle: flits of a packet that is begun and sent whole
  uint16_t out = 0;
  bool waits_for_room = false;  ///< while no credit is on its way
  bool waits_for_parcel = false;
};

enum class InputStage : uint8_t {
  kIdle,     ///< no packet
  kRouting,  ///< the head of its packet is being routed, and does not ask for an output yet
  kWaiting,  ///< it asks for its output
  kActive,   ///< it is connected to its output
};

struct alignas(16) CrossbarInput {
  TrainQueue trains;
  uint16_t out = 0;  ///< output of the packet at the front
  InputStage stage = InputStage::kIdle;
  bool starved = false;  ///< connected, and the packet's next train is not in sight
  Round idle_from = 0;   ///< in kIdle: since when
};

struct alignas(64) CrossbarOutput {
  uint64_t requests = 0;     ///< bits of the inputs that ask for it
  uint16_t owner = kNobody;  ///< the input that is connected to it
  uint16_t next = 0;         ///< the input that the round-robin arbiter looks at first
  /// How many more times packets that have begun will ask for it: once each, or for every flit
  /// (split_packets).
  uint32_t unconnected = 0;
  Round free_from = 0;  ///< without an owner: the round from which it can have one
  Cycle wire_free = 0;  ///< when its wire is free, less the traversal; as OutputPort::wire_free
  uint64_t flits_sent = 0;
  Room room;
  bool owner_waits = false;  ///< for room, while no credit is on its way
};

struct CrossbarReceiver {
  TrainQueue trains;
  Cycle free_from = 0;  ///< first cycle in which it can take another flit; it takes one per cycle
};

/// The ports that act in a cycle, as bits.
struct CrossbarEvents {
  uint64_t inputs[kMaxSpeedup] = {};  ///< by round
  uint64_t freed[kMaxSpeedup] = {};   ///< outputs with requests that become free; by round
  uint64_t receivers = 0, senders = 0;
};

/// Stored numbers of cycles, which wrap around, are brought up to date this often.
inline constexpr uint64_t kSettleCycles = uint64_t{1} << 20;

struct CrossbarState : ChannelEndsState {
  uint64_t stepped = 0;  ///< the last cycle in which something happened
  Ref<CrossbarSender> senders;
  Ref<CrossbarInput> in_ports;
  Ref<CrossbarOutput> out_ports;
  Ref<CrossbarReceiver> receivers;
  Ref<Train> buffers;          ///< [input * ring + position]
  Ref<Train> held;             ///< [receiver * ring + position]
  Ref<CrossbarEvents> events;  ///< [cycle % kEventSlots]
  /// [cycle % kEventSlots * input_words() + word]: inputs at which a packet arrives in that cycle
  /// of the window
  Ref<uint64_t> heads;
  uint64_t busy[kEventSlots / 64] = {};  ///< slots with events
  uint64_t wanted = 0;                   ///< outputs with requests
  uint64_t unowned = 0;                  ///< outputs that can have an owner, as far as is known
  uint64_t stuck = 0;  ///< receivers whose channel has no room, as far as is known
};

/// Lay out a crossbar, with ports and channels as in make_channel_ends(). Sender n is at input n.
template <class Allocator>
CrossbarState make_crossbar(Allocator& arena, CrossbarParams& p, std::span<const SwitchLink> inputs,
                            std::span<const SwitchLink> outputs) {
  NW_ASSERT(p.senders <= kMaxPorts && p.receivers <= kMaxPorts);
  CrossbarState s;
  uint32_t ports[kMaxPorts];
  for (uint32_t i = 0; i < kMaxPorts; ++i) ports[i] = i;
  make_channel_ends(arena, p, s, {inputs, outputs, ports, ports}, p.senders);
  p.ring = 1;
  while (p.ring < p.depth) p.ring *= 2;
  s.senders = arena.template allocate<CrossbarSender>(p.senders);
  s.in_ports = arena.template allocate<CrossbarInput>(p.senders);
  s.out_ports = arena.template allocate<CrossbarOutput>(p.receivers);
  s.receivers = arena.template allocate<CrossbarReceiver>(p.receivers);
  s.buffers = arena.template allocate<Train>(p.senders * p.ring);
  s.held = arena.template allocate<Train>(p.receivers * p.ring);
  s.events = arena.template allocate<CrossbarEvents>(kEventSlots);
  s.heads = arena.template allocate<uint64_t>(kEventSlots * input_words(s));
  for (uint32_t n = 0; n < p.senders; ++n) arena.get(s.senders)[n].room.flits = p.depth;
  for (uint32_t n = 0; n < p.receivers; ++n) arena.get(s.out_ports)[n].room.flits = p.depth;
  s.unowned = low_bits(p.receivers);
  return s;
}

}  // namespace nearwarp::noc
