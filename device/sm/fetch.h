// The fetch stage: in each cycle one warp (or a few) whose instruction buffer is empty gets its
// next few instructions, which it can issue two cycles later (decoding takes the cycle between).
// Where several warps fetch in a cycle, all but the last of them are decoded in the same cycle.
// Warps take turns.
//
// A warp fetches the instructions behind the last one, wherever a branch may lead. Only the
// scheduler sees that a warp goes on elsewhere; its fetched instructions are discarded.
//
// Source: GPGPU-Sim 4.2, shader core: fetch, decode and the check of program counters at issue.
#pragma once

#include "device/sm/mechanisms.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::sm {

/// Make the instruction at the warp's cursor the next to be issued, not before `earliest`: take it
/// from the instruction buffer, or let the warp wait for its fetch. `soon`: see schedule().
template <class V>
NW_HD NW_APART_ON_GPU void next_from_buffer(V& v, uint32_t warp, uint32_t now, uint32_t earliest,
                                            uint32_t soon) {
  Warp& w = v.warps[warp];
  if (w.fetched != 0 && w.fetch_pc == w.at.pc) {
    w.fetched = static_cast<uint8_t>(w.fetched - 1);
    w.fetch_pc += 1;
    schedule(v, warp, now, earliest, soon);
    return;
  }
  enter_phase(v, warp, Phase::kAtFetch);
  if (w.fetched == 0) {
    v.s.fetch.wanted.set(warp);
    return;
  }
  w.fetched = 0;
  w.fetch_pc = w.at.pc;
  set_timer(v, warp, earliest, now);
}

/// The warp has fetched instructions, which can be issued from cycle `issue` on.
template <class V>
NW_HD NW_APART_ON_GPU void on_fetched(V& v, uint32_t warp, uint32_t now, uint32_t issue) {
  Warp& w = v.warps[warp];
  v.s.fetch.counters.fetches += 1;
  if (!v.kPlain && w.phase == Phase::kHeld) {
    hooks::on_fetched(v, warp, now, issue);
    return;
  }
  if (w.fetch_pc == w.at.pc) {
    w.fetched = static_cast<uint8_t>(v.p.fetch.width - 1);
    w.fetch_pc += 1;
    enter_phase(v, warp, Phase::kRunning);
    schedule(v, warp, now, issue);
  } else {
    v.s.fetch.counters.wasted += 1;
    w.fetch_pc = w.at.pc;
    set_timer(v, warp, issue, now);
  }
}

/// Miss in the instruction cache: the warp waits for the line.
template <class V>
NW_HD NW_CALLED void wait_for_instructions(V& v, uint32_t warp, LineAddr line, uint32_t now) {
  auto& f = v.s.fetch;
  uint32_t mshr = 0;
  const cache::L1Load wanted{
      .line = line, .cycle = now, .credits = 1, .entry = static_cast<uint8_t>(warp)};
  const cache::L1Result r = cache::l1_load(v.p.fetch.cache, f.cache, v.base, wanted, mshr);
  NW_ASSERT(r != cache::L1Result::kHit);
  if (r == cache::L1Result::kMiss) f.unsent |= bit(mshr);
  if (r == cache::L1Result::kStall) f.stalled.set(warp);
}

/// Look up the line that the warp fetches in the instruction cache; if it misses, the warp waits.
template <class V>
NW_HD NW_APART_ON_GPU bool find_instructions(V& v, uint32_t warp, uint32_t now) {
  const LineAddr line = kCodeBase + (v.warps[warp].fetch_pc >> v.p.fetch.line_shift);
  if (cache::l1_touch(v.p.fetch.cache, v.s.fetch.cache, v.base, line)) return true;
  wait_for_instructions(v, warp, line, now);
  return false;
}

/// Let one warp fetch, if any wants to: first those whose line has arrived, then those that a
/// mechanism prefers, then all others round robin.
template <class V>
NW_HD NW_APART_ON_GPU void fetch_once(V& v, uint32_t now, uint32_t issue) {
  auto& f = v.s.fetch;
  uint32_t warp;
  if (f.arrived.any()) {
    warp = f.arrived.take_first();
  } else {
    if (!f.wanted.any()) return;
    const auto ahead = f.wanted & f.ahead;
    const auto after = f.wanted - V::Warps::lowest(f.last + 1);
    warp = ahead.any() ? ahead.first() : after.any() ? after.first() : f.wanted.first();
    f.last = warp;
    f.wanted.clear(warp);
    if (v.p.fetch.cached && !find_instructions(v, warp, now)) return;
  }
  on_fetched(v, warp, now, issue);
}

/// Step the fetch stage by a cycle.
template <class V>
NW_HD NW_APART void fetch_step(V& v, uint32_t now) {
  for (uint32_t i = v.p.fetch.per_cycle; i != 0; --i) fetch_once(v, now, now + (i > 1 ? 1 : 2));
}

/// A line of instructions has come from memory for MSHR `mshr`.
template <class V>
NW_HD inline void on_instructions(V& v, uint32_t mshr) {
  auto& f = v.s.fetch;
  const uint32_t merges = v.p.fetch.cache.merges;
  const uint8_t* waiting = f.cache.mshr_loads.in(v.base) + mshr * merges;
  const uint32_t n = f.cache.mshr_count.in(v.base)[mshr];
  for (uint32_t i = 0; i < n; ++i) f.arrived.set(waiting[i]);
  cache::l1_fill(f.cache, v.base, mshr);
  f.wanted |= f.stalled;
  f.stalled = {};
}

}  // namespace nearwarp::sm
