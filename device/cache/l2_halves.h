// Two halves of an L2, each of which keeps lines for its own SMs.
//
// A line's home is the slice in front of its memory channel, in one of the halves. Each slice has a
// twin in the other half and a link to it. SMs ask the slice of their own half that is the line's
// home, or the home's twin. The twin keeps a copy: it answers what it has, and asks the home for
// sectors that are missing, once for all that wait for them (its MSHRs are the coalescer of the
// link). Writes and atomics go on to the home, which answers for the line; a write leaves the
// sectors of the copy that it passes as they are, an atomic takes them.
//
// The home knows of each of its lines whether the twin may have a copy. When an SM of the home's
// own half writes such a line, or the line is replaced, the home invalidates the copy: a line with
// a copy is in its home, too. So both halves together hold less, the more they share.
//
// No deadlock: the twin takes invalidations at once. There are never more requests to the home
// under way than its link has room for, in either direction (L2HalvesParams::most), so packets
// never wait on the link. An MSHR, and a way of each set, are left to lines whose home is here, and
// those wait for memory alone.
//
// Source: NVIDIA's white papers of A100 and H100 ("each L2 partition caches data for memory
// accesses from SMs in the GPCs directly connected to the partition"; hardware keeps them
// coherent). How is not published: points of coherence by address, inclusion, and invalidations by
// line are estimated, after what microbenchmarks see (docs/hopper.md).
#pragma once

#include "device/cache/l2_departures.h"

