// The offload controller's side on the requesting SM (TOM, sections 3.3, 4.2 and 4.4.2).
//
// A warp that reaches the first instruction of a candidate (a block of code that may be offloaded)
// leaves the ready set and goes through these steps:
//   deciding   the controller takes its pipeline latency, then checks the condition;
//   searching  if the first instruction is not a memory access, the warp executes up to the first
//              one, whose address gives the destination stack [footnote 4]; the instructions before
//              it are executed again near memory;
//   draining   every store that the SM issued before must be acknowledged by memory, and the warp's
//              registers must have their values (the request carries them);
//   asking     the front end counts the pending requests per stack and grants or denies a slot;
//   granted    the request waits for the network;
//   away       until the acknowledgement brings registers and program counter back.
#pragma once

#include "device/mechanisms/tom/direct.h"
#include "device/sm/store_epochs.h"

namespace nearwarp::tom {

/// Have the SM report acknowledged stores while any warp drains.
template <class O>
NW_HD NW_INLINE void note_draining(O& o) {
  set_bit(o.v.s.awaits_stores, o.bit, o.s.draining.any());
}
/// Ask for the network port while there are requests or returns to send.
template <class O>
NW_HD NW_INLINE void note_network(O& o) {
  set_bit(o.v.s.wants_network, o.bit, o.s.granted.any() || o.s.returning.any());
}
/// Ask for the channel to the front end while there is a message to send.
template <class O>
NW_HD NW_INLINE void note_control(O& o) {
  set_bit(o.v.s.wants_control, o.bit, o.s.to_ask.any() || o.s.num_to_release != 0 || may_report(o));
}

/// Ask for a slot once memory has the SM's earlier stores and the registers have their values
/// (deviations 31 and 32 in tests/validation/DEVIATIONS.md).
template <class O>
NW_HD NW_APART inline void try_ask(O& o, uint32_t warp, uint32_t now) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  if (v.s.timed.test(warp) || !sm::drained(v.s, t.drain_epoch)) return;
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

/// The destination is known: last checks, then drain and ask.
template <class O>
NW_HD NW_APART inline void request(O& o, uint32_t warp, uint32_t now, uint32_t record,
                                   uint32_t mask) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  const Candidate c = candidate_of(o, t);
  t.stack = destination_of(o, warp, record, mask);
  if (o.p.dynamic_control) {
    const uint32_t busy = o.s.busy_channels >> (2 * number_of(t.stack));
    const bool tx = o.p.busy_refuses && (busy & 1) != 0 && c.saves_tx == 0;
    const bool rx = o.p.busy_refuses && (busy & 2) != 0 && c.saves_rx == 0;
    if (tx || rx) {
      CandidateCounters& n = counters_of(o, t);
      (tx ? n.refused_busy_tx : n.refused_busy_rx) += 1;
      note_refusal(o, t);
      stay(o, warp, now);
      return;
    }
  }
  if (o.p.tuning.room_known && (o.s.busy_channels & full_bit(t.stack)) != 0) {
    counters_of(o, t).refused_pending += 1;
    note_refusal(o, t);
    stay(o, warp, now);
    return;
  }
  t.drain_epoch = sm::begin_drain(v.s);
  hold(o, warp, Step::kDraining);
  sm::note_event(v, EventKind::kDecided, now, warp,
                 node_of(o.p.stack_sms.in(v.base)[number_of(t.stack)]));
  o.s.draining.set(warp);
  note_draining(o);
  try_ask(o, warp, now);
}

/// The warp is inside its candidate, searching for the first memory access. If the instruction at
/// the cursor is one, request the offload and return true.
template <class O>
NW_HD NW_APART inline bool at_first_access(O& o, uint32_t warp, uint32_t now) {
  const Warp& w = o.v.warps[warp];
  const ImageInstr& in = o.v.instr(w.at.pc);
  if (!in.accesses_data() || in.accesses_shared()) return false;
  const sm::Access a =
      sm::read_access(o.v.words(w), w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded);
  if (a.mask == 0) return false;  // no lane executes it
  request(o, warp, now, a.record, a.mask);
  return true;
}

/// Is the instruction at the cursor an update of shared memory? An update that was executed at home
/// must not be executed again near memory, so the search ends there.
template <class O>
NW_HD NW_INLINE bool at_shared_update(const O& o, uint32_t warp) {
  const sm::Action action = o.v.instr(o.v.warps[warp].at.pc).action;
  return action == sm::Action::kSharedStore || action == sm::Action::kSharedAtomic;
}

