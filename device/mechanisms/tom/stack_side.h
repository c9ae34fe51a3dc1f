// The stack SM's side of an offload (TOM, sections 4.2 and 4.4.2): spawn a warp for a request,
// remember the lines it writes, send them and the acknowledgement back.
#pragma once

#include "device/mechanisms/tom/requester.h"
#include "device/sm/guests.h"

namespace nearwarp::tom {

/// A guest with a shared array: an accumulator is filled with zeros, a table's rows have come
/// before. Returns the cycle from which on the warp may issue.
template <class O>
NW_HD NW_APART uint32_t take_array(O& o, const WarpSide& t, uint32_t now) {
  const Candidate c = candidate_of(o, t);
  o.s.shared_rows += c.shared_rows;
  NW_ASSERT(o.s.shared_rows <= o.p.shared_rows);
  const bool zeros = c.shared == tuning::SharedKind::kAccumulator;
  const uint32_t ready =
      tuning::take_port(o.v, now, zeros ? c.shared_rows : 0, tuning::kCopyCycles);
  return ready > now + 1 ? ready : now + 1;
}

/// Spawn a warp. The front end never grants more requests than there are warp slots. `requester`:
/// WarpSide's.
template <class O>
NW_HD NW_APART void spawn(O& o, const Packet& packet, uint16_t requester, uint32_t now) {
  auto& v = o.v;
  if (o.p.flush_l1) cache::l1_flush(v.p.l1, v.s.l1, v.base);
  const OffloadRequest r = OffloadRequest::of(v, packet);
  const uint32_t warp = sm::add_guest(v, o.bit, r.at, r.kernel, r.thread_block, now);
  v.warps[warp].space = static_cast<uint8_t>(r.space);
  WarpSide& t = side_of(o, warp);
  t = WarpSide{};
  t.requester = requester;
  t.requester_warp = static_cast<uint8_t>(r.warp);
  sm::note_event(v, EventKind::kArrived, now, warp, node_of(packet.src), t.requester_warp);
  t.candidate = (r.inner ? o.p.inner_of : o.p.candidate_of).in(v.base)[r.at.pc];
  if (o.p.tuning.on) o.s.history.in(v.base)[warp] = tuning::TrafficHistory{};
  sm::continue_warp(v, warp, now,
                    candidate_of(o, t).shared_rows != 0 ? take_array(o, t, now) : now + 1);
}

template <class O>
NW_HD inline Packet dirty_packet(const O& o, const WarpSide& t, LineAddr line) {
  Packet p;
  p.kind = kOffloadDirty;
  p.src = o.v.s.endpoint;
  p.dst = endpoint_of(t.requester);
  OfWarp{t.requester_warp}.put(p);
  p.line = o.v.shared_line(line);
  p.bytes = static_cast<uint16_t>(o.v.p.line_address_bytes);
  return p;
}

/// Must the notice of an older line leave before `line` can be remembered?
template <class O>
NW_HD inline bool dirty_overflows(const O& o, uint32_t warp, LineAddr line) {
  const uint32_t n = o.s.warps.in(o.v.base)[warp].num_dirty;
  if (n < o.p.dirty_entries) return false;
  const uint32_t* dirty = o.s.dirty.in(o.v.base) + warp * o.p.dirty_entries;
  for (uint32_t i = 0; i < n; ++i)
    if (dirty[i] == line) return false;
  return true;
}

/// Remember a written line. If the memory is full, the oldest line's notice is sent at once (the
/// network takes it: see OnSm::store_packets()); it is the notice that would have gone at the end
/// (deviation 34 in tests/validation/DEVIATIONS.md).
template <class O>
NW_HD inline void remember_dirty(O& o, uint32_t warp, LineAddr line, uint32_t now) {
  auto& v = o.v;
  WarpSide& t = side_of(o, warp);
  uint32_t* dirty = o.s.dirty.in(v.base) + warp * o.p.dirty_entries;
  for (uint32_t i = 0; i < t.num_dirty; ++i)
    if (dirty[i] == line) return;
  if (t.num_dirty == o.p.dirty_entries) {
    send(v.to_network(), v.base, v.tick(now), dirty_packet(o, t, dirty[0]), v.horizon);
    for (uint32_t i = 1; i < t.num_dirty; ++i) dirty[i - 1] = dirty[i];
    t.num_dirty = static_cast<uint16_t>(t.num_dirty - 1);
  }
  dirty[t.num_dirty] = line;
  t.num_dirty = static_cast<uint16_t>(t.num_dirty + 1);
}

/// A line is sent for, or written: note where it lies.
template <class O>
NW_HD inline void count_place(O& o, uint32_t warp, LineAddr line) {
  CandidateCounters& n = counters_of(o, side_of(o, warp));
  const bool own = o.v.stack_of(line) == o.v.own_stack();
  (own ? n.local_lines : n.remote_lines) += 1;
  if (o.p.tuning.on) tuning::note_request(o.s.history.in(o.v.base)[warp], own);
}

/// A guest stands at a loop's head: a round begins. The monitor may send it back from there; what
/// it has in flight comes to its end before, as at the candidate's end (deviations 77 to 79 in
/// tests/validation/DEVIATIONS.md). True: the warp has been taken care of.
template <class O>
NW_HD NW_APART bool begin_near_round(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  const tuning::TuningParams& p = o.p.tuning;
  WarpSide& t = side_of(o, warp);
  CandidateCounters& n = counters_of(o, t);
  if (p.marks_rounds()) {
    n.begins += o.p.no_overhead ? 0 : 1;
    tuning::TrafficHistory& h = o.s.history.in(o.v.base)[warp];
    if (tuning::begin_round(h, p.history_rounds) && p.adaptation && tuning::exceeds(h, p)) {
      t.sent_back = true;
      sm::finish_warp(o.v, warp, now);
      return true;
    }
  }
  n.near_rounds += 1;
  if (!p.marks_rounds() || o.p.no_overhead) return false;
  sm::schedule(o.v, warp, now, earliest + p.begin_cycles);
  return true;
}

/// The warp is at its end: once its registers, which the acknowledgement carries, have their
/// values, it can return.
template <class O>
NW_HD inline void try_return(O& o, uint32_t warp, uint32_t now) {
  if (o.v.s.timed.test(warp)) return;
  const uint32_t at = sm::registers_ready(o.v, warp);
  if (at > now) {
    sm::set_timer(o.v, warp, at, now);
    return;
  }
  hold(o, warp, Step::kReturning);
  sm::note_event(o.v, EventKind::kFinished, now, warp);
  if (o.p.no_overhead) {
    sm::set_timer(o.v, warp, now + 1, now);
    return;
  }
  const Candidate c = candidate_of(o, side_of(o, warp));
  side_of(o, warp).rows_to_send =
      c.shared == tuning::SharedKind::kAccumulator ? c.shared_rows : uint16_t{0};
  o.s.returning.set(warp);
  note_network(o);
}

/// The acknowledgement of a finished warp; destination and size are the sender's.
template <class O>
NW_HD inline Packet ack_packet(O& o, uint32_t warp) {
  const WarpSide& t = side_of(o, warp);
  Packet p;
  p.src = o.v.s.endpoint;
  OffloadAck{t.requester_warp, t.sent_back, o.v.warps[warp].at}.put(p);
  return p;
}
/// Bytes that follow its header: registers; of a warp that is sent back also where it stands.
template <class O>
NW_HD inline uint32_t ack_body_bytes(const O& o, uint32_t warp, const WarpSide& t) {
  if (!t.sent_back) return uint32_t{candidate_of(o, t).live_out_bytes} * sm::kWarpSize;
  const uint16_t head = o.p.head_of.in(o.v.base)[o.v.warps[warp].at.pc];
  return kReturnContextBytes + uint32_t{o.p.heads.in(o.v.base)[head].changed_bytes} * sm::kWarpSize;
}

/// A request without overhead: it needs a free slot, and fewer guests than it says.
template <class O>
NW_HD inline void on_direct_request(O& o, uint32_t requester, const Packet& p, uint32_t now) {
  const uint32_t below = guests_below(p);
  if (o.v.s.free_warps.any() && o.s.guests < below) {
    spawn(o, p, static_cast<uint16_t>(requester), now);
    o.s.guests += 1;
    if (o.s.guests > o.s.counters.peak_guests) o.s.counters.peak_guests = o.s.guests;
    return;
  }
  Packet answer;
  answer.kind = kOffloadDeny;
  answer.src = o.v.s.endpoint;
  answer.tag = OffloadRequest::of(o.v, p).warp;
  o.s.refused.in(o.v.base)[requester] = static_cast<uint16_t>(below);
  send_direct(o, requester, answer, now);
}

/// A warp has finished without overhead: it goes, and SMs that were refused and now would not be
/// are told of room.
template <class O>
NW_HD inline void return_directly(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  send_direct(o, t.requester, ack_packet(o, warp), now);
  t.step = Step::kNone;
  sm::note_event(o.v, EventKind::kAnswered, now, warp);
  sm::remove_guest(o.v, warp, now);
  o.s.guests -= 1;
  Packet status;
  status.kind = kStackHasRoom;
  status.src = o.v.s.endpoint;
  uint16_t* refused = o.s.refused.in(o.v.base);
  for (uint32_t i = 0; i < o.s.refused.count; ++i) {
    if (o.s.guests >= refused[i]) continue;
    refused[i] = 0;
    send_direct(o, i, status, now);
  }
}

/// Send one row of what a finished warp has added to its shared array.
template <class O>
NW_HD NW_APART void send_merge_row(O& o, WarpSide& t, uint32_t now) {
  auto& v = o.v;
  const Candidate c = candidate_of(o, t);
  Packet p = tuning::row_packet(v, kMergeRow, c.shared_rows - t.rows_to_send, c.shared_bytes);
  p.dst = endpoint_of(t.requester);
  OfWarp{t.requester_warp}.put(p);
  t.rows_to_send = static_cast<uint16_t>(t.rows_to_send - 1);
  tuning::take_port(v, now, 1, tuning::kCopyCycles);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Send one packet of a finished warp: a dirty line, a row of its shared array, or after the last
/// the acknowledgement.
template <class O>
NW_HD NW_APART void send_return(O& o, uint32_t now) {
  auto& v = o.v;
  if (!o.s.returning.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.s.returning.first();
  WarpSide& t = side_of(o, warp);
  if (t.num_dirty != 0) {
    t.num_dirty = static_cast<uint16_t>(t.num_dirty - 1);
    const LineAddr line = o.s.dirty.in(v.base)[warp * o.p.dirty_entries + t.num_dirty];
    send(v.to_network(), v.base, v.tick(now), dirty_packet(o, t, line), v.horizon);
    return;
  }
  if (t.rows_to_send != 0) {
    send_merge_row(o, t, now);
    return;
  }
  o.s.shared_rows -= candidate_of(o, t).shared_rows;
  Packet p = ack_packet(o, warp);
  p.dst = endpoint_of(t.requester);
  p.bytes = static_cast<uint16_t>(v.p.header_bytes + ack_body_bytes(o, warp, t));
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  o.s.returning.clear(warp);
  note_network(o);
  t.step = Step::kNone;
  sm::note_event(v, EventKind::kAnswered, now, warp);
  sm::remove_guest(v, warp, now);
}

}  // namespace nearwarp::tom