namespace nearwarp::l2_detail {

/// Is the line's home in the other half? `line`: of a request by an SM.
NW_HD NW_INLINE bool is_far(const L2SliceParams& p, const std::byte* base, LineAddr line) {
  return p.map.of(line, base).stack_of(line) != number_of(p.stack);
}

/// Put a request to the twin into the pipeline. There is room, since no more are ever under way.
NW_HD inline void pass_on(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick due,
                          const Packet& request) {
  L2Halves& h = s.halves;
  uint32_t at = h.head + h.count;
  if (at >= h.passing.count) at -= h.passing.count;
  L2Passing& passing = h.passing.in(base)[at];
  passing.due = due;
  passing.packet = request;
  passing.packet.dst = p.halves.twin;
  h.count += 1;
  h.under_way += 1;
}

/// Send the last request to memory, which serve() has counted, to the twin instead, which is the
/// home of its line.
NW_HD inline void pass_last_fetch(const L2SliceParams& p, L2SliceState& s, std::byte* base) {
  s.request_count -= 1;
  uint32_t at = s.request_head + s.request_count;
  if (at >= s.requests.count) at -= s.requests.count;
  const L2Request& r = s.requests.in(base)[at];
  Packet q;
  q.kind = PacketKind::kRead;
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = p.endpoint;
  q.bytes = r.bytes;
  pass_on(p, s, base, r.due, q);
  s.counters.read_misses -= 1;
  s.counters.sector_misses -= population_count(r.sectors);
  s.halves.counters.far_reads += 1;
  s.halves.counters.far_sectors += population_count(r.sectors);
}

/// Invalidate the twin's copy of a line. The caller has seen that the link is free.
NW_HD inline void send_copy_invalidation(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                         Tick now, LineAddr line, Horizon& horizon) {
  Packet w;
  w.kind = PacketKind::kInvalidate;
  w.line = line;
  w.src = p.endpoint;
  w.dst = p.halves.twin;
  w.bytes = p.header_bytes;
  send(*s.halves.invalidations_out.in(base), base, now, w, horizon);
  s.halves.counters.invalidations_sent += 1;
}

/// The needs of a request's look-up besides those that serve() sees to.
struct HalvesNeeds {
  bool far = false;     ///< by an SM, of a line whose home is the twin
  bool passes = false;  ///< and goes on to the twin whatever is here
  bool takes = false;   ///< a way
  bool fetches = false;
  LineAddr old = kNoLine;  ///< the line whose copy gets old
};

NW_HD inline HalvesNeeds needs_of(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                  const LookUp& l, uint32_t want, bool from_twin) {
  const bool read = l.request.kind == PacketKind::kRead;
  const cache::LineSectors& line = s.sectors.in(base)[l.at];
  HalvesNeeds n;
  n.far = !from_twin && is_far(p, base, l.request.line);
  n.passes = n.far && !read;
  if (n.passes) return n;
  n.takes = !l.present && (l.request.kind != PacketKind::kWrite || p.write_back != 0);
  uint32_t missing = l.present ? want & ~uint32_t{line.readable} : want;
  if (l.present && (s.pending.in(base)[l.set] >> l.way & 1) != 0)
    missing &= ~uint32_t{s.mshrs.in(base)[s.mshr_of.in(base)[l.at]].missing};
  n.fetches = l.request.kind != PacketKind::kWrite && missing != 0;
  const bool replaces = n.takes && s.tags.in(base)[l.at] != kNoLine;
  if (line.copied != 0 && (replaces || (l.present && !read && !from_twin)))
    n.old = s.tags.in(base)[l.at];
  return n;
}

/// The line that way `at` waits for may come from the twin older than what has been heard since: it
/// answers those who wait, and is not kept.
NW_HD NW_INLINE void keep_no_fill(L2SliceState& s, std::byte* base, uint32_t at) {
  s.mshrs.in(base)[s.mshr_of.in(base)[at]].keep = 0;
}

/// A write or an atomic by an SM of this half, of a line of the other one.
NW_HD inline void pass_write(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                             const LookUp& l, uint32_t want) {
  pass_on(p, s, base, l.due, l.request);
  s.halves.counters.far_writes += 1;
  if (l.request.kind == PacketKind::kWrite || !l.present) return;
  if ((s.pending.in(base)[l.set] >> l.way & 1) != 0) keep_no_fill(s, base, l.at);
  cache::LineSectors& line = s.sectors.in(base)[l.at];
  line.readable = static_cast<uint8_t>(line.readable & ~want);
}

/// May a line of the other half have another MSHR and another way of its set? One of each is left
/// to lines of this half.
NW_HD inline bool leaves_room(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                              const LookUp& l) {
  const uint64_t pending = s.pending.in(base)[l.set];
  const bool waits = l.present && (pending >> l.way & 1) != 0;
  return waits || (s.mshrs_in_use + 1 < p.mshr_entries && population_count(pending) + 1 < p.ways);
}

/// Look up the oldest request of an SM or of the twin.
NW_HD inline Outcome look_up_half(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                  Tick now, bool from_twin, Horizon& horizon) {
  L2Halves& h = s.halves;
  Channel& in = from_twin ? *h.requests_in.in(base) : *s.request_in.in(base);
  LookUp l;
  l.request = front(in, base);
  const PacketKind kind = l.request.kind;
  const bool atomic = kind == PacketKind::kAtomic, read = kind == PacketKind::kRead;
  if (!read && !atomic && kind != PacketKind::kWrite) {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    pop(in, base, now, horizon);
    return Outcome::kTaken;
  }
  if (atomic && now < s.atomics_until) return Outcome::kRefused;
  l.set = set_of(p, base, l.request.line);
  l.due = now + Tick{p.latency_cycles} * p.period;
  const uint64_t match = ways_of(p, s, base, l.set, l.request.line);
  l.present = match != 0;
  l.way = l.present ? count_trailing_zeros(match) : way_to_take(p, s, base, l.set);
  if (l.way == kNoLane) return Outcome::kRefused;  // every way waits
  l.at = l.set * p.ways + l.way;
  const uint32_t all = sectors_of_line(p);
  const uint32_t want = l.request.sectors == 0 ? all : l.request.sectors & all;
  const HalvesNeeds n = needs_of(p, s, base, l, want, from_twin);
  const bool asks = n.passes || (n.far && n.fetches);
  if (asks && h.under_way >= p.halves.most) return Outcome::kRefused;
  if (n.far && n.fetches && !leaves_room(p, s, base, l)) return Outcome::kRefused;
  if (n.old != kNoLine && !can_send(*h.invalidations_out.in(base), base, now))
    return Outcome::kNoInvalidation;
  Served served = Served::kYes;
  const uint64_t merges = s.counters.read_merges, hits = s.counters.read_hits;
  if (n.passes) {
    pass_write(p, s, base, l, want);
  } else {
    served = static_cast<Served>(static_cast<uint32_t>(serve(p, s, base, l)));
    if (served == Served::kNo || served == Served::kNoMshr) return Outcome::kRefused;
  }
  if (n.far) {
    h.counters.far_merges += s.counters.read_merges - merges;
    h.counters.far_hits += s.counters.read_hits - hits;
    if (n.fetches) pass_last_fetch(p, s, base);
  }
  if (n.old != kNoLine) {
    send_copy_invalidation(p, s, base, now, n.old, horizon);
    // A line that the twin has asked for and not yet got will be a copy, too.
    const bool waits = (s.pending.in(base)[l.set] >> l.way & 1) != 0 ||
                       (s.filling != kNoMshr && s.mshrs.in(base)[s.filling].line == n.old);
    if (!n.takes && !waits) s.sectors.in(base)[l.at].copied = 0;
  }
  if (from_twin && read) s.sectors.in(base)[l.at].copied = 1;
  if (served == Served::kYes && l.present) touch(p, s, base, l.at);
  if (atomic && !n.passes) occupy_atomics(p, s, l.request, now);
  if (p.sectors_per_cycle != 0) occupy_tags(p, s, l.request.sectors, now);
  if (!from_twin) {
    pop_request(s, base, now, horizon);
  } else {
    h.counters.from_twin += 1;
    pop(in, base, now, horizon);
  }
  return Outcome::kTaken;
}

/// Take an invalidation from the twin: the copy of a line is old. An answer under way may be, too,
/// since invalidations are faster.
NW_HD inline void take_copy_invalidation(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                         Tick now, Horizon& horizon) {
  Channel& in = *s.halves.invalidations_in.in(base);
  const LineAddr line = front(in, base).line;
  const uint32_t set = set_of(p, base, line);
  const uint64_t match = ways_of(p, s, base, set, line);
  if (match != 0) {
    s.halves.counters.copies_given_up += 1;
    const uint32_t at = set * p.ways + count_trailing_zeros(match);
    if ((match & s.pending.in(base)[set]) != 0) {
      s.sectors.in(base)[at].readable = 0;
      keep_no_fill(s, base, at);
    } else {
      s.tags.in(base)[at] = kNoLine;
    }
  }
  pop(in, base, now, horizon);
}

/// Does the twin answer a fetch, rather than a write that is passed on to its SM?
NW_HD NW_INLINE bool is_far_fill(const L2SliceState& s, std::byte* base) {
  return front(*s.halves.replies_in.in(base), base).kind == PacketKind::kReadReply;
}

/// Take sectors that the twin has sent.
NW_HD inline void take_far_fill(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                                Horizon& horizon) {
  Channel& in = *s.halves.replies_in.in(base);
  const Packet& data = front(in, base);
  s.fill_came = head_arrival(in, base);
  if (data.tag < s.mshrs.count) {
    fill_sectors(p, s, base, data.tag, data.sectors);
  } else {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
  }
  s.halves.counters.far_fills += 1;
  s.halves.under_way -= 1;
  pop(in, base, now, horizon);
}

/// The sources of replies, which take turns.
enum class Replier : uint32_t { kFill, kHit, kTwin };
inline constexpr uint32_t kRepliers = 3;

/// The times at which each source can reply; kNever: it has none, or its credit is not known
/// (`polls`).
struct ReplyTimes {
  Tick at[kRepliers] = {kNever, kNever, kNever};
  bool polls = false;
  NW_HD Tick first() const { return min_tick(min_tick(at[0], at[1]), at[2]); }
};

/// Packets that arrive at `end` or later are not looked at: the twin may be writing them.
NW_HD inline ReplyTimes reply_times(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                    Tick end) {
  ReplyTimes r;
  const auto offer = [&](Replier who, Tick from, Tick credit) {
    r.at[static_cast<uint32_t>(who)] = max_tick(from, credit);
    r.polls = r.polls || credit >= kNever;
  };
  if (s.filling != kNoMshr) {
    const Endpoint dst = s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter].src;
    offer(Replier::kFill, 0, send_tick(reply_way(p, s, base, dst), base));
  }
  if (s.reply_count != 0) {
    const L2Reply& hit = s.replies.in(base)[s.reply_head];
    offer(Replier::kHit, hit.due, send_tick(reply_way(p, s, base, hit.dst), base));
  }
  const Tick passed = head_arrival(*s.halves.replies_in.in(base), base);
  if (passed < end && !is_far_fill(s, base))
    offer(Replier::kTwin, passed, send_tick(*s.reply_out.in(base), base));
  return r;
}

