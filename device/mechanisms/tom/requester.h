// The offload controller's side on the requesting SM (TOM, sections 3.3, 4.2 and 4.4.2).
//
// A warp that comes to a candidate's first instruction leaves the ready set:
//   deciding   the controller takes its pipeline latency, then checks the condition;
//   searching  if the first instruction is no memory access, the warp executes until the first one
//              to learn the destination stack [footnote 4]; those instructions are executed again;
//   draining   every store that the SM issued before must be acknowledged by memory, and the warp's
//              registers must have their values (the request carries them);
//   asking     the front end counts the pending requests per stack and grants or denies a slot;
//   granted    the request waits for the network;
//   away       until the acknowledgement brings registers and program counter back.
#pragma once

#include "device/mechanisms/tom/map_analyzer.h"
#include "device/sm/progress.h"
#include "device/sm/store_epochs.h"

namespace nearwarp::tom {

using sm::Cursor;
using sm::ImageInstr;
using sm::kEndOfTrace;
using sm::Phase;
using sm::Warp;

template <class O>
NW_HD NW_INLINE WarpSide& side_of(O& o, uint32_t warp) {
  return o.s.warps.in(o.v.base)[warp];
}
template <class O>
NW_HD NW_INLINE CandidateCounters& counters_of(O& o, const WarpSide& t) {
  return o.s.candidates.in(o.v.base)[t.candidate];
}
template <class O>
NW_HD NW_INLINE Candidate candidate_of(const O& o, const WarpSide& t) {
  return o.p.candidates.in(o.v.base)[t.candidate];
}

/// The warp leaves the SM's hands.
template <class O>
NW_HD NW_INLINE void hold(O& o, uint32_t warp, Step step) {
  Warp& w = o.v.warps[warp];
  w.phase = Phase::kHeld;
  w.holder = static_cast<uint8_t>(o.bit);
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
  side_of(o, warp).step = step;
}
/// And goes back.
template <class O>
NW_HD NW_INLINE void set_free(O& o, uint32_t warp, Step step) {
  Warp& w = o.v.warps[warp];
  w.phase = Phase::kRunning;
  w.holder = 0;
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
  side_of(o, warp).step = step;
}

/// Go on at home with the instruction at the cursor.
template <class O>
NW_HD inline void stay(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  t.at_home = true;
  t.searched = t.searched_threads = 0;
  set_free(o, warp, Step::kNone);
  sm::schedule(o.v, warp, now, now + 1);
}

NW_HD NW_INLINE void set_bit(uint8_t& mask, uint32_t bit, bool on) {
  mask = static_cast<uint8_t>(on ? mask | bit : mask & ~bit);
}
/// The SM tells of acknowledged stores while somebody drains.
template <class O>
NW_HD NW_INLINE void note_draining(O& o) {
  set_bit(o.v.s.awaits_stores, o.bit, o.s.draining.any());
}
/// It gives the network while there are requests or returns to be sent.
template <class O>
NW_HD NW_INLINE void note_network(O& o) {
  set_bit(o.v.s.wants_network, o.bit, o.s.granted.any() || o.s.returning.any());
}
/// And the front end's channel while there is anything to be said.
template <class O>
NW_HD NW_INLINE void note_control(O& o) {
  set_bit(o.v.s.wants_control, o.bit, o.s.to_ask.any() || o.s.num_to_release != 0 || may_report(o));
}

/// Ask for a slot once memory has the SM's earlier stores and the registers have their values
/// (deviations 31 and 32 in tests/validation/DEVIATIONS.md).
template <class O>
NW_HD inline void try_ask(O& o, uint32_t warp, uint32_t now) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  if (v.warps[warp].timer || !sm::drained(v.s, t.drain_epoch)) return;
  const uint32_t at = sm::registers_ready(v, warp);
  if (at == sm::kPendingLoad) return;
  if (at > now) {
    sm::set_timer(v, warp, at, now);
    return;
  }
  t.step = Step::kAsking;
  o.s.draining.clear(warp);
  note_draining(o);
  o.s.to_ask.set(warp);
  note_control(o);
}