/// Learning phase: the warp stays at home, and its instance of the candidate is analysed. If the
/// analyzer still has to report the warp's previous instance, try again later.
template <class O>
NW_HD NW_APART inline void learn(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  if (is_reporting(o, warp)) {
    hold(o, warp, Step::kDeciding);
    sm::set_timer(o.v, warp, now + o.p.pipeline_latency, now);
    return;
  }
  const bool counts = is_long_enough(o, warp);
  if (!counts && o.p.inner_of.count != 0) side_of(o, warp).paused = true;
  if (counts || enter_inner(o, warp, now)) open_instance(o, warp);
  set_free(o, warp, Step::kNone);
  sm::schedule(o.v, warp, now, earliest);
}

/// Decide, once the pipeline latency is over: check the condition, then find the destination.
template <class O>
NW_HD NW_APART inline void decide(O& o, uint32_t warp, uint32_t now) {
  if (is_learning(o)) {
    learn(o, warp, now, now + 1);
    return;
  }
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  counters_of(o, t).instances += 1;
  t.decided = now;
  if (!is_long_enough(o, warp)) {
    refuse_short(o, t);
    if (!enter_inner(o, warp, now)) {
      stay(o, warp, now);
      t.at_home = false;  // instances below the threshold are not compared with offloaded ones
      return;
    }
    counters_of(o, t).instances += 1;
    t.decided = now;
  }
  if (at_first_access(o, warp, now)) return;
  if (at_shared_update(o, warp)) {
    counters_of(o, t).no_memory_access += 1;
    stay(o, warp, now);
    return;
  }
  t.at_home = true;
  set_free(o, warp, Step::kSearching);
  set_bit(o.v.warps[warp].count, o.bit, true);
  sm::schedule(v, warp, now, now + 1);
}

/// Offer the rest of the loop, at whose head the warp stands, for offloading.
template <class O>
NW_HD inline void begin_trial(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  const Warp& w = o.v.warps[warp];
  WarpSide& t = side_of(o, warp);
  if (t.step == Step::kSearching) {  // a whole iteration without an access
    t.searched = t.searched_threads = 0;
    counters_of(o, t).no_memory_access += 1;
  }
  t.saved = w.at;
  t.rounds_passed = 1;
  hold(o, warp, Step::kDeciding);
  sm::set_timer(o.v, warp, (earliest > now ? earliest : now) + o.p.tuning.trial_cycles, now);
}

/// Learning phase: every round (iteration of the loop) is an instance, and the previous one has
/// ended.
template <class O>
NW_HD NW_APART void learn_round(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  if (t.analyzed) close_instance(o, warp);
  t.saved = o.v.warps[warp].at;  // the warp is offered from here if the phase ends while it waits
  t.rounds_passed = 1;
  learn(o, warp, now, earliest + o.p.tuning.begin_cycles);
}

/// Offloading without overhead: offer the rest of the loop at whose head the warp stands. True: the
/// warp is held.
template <class O>
NW_HD inline bool begin_direct_trial(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  t.saved = o.v.warps[warp].at;
  t.rounds_passed = 1;
  return begin_direct(o, warp, now, earliest);
}

/// Can a warp that executes its candidate at home still be offered at this instruction?
template <class O>
NW_HD NW_INLINE bool offers_at(const O& o, const WarpSide& t, uint32_t pc) {
  return o.p.tuning.inside && is_head(o, t, pc);
}

/// A warp reaches an instruction of its candidate at home. If it is a loop's head, count the round
/// that begins, and return true.
template <class O>
NW_HD inline bool note_home_round(O& o, WarpSide& t, uint32_t pc) {
  if (!is_head(o, t, pc)) return false;
  CandidateCounters& n = counters_of(o, t);
  n.home_rounds += 1;
  n.begins += o.p.tuning.marks_rounds() && !o.p.no_overhead ? 1 : 0;
  t.rounds_passed += 1;
  return true;
}

/// Begin a round if a warp that executes its candidate at home stands at a loop's head. True: the
/// caller must not schedule the warp.
template <class O>
NW_HD NW_APART bool begin_home_round(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  if (!note_home_round(o, t, v.warps[warp].at.pc) || !o.p.tuning.marks_rounds()) return false;
  if (is_learning(o) && o.p.tuning.round_is_instance) {
    learn_round(o, warp, now, earliest);
    return true;
  }
  // The learning phase ended during the previous round.
  if (t.analyzed && o.p.tuning.round_is_instance) close_instance(o, warp);
  const bool offered = o.p.tuning.inside && !t.paused && !t.analyzed && !is_learning(o);
  if (o.p.no_overhead) return offered && begin_direct_trial(o, warp, now, earliest);
  if (offered) {
    begin_trial(o, warp, now, earliest);
  } else {
    sm::schedule(v, warp, now, earliest + o.p.tuning.begin_cycles);
  }
  return true;
}

/// The warp enters a candidate under tuned offloading. True: no decision is made at its beginning.
template <class O>
NW_HD inline bool enter_tuned(O& o, WarpSide& t) {
  const Candidate c = candidate_of(o, t);
  t.was_away = false;
  t.paused = (t.barred >> c.order & 1) != 0;
  t.rounds_passed = 0;
  return t.paused || (o.p.tuning.inside && c.has_heads);
}

