// The state and the packets of a service queue, which executes chains that SMs offload: at the L2
// slice that has their lines (slice_service.h), or at an SM on the way between two slices
// (sm_service.h).
//
// Source: A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA 2019 (OC below),
// sections 4.2 and 4.4.2, figures 5, 8 and 10.
#pragma once

#include "device/core/channel.h"
#include "device/core/packet.h"
#include "device/core/types.h"
#include "device/core/warp_set.h"

namespace nearwarp::opportunistic {

inline constexpr uint32_t kServiceBlock = 3;
/// A chain of instructions, sent to the node that is to execute it (OC: ComputePacket).
inline constexpr PacketKind kComputePacket = packet_kind(kServiceBlock, 0, MessageClass::kRequest);
/// The chain's result, or the acknowledgement that it has been stored.
inline constexpr PacketKind kComputeReply = packet_kind(kServiceBlock, 0, MessageClass::kReply);
/// An operand's data for the SM that offloaded the chain, which executes it itself because the
/// service queue was full (OC, section 4.4.2, scenario 3).
inline constexpr PacketKind kOperandReply = packet_kind(kServiceBlock, 1, MessageClass::kReply);
/// A read of an operand's line, answered by a kOperandReply.
inline constexpr PacketKind kOperandRead = packet_kind(kServiceBlock, 1, MessageClass::kRequest);
/// A ComputePacket that is not taken in: its sender executes the chain.
inline constexpr PacketKind kComputeRefusal = packet_kind(kServiceBlock, 2, MessageClass::kReply);

inline constexpr uint32_t kMaxOperands = 2;
/// The most entries that a service queue may have.
inline constexpr uint32_t kMaxServiceEntries = WarpSet<4>::kCapacity;

/// The content of a ComputePacket.
struct ComputeOrder {
  LineAddr line[kMaxOperands] = {};  ///< lines of the operands
  LineAddr store_line = 0;
  uint8_t operands = 1;         ///< lines that are read, 1 or 2
  uint8_t alu_cycles = 1;       ///< issue cycles of the chain's arithmetic on the ALU
  bool stores = false;          ///< the result goes to `store_line`; else to the SM
  uint8_t store_sectors = 0;    ///< mask of the sectors that the store writes
  bool store_whole = false;     ///< the store writes every word of the line
  uint16_t latency_cycles = 0;  ///< from the last operand to the result
  uint16_t reply_bytes = 0;     ///< size of the reply on the network
};

/// The packet of an order; the sender fills in source, destination, size and tag.
NW_HD inline Packet pack(const ComputeOrder& o) {
  Packet p;
  p.kind = kComputePacket;
  p.line = o.line[0];
  p.payload = uint64_t{o.store_line} << 32 | o.line[1];
  p.sectors = o.store_sectors | uint32_t{o.operands} << 8 | uint32_t{o.stores} << 10 |
              uint32_t{o.store_whole} << 11 | uint32_t{o.alu_cycles} << 16;
  p.extra = o.latency_cycles | uint32_t{o.reply_bytes} << 16;
  return p;
}
NW_HD inline ComputeOrder unpack(const Packet& p) {
  NW_ASSERT(p.kind == kComputePacket);
  ComputeOrder o;
  o.line[0] = p.line;
  o.line[1] = static_cast<LineAddr>(p.payload);
  o.store_line = static_cast<LineAddr>(p.payload >> 32);
  o.store_sectors = static_cast<uint8_t>(p.sectors);
  o.operands = static_cast<uint8_t>(p.sectors >> 8 & 3);
  o.stores = (p.sectors >> 10 & 1) != 0;
  o.store_whole = (p.sectors >> 11 & 1) != 0;
  o.alu_cycles = static_cast<uint8_t>(p.sectors >> 16);
  o.latency_cycles = static_cast<uint16_t>(p.extra);
  o.reply_bytes = static_cast<uint16_t>(p.extra >> 16);
  return o;
}

/// A part of a warp's chain, as the tag of its packets and of their answers names it.
struct ChainPart {
  uint32_t warp = 0;
  uint32_t part = 0;

  NW_HD NW_INLINE uint32_t tag() const { return warp | part << 8; }
  NW_HD NW_INLINE static ChainPart of(const Packet& p) {
    NW_ASSERT(block_of(p.kind) == kServiceBlock && is_reply(p.kind));
    return {p.tag & 0xff, p.tag >> 8};
  }
};

/// Packet::written_words() of the order's store, for L2s that keep writes: all words, or none if
/// the line is not written as a whole.
NW_HD NW_INLINE uint64_t store_words(const ComputeOrder& o) {
  return o.store_whole ? ~uint64_t{0} : 0;
}

/// Causes of the time that a chain spends in a service queue.
enum class ServiceWait : uint8_t {
  kTurn,  ///< it waits for a look-up in the slice; at an SM for the network or shared memory's port
  kOperands,  ///< it waits until all operands are there
  kBuffer,    ///< it waits for a place in the buffer
  kRead,      ///< its operands are being read into the buffer
  kAlu,       ///< it waits for the ALU, or is executed
  kStored,    ///< its store waits to be acknowledged by memory, or by the slice if that keeps it
  kReply,     ///< it waits for the reply network
};
inline constexpr uint32_t kNumServiceWaits = 7;

/// One chain in the status register (OC: SQSR).
struct ServiceEntry {
  ComputeOrder order;
  uint32_t tag = 0;
  uint32_t since = 0;     ///< cycle in which it came
  uint32_t waited = 0;    ///< cycle up to which its time is counted in ServiceCounters::waits
  Endpoint src{};         ///< SM that offloaded it
  uint8_t asked = 0;      ///< operands looked up in the present phase (fetching, then reading)
  uint8_t present = 0;    ///< operands that have come in this phase
  uint8_t computed = 0;   ///< instructions that an ALU has begun one by one
  bool buffered = false;  ///< it has a place in the buffer, into which its operands are read
};

/// A queue of entries.
struct ServiceFifo {
  Ref<uint8_t> ids;  ///< a ring of indices into ServiceState::entries
  uint32_t head = 0, count = 0;

