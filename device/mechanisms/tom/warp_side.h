// A warp that is offloaded, on its home SM and on a stack SM: functions that hold and release it,
// and pack its state into messages.
#pragma once

#include "device/mechanisms/tom/sm_state.h"
#include "device/sm/progress.h"

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

/// Take the warp from the SM, which does not schedule it until set_free().
template <class O>
NW_HD NW_INLINE void hold(O& o, uint32_t warp, Step step) {
  Warp& w = o.v.warps[warp];
  sm::enter_phase(o.v, warp, Phase::kHeld);
  w.holder = static_cast<uint8_t>(o.bit);
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
  side_of(o, warp).step = step;
}
/// Give the warp back to the SM.
template <class O>
NW_HD NW_INLINE void set_free(O& o, uint32_t warp, Step step) {
  Warp& w = o.v.warps[warp];
  sm::enter_phase(o.v, warp, Phase::kRunning);
  w.holder = 0;
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
  side_of(o, warp).step = step;
}

/// Have the warp go on at home with the instruction at its cursor.
template <class O>
NW_HD NW_APART inline void stay(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  t.at_home = true;
  t.searched = t.searched_threads = 0;
  set_free(o, warp, Step::kNone);
  sm::schedule(o.v, warp, now, now + 1);
}

NW_HD NW_INLINE void set_bit(uint8_t& mask, uint32_t bit, bool on) {
  mask = static_cast<uint8_t>(on ? mask | bit : mask & ~bit);
}
/// The stack that has the data which the first active lane of an access asks for.
template <class O>
NW_HD NW_APART inline StackId destination_of(const O& o, uint32_t warp, uint32_t record,
                                             uint32_t mask) {
  const auto& v = o.v;
  const trace::RecordView access{v.words(v.warps[warp]), record, mask};
  const LineAddr line = v.p.grid.line_of(sm::lane_address(access, count_trailing_zeros(mask)));
  return v.stack_of(v.physical(line, v.warps[warp].space));
}

/// Does the candidate's condition hold for the warp, which stands at its beginning?
template <class O>
NW_HD NW_APART inline bool is_long_enough(O& o, uint32_t warp) {
  const auto& v = o.v;
  const Warp& w = v.warps[warp];
  const WarpSide& t = side_of(o, warp);
  const uint32_t threshold = candidate_of(o, t).threshold;
  if (threshold == 0) return true;
  return iterations_ahead(w.at, v.trace(w), o.p.program(v.base), t.candidate, threshold) >=
         threshold;
}

/// OffloadRequest::inner, in the payload of its packet.
inline constexpr uint64_t kInnerCandidate = uint64_t{1} << 63;
/// OffloadAck::sent_back, as the line of its packet.
inline constexpr uint32_t kSentBack = 1;

