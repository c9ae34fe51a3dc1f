// A mechanism at a link that delays reads (they wait at a gate), answers some itself, and sends
// writes of its own.
#pragma once

#include "device/link/link_mechanisms.h"

namespace nearwarp::link_gate {

struct OnLink : LinkHooks {
  struct State {
    Tick opens = kNever;      ///< when the read at the gate may pass
    uint64_t passed[2] = {};  ///< by direction: packets that have passed
    Packet answer;
    bool answers = false;
    uint32_t sent = 0, to_send = 0;  ///< the mechanism's own writes
  };
  struct Params {
    uint32_t cycles = 0;   ///< how long a read waits
    bool answers = false;  ///< answer reads instead of letting them pass
    uint32_t writes = 0;   ///< own writes, sent once a packet has passed
  };

  template <class O>
  NW_HD static LinkPassage on_packet(O& o, const Packet& packet, LinkWay way, Tick now) {
    if (packet.kind == PacketKind::kRead) {
      if (o.s.opens >= kNever) o.s.opens = now + Tick{o.p.cycles} * o.v.p.ports.period;
      if (o.s.opens > now || (o.p.answers && o.s.answers)) return LinkPassage::kWaits;
      o.s.opens = kNever;
      if (o.p.answers) {
        o.s.answer = packet;
        o.s.answer.kind = PacketKind::kReadReply;
        o.s.answer.dst = packet.src;
        o.s.answers = true;
        return LinkPassage::kTaken;
      }
    }
    if (o.s.passed[0] == 0) o.s.to_send = o.p.writes;
    o.s.passed[way == LinkWay::kFromStack ? 1 : 0] += 1;
    return LinkPassage::kPasses;
  }
  template <class O>
  NW_HD static Tick next(const O& o, Tick from) {
    return o.s.opens < from ? from : o.s.opens;
  }
  template <class O>
  NW_HD static bool has_packet(const O& o) {
    return o.s.answers || o.s.to_send != 0;
  }
  template <class O>
  NW_HD static Packet next_packet(const O& o) {
    if (o.s.answers) return o.s.answer;
    Packet write;
    write.kind = PacketKind::kWrite;
    write.dst = Endpoint{3};
    write.bytes = 40;
    write.tag = 100 + o.s.sent;
    return write;
  }
  template <class O>
  NW_HD static void on_sent(O& o, Tick) {
    if (o.s.answers) {
      o.s.answers = false;
      return;
    }
    o.s.sent += 1;
    o.s.to_send -= 1;
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 206;
  using OnLink = link_gate::OnLink;
};

}  // namespace nearwarp::link_gate
