// The state of a crossbar between channels: see crossbar.h.
#pragma once

#include "device/noc/channel_ends.h"
#include "device/noc/pipeline.h"

namespace nearwarp::noc {

// Cycles between units, as of a network of routers with wires of one cycle (build.h).
inline constexpr uint32_t kEnterDelay = 2;   ///< from an interface to the crossbar
inline constexpr uint32_t kLeaveDelay = 3;   ///< from the crossbar's wire to an interface
inline constexpr uint32_t kCreditDelay = 2;  ///< of a credit, either way

/// Flits of a train at most: how far ahead of time things are decided.
inline constexpr uint32_t kTrainFlits = 16;
/// Cycles ahead that events may lie, all of these together: a queue for a wire, a train, delays,
/// and a receiver that is behind by a buffer (it looks again after a train).
inline constexpr uint32_t kEventSlots = 128;
/// A packet is received at most so far ahead of time.
inline constexpr uint32_t kAheadCycles = 64;
static_assert(kAheadCycles + kTrainFlits + kCreditDelay < kEventSlots);
/// Cycles of routing at most.
inline constexpr uint32_t kMaxRoutingDelay = 32;
static_assert(kMaxRoutingDelay + kEnterDelay < kEventSlots);
static_assert(kOutputQueue + 2 * kTrainFlits + kLeaveDelay + kCreditDelay < kEventSlots);

struct CrossbarParams : ChannelEndsParams {
  uint32_t senders = 0, receivers = 0;  ///< ports on either side, at most kMaxPorts
  uint32_t depth = 1;                   ///< flits of an input's, and of a receiver's buffer
  /// speedup, routing_delay: as of a router. Ports have one virtual channel.
  NetworkParams router;
  uint32_t ring = 1;  ///< trains in a ring: a power of two, at least `depth`
};

/// Flits of one packet that follow each other in successive cycles.
struct Train {
  uint32_t tag = 0;    ///< parcel
  Cycle first = 0;     ///< when its first flit arrives
  uint16_t flits = 0;  ///< that have not gone on
  uint8_t out = 0;     ///< receiver
  bool last = false;   ///< the packet ends with it
};

/// Credits of a train: the k-th leaves in the round max(round + k, first round of cycle first + k),
/// and counts kCreditDelay cycles after that round's.
struct CreditTrain {
  Round round = 0;
  Cycle first = 0;
  uint32_t count = 0;
};

/// A ring whose entries stand elsewhere.
struct TrainQueue {
  uint16_t head = 0, count = 0;
};

/// Room in the buffer at the end of a wire, as the beginning of the wire knows it.
struct Room {
  uint32_t flits = 0;
  TrainQueue coming;  ///< credits
};

struct alignas(32) CrossbarSender {
  uint32_t tag = 0;
  uint32_t flits_left = 0;  ///< of the packet that is being sent
  uint8_t out = 0;
  bool waits_for_room = false;  ///< and no credit is on its way
  bool waits_for_parcel = false;
  uint16_t fresh_flits = 0;  ///< within a cycle: of a packet that is begun, and sent as a whole
  Cycle free_at = 0;         ///< the train that is being sent has been sent
  Room room;
};

enum class InputStage : uint8_t {
  kIdle,     ///< no packet
  kRouting,  ///< its head is on its way to the allocation of outputs
  kWaiting,  ///< for its output
  kActive,   ///< connected
};

struct alignas(16) CrossbarInput {
  TrainQueue trains;
  InputStage stage = InputStage::kIdle;
  uint8_t out = 0;       ///< of the packet at the front
  bool starved = false;  ///< connected, and the packet's next train is not in sight
  Round idle_from = 0;   ///< idle: the round from which it is
};

struct alignas(64) CrossbarOutput {
  uint64_t requests = 0;     ///< inputs
  uint16_t owner = kNobody;  ///< input
  uint8_t next = 0;          ///< input that is looked at first
  bool owner_waits = false;  ///< for room, and no credit is on its way
  /// How often packets that have begun will yet ask for it: once, or flit by flit (split_packets).
  uint32_t unconnected = 0;
  Round free_from = 0;  ///< without an owner: the round from which it can have one
  Cycle wire_free = 0;  ///< less the cycles of the traversal; as NetworkState::wire_free
  uint64_t flits_sent = 0;
  Room room;
};

struct CrossbarReceiver {
  TrainQueue trains;
  Cycle free_from = 0;  ///< it takes a flit per cycle
};

/// Who acts in a cycle: bits of ports.
struct CrossbarEvents {
  uint64_t inputs[kMaxSpeedup] = {};  ///< by round
  uint64_t freed[kMaxSpeedup] = {};   ///< outputs that are wanted, and become free; by round
  uint64_t receivers = 0, senders = 0;
  uint64_t heads[kMaxSwitchInputs / 64] = {};  ///< within a window: inputs whose head arrives
};

/// Numbers of cycles are brought up to date this often.
inline constexpr uint64_t kSettleCycles = uint64_t{1} << 20;

struct CrossbarState : ChannelEndsState {
  uint64_t stepped = 0;  ///< the last cycle in which something happened
  Ref<CrossbarSender> senders;
  Ref<CrossbarInput> in_ports;
  Ref<CrossbarOutput> out_ports;
  Ref<CrossbarReceiver> receivers;
  Ref<Train> buffers;                    ///< [input * ring + position]
  Ref<Train> held;                       ///< [receiver * ring + position]
  Ref<CreditTrain> input_credits;        ///< [sender * ring + position]
  Ref<CreditTrain> output_credits;       ///< [output * ring + position]
  Ref<CrossbarEvents> events;            ///< [cycle % kEventSlots]
  uint64_t busy[kEventSlots / 64] = {};  ///< slots with events
  uint64_t wanted = 0;                   ///< outputs with requests
  uint64_t unowned = 0;                  ///< outputs that can have an owner, as far as is known
  uint64_t stuck = 0;  ///< receivers whose channel has no room, as far as is known
};

/// Lay out a crossbar; ports and channels as of make_channel_ends(), sender and input n being one.
template <class Allocator>
CrossbarState make_crossbar(Allocator& arena, CrossbarParams& p, std::span<const SwitchLink> inputs,
                            std::span<const SwitchLink> outputs) {
  NW_ASSERT(p.senders <= kMaxPorts && p.receivers <= kMaxPorts);
  CrossbarState s;
  uint32_t ports[kMaxPorts];
  for (uint32_t i = 0; i < kMaxPorts; ++i) ports[i] = i;
  make_channel_ends(arena, p, s, inputs, outputs, ports, ports, p.senders);
  p.ring = 1;
  while (p.ring < p.depth) p.ring *= 2;
  s.senders = arena.template allocate<CrossbarSender>(p.senders);
  s.in_ports = arena.template allocate<CrossbarInput>(p.senders);
  s.out_ports = arena.template allocate<CrossbarOutput>(p.receivers);
  s.receivers = arena.template allocate<CrossbarReceiver>(p.receivers);
  s.buffers = arena.template allocate<Train>(p.senders * p.ring);
  s.held = arena.template allocate<Train>(p.receivers * p.ring);
  s.input_credits = arena.template allocate<CreditTrain>(p.senders * p.ring);
  s.output_credits = arena.template allocate<CreditTrain>(p.receivers * p.ring);
  s.events = arena.template allocate<CrossbarEvents>(kEventSlots);
  for (uint32_t n = 0; n < p.senders; ++n) arena.get(s.senders)[n].room.flits = p.depth;
  for (uint32_t n = 0; n < p.receivers; ++n) arena.get(s.out_ports)[n].room.flits = p.depth;
  s.unowned = low_bits(p.receivers);
  return s;
}

}  // namespace nearwarp::noc