  NW_HD void push(std::byte* base, uint32_t id) {
    ids.in(base)[(head + count) % ids.count] = static_cast<uint8_t>(id);
    count += 1;
  }
  NW_HD uint32_t front(std::byte* base) const { return ids.in(base)[head]; }
  NW_HD uint32_t pop(std::byte* base) {
    const uint32_t id = front(base);
    head = head + 1 == ids.count ? 0 : head + 1;
    count -= 1;
    return id;
  }
};

/// An event of an entry whose time is known.
struct ServiceEvent {
  Tick due = 0;
  uint32_t id = 0;
};
/// A queue of events in the order of their times.
struct ServiceEvents {
  Ref<ServiceEvent> events;  ///< a ring
  uint32_t head = 0, count = 0;

  NW_HD void push(std::byte* base, Tick due, uint32_t id) {
    events.in(base)[(head + count) % events.count] = {due, id};
    count += 1;
  }
  /// Add an event, due no earlier than those before it: results leave a pipeline in the order in
  /// which chains have entered it.
  NW_HD void push_in_order(std::byte* base, Tick due, uint32_t id) {
    if (count != 0) {
      const uint32_t last = (head + count - 1) % events.count;
      due = max_tick(due, events.in(base)[last].due);
    }
    push(base, due, id);
  }
  NW_HD const ServiceEvent& front(std::byte* base) const { return events.in(base)[head]; }
  NW_HD void pop() {
    head = head + 1 == events.count ? 0 : head + 1;
    count -= 1;
  }
};

struct ServiceCounters {
  uint64_t taken = 0, refused = 0;  ///< ComputePackets; they are refused when the queue is full
  uint64_t operands = 0;            ///< operands waited for in the slice
  uint64_t operands_read = 0;       ///< operands read into the buffer
  uint64_t stores = 0;
  uint64_t replies = 0;
  uint64_t alu_cycles = 0;
  uint64_t cycles = 0;                    ///< from packet to reply, summed
  uint64_t waits[kNumServiceWaits] = {};  ///< the same, by ServiceWait
  uint64_t peak = 0;                      ///< most chains at a time
};

/// State of a service queue. A chain goes through these stages, each in order of arrival: to_ask
/// (its operands are looked up one by one; the slice fetches those that it does not have), waiting
/// for the operands, ready, reading (it has a place in the buffer; its operands are looked up again
/// and read), waiting for their data, computing, to_write, waiting for the slice or memory to
/// acknowledge the store, to_reply.
struct ServiceState {
  uint32_t buffer_entries = 4;
  Ref<ServiceEntry> entries;
  WarpSet<4> free;
  ServiceFifo to_ask, ready, reading, to_write, to_reply;
  ServiceEvents arriving;  ///< operands that the slice had
  ServiceEvents computing;
  ServiceEvents storing;  ///< stores that the slice keeps
  uint32_t buffered = 0;
  uint32_t in_use = 0;
  Tick alu_free = 0;          ///< the first tick at which the ALU can begin another chain
  uint32_t alu_interval = 1;  ///< cycles for which an instruction of a warp occupies the ALU
  uint32_t passed = 0;  ///< operands looked up so far for the refused packet at the network's head
  /// A stored result is acknowledged when its store has left, not when memory has it.
  bool ack_forwarded = false;
  ServiceCounters counters;
};

/// Count the entry's time up to cycle `now` for `what`.
NW_HD NW_INLINE void end_wait(ServiceState& q, std::byte* base, uint32_t id, ServiceWait what,
                              uint32_t now) {
  ServiceEntry& e = q.entries.in(base)[id];
  q.counters.waits[static_cast<uint32_t>(what)] += now - e.waited;
  e.waited = now;
}

/// Lay out a service queue.
template <class Allocator>
ServiceState make_service_queue(Allocator& arena, uint32_t entries, uint32_t buffer_entries,
                                uint32_t alu_interval = 1) {
  NW_ASSERT(entries >= 1 && entries <= kMaxServiceEntries && buffer_entries >= 1);
  ServiceState s;
  s.buffer_entries = buffer_entries;
  s.alu_interval = alu_interval;
  s.entries = arena.template allocate<ServiceEntry>(entries);
  s.free = WarpSet<4>::lowest(entries);
  for (ServiceFifo* f : {&s.to_ask, &s.ready, &s.reading, &s.to_write, &s.to_reply})
    f->ids = arena.template allocate<uint8_t>(entries);
  s.arriving.events = arena.template allocate<ServiceEvent>(entries * kMaxOperands);
  s.computing.events = arena.template allocate<ServiceEvent>(entries);
  s.storing.events = arena.template allocate<ServiceEvent>(entries);
  return s;
}

}  // namespace nearwarp::opportunistic
