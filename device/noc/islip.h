// Round-robin choices of the separable allocators, over bit masks.
//
// iSLIP with one iteration [McKeown, IEEE/ACM ToN 1999]: every free resource grants the first
// requester at or after its pointer; every requester accepts the first grant at or after its own;
// both pointers move to one beyond the partner, and only where a grant was accepted.
#pragma once

#include "device/core/bits.h"

namespace nearwarp::noc {

/// The first set bit at or after `from` (at most 64), or else the first of all; bits != 0.
NW_HD NW_INLINE uint32_t pick_from(uint64_t bits, uint32_t from) {
  const uint64_t later = bits & ~uint64_t{0} << (from & 63);  // 64 is as good as 0
  return count_trailing_zeros(later != 0 ? later : bits);
}

/// An input virtual channel by port and number; the order is by port first.
struct PortVc {
  uint8_t port = 0, vc = 0;
};

/// The virtual channel after `at` in the order of PortVc. The port may be one beyond the last,
/// which pick_from() takes for the first.
NW_HD NW_INLINE PortVc after(PortVc at, uint32_t vcs) {
  const bool last = at.vc + 1u == vcs;
  return {static_cast<uint8_t>(at.port + (last ? 1 : 0)),
          static_cast<uint8_t>(last ? 0 : at.vc + 1)};
}

/// The first requester at or after `from`, or else the first of all. `ports` != 0 has the ports
/// with requesters, `vcs[port]` their virtual channels.
NW_HD NW_INLINE PortVc pick_from(uint64_t ports, const uint32_t* vcs, PortVc from) {
  // Take the first port at or after the pointer's. If that is the pointer's own port, and all of
  // its requesters are before the pointer, take the next port.
  uint32_t port = pick_from(ports, from.port);
  const uint32_t own = vcs[port] & ~uint32_t{0} << from.vc;
  const bool at_pointer = port == from.port;
  if (at_pointer && own == 0) port = pick_from(ports, port + 1);
  const uint32_t who = at_pointer && own != 0 ? own : vcs[port];
  return {static_cast<uint8_t>(port), static_cast<uint8_t>(count_trailing_zeros(who))};
}

}  // namespace nearwarp::noc