/// A warp at home, whose candidate has too few iterations, stands at the beginning of an inner
/// block that is a candidate by itself. True: the warp is held.
template <class O>
NW_HD NW_APART bool begin_inner(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  if (o.p.tuning.on) note_home_round(o, t, o.v.warps[warp].at.pc);
  enter_inner(o, warp, now);
  if (is_learning(o)) {
    learn(o, warp, now, earliest);
    return true;
  }
  if (o.p.no_overhead) return begin_direct(o, warp, now, earliest);
  hold(o, warp, Step::kDeciding);
  const uint32_t at = now + o.p.pipeline_latency;
  sm::set_timer(o.v, warp, at > earliest ? at : earliest, now);
  return true;
}

/// The cursor of a warp on a main SM stands at the beginning of a candidate, or inside of one.
/// True: the caller must not schedule the warp.
template <class O>
NW_HD inline bool look_at(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& v = o.v;
  Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const ProgramTables program = o.p.program(v.base);
  if (t.candidate != kNoCandidate && !program.is_in(w.at.pc, t.candidate)) {
    const uint16_t outer = candidate_of(o, t).outer;
    leave_candidate(o, warp, now);
    if (outer != kNoCandidate) go_on_outside(o, w, t, outer, now);
  }
  if (t.candidate != kNoCandidate) {
    const bool tuned = o.p.tuning.on;
    if (t.paused && program.inner_beginning(w.at.pc) != kNoCandidate &&
        candidate_of(o, t).outer == kNoCandidate)
      return begin_inner(o, warp, now, earliest);
    if (t.step == Step::kSearching && !(tuned && offers_at(o, t, w.at.pc)) &&
        at_first_access(o, warp, now)) {
      if (tuned) note_home_round(o, t, w.at.pc);
      return true;
    }
    if (t.step == Step::kSearching && at_shared_update(o, warp)) end_search(o, warp);
    return tuned && begin_home_round(o, warp, now, earliest);
  }
  if (!program.begins(w.at.pc)) return false;
  t.candidate = program.candidate_at(w.at.pc);
  t.paused = false;
  t.saved = w.at;
  w.watch = static_cast<uint8_t>(w.watch | o.bit);
  if (o.p.tuning.on) {
    counters_of(o, t).entries += 1;
    t.home_since = now;
    const bool in_rounds = enter_tuned(o, t);
    if (in_rounds && (o.p.tuning.round_is_instance || !is_learning(o)))
      return begin_home_round(o, warp, now, earliest);
    note_home_round(o, t, w.at.pc);  // the candidate may begin with a loop's head
  }
  if (is_learning(o)) {
    learn(o, warp, now, earliest);
    return true;
  }
  if (o.p.no_overhead) return begin_direct(o, warp, now, earliest);
  hold(o, warp, Step::kDeciding);
  const uint32_t at = now + o.p.pipeline_latency;
  sm::set_timer(v, warp, at > earliest ? at : earliest, now);
  return true;
}

/// Take the front end's answer: a slot is granted or denied.
template <class O>
NW_HD NW_APART void on_answer(O& o, const Packet& p, uint32_t now) {
  const uint32_t warp = OffloadAnswer::of(p).warp;
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kAsking);
  if (p.kind != kOffloadGrant) {
    CandidateCounters& n = counters_of(o, t);
    (p.kind == kOffloadDenyShared ? n.refused_shared : n.refused_pending) += 1;
    note_refusal(o, t);
    sm::note_event(o.v, EventKind::kStays, now, warp);
    stay(o, warp, now);
    return;
  }
  t.step = Step::kGranted;
  const Candidate c = candidate_of(o, t);
  t.rows_to_send = c.shared == tuning::SharedKind::kTable ? c.shared_rows : uint16_t{0};
  o.s.granted.set(warp);
  note_network(o);
}

/// Bytes of registers per thread that an offload request carries.
template <class O>
NW_HD inline uint32_t request_registers(const O& o, const WarpSide& t) {
  if (!offers_at(o, t, t.saved.pc)) return candidate_of(o, t).live_in_bytes;
  return o.p.heads.in(o.v.base)[o.p.head_of.in(o.v.base)[t.saved.pc]].live_in_bytes;
}

