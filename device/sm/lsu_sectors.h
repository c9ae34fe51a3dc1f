// The part of the load-store unit for L1s that are write-back.
#pragma once

#include "device/cache/l1_sectors.h"
#include "device/core/channel.h"
#include "device/sm/memory_packet.h"

namespace nearwarp::sm {

/// The tag of write-backs, whose acknowledgement no warp waits for; the tags of warps' stores are
/// less.
inline constexpr uint32_t kWriteBackTag = 0xffffffffu;

/// Write a dirty line back to memory. The caller has checked that the network has room.
template <class V>
NW_HD NW_APART void send_write_back(V& v, LineAddr line, uint32_t now) {
  Packet w = memory_packet(v, PacketKind::kWrite, line, kWriteBackTag,
                           v.p.header_bytes + v.p.grid.line_bytes());
  w.sectors = v.p.l1.all_sectors;
  w.written_words() = ~uint64_t{0};
  send(v.to_network(), v.base, v.tick(now), w, v.horizon);
}

}  // namespace nearwarp::sm
