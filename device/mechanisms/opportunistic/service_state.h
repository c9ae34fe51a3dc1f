// A service queue: computes chains for others, at an L2 slice on lines where they are, or at an SM
// on its way. Its state and packets; what it does at a slice is in slice_service.h, at an SM in
// sm_service.h.
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
/// A chain of instructions for whoever takes its data in (OC: ComputePacket).
inline constexpr PacketKind kComputePacket = packet_kind(kServiceBlock, 0, MessageClass::kRequest);
/// The chain's result, or the news that it has been stored.
inline constexpr PacketKind kComputeReply = packet_kind(kServiceBlock, 0, MessageClass::kReply);
/// A line of data for the SM that wanted the chain executed, because the queue was full (OC,
/// section 4.4.2, scenario 3).
inline constexpr PacketKind kOperandReply = packet_kind(kServiceBlock, 1, MessageClass::kReply);
/// A line of data is wanted for a chain; what comes is a kOperandReply.
inline constexpr PacketKind kOperandRead = packet_kind(kServiceBlock, 1, MessageClass::kRequest);
/// A chain that nobody takes in: its sender executes it.
inline constexpr PacketKind kComputeRefusal = packet_kind(kServiceBlock, 2, MessageClass::kReply);

inline constexpr uint32_t kMaxOperands = 2;
/// More entries than any service queue has.
inline constexpr uint32_t kMaxServiceEntries = WarpSet<4>::kCapacity;

/// The content of a ComputePacket.
struct ComputeOrder {
  LineAddr line[kMaxOperands] = {};  ///< data
  LineAddr store_line = 0;
  uint8_t operands = 1;
  uint8_t alu_cycles = 1;       ///< that the ALU takes one instruction after the other
  bool stores = false;          ///< the result goes to `store_line`; else to the SM
  uint8_t store_sectors = 0;    ///< that it writes
  bool store_whole = false;     ///< and that are all the line's words
  uint16_t latency_cycles = 0;  ///< from the last operand to the result
  uint16_t reply_bytes = 0;     ///< weight of the reply
};

/// An order's packet; source, destination, weight and tag are the sender's.
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

/// A part of a warp's chain, as its packets and their answers name it.
struct ChainPart {
  uint32_t warp = 0;
  uint32_t part = 0;

  NW_HD NW_INLINE uint32_t tag() const { return warp | part << 8; }
  NW_HD NW_INLINE static ChainPart of(const Packet& p) {
    NW_ASSERT(block_of(p.kind) == kServiceBlock && is_reply(p.kind));
    return {p.tag & 0xff, p.tag >> 8};
  }
};

/// Words that its store writes, where an L2 that keeps writes wants to know
/// (Packet::written_words()); only of whole lines.
NW_HD NW_INLINE uint64_t store_words(const ComputeOrder& o) {
  return o.store_whole ? ~uint64_t{0} : 0;
}

/// The reason for which a chain in a service queue waits.
enum class ServiceWait : uint8_t {
  kTurn,      ///< its turn to look something up; at an SM at the network, or shared memory's port
  kOperands,  ///< until all of them are there
  kBuffer,    ///< a place in the buffer
  kRead,      ///< until all operands are in it
  kAlu,       ///< the ALU, and its result
  kStored,    ///< the acknowledgement of memory, or of the slice if that keeps it
  kReply,     ///< the way of replies
};
inline constexpr uint32_t kNumServiceWaits = 7;

/// One chain in the status register (OC: SQSR).
struct ServiceEntry {
  ComputeOrder order;
  uint32_t tag = 0;
  uint32_t since = 0;   ///< cycle in which it came
  uint32_t waited = 0;  ///< cycle up to which its time is counted in ServiceCounters::waits
  Endpoint src{};
  uint8_t asked = 0;      ///< operands looked up, of those that are wanted now
  uint8_t present = 0;    ///< operands that have come
  uint8_t computed = 0;   ///< instructions that an ALU has begun one by one
  bool buffered = false;  ///< has a place in the buffer: data is read, no longer waited for
};

/// Entries in order of arrival.
struct ServiceFifo {
  Ref<uint8_t> ids;  ///< a ring
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

/// Something that is known to happen to an entry.
struct ServiceEvent {
  Tick due = 0;
  uint32_t id = 0;
};
/// Events in the order of their times.
struct ServiceEvents {
  Ref<ServiceEvent> events;  ///< a ring
  uint32_t head = 0, count = 0;

  NW_HD void push(std::byte* base, Tick due, uint32_t id) {
    events.in(base)[(head + count) % events.count] = {due, id};
    count += 1;
  }
  /// Adds what is due no earlier than all that is under way: results leave a pipeline in the order
  /// in which chains have entered it.
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
  uint64_t taken = 0, refused = 0;  ///< ComputePackets; refused: the queue was full
  uint64_t operands = 0;            ///< waited for in the slice
  uint64_t operands_read = 0;       ///< read into the buffer
  uint64_t stores = 0;
  uint64_t replies = 0;
  uint64_t alu_cycles = 0;
  uint64_t cycles = 0;                    ///< from packet to reply, summed
  uint64_t waits[kNumServiceWaits] = {};  ///< the same, by ServiceWait
  uint64_t peak = 0;                      ///< most chains at a time
};

/// Chains go through these sets, each in order of arrival: to_ask (its operands are looked up one
/// by one; the slice fetches what it has not got), waiting for them, ready, reading (it has a place
/// in the buffer; its operands are looked up again and read), waiting for them, computing,
/// to_write, waiting for the slice or for memory, to_reply.
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
  Tick alu_free = 0;          ///< from when on the ALU can begin another chain
  uint32_t alu_interval = 1;  ///< cycles that its lanes take for a warp's instruction
  uint32_t passed = 0;        ///< of the refused packet at the network's head: operands looked up
  /// A stored result is acknowledged when its store has left, not when memory has it.
  bool ack_forwarded = false;
  ServiceCounters counters;
};

/// Up to cycle `now` the entry has waited for this.
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