/// Put a warp's cursor (instruction, active mask, position in the trace) into an offload request or
/// its acknowledgement.
NW_HD inline void pack_cursor(const Cursor& c, Packet& p) {
  NW_ASSERT(p.kind == kOffloadRequest || p.kind == kOffloadAck);
  p.payload = c.trace_pos | uint64_t{c.pc} << 32;
  p.sectors = c.mask;
  p.extra = c.block | c.repeats << 20;
}
template <class V>
NW_HD inline Cursor unpack_cursor(const V& v, const Packet& p) {
  NW_ASSERT(p.kind == kOffloadRequest || p.kind == kOffloadAck);
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

/// A request that a stack SM executes a candidate, a block of code, for a warp.
struct OffloadRequest {
  uint32_t warp = 0;                                 ///< the warp's slot on the requesting SM
  uint32_t kernel = 0, space = 0, thread_block = 0;  ///< those of the requester's sm::Warp
  bool inner = false;  ///< the candidate is the inner block at `at`, not the loop around it
  Cursor at;           ///< where the candidate begins, and with which lanes

  NW_HD void put(Packet& p) const {
    p.kind = kOffloadRequest;
    pack_cursor(at, p);
    if (inner) p.payload |= kInnerCandidate;
    p.line = thread_block;
    p.tag = warp | kernel << 8 | space << 24;
  }
  template <class V>
  NW_HD static OffloadRequest of(const V& v, const Packet& p) {
    NW_ASSERT(p.kind == kOffloadRequest);
    OffloadRequest r;
    r.warp = p.tag & 0xff;
    r.kernel = p.tag >> 8 & 0xffff;
    r.space = p.tag >> 24;
    r.thread_block = p.line;
    r.inner = (p.payload & kInnerCandidate) != 0;
    r.at = unpack_cursor(v, p);
    r.at.pc &= static_cast<uint32_t>(~kInnerCandidate >> 32);
    return r;
  }
};

/// A stack SM's answer: the candidate has been executed, or the warp is sent back early.
struct OffloadAck {
  uint32_t warp = 0;       ///< the warp's slot on the requesting SM
  bool sent_back = false;  ///< the block has not been executed to its end
  Cursor at;               ///< where the warp goes on

  NW_HD void put(Packet& p) const {
    p.kind = kOffloadAck;
    pack_cursor(at, p);
    p.tag = warp;
    p.line = sent_back ? kSentBack : 0;
  }
  template <class V>
  NW_HD static OffloadAck of(const V& v, const Packet& p) {
    NW_ASSERT(p.kind == kOffloadAck);
    return {p.tag, p.line == kSentBack, unpack_cursor(v, p)};
  }
};

/// The request to execute the warp's candidate; the caller sets its destination and size.
template <class O>
NW_HD inline Packet request_packet(O& o, uint32_t warp) {
  const Warp& w = o.v.warps[warp];
  const WarpSide& t = side_of(o, warp);
  const bool inner = candidate_of(o, t).outer != kNoCandidate;
  Packet p;
  p.src = o.v.s.endpoint;
  OffloadRequest{warp, w.kernel, w.space, w.thread_block, inner, t.saved}.put(p);
  return p;
}

/// Does the instruction begin a round (an iteration of a loop) of the warp's candidate?
template <class O>
NW_HD NW_INLINE bool is_head(const O& o, const WarpSide& t, uint32_t pc) {
  return o.p.head_of.in(o.v.base)[pc] != tuning::kNoHead && candidate_of(o, t).has_heads;
}

/// Note that the warp has left its candidate. A warp with barred candidates is still watched, since
/// its end lifts the bars.
template <class O>
NW_HD NW_INLINE void leave(O& o, Warp& w, WarpSide& t) {
  t.candidate = kNoCandidate;
  if (t.barred == 0) w.watch = static_cast<uint8_t>(w.watch & ~o.bit);
}

/// The warp has passed an inner block of the candidate `outer`, which as a whole had too few
/// iterations. If it is still inside of `outer`, go on executing that at home.
template <class O>
NW_HD NW_INLINE void go_on_outside(O& o, Warp& w, WarpSide& t, uint16_t outer, uint32_t now) {
  if (w.at.pc == kEndOfTrace || o.p.program(o.v.base).candidate_at(w.at.pc) != outer) return;
  t.candidate = outer;
  t.paused = true;
  t.home_since = now;
  w.watch = static_cast<uint8_t>(w.watch | o.bit);
}

/// Stop offering the warp for offloading for as long as `pause` says.
template <class O>
NW_HD NW_INLINE void pause(O& o, WarpSide& t, tuning::Pause pause) {
  t.paused = t.paused || pause != tuning::Pause::kRound;
  if (pause == tuning::Pause::kLoop) t.barred |= uint64_t{1} << candidate_of(o, t).order;
  if (pause == tuning::Pause::kWarp) t.barred = ~uint64_t{0};
}
/// Note that the warp was refused because its stack has no room or a channel is busy.
template <class O>
NW_HD NW_INLINE void note_refusal(O& o, WarpSide& t) {
  if (o.p.tuning.on) pause(o, t, o.p.tuning.after_refusal);
}

/// The stack's memory traffic monitor has sent the warp back: it goes on in its candidate at home,
/// at the head of a loop.
template <class O>
NW_HD inline void go_on_at_home(O& o, WarpSide& t, uint32_t now) {
  counters_of(o, t).sent_back += 1;
  t.home_since = now;
  pause(o, t, o.p.tuning.after_return);
}

/// The cycle in which a warp whose acknowledgement has arrived can go on, once the rows that it
/// added to a shared array have been merged.
template <class O>
NW_HD inline uint32_t take_merged(O& o, WarpSide& t, uint32_t now) {
  const uint32_t ready = t.merged > now + 1 ? t.merged : now + 1;
  if (t.merged != 0) counters_of(o, t).merge_cycles += ready - (now + 1);
  t.merged = 0;
  return ready;
}

/// Take back the registers and program counter of a warp whose candidate has been executed, or that
/// is sent back, and let it go on.
template <class O>
NW_HD NW_APART void take_back(O& o, const Packet& packet, uint32_t now) {
  auto& v = o.v;
  const OffloadAck ack = OffloadAck::of(v, packet);
  const uint32_t warp = ack.warp;
  Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kAway);
  w.at = ack.at;
  counters_of(o, t).returned += 1;
  counters_of(o, t).offloaded_cycles += now - t.decided;
  const uint32_t ready = take_merged(o, t, now);
  if (ack.sent_back) {
    go_on_at_home(o, t, now);
  } else {
    const uint16_t outer = candidate_of(o, t).outer;
    leave(o, w, t);
    if (outer != kNoCandidate) go_on_outside(o, w, t, outer, now);
  }
  set_free(o, warp, Step::kNone);
  sm::set_away(v, warp, false);
  sm::note_event(v, EventKind::kBack, now, warp);
  o.s.counters.returned += 1;
  o.s.counters.ack_bytes += packet.bytes;
  o.s.counters.away_cycles += now - t.since;
  sm::continue_warp(v, warp, now, ready);
}

}  // namespace nearwarp::tom
