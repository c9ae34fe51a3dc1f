// A request packet of an SM to the L2 slice or vault that serves a line.
#pragma once

#include "device/core/packet.h"
#include "device/core/types.h"

namespace nearwarp::sm {

template <class V>
NW_HD inline Packet memory_packet(const V& v, PacketKind kind, LineAddr line, uint32_t tag,
                                  uint32_t bytes) {
  Packet p;
  p.kind = kind;
  p.src = v.s.endpoint;
  p.dst = v.home_of(line);
  p.line = line;
  p.tag = tag;
  p.bytes = static_cast<uint16_t>(bytes);
  return p;
}

}  // namespace nearwarp::sm