/// The line that the first active lane of an access wants.
template <class V>
NW_HD inline LineAddr first_line(const V& v, const uint64_t* words, uint32_t record,
                                 uint32_t mask) {
  const uint32_t lane = count_trailing_zeros(mask);
  const uint64_t r = words[record];
  const int stride = trace::record_stride(r);
  uint64_t address = trace::record_base(r);
  if (stride >= trace::kMinStride) {
    address += static_cast<uint64_t>(static_cast<int64_t>(stride) * lane);
  } else if (stride == trace::kTiles) {
    address += trace::tile_distance(words[record + 1], lane);
  } else if (stride == trace::kDeltas) {
    address += static_cast<uint32_t>(words[record + 1]);
  } else {
    address = words[record + 1];
  }
  address &= trace::kAddressMask;
  return static_cast<LineAddr>((address - v.p.device_base) >> v.p.line_shift);
}

/// The destination is known: last checks, then drain and ask.
template <class O>
NW_HD inline void request(O& o, uint32_t warp, uint32_t now, uint32_t record, uint32_t mask) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  const Candidate c = candidate_of(o, t);
  const LineAddr line = first_line(v, v.words(v.warps[warp]), record, mask);
  t.stack = static_cast<uint8_t>(v.stack_of(v.physical(line, v.warps[warp].space)));
  if (o.p.dynamic_control && !o.p.no_overhead) {
    const uint32_t busy = o.s.busy_channels >> (2 * t.stack);
    const bool tx = (busy & 1) != 0 && c.saves_tx == 0;
    const bool rx = (busy & 2) != 0 && c.saves_rx == 0;
    if (tx || rx) {
      CandidateCounters& n = counters_of(o, t);
      (tx ? n.refused_busy_tx : n.refused_busy_rx) += 1;
      stay(o, warp, now);
      return;
    }
  }
  t.drain_epoch = o.p.no_overhead ? v.s.oldest_epoch - 1 : sm::begin_drain(v.s);
  hold(o, warp, Step::kDraining);
  o.s.draining.set(warp);
  note_draining(o);
  try_ask(o, warp, now);
}

/// The warp is inside its candidate, looking for the first memory access. Returns true if the
/// instruction at the cursor is one, and the offload goes on from there.
template <class O>
NW_HD inline bool at_first_access(O& o, uint32_t warp, uint32_t now) {
  const Warp& w = o.v.warps[warp];
  const ImageInstr& in = o.v.instr(w.at.pc);
  if (!in.accesses_data()) return false;
  const sm::Access a =
      sm::read_access(o.v.words(w), w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded);
  if (a.mask == 0) return false;  // no lane executes it
  request(o, warp, now, a.record, a.mask);
  return true;
}

/// Ideal offloading: the destination is known without executing anything.
template <class O>
NW_HD inline void request_ahead(O& o, uint32_t warp, uint32_t now) {
  auto& v = o.v;
  const Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const uint64_t* words = v.words(w);
  const ProgramTables program = o.p.program(v.base);
  Cursor c = w.at;
  while (c.pc != kEndOfTrace && program.candidate_at(c.pc) == t.candidate) {
    const ImageInstr& in = v.instr(c.pc);
    if ((in.flags & sm::kHasRecord) != 0) {
      const sm::Access a = sm::read_access(words, c.trace_pos, c.mask, in.flags & sm::kGuarded);
      if (a.mask != 0 && in.accesses_data()) {
        request(o, warp, now, a.record, a.mask);
        return;
      }
      c.trace_pos = a.next;
    }
    sm::advance(c, words, v.system.image, w.first_block);
  }
  counters_of(o, t).no_memory_access += 1;
  stay(o, warp, now);
}

/// Learning phase: the warp stays, its instance is analysed. If the analyzer still holds the warp's
/// last one, look again later.
template <class O>
NW_HD inline void learn(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  if (open_instance(o, warp)) {
    set_free(o, warp, Step::kNone);
    sm::schedule(o.v, warp, now, earliest);
    return;
  }
  hold(o, warp, Step::kDeciding);
  sm::set_timer(o.v, warp, now + o.p.pipeline_latency, now);
}

