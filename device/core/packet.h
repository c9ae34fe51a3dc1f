// What travels through channels.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

enum class PacketKind : uint8_t {
  kNone,
  // Memory: requests.
  kRead,        ///< a cache line is wanted
  kWrite,       ///< write-through data of one line (Packet::sectors)
  kAtomic,      ///< read-modify-write of one line at the L2 (or at the vault, from a stack SM)
  kInvalidate,  ///< drop a line from an L2 slice (TOM, section 4.4.2); no reply
  // Memory: replies.
  kReadReply,
  kWriteAck,
  kAtomicReply,
  // Offloading (TOM, section 4.2).
  kOffloadRequest,
  kOffloadDirty,  ///< a line that the offloaded block wrote; precedes the acknowledgement
  kOffloadAck,
  // Control between the GPU's front end and the SMs; no data moves.
  kLaunchBlock,
  kBlockDone,
  kOffloadAsk,  ///< SM wants a slot on a stack SM
  kOffloadGrant,
  kOffloadDeny,     ///< Packet::aux holds the reason
  kOffloadRelease,  ///< an offloaded block has returned
  kChannelBusy,     ///< Packet::sectors: busy bits (bit 2 s: TX of stack s, bit 2 s + 1: RX)
  kInstanceSeen,    ///< the memory map analyzer reports: see device/offload/map_analyzer_state.h
  kStop,            ///< the learning phase is over: issue nothing more
  kStopped,         ///< nothing is under way in this SM
  kResume,          ///< data has its final place
};

NW_HD constexpr bool is_reply(PacketKind k) {
  return k == PacketKind::kReadReply || k == PacketKind::kWriteAck ||
         k == PacketKind::kAtomicReply || k == PacketKind::kOffloadDirty ||
         k == PacketKind::kOffloadAck;
}

/// One packet; 32 bytes whatever it is said to weigh on the wire.
struct Packet {
  uint64_t payload = 0;  ///< offload, control: see device/offload; memory: unused
  uint32_t line = 0;     ///< memory: LineAddr
  uint32_t tag = 0;      ///< the requester's own name for the request; comes back in the reply
  uint32_t sectors = 0;  ///< writes, atomics: 32-byte sectors touched; offload: active mask
  uint16_t src = 0;      ///< endpoint that gets the reply
  uint16_t dst = 0;      ///< endpoint to which this packet goes
  uint16_t bytes = 0;    ///< weight on the wire, header included
  PacketKind kind = PacketKind::kNone;
  uint8_t aux = 0;
  uint32_t extra = 0;
};
static_assert(sizeof(Packet) == 32);

}  // namespace nearwarp
