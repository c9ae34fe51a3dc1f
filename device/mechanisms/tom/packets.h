// TOM's packets (TOM, sections 4.2 to 4.4).
#pragma once

#include "device/core/packet.h"

namespace nearwarp::tom {

inline constexpr uint32_t kPacketBlock = 2;

namespace packet_detail {
constexpr PacketKind control(uint32_t number) {
  return packet_kind(kPacketBlock, number, MessageClass::kControl);
}
}  // namespace packet_detail

// Rows come before their request, dirty lines and rows before their acknowledgement: all of these
// keep their order.

/// A block of code for a stack SM: OffloadRequest in warp_side.h, and OffloadAck.
inline constexpr PacketKind kOffloadRequest = ordered_kind(kPacketBlock, 0, MessageClass::kRequest);
/// A row of a shared array that an offloaded block reads; precedes the request.
inline constexpr PacketKind kTableRow = ordered_kind(kPacketBlock, 1, MessageClass::kRequest);
/// A line that the offloaded block wrote; precedes the acknowledgement.
inline constexpr PacketKind kOffloadDirty = ordered_kind(kPacketBlock, 0, MessageClass::kReply);
inline constexpr PacketKind kOffloadAck = ordered_kind(kPacketBlock, 1, MessageClass::kReply);
/// A row of a shared array to which an offloaded block has added; precedes the acknowledgement.
inline constexpr PacketKind kMergeRow = ordered_kind(kPacketBlock, 2, MessageClass::kReply);

// Packets between SMs and the front end.
inline constexpr PacketKind kOffloadAsk = packet_detail::control(0);
inline constexpr PacketKind kOffloadGrant = packet_detail::control(1);
inline constexpr PacketKind kOffloadDeny = packet_detail::control(2);
/// A denial because the stack SM's shared memory has no room.
inline constexpr PacketKind kOffloadDenyShared = packet_detail::control(11);
/// An offloaded block has returned.
inline constexpr PacketKind kOffloadRelease = packet_detail::control(3);
/// Which channels are busy (bit 2 s: TX of stack s, bit 2 s + 1: RX); from a link port only its own
/// two.
inline constexpr PacketKind kChannelBusy = packet_detail::control(4);
/// The bit, from the highest down, that says under tuned offloading: stack `k` has no room.
NW_HD NW_INLINE uint32_t full_bit(StackId k) { return 0x80000000u >> number_of(k); }
/// The memory map analyzer reports: see analyzer_state.h.
inline constexpr PacketKind kInstanceSeen = packet_detail::control(5);
inline constexpr PacketKind kLearningStop =
    packet_detail::control(6);  ///< learning is over: issue no more
inline constexpr PacketKind kLearningStopped =
    packet_detail::control(7);  ///< nothing is under way here
inline constexpr PacketKind kLearningResume =
    packet_detail::control(8);  ///< data has its final place
/// InstanceBegun, where the learning phase counts them then.
inline constexpr PacketKind kInstanceBegun = packet_detail::control(10);

// Packets between SMs without overhead: request and acknowledgement, kOffloadDeny, and this.
inline constexpr PacketKind kStackHasRoom = packet_detail::control(9);

// The meaning of packets with few members; that of others is beside what they are made of.

/// A warp asks for a place in a stack.
struct OffloadAsk {
  uint32_t warp = 0;
  StackId stack{};
  uint32_t rows = 0;  ///< of shared memory, that it wants there

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = kOffloadAsk;
    p.tag = warp;
    p.line = number_of(stack);
    p.extra = rows;
  }
  NW_HD NW_INLINE static OffloadAsk of(const Packet& p) {
    NW_ASSERT(p.kind == kOffloadAsk);
    return {p.tag, stack_id(p.line), p.extra};
  }
};

/// The answer: kOffloadGrant or a denial.
struct OffloadAnswer {
  uint32_t warp = 0;

  NW_HD NW_INLINE static OffloadAnswer of(const Packet& p) {
    NW_ASSERT(p.kind == kOffloadGrant || p.kind == kOffloadDeny || p.kind == kOffloadDenyShared);
    return {p.tag};
  }
};

struct OffloadRelease {
  StackId stack{};
  /// Rows of shared memory that are free again, those of others that have returned from there
  /// perhaps included.
  uint32_t rows = 0;

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = kOffloadRelease;
    p.line = number_of(stack);
    p.extra = rows;
  }
  NW_HD NW_INLINE static OffloadRelease of(const Packet& p) {
    NW_ASSERT(p.kind == kOffloadRelease);
    return {stack_id(p.line), p.extra};
  }
};

struct InstanceBegun {
  uint32_t instances = 0;  ///< since the last such message

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = kInstanceBegun;
    p.extra = instances;
  }
  NW_HD NW_INLINE static InstanceBegun of(const Packet& p) {
    NW_ASSERT(p.kind == kInstanceBegun);
    return {p.extra};
  }
};

/// A line that the block of a warp wrote, or a row of its shared array (kTableRow, kMergeRow).
/// Tables' rows say no warp.
struct OfWarp {
  uint32_t warp = 0;

  NW_HD NW_INLINE void put(Packet& p) const { p.tag = warp; }
  NW_HD NW_INLINE static OfWarp of(const Packet& p) {
    NW_ASSERT(p.kind == kOffloadDirty || p.kind == kMergeRow);
    return {p.tag};
  }
};

}  // namespace nearwarp::tom
