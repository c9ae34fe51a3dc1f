// The offload controller's side on the requesting SM (TOM, sections 3.3, 4.2 and 4.4.2).
//
// A warp that comes to a candidate's first instruction leaves the ready set:
//   deciding   the controller takes its pipeline latency, then checks the condition;
//   (running)  if the first instruction is no memory access, the warp executes until the first one
//              to learn the destination stack [footnote 4]; those instructions are executed again;
//   draining   every store that the SM issued before must be acknowledged by memory, and the warp's
//              registers must have their values (the request carries them);
//   asking     the front end counts the pending requests per stack and grants or denies a slot;
//   granted    the request waits for the network;
//   away       until the acknowledgement brings registers and program counter back.
#pragma once

#include "device/offload/map_analyzer.h"
#include "device/sm/store_epochs.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::offload {

using sm::bit;
using sm::Cursor;
using sm::ImageInstr;
using sm::kEndOfTrace;
using sm::kNoCandidate;
using sm::Phase;
using sm::Warp;

/// The warp has come to the end of its trace, or an offloaded one to the end of its candidate.
template <class V>
NW_HD inline void finish_warp(V& v, uint32_t warp, uint32_t now);

/// The cycle from which all registers of a warp have their values; sm::kPendingLoad while one of
/// them is to come from memory.
template <class V>
NW_HD inline uint32_t registers_ready(const V& v, uint32_t warp) {
  const uint32_t* slots = v.slots(warp);
  const uint32_t n = v.system.image.kernels[v.warps[warp].kernel].num_slots;
  uint32_t at = 0;
  for (uint32_t i = 0; i < n; ++i) at = slots[i] > at ? slots[i] : at;
  return at;
}

/// The block's warp has nothing in flight any more. An offloaded one also waits for its registers,
/// which the acknowledgement carries.
template <class V>
NW_HD inline void try_retire(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.phase != Phase::kFinished || w.loads != 0 || w.stores != 0) return;
  if (v.p.in_stack) {
    if (w.timer) return;
    const uint32_t at = registers_ready(v, warp);
    if (at > now) {
      sm::set_timer(v, warp, at, now);
      return;
    }
    w.phase = Phase::kReturning;
    v.s.offload.returning.set(warp);
    return;
  }
  auto& b = v.blocks[w.block_slot];
  b.running.clear(warp);
  v.s.counters.warps_finished += 1;
  if (b.running.any()) return;
  b.warps.each([&](uint32_t i) { v.warps[i].phase = Phase::kFree; });
  v.s.free_warps |= b.warps;
  v.s.blocks_done |= bit(w.block_slot);
  v.s.counters.blocks_finished += 1;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < v.s.num_block_order; ++i)
    if (v.s.block_order[i] != w.block_slot) v.s.block_order[kept++] = v.s.block_order[i];
  v.s.num_block_order = kept;
}

template <class V>
NW_HD inline void finish_warp(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  w.phase = Phase::kFinished;
  if (!v.p.in_stack) {
    v.blocks[w.block_slot].alive -= 1;
    v.s.recheck_barriers |= bit(w.block_slot);
  }
  try_retire(v, warp, now);
}

template <class V>
NW_HD inline CandidateCounters& candidate_counters(V& v, const Warp& w) {
  return v.s.offload.candidates.in(v.base)[w.candidate];
}

/// Go on at home with the instruction at the cursor.
template <class V>
NW_HD inline void stay(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  w.at_home = true;
  if (w.searching) {
    w.searching = false;
    w.searched = w.searched_threads = 0;
  }
  w.phase = Phase::kRunning;
  sm::schedule(v, warp, now, now + 1);
}

