// One slice of the shared L2, with MSHRs that merge requests. It is write-through without
// allocation on writes (l2_look_up.h), or write-back by whole lines (l2_dirty_lines.h), or either
// of the two by sectors (l2_sectors.h). Its packets to and from memory and its replies are in
// l2_departures.h, mechanisms in l2_mechanisms.h, and slices of an L2 of two halves, each with a
// twin in the other half, in l2_halves.h.
//
// One request per L2 cycle looks up the tags when it leaves the request channel; the packet that it
// causes (a hit's reply, a miss's or a write's request to memory) leaves `latency_cycles` later, in
// order. Fills answer one merged requester per cycle. A victim is evicted when the miss is looked
// up, not when its data returns, so a fill needs nothing but the reply channel. For the same reason
// the look-up of an atomic that misses reserves room in the outgoing ring for its memory write.
//
// Source: TOM, table 1 and section 4.4.2 (write-through, invalidations); latency and MSHRs as
// customary in GPGPU-Sim, which charges the L2 latency ("ROP") to hits and misses alike.
#pragma once

#include "device/cache/l2_halves.h"
#include "device/cache/l2_mechanisms.h"

namespace nearwarp {

namespace l2_detail {

/// Step a slice without a twin. `List`: the mechanisms that may be attached to it.
template <class List>
NW_HD NW_INLINE StepResult step_slice(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Window window, Horizon& horizon) {
  const Channel& request_in = *s.request_in.in(base);
  const Channel& memory_in = *s.memory_in.in(base);
  const Tick period = p.period;
  constexpr bool kHooks = memory_hooks::any<l2::View<List>>(List());
  [[maybe_unused]] l2::View<List> view{p, s, base, horizon};
  const auto mshr_missing = [&] { return s.needs_mshr != 0 && s.free_mshr == kNoMshr; };
  bool blocked = mshr_missing();  // the oldest request waits for something inside the slice
  uint32_t own_blocked = 0;       // contenders: mechanisms whose request waits likewise
  bool own_poll = false;

  // The earliest ticks of each kind of event.
  Tick input = head_arrival(request_in, base);
  Tick from_memory = next_from_memory(s, memory_in, base);
  Tick invalidation = next_invalidation(s, base);
  Tick reply_at = next_reply(s, base), request_at = next_request(s, base);

  // The earliest tick, `from` or later, at which the slice can do something, as far as is known.
  const auto next_event = [&](Tick from) -> Tick {
    Tick next = min_tick(min_tick(from_memory, invalidation), min_tick(reply_at, request_at));
    if (is_clean(s)) next = from;
    if (s.cleaning != kNoSet) {
      if (can_clean(s)) next = from;
    } else if (!blocked) {
      next = min_tick(next, max_tick(input, s.tags_until));
    } else {
      if (s.atomics_until >= from) next = min_tick(next, s.atomics_until);
      if (s.tags_until >= from) next = min_tick(next, s.tags_until);
    }
    if constexpr (kHooks) {
      own_poll = false;
      next = min_tick(next, next_of_mechanisms(view, from, own_blocked, own_poll));
    }
    return next;
  };
  const auto cycle_of = [&](Tick at) {
    return at >= kNever ? kNever : cycle_at_or_after(at, p.period) * period;
  };

  Tick t = cycle_of(max_tick(next_event(window.begin), window.begin));
  while (t < window.end) {
    if (from_memory <= t) {
      if constexpr (kHooks) tell_written(view, front(memory_in, base), t);
      take_from_memory(p, s, base, t, horizon);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
    }
    if (invalidation <= t) {
      take_invalidation(p, s, base, t, horizon);
      invalidation = next_invalidation(s, base);
    }
    if constexpr (kHooks) {
      memory_hooks::step(view, t);
      reply_with_mechanisms(view, t);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
      request_at = next_request(s, base);
    } else if (reply_at <= t) {
      reply(p, s, base, t, horizon);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
      if (request_at >= kNever) request_at = next_request(s, base);  // an atomic's memory write
    }
    if (request_at <= t) {
      send_request(p, s, base, t, horizon);
      request_at = next_request(s, base);
    }
    if (is_clean(s)) send_clean(p, s, base, t, horizon);
    if (s.cleaning != kNoSet) {
      if (can_clean(s)) clean_next(p, s, base, t);
      if (request_at >= kNever) request_at = next_request(s, base);
    } else if constexpr (kHooks) {
      look_up_with_mechanisms(view, t, blocked, own_blocked);
      input = head_arrival(request_in, base);
      reply_at = next_reply(s, base);
      request_at = next_request(s, base);
    } else if (input <= t && s.tags_until <= t && !mshr_missing()) {
      const Outcome outcome = p.by_sectors != 0 ? look_up_sectors(p, s, base, t, horizon)
                                                : look_up_next(p, s, base, t, horizon);
      blocked = outcome != Outcome::kTaken;
      const uint32_t needs_mshr = outcome == Outcome::kNoMshr ? 1 : 0;
      if (needs_mshr != s.needs_mshr) s.needs_mshr = needs_mshr;
      if (!blocked) {
        input = head_arrival(request_in, base);
        if (reply_at >= kNever) reply_at = next_reply(s, base);
        if (request_at >= kNever) request_at = next_request(s, base);
      }
    }
    const Tick next = next_event(t + 1);
    t = next <= t + period ? t + period : cycle_of(next);
  }

  StepResult result;
  result.poll = (reply_at >= kNever && (s.filling != kNoMshr || s.reply_count != 0)) ||
                (request_at >= kNever && s.request_count != 0) || own_poll;
  result.wake = max_tick(t, window.end);
  return result;
}

}  // namespace l2_detail

/// Step an L2 slice through a window.
///
/// Reads:  requests from the crossbar, replies from the link port; sends requests to the link port,
///         replies to the reply crossbar.
/// State:  a tag store, MSHRs with their requesters, two rings of delayed departures.
/// Units:  times in ticks of the machine's base clock.
template <class List = NoMechanisms>
NW_HD NW_APART inline StepResult step_l2_slice(const L2SliceParams& p, L2SliceState& s,
                                               std::byte* base, Window window, Horizon& horizon) {
  if (s.halves.passing.count != 0) return l2_detail::step_half(p, s, base, window, horizon);
  if constexpr (memory_hooks::any<l2::View<List>>(List())) {
    if (s.attached.bits != 0) return l2_detail::step_slice<List>(p, s, base, window, horizon);
  }
  return l2_detail::step_slice<NoMechanisms>(p, s, base, window, horizon);
}

/// Invalidate all lines but those that are being fetched, after the host has changed the data in
/// memory. No line may be dirty, and none of the changed data may be under way.
NW_HD inline void l2_flush(L2SliceState& s, std::byte* base) {
  const uint32_t ways = s.tags.count / s.pending.count;
  for (uint32_t at = 0; at < s.tags.count; ++at)
    if ((s.pending.in(base)[at / ways] >> at % ways & 1) == 0) s.tags.in(base)[at] = kNoLine;
}

/// The channels that every L2 slice has, towards the SMs and towards memory.
struct L2Channels {
  Ref<Channel> request_in, memory_in, memory_out, reply_out;
};

/// Lay out an L2 slice. The rings hold what the pipeline can hold plus `queue_entries` that wait
/// for a credit.
template <class Allocator>
L2SliceState make_l2_slice(Allocator& arena, const L2SliceParams& p, uint32_t queue_entries,
                           const L2Channels& channels) {
  NW_ASSERT(p.ways >= 1 && p.ways <= 64 && p.mshr_entries >= 1 && p.mshr_entries < 0xffff);
  NW_ASSERT(p.mshr_merges >= 1);
  NW_ASSERT(p.by_sectors == 0 || p.line_bytes <= 8 * p.sector_bytes);
  L2SliceState s;
  s.request_in = channels.request_in;
  s.memory_in = channels.memory_in;
  s.memory_out = channels.memory_out;
  s.reply_out = channels.reply_out;
  static_cast<cache::TagStore&>(s) = cache::make_tag_store(arena, p);
  const uint32_t depth = p.latency_cycles + (queue_entries < 2 ? 2 : queue_entries);
  const uint32_t lines = s.tags.count;
  s.mshr_of = arena.template allocate<uint16_t>(lines);
  s.pending = arena.template allocate<uint64_t>(p.index.sets);
  if (p.by_sectors != 0) s.sectors = arena.template allocate<cache::LineSectors>(lines);
  if (p.by_sectors == 0 && p.write_back != 0)
    s.dirty_lines = arena.template allocate<uint8_t>(lines);
  s.mshrs = arena.template allocate<L2Mshr>(p.mshr_entries);
  s.waiters = arena.template allocate<L2Waiter>(p.mshr_entries * p.mshr_merges);
  s.replies = arena.template allocate<L2Reply>(depth);
  s.requests = arena.template allocate<L2Request>(depth);
  if (p.halves.most != 0) s.halves.passing = arena.template allocate<L2Passing>(p.halves.most);
  std::byte* base = arena.base();
  for (uint32_t i = 0; i < p.mshr_entries; ++i) {
    s.mshrs.in(base)[i].next_free = i + 1 == p.mshr_entries ? kNoMshr : i + 1;
  }
  return s;
}

}  // namespace nearwarp
