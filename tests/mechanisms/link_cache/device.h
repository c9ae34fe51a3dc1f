// A small mechanism at links: a cache, of tags without data, at the GPU's end of each link. It
// answers reads of lines that it has; all else passes.
#pragma once

#include "device/link/link_mechanisms.h"

namespace nearwarp::link_cache {

inline constexpr uint32_t kLinesBits = 12, kLines = 1u << kLinesBits;

struct OnLink : LinkHooks {
  struct State {
    LineAddr lines[kLines] = {};  ///< 0: none
    Packet answer;
    Tick due = kNever;   ///< when the answer in preparation is ready
    bool busy = false;   ///< an answer is in preparation
    bool ready = false;  ///< the answer can leave
    uint32_t bytes = 0;  ///< size of a reply
    uint64_t reads = 0, answered = 0, filled = 0;
  };
  struct Params {
    uint32_t cycles = 0;  ///< latency of an answer
  };

  NW_HD static uint32_t place_of(LineAddr line) { return line * 0x9e3779b1u >> (32 - kLinesBits); }

  template <class O>
  NW_HD static LinkPassage on_packet(O& o, const Packet& packet, LinkWay way, Tick now) {
    LineAddr& kept = o.s.lines[place_of(packet.line)];
    if (way == LinkWay::kFromStack) {
      if (packet.kind != PacketKind::kReadReply) return LinkPassage::kPasses;
      kept = packet.line;
      o.s.bytes = packet.bytes;
      o.s.filled += 1;
      return LinkPassage::kPasses;
    }
    if (kept != packet.line || packet.line == 0) return count_read(o, packet);
    if (packet.kind != PacketKind::kRead) {
      kept = 0;
      return LinkPassage::kPasses;
    }
    if (o.s.busy) return LinkPassage::kWaits;
    o.s.answer = packet;
    o.s.answer.kind = PacketKind::kReadReply;
    o.s.answer.dst = packet.src;
    o.s.answer.src = packet.dst;
    o.s.answer.bytes = static_cast<uint16_t>(o.s.bytes);
    o.s.busy = true;
    o.s.due = now + Tick{o.p.cycles} * o.v.p.ports.period;
    o.s.answered += 1;
    count_read(o, packet);
    return LinkPassage::kTaken;
  }
  template <class O>
  NW_HD static LinkPassage count_read(O& o, const Packet& packet) {
    o.s.reads += packet.kind == PacketKind::kRead ? 1 : 0;
    return LinkPassage::kPasses;
  }
  template <class O>
  NW_HD static void step(O& o, Tick now) {
    if (o.s.due > now) return;
    o.s.due = kNever;
    o.s.ready = true;
  }
  template <class O>
  NW_HD static Tick next(const O& o, Tick) {
    return o.s.due;
  }
  template <class O>
  NW_HD static bool has_packet(const O& o) {
    return o.s.ready;
  }
  template <class O>
  NW_HD static Packet next_packet(const O& o) {
    return o.s.answer;
  }
  template <class O>
  NW_HD static void on_sent(O& o, Tick) {
    o.s.busy = o.s.ready = false;
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 205;
  using OnLink = link_cache::OnLink;
};

}  // namespace nearwarp::link_cache
