// An SM bench whose network answers offload requests as a stack SM would.
#pragma once

#include "tests/support/sm_bench.h"

namespace nearwarp::testing {

/// The cursor where it leaves candidate `id`.
inline sm::Cursor leave_candidate(const Program& program, const Traces& traces, sm::Cursor c,
                                  uint16_t id) {
  const sm::ProgramImage image = program.view();
  const tom::ProgramTables tables = program.tables();
  while (c.pc != sm::kEndOfTrace && tables.is_in(c.pc, id)) {
    const sm::ImageInstr& in = image.instrs[c.pc];
    if ((in.flags & sm::kHasRecord) != 0)
      c.trace_pos =
          sm::read_access(traces.words.data(), c.trace_pos, c.mask, in.flags & sm::kGuarded).next;
    sm::advance(c, traces.words.data(), image, 0);
  }
  return c;
}

/// The cursor at the first instruction of candidate `id` in the trace at `pos`.
inline sm::Cursor find_candidate(const Program& program, const Traces& traces, uint32_t pos,
                                 uint16_t id) {
  const sm::ProgramImage image = program.view();
  sm::Cursor c;
  c.trace_pos = pos;
  sm::fetch_first(c, traces.words.data(), image, 0);
  while (program.candidate_of[c.pc] != id) {
    const sm::ImageInstr& in = image.instrs[c.pc];
    if ((in.flags & sm::kHasRecord) != 0)
      c.trace_pos =
          sm::read_access(traces.words.data(), c.trace_pos, c.mask, in.flags & sm::kGuarded).next;
    sm::advance(c, traces.words.data(), image, 0);
  }
  return c;
}

struct OffloadBench : SmBench {
  Tick away = 100;              ///< from a request's arrival at the network to the acknowledgement
  bool grants = true;           ///< the front end grants requests
  std::vector<LineAddr> dirty;  ///< dirty lines sent before the acknowledgement

  OffloadBench() {
    offload.enabled = true;
    offload.pipeline_latency = 10;
    front_end->handler = [this](const Packet& p, Tick t) {
      if (p.kind != tom::kOffloadAsk) return false;
      Packet a;
      a.kind = grants ? tom::kOffloadGrant : tom::kOffloadDeny;
      a.tag = p.tag;
      front_end->send_at(t, a);
      return true;
    };
    network->handler = [this](const Packet& p, Tick t) {
      if (p.kind != tom::kOffloadRequest) return false;
      answer(p, t);
      return true;
    };
  }
  Packet only(PacketKind kind) const {
    const auto some = network->of(kind);
    EXPECT_EQ(some.size(), 1u);
    return some.empty() ? Packet{} : some[0].packet;
  }

 private:
  void answer(const Packet& request, Tick t) {
    sm::Cursor c;
    c.trace_pos = static_cast<uint32_t>(request.payload);
    const bool inner = (request.payload & tom::kInnerCandidate) != 0;
    c.pc = static_cast<uint32_t>((request.payload & ~tom::kInnerCandidate) >> 32);
    c.mask = request.sectors;
    c.block = request.extra & 0xfffffu;
    c.repeats = request.extra >> 20;
    c.end = program.blocks[c.block].first + program.blocks[c.block].count;
    Packet ack;
    ack.kind = tom::kOffloadAck;
    ack.tag = request.tag & 0xff;
    ack.bytes = 40;
    const uint16_t id = (inner ? program.inner_of : program.candidate_of)[c.pc];
    tom::pack_cursor(leave_candidate(program, traces, c, id), ack);
    for (const LineAddr line : dirty) {
      Packet d;
      d.kind = tom::kOffloadDirty;
      d.line = line;
      d.bytes = 8;
      network->send_at(t + away, d);
    }
    network->send_at(t + away, ack);
  }
};

}  // namespace nearwarp::testing