/// Send one reply that is due, if there is any.
NW_HD inline void reply_half(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                             Horizon& horizon) {
  const ReplyTimes times = reply_times(p, s, base, now + 1);
  for (uint32_t i = 1; i <= kRepliers; ++i) {
    const uint32_t who = (s.halves.last_reply + i) % kRepliers;
    if (times.at[who] > now) continue;
    s.halves.last_reply = who;
    switch (static_cast<Replier>(who)) {
      case Replier::kFill:
        answer_waiter(p, s, base, now, horizon);
        return;
      case Replier::kHit:
        answer_hit(p, s, base, now, horizon);
        return;
      case Replier::kTwin: {
        Channel& in = *s.halves.replies_in.in(base);
        Packet answer = front(in, base);
        answer.src = p.endpoint;
        send(*s.reply_out.in(base), base, now, answer, horizon);
        s.counters.replies_out += 1;
        s.halves.under_way -= 1;
        pop(in, base, now, horizon);
        return;
      }
    }
  }
}

/// When the oldest request to the twin can leave; kNever if there is none, or its credit is not
/// known.
NW_HD NW_INLINE Tick next_passing(const L2SliceState& s, std::byte* base) {
  const L2Halves& h = s.halves;
  if (h.count == 0) return kNever;
  return max_tick(send_tick(*h.requests_out.in(base), base), h.passing.in(base)[h.head].due);
}