/// The pipeline latency is over: condition first, then the destination.
template <class O>
NW_HD inline void decide(O& o, uint32_t warp, uint32_t now) {
  if (is_learning(o)) {
    learn(o, warp, now, now + 1);
    return;
  }
  auto& v = o.v;
  const Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const uint32_t threshold = candidate_of(o, t).threshold;
  counters_of(o, t).instances += 1;
  t.decided = now;
  if (threshold != 0 && iterations_ahead(w.at, v.words(w), v.system.image, o.p.program(v.base),
                                         w.first_block, t.candidate, threshold) < threshold) {
    counters_of(o, t).refused_condition += 1;
    stay(o, warp, now);
    t.at_home = false;  // short ones are not what offloading is compared with
    return;
  }
  if (o.p.no_overhead) {
    request_ahead(o, warp, now);
    return;
  }
  if (at_first_access(o, warp, now)) return;
  t.at_home = true;
  set_free(o, warp, Step::kSearching);
  set_bit(o.v.warps[warp].count, o.bit, true);
  sm::schedule(v, warp, now, now + 1);
}

/// The warp has come to the end of a candidate that it executed at home, or of its trace.
template <class O>
NW_HD inline void leave_candidate(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  if (t.candidate == kNoCandidate) return;
  if (t.step == Step::kSearching) {
    t.step = Step::kNone;
    t.searched = t.searched_threads = 0;
    counters_of(o, t).no_memory_access += 1;
  }
  if (t.at_home) {
    t.at_home = false;
    CandidateCounters& n = counters_of(o, t);
    n.kept += 1;
    n.kept_cycles += now - t.decided;
  }
  if (t.analyzed) close_instance(o, warp);
  t.candidate = kNoCandidate;
  Warp& w = o.v.warps[warp];
  w.watch = static_cast<uint8_t>(w.watch & ~o.bit);
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
}

/// The cursor of a warp on a main SM stands at an instruction that begins a candidate, or the warp
/// is in one. True: the warp is not to be scheduled.
template <class O>
NW_HD inline bool look_at(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& v = o.v;
  Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const ProgramTables program = o.p.program(v.base);
  const uint16_t here = program.candidate_at(w.at.pc);
  if (here == t.candidate) return t.step == Step::kSearching && at_first_access(o, warp, now);
  leave_candidate(o, warp, now);
  if (!program.begins(w.at.pc)) return false;
  t.candidate = here;
  t.saved = w.at;
  w.watch = static_cast<uint8_t>(w.watch | o.bit);
  if (is_learning(o)) {
    learn(o, warp, now, earliest);
    return true;
  }
  hold(o, warp, Step::kDeciding);
  const uint32_t at = now + (o.p.no_overhead ? 1 : o.p.pipeline_latency);
  sm::set_timer(v, warp, at > earliest ? at : earliest, now);
  return true;
}

/// The front end's answer.
template <class O>
NW_HD inline void on_answer(O& o, const Packet& p, uint32_t now) {
  const uint32_t warp = p.tag;
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kAsking);
  if (p.kind == kOffloadDeny) {
    counters_of(o, t).refused_pending += 1;
    stay(o, warp, now);
    return;
  }
  t.step = Step::kGranted;
  o.s.granted.set(warp);
  note_network(o);
}

/// A candidate's beginning, mask and trace position, as request and acknowledgement carry them.
NW_HD inline void pack_cursor(const Cursor& c, Packet& p) {
  p.payload = c.trace_pos | uint64_t{c.pc} << 32;
  p.sectors = c.mask;
  p.extra = c.block | c.repeats << 20;
}
template <class V>
NW_HD inline Cursor unpack_cursor(const V& v, const Packet& p) {
  Cursor c;
  c.trace_pos = static_cast<uint32_t>(p.payload);
  c.pc = static_cast<uint32_t>(p.payload >> 32);
  c.mask = p.sectors;
  c.block = p.extra & 0xfffffu;
  c.repeats = p.extra >> 20;
  const sm::ImageBlock& b = v.system.image.blocks[c.block];
  c.end = b.first + b.count;
  return c;
}

