// The state of a crossbar between channels, which crossbar.h steps.
#pragma once

#include "device/noc/channel_ends.h"
#include "device/noc/pipeline.h"

namespace nearwarp::noc {

// Delays between units in cycles, those of a network of routers whose wires take a cycle (build.h).
inline constexpr uint32_t kEnterDelay = 2;   ///< from an interface to the crossbar
inline constexpr uint32_t kLeaveDelay = 3;   ///< from the crossbar's wire to an interface
inline constexpr uint32_t kCreditDelay = 2;  ///< of a credit, to an interface or to the crossbar

/// The most flits of a train, and so how many cycles ahead decisions are made.
inline constexpr uint32_t kTrainFlits = 16;
/// Slots of the ring of events. Events lie fewer cycles ahead than this, which has to cover the sum
/// of a queue for a wire, a train, the delays, and a receiver that lags by a whole buffer (it looks
/// again after each train).
inline constexpr uint32_t kEventSlots = 128;
/// Credits come fewer cycles ahead than this.
inline constexpr uint32_t kCreditCycles = 64;
/// The most cycles ahead of its arrival that a packet can be received.
inline constexpr uint32_t kAheadCycles = 40;
/// The longest routing delay, in cycles.
inline constexpr uint32_t kMaxRoutingDelay = 16;
// kCreditCycles has to cover two cases: a train that has been received ahead of time, followed by
// the flits of the next one (only then does a receiver take flits later than in the cycle in which
// it steps); and a train that wins the switch as it leaves routing, and finds the queue for the
// wire nearly full.
static_assert(kAheadCycles + 1 + kTrainFlits + kCreditDelay < kCreditCycles);
static_assert(kEnterDelay + kMaxRoutingDelay + 2 + kOutputQueue + kLeaveDelay + kCreditDelay <
              kCreditCycles);
static_assert(kCreditCycles + kTrainFlits < kEventSlots);

struct CrossbarParams : ChannelEndsParams {
  uint32_t senders = 0, receivers = 0;  ///< ports on either side, at most kMaxPorts
  uint32_t depth = 1;                   ///< flits that an input's or a receiver's buffer holds
  /// Parameters that the crossbar shares with a router, such as speedup and routing_delay. A port
  /// has one virtual channel.
  NetworkParams router;
  uint32_t ring = 1;  ///< slots for trains in a ring: a power of two, at least `depth`
};

/// A train: flits of one packet that follow each other in successive cycles. (The struct has no
/// padding, which would be copied along.)
struct Train {
  uint32_t tag = 0;    ///< parcel
  Cycle first = 0;     ///< cycle in which its first flit arrives
  uint16_t flits = 0;  ///< flits that have not gone on
  uint16_t out = 0;    ///< receiver
  uint32_t last = 0;   ///< 1: the packet ends with it
};

/// Head and length of a ring of trains, whose entries are in CrossbarState::buffers or `held`.
struct TrainQueue {
  uint16_t head = 0, count = 0;
};

/// Credits that the sending end of a wire has: room in the buffer at the wire's other end.
struct Room {
  uint32_t flits = 0;
  Cycle counted = 0;  ///< `flits` includes the credits that came up to this cycle
  /// Bit k is set if a credit comes in cycle `counted` + 1 + k; in `second`, if another round of
  /// that cycle gives a second one.
  uint64_t coming = 0, second = 0;
};

struct alignas(64) CrossbarSender {
  Room room;
  uint32_t tag = 0;
  uint32_t flits_left = 0;   ///< of the packet that is being sent
  Cycle free_at = 0;         ///< cycle from which the train that is being sent has been sent
  uint16_t fresh_flits = 0;  ///< within a cycle: of a packet that begins and is sent as a whole
  uint16_t out = 0;
  bool waits_for_room = false;  ///< while no credit is on its way
  bool waits_for_parcel = false;
};

enum class InputStage : uint8_t {
  kIdle,     ///< no packet
  kRouting,  ///< the packet's head has not reached the allocation of outputs yet
  kWaiting,  ///< the packet waits for its output
  kActive,   ///< the input is connected to the packet's output
};

struct alignas(16) CrossbarInput {
  TrainQueue trains;
  uint16_t out = 0;  ///< output of the packet at the front
  InputStage stage = InputStage::kIdle;
  bool starved = false;  ///< connected, and the packet's next train is not in sight
  Round idle_from = 0;   ///< round since which it has been kIdle
};

struct alignas(64) CrossbarOutput {
  uint64_t requests = 0;     ///< inputs that request it, as bits
  uint16_t owner = kNobody;  ///< input that is connected to it
  uint16_t next = 0;         ///< input that has the highest priority in the next arbitration
  /// Requests that are still to come from packets that have been begun: one for each packet, or one
  /// for each flit (split_packets).
  uint32_t unconnected = 0;
  Round free_from = 0;  ///< without an owner: the round from which it can have one
  Cycle wire_free = 0;  ///< less the cycles of the traversal, like NetworkState::wire_free
  uint64_t flits_sent = 0;
  Room room;
  bool owner_waits = false;  ///< the owner waits for room, and no credit is on its way
};

struct CrossbarReceiver {
  TrainQueue trains;
  Cycle free_from = 0;  ///< cycle from which it can take the next flit, one per cycle
};

/// The ports that act in a cycle, as bits.
struct CrossbarEvents {
  uint64_t inputs[kMaxSpeedup] = {};  ///< by round
  uint64_t freed[kMaxSpeedup] = {};   ///< by round: requested outputs that become free
  uint64_t receivers = 0, senders = 0;
};

/// Cycle numbers kept in the state are brought up to date this often, so that differences of
/// wrapped ones stay right.
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
  /// Inputs whose channel's head arrives in a cycle of the window, as bits:
  /// [cycle % kEventSlots * input_words() + word].
  Ref<uint64_t> heads;
  uint64_t busy[kEventSlots / 64] = {};  ///< slots with events
  uint64_t wanted = 0;                   ///< outputs with requests, as bits
  uint64_t unowned = 0;                  ///< outputs known to be free for an owner, as bits
  uint64_t stuck = 0;  ///< receivers whose channel had no room when they last looked, as bits
};

/// Lay out a crossbar in an arena. `inputs` and `outputs` are as in make_channel_ends(); sender n
/// feeds input n.
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
