// A small mechanism at L2 slices: it looks up every line that is read once more, as a cache that
// checks its contents would.
#pragma once

#include "device/cache/l2_mechanisms.h"

namespace nearwarp::line_check {

struct OnL2Slice : MemoryHooks {
  static constexpr bool kSeesRequests = true;
  struct State {
    LineAddr line = 0;
    uint32_t waits = 0;  ///< 1: the line has not been looked up yet
    uint64_t looked_up = 0, there = 0;
    uint64_t left_out = 0;  ///< lines that came while one waited
  };
  struct Params {};

  template <class O>
  NW_HD static void on_request(O& o, const Packet& request, Tick) {
    if (request.kind != PacketKind::kRead) return;
    o.s.left_out += o.s.waits;
    if (o.s.waits == 0) o.s.line = request.line;
    o.s.waits = 1;
  }
  template <class O>
  NW_HD static bool has_request(const O& o) {
    return o.s.waits != 0;
  }
  template <class O>
  NW_HD static Packet next_request(const O& o) {
    Packet read;
    read.kind = PacketKind::kRead;
    read.line = o.s.line;
    return read;
  }
  template <class O>
  NW_HD static void on_taken(O& o, Tick, Tick due) {
    o.s.waits = 0;
    o.s.looked_up += 1;
    o.s.there += due < kNever ? 1 : 0;
  }
  template <class O>
  NW_HD static void on_data(O& o, uint32_t, Tick) {
    o.s.there += 1;
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 201;
  using OnL2Slice = line_check::OnL2Slice;
};

}  // namespace nearwarp::line_check
