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

/// A block of code for a stack SM; Packet::payload, extra, sectors: where and with which lanes.
/// kInnerCandidate in the payload: that of the block which begins there, not of the loop around it.
inline constexpr PacketKind kOffloadRequest = ordered_kind(kPacketBlock, 0, MessageClass::kRequest);
inline constexpr uint64_t kInnerCandidate = uint64_t{1} << 63;
/// A row of a shared array that an offloaded block reads; precedes the request.
inline constexpr PacketKind kTableRow = ordered_kind(kPacketBlock, 1, MessageClass::kRequest);
/// A line that the offloaded block wrote; precedes the acknowledgement.
inline constexpr PacketKind kOffloadDirty = ordered_kind(kPacketBlock, 0, MessageClass::kReply);
inline constexpr PacketKind kOffloadAck = ordered_kind(kPacketBlock, 1, MessageClass::kReply);
/// A row of a shared array to which an offloaded block has added; precedes the acknowledgement.
inline constexpr PacketKind kMergeRow = ordered_kind(kPacketBlock, 2, MessageClass::kReply);
/// Packet::line of an acknowledgement: the block has not been executed to its end.
inline constexpr uint32_t kSentBack = 1;

// Packets between SMs and the front end.
/// line: the stack; extra: rows of shared memory that the warp wants there.
inline constexpr PacketKind kOffloadAsk = packet_detail::control(0);
inline constexpr PacketKind kOffloadGrant = packet_detail::control(1);
inline constexpr PacketKind kOffloadDeny = packet_detail::control(2);
/// A denial because the stack SM's shared memory has no room.
inline constexpr PacketKind kOffloadDenyShared = packet_detail::control(11);
/// An offloaded block has returned; line: its stack; extra: rows of shared memory that are free
/// again, those of others that have returned from there perhaps included.
inline constexpr PacketKind kOffloadRelease = packet_detail::control(3);
/// sectors: busy bits (bit 2 s: TX of stack s, bit 2 s + 1: RX); from a link port only its own two.
inline constexpr PacketKind kChannelBusy = packet_detail::control(4);
/// The bit, from the highest down, that says under tuned offloading: stack `k` has no room.
NW_HD NW_INLINE uint32_t full_bit(uint32_t k) { return 0x80000000u >> k; }
/// The memory map analyzer reports: see analyzer_state.h.
inline constexpr PacketKind kInstanceSeen = packet_detail::control(5);
inline constexpr PacketKind kLearningStop =
    packet_detail::control(6);  ///< learning is over: issue no more
inline constexpr PacketKind kLearningStopped =
    packet_detail::control(7);  ///< nothing is under way here
inline constexpr PacketKind kLearningResume =
    packet_detail::control(8);  ///< data has its final place
/// extra: instances that have begun, where the learning phase counts them then.
inline constexpr PacketKind kInstanceBegun = packet_detail::control(10);

// Packets between SMs without overhead: request and acknowledgement, kOffloadDeny, and this.
inline constexpr PacketKind kStackHasRoom = packet_detail::control(9);

}  // namespace nearwarp::tom
