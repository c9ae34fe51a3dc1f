// The load-store unit before an L1 that keeps writes or works by sectors.
#pragma once

#include "device/cache/l1_sectors.h"
#include "device/core/channel.h"

namespace nearwarp::sm {

/// Tag of writes that nobody waits for; a warp's are below.
inline constexpr uint32_t kWriteBackTag = 0xffffffffu;

/// Write a dirty line back, from SM `src` to where it lives. The caller has looked at the credits.
NW_HD NW_APART inline void send_write_back(Channel& out, std::byte* base, Tick tick, uint16_t src,
                                           uint16_t home, LineAddr line, uint32_t sectors,
                                           uint32_t bytes, Horizon& horizon) {
  Packet w;
  w.kind = PacketKind::kWrite;
  w.src = src;
  w.dst = home;
  w.line = line;
  w.tag = kWriteBackTag;
  w.sectors = sectors;
  w.payload = ~uint64_t{0};
  w.bytes = static_cast<uint16_t>(bytes);
  send(out, base, tick, w, horizon);
}

}  // namespace nearwarp::sm
