// A small mechanism at vaults: it reads every line that has been written again, like a memory that
// verifies its writes.
#pragma once

#include "device/dram/vault_mechanisms.h"

namespace nearwarp::write_check {

inline constexpr uint32_t kMostWaiting = 64;  ///< a power of two

struct OnVault : MemoryHooks {
  static constexpr bool kSeesRequests = true;
  struct State {
    LineAddr lines[kMostWaiting] = {};  ///< ring
    uint32_t head = 0, count = 0;
    uint64_t asked = 0, checked = 0;
    uint64_t left_out = 0;  ///< writes for which the ring had no room
  };
  struct Params {};

  template <class O>
  NW_HD static void on_request(O& o, const Packet& request, Tick) {
    if (request.kind != PacketKind::kWrite) return;
    if (o.s.count == kMostWaiting) {
      o.s.left_out += 1;
      return;
    }
    o.s.lines[(o.s.head + o.s.count) % kMostWaiting] = request.line;
    o.s.count += 1;
  }
  template <class O>
  NW_HD static bool has_request(const O& o) {
    return o.s.count != 0;
  }
  template <class O>
  NW_HD static Packet next_request(const O& o) {
    Packet read;
    read.kind = PacketKind::kRead;
    read.line = o.s.lines[o.s.head];
    return read;
  }
  template <class O>
  NW_HD static void on_taken(O& o, Tick, Tick due) {
    o.s.head = (o.s.head + 1) % kMostWaiting;
    o.s.count -= 1;
    o.s.asked += 1;
    o.s.checked += due < kNever ? 1 : 0;
  }
  template <class O>
  NW_HD static void on_data(O& o, uint32_t, Tick) {
    o.s.checked += 1;
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 202;
  using OnVault = write_check::OnVault;
};

}  // namespace nearwarp::write_check