/// Send one row of a table in shared memory ahead of the request. The row is read in the cycle in
/// which it is sent.
template <class O>
NW_HD NW_APART void send_table_row(O& o, WarpSide& t, uint32_t now) {
  auto& v = o.v;
  const Candidate c = candidate_of(o, t);
  const uint32_t row = c.shared_rows - t.rows_to_send;
  Packet p = tuning::row_packet(v, kTableRow, row, c.shared_bytes);
  p.dst = o.p.stack_sms.in(v.base)[number_of(t.stack)];
  t.rows_to_send = static_cast<uint16_t>(t.rows_to_send - 1);
  counters_of(o, t).table_bytes += p.bytes - v.p.header_bytes;
  tuning::take_port(v, now, 1, tuning::kCopyCycles);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Send one granted request, or the next row of the table that precedes it, if the network has
/// room.
template <class O>
NW_HD NW_APART void send_request(O& o, uint32_t now) {
  auto& v = o.v;
  if (!o.s.granted.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.s.granted.first();
  WarpSide& t = side_of(o, warp);
  if (t.rows_to_send != 0) {
    send_table_row(o, t, now);
    return;
  }
  o.s.granted.clear(warp);
  note_network(o);
  Packet p = request_packet(o, warp);
  p.dst = o.p.stack_sms.in(v.base)[number_of(t.stack)];
  const uint32_t shared = candidate_of(o, t).shared_rows != 0 ? tuning::kSharedContextBytes : 0;
  p.bytes = static_cast<uint16_t>(v.p.header_bytes + kRequestContextBytes + shared +
                                  request_registers(o, t) * sm::kWarpSize);
  if (o.p.tuning.on) {
    t.was_away = true;
    counters_of(o, t).home_cycles += t.decided - t.home_since;
    counters_of(o, t).home_rounds -= t.rounds_passed;
  }
  v.s.counters.redundant += t.searched;
  v.s.counters.redundant_threads += t.searched_threads;
  t.searched = t.searched_threads = 0;
  t.at_home = false;
  t.step = Step::kAway;
  t.since = now;
  sm::set_away(v, warp, true);
  sm::note_event(v, EventKind::kSent, now, warp, node_of(p.dst));
  counters_of(o, t).offloaded += 1;
  o.s.counters.request_bytes += p.bytes;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Is there a message for the front end that can be sent now?
template <class O>
NW_HD inline bool has_control(const O& o) {
  return o.s.to_ask.any() || o.s.num_to_release != 0 || wants_to_report(o);
}

/// Send the front end a report, a release or a question: one message per cycle.
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
    // Releases and questions can wait: nothing is offloaded while the analyzer reports.
  } else if (o.s.num_to_release != 0) {
    uint32_t stack = 0;
    while (o.s.to_release[stack] == 0) ++stack;
    o.s.to_release[stack] -= 1;
    o.s.num_to_release -= 1;
    OffloadRelease{stack_id(stack), o.s.rows_to_release[stack]}.put(p);
    o.s.rows_to_release[stack] = 0;
  } else {
    const uint32_t warp = o.s.to_ask.take_first();
    const WarpSide& t = side_of(o, warp);
    OffloadAsk{warp, t.stack, candidate_of(o, t).shared_rows}.put(p);
  }
  note_control(o);
  send(v.to_front_end(), v.base, v.tick(now), p, v.horizon);
}

/// Invalidate a line that an offloaded block wrote, in this L1 and in its L2 slice (section 4.4.2;
/// deviation 35 in tests/validation/DEVIATIONS.md). The network for invalidations has room for the
/// packet: OnSm::accept_tick() has checked.
template <class O>
NW_HD inline void on_dirty(O& o, LineAddr line, uint32_t now) {
  auto& v = o.v;
  cache::l1_invalidate_line(v.p.l1, v.s.l1, v.base, line);
  o.s.counters.dirty_lines += 1;
  Packet p;
  p.kind = PacketKind::kInvalidate;
  p.src = v.s.endpoint;
  p.dst = v.home_of(line);
  p.line = line;
  p.bytes = static_cast<uint16_t>(v.p.header_bytes);
  send(*o.s.invalidations.in(v.base), v.base, v.tick(now), p, v.horizon);
}

/// Merge a row of what an offloaded block has added to its copy of a shared array.
template <class O>
NW_HD NW_APART void on_merge_row(O& o, const Packet& p, uint32_t now) {
  WarpSide& t = side_of(o, OfWarp::of(p).warp);
  NW_ASSERT(t.step == Step::kAway);
  t.merged = tuning::take_port(o.v, now, 1, tuning::kMergeCycles);
  counters_of(o, t).merged_bytes += p.bytes - o.v.p.header_bytes;
}

/// The block has been executed near memory: take its registers and program counter, and go on.
template <class O>
NW_HD inline void on_ack(O& o, const Packet& packet, uint32_t now) {
  const WarpSide& t = side_of(o, OffloadAck::of(o.v, packet).warp);
  o.s.to_release[number_of(t.stack)] += 1;
  o.s.rows_to_release[number_of(t.stack)] += candidate_of(o, t).shared_rows;
  o.s.num_to_release += 1;
  note_control(o);
  take_back(o, packet, now);
}

}  // namespace nearwarp::tom
