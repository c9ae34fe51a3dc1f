// Packets that cross the TSVs of an MPU core besides accesses to memory. All are between the two
// parts of one core: requests go from the subcores to the near-bank units, replies come back.
#pragma once

#include "device/core/packet.h"

namespace nearwarp::mpu {

inline constexpr uint32_t kPacketBlock = 4;

/// An instruction to be executed near the banks; one that accesses the shared memory there.
inline constexpr PacketKind kNearInstruction = packet_kind(kPacketBlock, 0, MessageClass::kRequest);
inline constexpr PacketKind kNearShared = packet_kind(kPacketBlock, 1, MessageClass::kRequest);
/// A register for the near-bank register file, of a register move or of a load.
inline constexpr PacketKind kRegisterToNear = packet_kind(kPacketBlock, 2, MessageClass::kRequest);
inline constexpr PacketKind kLoadedToNear = packet_kind(kPacketBlock, 3, MessageClass::kRequest);
/// A register is wanted in the far-bank register file.
inline constexpr PacketKind kRegisterWanted = packet_kind(kPacketBlock, 4, MessageClass::kRequest);

/// An instruction has been executed.
inline constexpr PacketKind kCommit = packet_kind(kPacketBlock, 0, MessageClass::kReply);
inline constexpr PacketKind kRegisterToFar = packet_kind(kPacketBlock, 1, MessageClass::kReply);

/// The subject of these packets: an instruction or register of a warp.
struct NearMessage {
  uint32_t warp = 0;
  uint32_t number = 0;       ///< of the instruction among the warp's; kLoadedToNear: a load entry
  uint32_t reply_bytes = 0;  ///< kRegisterWanted: weight of the answer on the wire

  NW_HD NW_INLINE uint32_t tag() const { return warp | number << 8; }
  NW_HD NW_INLINE static NearMessage of(const Packet& p) {
    NW_ASSERT(block_of(p.kind) == kPacketBlock);
    return {p.tag & 0xff, p.tag >> 8, p.extra};
  }
};

}  // namespace nearwarp::mpu
