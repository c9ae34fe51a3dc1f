// Packets, which travel through channels.
#pragma once

#include <cstdint>

#include "device/core/types.h"

namespace nearwarp {

/// Virtual networks: a packet that makes its receiver send another one must not share buffers with
/// that one, or both may wait for each other (a protocol deadlock). Networks keep the classes
/// apart.
enum class MessageClass : uint8_t {
  kRequest,
  kReply,      ///< whoever gets it needs nothing more to be rid of it
  kCoherence,  ///< has networks of its own
  kControl,    ///< between the front end and SMs; no data moves
};

/// A kind of packet: block << 8 | in order << 7 | number << 2 | class. Memory and dispatch have a
/// block each, and so has every mechanism: its kinds are constants made by packet_kind().
enum class PacketKind : uint16_t;
NW_HD constexpr PacketKind packet_kind(uint32_t block, uint32_t number, MessageClass c) {
  return static_cast<PacketKind>(block << 8 | number << 2 | static_cast<uint32_t>(c));
}
/// A kind of packets that mean something by their order: of two from one sender to one receiver
/// the first one arrives first. All others may overtake each other in networks.
NW_HD constexpr PacketKind ordered_kind(uint32_t block, uint32_t number, MessageClass c) {
  return static_cast<PacketKind>(block << 8 | 1u << 7 | number << 2 | static_cast<uint32_t>(c));
}
NW_HD constexpr bool keeps_order(PacketKind k) { return (static_cast<uint32_t>(k) >> 7 & 1) != 0; }
NW_HD constexpr uint32_t block_of(PacketKind k) { return static_cast<uint32_t>(k) >> 8; }
NW_HD constexpr MessageClass class_of(PacketKind k) {
  return static_cast<MessageClass>(static_cast<uint32_t>(k) & 3);
}

inline constexpr uint32_t kMemoryBlock = 0, kDispatchBlock = 1;

namespace packet_detail {
constexpr uint16_t memory(uint32_t number, MessageClass c) {
  return static_cast<uint16_t>(packet_kind(kMemoryBlock, number, c));
}
constexpr uint16_t dispatch(uint32_t number) {
  return static_cast<uint16_t>(packet_kind(kDispatchBlock, number, MessageClass::kControl));
}
constexpr uint16_t shared(uint32_t number, MessageClass c) {
  return static_cast<uint16_t>(packet_kind(kDispatchBlock, number, c));
}
}  // namespace packet_detail

enum class PacketKind : uint16_t {
  kNone = 0,
  // Memory.
  kRead = packet_detail::memory(1, MessageClass::kRequest),  ///< a cache line is wanted
  /// Data of one line (Packet::sectors).
  kWrite = packet_detail::memory(2, MessageClass::kRequest),
  /// Read-modify-write of one line at the L2 (or at the vault, from a stack SM).
  kAtomic = packet_detail::memory(3, MessageClass::kRequest),
  /// A cache line is wanted beside the banks that have it: no data comes in reply.
  kReadNear = packet_detail::memory(5, MessageClass::kRequest),
  kReadReply = packet_detail::memory(1, MessageClass::kReply),
  kWriteAck = packet_detail::memory(2, MessageClass::kReply),
  kAtomicReply = packet_detail::memory(3, MessageClass::kReply),
  kNearReply = packet_detail::memory(5, MessageClass::kReply),
  /// A vault tells its stack's L2 slice that another stack has written a line.
  kLineWritten = packet_detail::memory(6, MessageClass::kReply),
  /// Drop a line from an L2 slice; no reply.
  kInvalidate = packet_detail::memory(4, MessageClass::kCoherence),
  /// The front end tells an L2 slice that a launch begins; one that keeps writes answers kClean.
  kNewLaunch = packet_detail::memory(5, MessageClass::kCoherence),
  /// An L2 slice tells the front end that memory has all that was written.
  kClean = packet_detail::memory(6, MessageClass::kCoherence),
  // Dispatch.
  kLaunchBlock = packet_detail::dispatch(0),
  kBlockDone = packet_detail::dispatch(1),
  // Clusters: the front end is told that all warps of a block have come to their barrier, and tells
  // each block that all blocks have.
  kAtClusterBarrier = packet_detail::dispatch(2),
  kPassClusterBarrier = packet_detail::dispatch(3),
  /// An access to the shared memory of another SM of the GPC, and its answer.
  kSharedRequest = packet_detail::shared(4, MessageClass::kRequest),
  kSharedReply = packet_detail::shared(4, MessageClass::kReply),
  /// A line that a copy engine has for several SMs of the GPC; no answer.
  kSharedLine = packet_detail::shared(5, MessageClass::kReply),
};

NW_HD constexpr bool is_reply(PacketKind k) { return class_of(k) == MessageClass::kReply; }

/// One packet; 32 bytes whatever it is said to weigh on the wire.
///
/// Members are named as packets of memory use them. Payload and extra have another meaning for each
/// kind, and so have line, tag and sectors of other kinds than memory's: packets of memory are read
/// by the functions below, others by a struct of their kind, which is put into a packet and taken
/// out of it in one place (device/core/dispatch_messages.h, and mechanisms' packets.h).
struct Packet {
  uint64_t payload = 0;
  uint32_t line = 0;  ///< memory: LineAddr
  uint32_t tag = 0;   ///< the requester's own name for the request; comes back in the reply
  /// Writes, atomics: 32-byte sectors touched; reads by sectors: those wanted, 0: all.
  uint32_t sectors = 0;
  Endpoint src{};  ///< gets the reply
  Endpoint dst{};
  uint16_t bytes = 0;  ///< weight on the wire, header included
  PacketKind kind = PacketKind::kNone;
  uint32_t extra = 0;

  /// Writes to an L2 that keeps them: the 4-byte words that they fill.
  NW_HD uint64_t& written_words() {
    NW_ASSERT(kind == PacketKind::kWrite);
    return payload;
  }
  NW_HD uint64_t written_words() const {
    NW_ASSERT(kind == PacketKind::kWrite);
    return payload;
  }
  /// Atomics: the most lanes that want one address.
  NW_HD uint32_t& lanes_of_address() {
    NW_ASSERT(kind == PacketKind::kAtomic);
    return extra;
  }
  NW_HD uint32_t lanes_of_address() const {
    NW_ASSERT(kind == PacketKind::kAtomic);
    return extra;
  }
  /// Replies of vaults: the tick in which the request was taken in.
  NW_HD uint64_t& taken_in() {
    NW_ASSERT(is_reply(kind));
    return payload;
  }
  NW_HD uint64_t taken_in() const {
    NW_ASSERT(is_reply(kind));
    return payload;
  }
};
static_assert(sizeof(Packet) == 32);

}  // namespace nearwarp