/// Send one granted request, if the network takes it.
template <class O>
NW_HD inline void send_request(O& o, uint32_t now) {
  auto& v = o.v;
  if (!o.s.granted.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.s.granted.take_first();
  note_network(o);
  const Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  Packet p;
  p.kind = kOffloadRequest;
  p.src = v.s.endpoint;
  p.dst = o.p.stack_sms.in(v.base)[t.stack];
  pack_cursor(t.saved, p);
  p.line = w.thread_block;
  p.tag = warp | static_cast<uint32_t>(w.kernel) << 8 | uint32_t{w.space} << 24;
  p.bytes = o.p.no_overhead
                ? uint16_t{0}
                : static_cast<uint16_t>(v.p.header_bytes + kRequestContextBytes +
                                        uint32_t{candidate_of(o, t).live_in_bytes} * sm::kWarpSize);
  v.s.counters.redundant += t.searched;
  v.s.counters.redundant_threads += t.searched_threads;
  t.searched = t.searched_threads = 0;
  t.at_home = false;
  t.step = Step::kAway;
  t.since = now;
  counters_of(o, t).offloaded += 1;
  o.s.counters.request_bytes += p.bytes;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Is there a message for the front end?
template <class O>
NW_HD inline bool has_control(const O& o) {
  return o.s.to_ask.any() || o.s.num_to_release != 0 || wants_to_report(o);
}

/// Questions and releases for the front end, one message per cycle.
template <class O>
NW_HD inline void send_control(O& o, uint32_t now) {
  auto& v = o.v;
  if (!has_control(o) || !can_send(v.to_front_end(), v.base, v.tick(now))) return;
  const bool report = wants_to_report(o);
  Packet p;
  if (report) p = take_report(o);
  p.src = v.s.endpoint;
  p.dst = v.p.front_end;
  if (report) {
    // Nothing is offloaded while the analyzer has something to say.
  } else if (o.s.num_to_release != 0) {
    uint32_t stack = 0;
    while (o.s.to_release[stack] == 0) ++stack;
    o.s.to_release[stack] -= 1;
    o.s.num_to_release -= 1;
    p.kind = kOffloadRelease;
    p.line = stack;
  } else {
    const uint32_t warp = o.s.to_ask.take_first();
    p.kind = kOffloadAsk;
    p.tag = warp;
    p.line = side_of(o, warp).stack;
  }
  note_control(o);
  send(v.to_front_end(), v.base, v.tick(now), p, v.horizon);
}

/// A line that an offloaded block wrote: drop it here and in its L2 slice (section 4.4.2; deviation
/// 35 in tests/validation/DEVIATIONS.md). The invalidation network takes a packet: see
/// OnSm::accept_tick().
template <class O>
NW_HD inline void on_dirty(O& o, LineAddr line, uint32_t now) {
  auto& v = o.v;
  cache::l1_invalidate_line(v.p.l1, v.s.l1, v.base, line);
  o.s.counters.dirty_lines += 1;
  Packet p;
  p.kind = PacketKind::kInvalidate;
  p.src = v.s.endpoint;
  p.dst = v.gpu_home_of(line);
  p.line = line;
  p.bytes = static_cast<uint16_t>(v.p.header_bytes);
  send(*o.s.invalidations.in(v.base), v.base, v.tick(now), p, v.horizon);
}

/// The block has been executed: take registers and program counter, go on.
template <class O>
NW_HD inline void on_ack(O& o, const Packet& packet, uint32_t now) {
  auto& v = o.v;
  const uint32_t warp = packet.tag;
  Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kAway);
  w.at = unpack_cursor(v, packet);
  counters_of(o, t).returned += 1;
  counters_of(o, t).offloaded_cycles += now - t.decided;
  t.candidate = kNoCandidate;
  w.watch = static_cast<uint8_t>(w.watch & ~o.bit);
  set_free(o, warp, Step::kNone);
  o.s.counters.returned += 1;
  o.s.counters.ack_bytes += packet.bytes;
  o.s.counters.away_cycles += now - t.since;
  o.s.to_release[t.stack] += 1;
  o.s.num_to_release += 1;
  note_control(o);
  sm::continue_warp(v, warp, now, now + 1);
}

}  // namespace nearwarp::tom