NW_HD inline void send_passing(L2SliceState& s, std::byte* base, Tick now, Horizon& horizon) {
  L2Halves& h = s.halves;
  send(*h.requests_out.in(base), base, now, h.passing.in(base)[h.head].packet, horizon);
  h.head = h.head + 1 == h.passing.count ? 0 : h.head + 1;
  h.count -= 1;
}

/// step_l2_slice() of a slice with a twin.
NW_HD NW_APART inline StepResult step_half(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                           Window window, Horizon& horizon) {
  L2Halves& h = s.halves;
  const Channel& memory_in = *s.memory_in.in(base);
  const Channel& replies_in = *h.replies_in.in(base);
  const Channel* const inputs[2] = {s.request_in.in(base), h.requests_in.in(base)};
  bool blocked[2] = {false, false}, invalidates = false;

  // A packet that arrives in a later window is not looked at: the twin may be writing it.
  const auto next_far_fill = [&]() -> Tick {
    const Tick head = head_arrival(replies_in, base);
    if (head >= window.end) return head;
    return s.filling == kNoMshr && is_far_fill(s, base) ? head : kNever;
  };
  const auto next_event = [&](Tick from) -> Tick {
    Tick next = min_tick(next_from_memory(s, memory_in, base), next_far_fill());
    next = min_tick(next, head_arrival(*h.invalidations_in.in(base), base));
    next = min_tick(next, reply_times(p, s, base, window.end).first());
    next = min_tick(next, min_tick(next_request(s, base), next_passing(s, base)));
    for (uint32_t i = 0; i < 2; ++i) {
      if (!blocked[i]) {
        next = min_tick(next, max_tick(head_arrival(*inputs[i], base), s.tags_until));
      } else {
        if (s.atomics_until >= from) next = min_tick(next, s.atomics_until);
        if (s.tags_until >= from) next = min_tick(next, s.tags_until);
        if (invalidates) next = min_tick(next, send_tick(*h.invalidations_out.in(base), base));
      }
    }
    return next;
  };
  const auto cycle_of = [&](Tick at) {
    return at >= kNever ? kNever : cycle_at_or_after(at, p.period) * p.period;
  };

  Tick t = cycle_of(max_tick(next_event(window.begin), window.begin));
  while (t < window.end) {
    if (head_arrival(*h.invalidations_in.in(base), base) <= t)
      take_copy_invalidation(p, s, base, t, horizon);
    if (next_from_memory(s, memory_in, base) <= t) take_from_memory(p, s, base, t, horizon);
    if (next_far_fill() <= t) take_far_fill(p, s, base, t, horizon);
    reply_half(p, s, base, t, horizon);
    if (next_request(s, base) <= t) send_request(p, s, base, t, horizon);
    if (next_passing(s, base) <= t) send_passing(s, base, t, horizon);
    blocked[0] = blocked[1] = invalidates = false;
    if (s.tags_until <= t) {
      for (uint32_t i = 1; i <= 2; ++i) {
        const uint32_t who = (h.last_input + i) % 2;
        if (head_arrival(*inputs[who], base) > t) continue;
        const Outcome outcome = look_up_half(p, s, base, t, who == 1, horizon);
        blocked[who] = outcome != Outcome::kTaken;
        invalidates |= outcome == Outcome::kNoInvalidation;
        if (blocked[who]) continue;
        // The other one may have waited for just this.
        blocked[0] = blocked[1] = invalidates = false;
        h.last_input = who;
        break;
      }
    }
    const Tick next = next_event(t + 1);
    t = next <= t + p.period ? t + p.period : cycle_of(next);
  }

  const auto no_credit = [&](const Ref<Channel>& way) {
    return send_tick(*way.in(base), base) >= kNever;
  };
  StepResult result;
  result.poll = reply_times(p, s, base, window.end).polls ||
                (s.request_count != 0 && no_credit(s.memory_out)) ||
                (h.count != 0 && no_credit(h.requests_out)) ||
                (invalidates && no_credit(h.invalidations_out));
  result.wake = max_tick(t, window.end);
  return result;
}

}  // namespace nearwarp::l2_detail
