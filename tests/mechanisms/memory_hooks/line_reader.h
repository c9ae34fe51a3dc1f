// A mechanism at L2 slices and vaults that reads a line on request, waits for some cycles, and
// replies; one request at a time.
#pragma once

#include "device/core/mechanisms.h"

namespace nearwarp::line_reader {

inline constexpr uint32_t kBlock = 203;
inline constexpr PacketKind kQuestion = packet_kind(kBlock, 0, MessageClass::kRequest);
inline constexpr PacketKind kAnswer = packet_kind(kBlock, 0, MessageClass::kReply);

struct Hooks : MemoryHooks {
  struct State {
    Packet question;
    bool busy = false, asks = false, answers = false;
    Tick done = kNever;  ///< end of the wait
  };
  struct Params {
    uint32_t cycles = 0;  ///< length of the wait
    bool writes = false;  ///< write the line instead of reading it
  };

  template <class O>
  NW_HD static PacketTaken take_packet(O& o, const Packet& packet, Tick) {
    if (o.s.busy) return PacketTaken::kNo;
    o.s.question = packet;
    o.s.busy = o.s.asks = true;
    return PacketTaken::kYes;
  }
  template <class O>
  NW_HD static bool has_request(const O& o) {
    return o.s.asks;
  }
  template <class O>
  NW_HD static Packet next_request(const O& o) {
    Packet request;
    request.kind = o.p.writes ? PacketKind::kWrite : PacketKind::kRead;
    request.line = o.s.question.line;
    request.sectors = o.p.writes ? 1 : 0;
    request.tag = o.s.question.tag;
    return request;
  }
  template <class O>
  NW_HD static void on_taken(O& o, Tick, Tick due) {
    o.s.asks = false;
    if (due < kNever) on_data(o, o.s.question.tag, due);
  }
  template <class O>
  NW_HD static void on_data(O& o, uint32_t tag, Tick due) {
    if (tag != o.s.question.tag) return;  // the test will miss the reply
    o.s.done = due + Tick{o.p.cycles} * o.v.p.period;
  }
  template <class O>
  NW_HD static void on_written(O& o, uint32_t tag, Tick due) {
    on_data(o, tag, due);
  }
  template <class O>
  NW_HD static Tick next(const O& o, Tick) {
    return o.s.done;
  }
  template <class O>
  NW_HD static void step(O& o, Tick now) {
    if (o.s.done > now) return;
    o.s.done = kNever;
    o.s.answers = true;
  }
  template <class O>
  NW_HD static bool has_reply(const O& o) {
    return o.s.answers;
  }
  template <class O>
  NW_HD static Packet take_reply(O& o, Tick) {
    o.s.busy = o.s.answers = false;
    Packet reply;
    reply.kind = kAnswer;
    reply.dst = o.s.question.src;
    reply.tag = o.s.question.tag;
    reply.bytes = 16;
    return reply;
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = kBlock;
  using OnL2Slice = Hooks;
  using OnVault = Hooks;
};

}  // namespace nearwarp::line_reader