/// Ask for a slot once memory has the SM's earlier stores and the registers have their values
/// (deviations 31 and 32 in tests/validation/DEVIATIONS.md).
template <class V>
NW_HD inline void try_ask(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.timer || !sm::drained(v.s, w.drain_epoch)) return;
  const uint32_t at = registers_ready(v, warp);
  if (at == sm::kPendingLoad) return;
  if (at > now) {
    sm::set_timer(v, warp, at, now);
    return;
  }
  w.phase = Phase::kAsking;
  v.s.offload.draining.clear(warp);
  v.s.offload.to_ask.set(warp);
}

/// The destination is known: last checks, then drain and ask.
template <class V>
NW_HD inline void request(V& v, uint32_t warp, uint32_t now, uint32_t record, uint32_t mask) {
  Warp& w = v.warps[warp];
  auto& o = v.s.offload;
  const sm::Candidate& c = v.system.image.candidates[w.candidate];
  const uint64_t* words = v.words(w);
  // The first active lane's address decides.
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
  const LineAddr line = static_cast<LineAddr>((address - v.p.device_base) >> v.p.line_shift);
  w.stack = static_cast<uint8_t>(v.stack_of(v.physical(line, w.space)));
  if (v.p.offload.dynamic_control && !v.p.offload.no_overhead) {
    const uint32_t busy = o.busy_channels >> (2 * w.stack);
    const bool tx = (busy & 1) != 0 && c.saves_tx == 0;
    const bool rx = (busy & 2) != 0 && c.saves_rx == 0;
    if (tx || rx) {
      CandidateCounters& n = candidate_counters(v, w);
      (tx ? n.refused_busy_tx : n.refused_busy_rx) += 1;
      stay(v, warp, now);
      return;
    }
  }
  w.drain_epoch = v.p.offload.no_overhead ? v.s.oldest_epoch - 1 : sm::begin_drain(v.s);
  w.phase = Phase::kDraining;
  o.draining.set(warp);
  try_ask(v, warp, now);
}

/// The warp is inside its candidate, looking for the first memory access. Returns true if the
/// instruction at the cursor is one, and the offload goes on from there.
template <class V>
NW_HD inline bool at_first_access(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  const ImageInstr& in = v.instr(w.at.pc);
  if ((in.flags & sm::kHasRecord) == 0) return false;
  const sm::Access a =
      sm::read_access(v.words(w), w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded);
  if (a.mask == 0) return false;  // no lane executes it
  request(v, warp, now, a.record, a.mask);
  return true;
}

/// Ideal offloading: the destination is known without executing anything.
template <class V>
NW_HD inline void request_ahead(V& v, uint32_t warp, uint32_t now) {
  const Warp& w = v.warps[warp];
  const uint64_t* words = v.words(w);
  Cursor c = w.at;
  while (c.pc != kEndOfTrace && v.instr(c.pc).candidate == w.candidate) {
    const ImageInstr& in = v.instr(c.pc);
    if ((in.flags & sm::kHasRecord) != 0) {
      const sm::Access a = sm::read_access(words, c.trace_pos, c.mask, in.flags & sm::kGuarded);
      if (a.mask != 0) {
        request(v, warp, now, a.record, a.mask);
        return;
      }
      c.trace_pos = a.next;
    }
    sm::advance(c, words, v.system.image, w.first_block);
  }
  candidate_counters(v, w).no_memory_access += 1;
  stay(v, warp, now);
}

/// Learning phase: the warp stays, its instance is analysed. If the analyzer still holds the warp's
/// last one, look again later.
template <class V>
NW_HD inline void learn(V& v, uint32_t warp, uint32_t now, uint32_t earliest) {
  Warp& w = v.warps[warp];
  if (open_instance(v, warp)) {
    w.phase = Phase::kRunning;
    sm::schedule(v, warp, now, earliest);
    return;
  }
  w.phase = Phase::kDeciding;
  sm::set_timer(v, warp, now + v.p.offload.pipeline_latency, now);
}

