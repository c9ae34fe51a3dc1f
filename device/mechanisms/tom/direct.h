// Offloading without overhead (TOM, section 2, figure 2), on the requesting SM.
//
// Every main SM has a direct channel to every stack SM and one back. They take one cycle and have
// unlimited bandwidth. Stores are not drained, and the front end is not asked: a request goes to a
// stack SM, which accepts or refuses it. A stack SM that has refused counts as full until it
// reports room. While all of them are full, a warp goes on at home without losing a cycle.
#pragma once

#include "device/core/lanes.h"
#include "device/mechanisms/tom/home_side.h"

namespace nearwarp::tom {

template <class O>
NW_HD NW_INLINE Channel& direct_channel(const O& o, uint32_t number) {
  return *o.s.ways.in(o.v.base)[number].in(o.v.base);
}
/// A direct channel has slots for everything that can be on it at a time: a credit is always there.
template <class O>
NW_HD inline void send_direct(O& o, uint32_t number, const Packet& p, uint32_t now) {
  auto& v = o.v;
  Channel& channel = direct_channel(o, number);
  NW_ASSERT(can_send(channel, v.base, v.tick(now)));
  send(channel, v.base, v.tick(now), p, v.horizon);
}

/// A stack with room for the warp's instance; kNoLane if there is none. Where every stack has all
/// data, the thread block chooses it, so that the warps of a block, which share lines, go to one
/// stack.
template <class O>
NW_HD inline uint32_t stack_with_room(O& o, uint32_t warp) {
  const uint32_t n = o.p.stack_sms.count, full = o.s.full_stacks;
  if (!o.p.any_stack) {
    const uint32_t k = number_of(side_of(o, warp).stack);
    return (full >> k & 1) == 0 ? k : kNoLane;
  }
  uint32_t k = o.v.warps[warp].thread_block % n;
  for (uint32_t i = 0; i < n; ++i) {
    if ((full >> k & 1) == 0) return k;
    k = k + 1 == n ? 0 : k + 1;
  }
  return kNoLane;
}

/// Does the instance access memory? If so, its first access decides to which stack it may go.
template <class O>
NW_HD NW_APART inline bool finds_access(O& o, uint32_t warp) {
  auto& v = o.v;
  const Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const uint64_t* words = v.words(w);
  const ProgramTables program = o.p.program(v.base);
  Cursor c = w.at;
  while (c.pc != kEndOfTrace && program.is_in(c.pc, t.candidate)) {
    const ImageInstr& in = v.instr(c.pc);
    if ((in.flags & sm::kHasRecord) != 0) {
      const sm::Access a = sm::read_access(words, c.trace_pos, c.mask, in.flags & sm::kGuarded);
      if (a.mask != 0 && in.accesses_data()) {
        t.stack = destination_of(o, warp, a.record, a.mask);
        return true;
      }
      c.trace_pos = a.next;
    }
    sm::advance(c, words, v.system.image, w.first_block);
  }
  return false;
}

/// Warps on the SM, without those that are away or have asked to go.
template <class O>
NW_HD inline uint32_t warps_at_home(const O& o) {
  uint32_t n = o.v.p.num_warps - o.s.guests;
  for (const uint64_t word : o.v.s.free_warps.word) n -= population_count(word);
  return n;
}

/// Count what the warp has executed at home, without the rounds that it takes along, when it goes;
/// take that back when it was refused.
template <class O>
NW_HD inline void count_home(O& o, WarpSide& t, bool goes) {
  CandidateCounters& n = counters_of(o, t);
  const uint64_t cycles = t.decided - t.home_since;
  t.was_away = goes;
  n.home_cycles += goes ? cycles : 0 - cycles;
  n.home_rounds += goes ? 0 - uint64_t{t.rounds_passed} : uint64_t{t.rounds_passed};
}

/// Put into a request the number of guests below which the stack SM may accept it. The field for
/// the destination has room for it, since a direct channel leads to one SM.
NW_HD NW_INLINE void set_guests_below(Packet& p, uint32_t guests) {
  NW_ASSERT(p.kind == kOffloadRequest);
  p.dst = static_cast<Endpoint>(guests);
}
NW_HD NW_INLINE uint32_t guests_below(const Packet& p) {
  NW_ASSERT(p.kind == kOffloadRequest);
  return static_cast<uint32_t>(p.dst);
}

/// Ask a stack with room. If there is none, stay at home or, without dynamic control, wait for
/// room.
template <class O>
NW_HD NW_APART inline void ask_directly(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  const uint32_t k = stack_with_room(o, warp);
  if (k != kNoLane) {
    o.s.draining.clear(warp);
    t.stack = stack_id(k);
    t.at_home = false;
    t.step = Step::kAway;
    t.since = now;
    sm::set_away(o.v, warp, true);
    sm::note_event(o.v, EventKind::kSent, now, warp, node_of(o.p.stack_sms.in(o.v.base)[k]));
    counters_of(o, t).offloaded += 1;
    if (o.p.tuning.on) count_home(o, t, true);
    Packet p = request_packet(o, warp);
    set_guests_below(p, o.p.even ? warps_at_home(o) : kMaxGuests);
    o.s.guests += 1;
    send_direct(o, k, p, now);
  } else if (o.p.dynamic_control) {
    counters_of(o, t).refused_pending += 1;
    sm::note_event(o.v, EventKind::kStays, now, warp);
    stay(o, warp, now);
  } else {
    t.step = Step::kAsking;
    o.s.draining.set(warp);
  }
}

/// Ask once all registers have their values.
template <class O>
NW_HD NW_APART inline void try_direct(O& o, uint32_t warp, uint32_t now) {
  if (o.v.s.timed.test(warp)) return;
  const uint32_t at = sm::registers_ready(o.v, warp);
  if (at == sm::kPendingLoad) return;
  if (at > now) {
    sm::set_timer(o.v, warp, at, now);
    return;
  }
  ask_directly(o, warp, now);
}

/// The warp stands at the beginning of a candidate, or at the head of a loop in it. True: the warp
/// is held.
template <class O>
NW_HD NW_APART inline bool begin_direct(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  t.decided = now;
  counters_of(o, t).instances += 1;
  if (!is_long_enough(o, warp)) {
    refuse_short(o, t);
    t.at_home = false;  // instances below the threshold are not compared with offloaded ones
    if (!enter_inner(o, warp, now)) return false;
    t.decided = now;
    counters_of(o, t).instances += 1;
  }
  CandidateCounters& n = counters_of(o, t);
  t.at_home = true;
  if (!finds_access(o, warp)) {
    n.no_memory_access += 1;
    return false;
  }
  if (o.p.dynamic_control) {
    if (stack_with_room(o, warp) == kNoLane) {
      n.refused_pending += 1;
      return false;
    }
  }
  hold(o, warp, Step::kDraining);
  sm::note_event(o.v, EventKind::kDecided, now, warp,
                 node_of(o.p.stack_sms.in(o.v.base)[number_of(t.stack)]));
  const uint32_t at = now + 1;
  sm::set_timer(o.v, warp, at > earliest ? at : earliest, now);
  return true;
}

/// Take a stack SM's message: an acknowledgement, a refusal, or that there is room again.
template <class O>
NW_HD inline void on_direct(O& o, uint32_t stack, const Packet& p, uint32_t now) {
  if (p.kind == kOffloadAck) {
    o.s.guests -= 1;
    take_back(o, p, now);
  } else if (p.kind == kOffloadDeny) {
    o.s.full_stacks |= 1u << stack;
    o.s.guests -= 1;
    const uint32_t warp = OffloadAnswer::of(p).warp;
    counters_of(o, side_of(o, warp)).offloaded -= 1;
    if (o.p.tuning.on) count_home(o, side_of(o, warp), false);
    sm::set_away(o.v, warp, false);
    ask_directly(o, warp, now);
  } else {
    NW_ASSERT(p.kind == kStackHasRoom);
    o.s.full_stacks &= ~(1u << stack);
    const auto waiting = o.s.draining;
    waiting.each([&](uint32_t warp) { ask_directly(o, warp, now); });
  }
}

/// Call f(channel's number, packet) for every packet that has arrived over direct channels.
template <class O, class F>
NW_HD inline void each_direct(O& o, uint32_t now, F&& f) {
  auto& v = o.v;
  for (uint32_t i = 0; i < o.s.answers.count; ++i) {
    Channel& c = *o.s.answers.in(v.base)[i].in(v.base);
    while (has_packet(c, v.base, v.tick(now))) {
      const Packet p = front(c, v.base);
      pop(c, v.base, v.tick(now), v.horizon);
      f(i, p);
    }
  }
}
template <class O>
NW_HD inline Tick direct_arrival(const O& o) {
  Tick t = kNever;
  for (uint32_t i = 0; i < o.s.answers.count; ++i)
    t = min_tick(t, head_arrival(*o.s.answers.in(o.v.base)[i].in(o.v.base), o.v.base));
  return t;
}

}  // namespace nearwarp::tom