/// The pipeline latency is over: condition first, then the destination.
template <class V>
NW_HD inline void decide(V& v, uint32_t warp, uint32_t now) {
  if (v.in_host_memory()) {
    learn(v, warp, now, now + 1);
    return;
  }
  Warp& w = v.warps[warp];
  const sm::Candidate& c = v.system.image.candidates[w.candidate];
  candidate_counters(v, w).instances += 1;
  v.s.offload.decided.in(v.base)[warp] = now;
  if (c.threshold != 0 && sm::iterations_ahead(w.at, v.words(w), v.system.image, w.first_block,
                                               w.candidate, c.threshold) < c.threshold) {
    candidate_counters(v, w).refused_condition += 1;
    stay(v, warp, now);
    return;
  }
  if (v.p.offload.no_overhead) {
    request_ahead(v, warp, now);
    return;
  }
  if (at_first_access(v, warp, now)) return;
  w.at_home = true;
  w.searching = true;
  w.phase = Phase::kRunning;
  sm::schedule(v, warp, now, now + 1);
}

/// The warp has come to the end of a candidate that it executed at home, or of its trace.
template <class V>
NW_HD inline void leave_candidate(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.searching) {
    w.searching = false;
    w.searched = w.searched_threads = 0;
    candidate_counters(v, w).no_memory_access += 1;
  }
  if (w.at_home) {
    w.at_home = false;
    CandidateCounters& n = candidate_counters(v, w);
    n.kept += 1;
    n.kept_cycles += now - v.s.offload.decided.in(v.base)[warp];
  }
  if (w.analyzed) close_instance(v, warp);
  w.candidate = kNoCandidate;
}

/// The cursor stands at the next instruction: go on, begin a candidate, or finish.
/// Always inline: every issued instruction comes here, and with two kinds of SM compilers would
/// call it.
template <class V>
NW_HD NW_INLINE void continue_warp(V& v, uint32_t warp, uint32_t now, uint32_t earliest) {
  Warp& w = v.warps[warp];
  if (w.at.pc == kEndOfTrace) {
    if (!v.p.in_stack) leave_candidate(v, warp, now);
    finish_warp(v, warp, now);
    return;
  }
  if (v.p.offload.enabled) {
    const ImageInstr& in = v.instr(w.at.pc);
    if (in.candidate != w.candidate) {
      if (v.p.in_stack) {
        finish_warp(v, warp, now);
        return;
      }
      leave_candidate(v, warp, now);
      if ((in.flags & sm::kCandidateBegin) != 0) {
        w.candidate = in.candidate;
        w.saved = w.at;
        if (v.in_host_memory()) {
          learn(v, warp, now, earliest);
          return;
        }
        w.phase = Phase::kDeciding;
        const uint32_t at = now + (v.p.offload.no_overhead ? 1 : v.p.offload.pipeline_latency);
        sm::set_timer(v, warp, at > earliest ? at : earliest, now);
        return;
      }
    } else if (w.searching && at_first_access(v, warp, now)) {
      return;
    }
  }
  sm::schedule(v, warp, now, earliest);
}

/// A store has been acknowledged.
template <class V>
NW_HD inline void check_drained(V& v, uint32_t now) {
  v.s.offload.draining.each([&](uint32_t warp) { try_ask(v, warp, now); });
}

/// The front end's answer.
template <class V>
NW_HD inline void on_answer(V& v, const Packet& p, uint32_t now) {
  const uint32_t warp = p.tag;
  NW_ASSERT(v.warps[warp].phase == Phase::kAsking);
  if (p.kind == PacketKind::kOffloadDeny) {
    candidate_counters(v, v.warps[warp]).refused_pending += 1;
    stay(v, warp, now);
    return;
  }
  v.warps[warp].phase = Phase::kGranted;
  v.s.offload.granted.set(warp);
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
template <class V>
NW_HD inline void send_request(V& v, uint32_t now) {
  auto& o = v.s.offload;
  if (!o.granted.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.granted.take_first();
  Warp& w = v.warps[warp];
  const sm::Candidate& c = v.system.image.candidates[w.candidate];
  Packet p;
  p.kind = PacketKind::kOffloadRequest;
  p.src = v.s.endpoint;
  p.dst = static_cast<uint16_t>(v.p.first_stack_sm + w.stack);
  pack_cursor(w.saved, p);
  p.line = w.thread_block;
  p.tag = warp | static_cast<uint32_t>(w.kernel) << 8 | uint32_t{w.space} << 24;
  p.bytes = v.p.offload.no_overhead
                ? uint16_t{0}
                : static_cast<uint16_t>(v.p.header_bytes + kRequestContextBytes +
                                        uint32_t{c.live_in_bytes} * sm::kWarpSize);
  v.s.counters.redundant += w.searched;
  v.s.counters.redundant_threads += w.searched_threads;
  w.searching = false;
  w.searched = w.searched_threads = 0;
  w.at_home = false;
  w.phase = Phase::kAway;
  o.since.in(v.base)[warp] = now;
  candidate_counters(v, w).offloaded += 1;
  o.counters.request_bytes += p.bytes;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Questions and releases for the front end, one message per cycle.
template <class V>
NW_HD inline void send_control(V& v, uint32_t now) {
  auto& o = v.s.offload;
  const bool report = wants_to_report(v);
  if ((!o.to_ask.any() && o.num_to_release == 0 && !report) ||
      !can_send(v.to_front_end(), v.base, v.tick(now)))
    return;
  Packet p;
  if (report) p = take_report(v);
  p.src = v.s.endpoint;
  p.dst = v.p.front_end;
  if (report) {
    // Nothing is offloaded while the analyzer has something to say.
  } else if (o.num_to_release != 0) {
    uint32_t stack = 0;
    while (o.to_release[stack] == 0) ++stack;
    o.to_release[stack] -= 1;
    o.num_to_release -= 1;
    p.kind = PacketKind::kOffloadRelease;
    p.aux = static_cast<uint8_t>(stack);
  } else {
    const uint32_t warp = o.to_ask.take_first();
    p.kind = PacketKind::kOffloadAsk;
    p.tag = warp;
    p.aux = v.warps[warp].stack;
  }
  send(v.to_front_end(), v.base, v.tick(now), p, v.horizon);
}

/// A line that an offloaded block wrote: drop it here and in its L2 slice (section 4.4.2; deviation
/// 35 in tests/validation/DEVIATIONS.md). The caller has checked that the invalidation network
/// takes a packet.
template <class V>
NW_HD inline void on_dirty(V& v, LineAddr line, uint32_t now) {
  cache::l1_invalidate_line(v.p.l1, v.s.l1, v.base, line);
  v.s.offload.counters.dirty_lines += 1;
  Packet p;
  p.kind = PacketKind::kInvalidate;
  p.src = v.s.endpoint;
  p.dst = v.slice_of(line);
  p.line = line;
  p.bytes = static_cast<uint16_t>(v.p.header_bytes);
  send(v.invalidations(), v.base, v.tick(now), p, v.horizon);
}

/// The block has been executed: take registers and program counter, go on.
template <class V>
NW_HD inline void on_ack(V& v, const Packet& packet, uint32_t now) {
  const uint32_t warp = packet.tag;
  Warp& w = v.warps[warp];
  auto& o = v.s.offload;
  NW_ASSERT(w.phase == Phase::kAway);
  w.at = unpack_cursor(v, packet);
  candidate_counters(v, w).returned += 1;
  candidate_counters(v, w).offloaded_cycles += now - o.decided.in(v.base)[warp];
  w.candidate = kNoCandidate;
  w.phase = Phase::kRunning;
  o.counters.returned += 1;
  o.counters.ack_bytes += packet.bytes;
  o.counters.away_cycles += now - o.since.in(v.base)[warp];
  o.to_release[w.stack] += 1;
  o.num_to_release += 1;
  continue_warp(v, warp, now, now + 1);
}

}  // namespace nearwarp::offload
