// The fetch stage: one warp per cycle (or a few), whose instruction buffer is empty, gets the next
// few instructions, which it can issue two cycles later (decoding takes the one in between). Where
// several warps fetch in a cycle, all but the last are decoded in it. Warps take turns.
//
// A fetch goes on behind the last instruction, wherever a branch may lead. Only the scheduler sees
// that a warp goes on elsewhere, and what was fetched for it is lost.
//
// Source: GPGPU-Sim 4.2, shader core: fetch, decode and the check of program counters at issue.
#pragma once

#include "device/sm/mechanisms.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::sm {

/// The warp's instruction at the cursor has to be issued next, not before `earliest`: take it from
/// the warp's buffer, or have it fetched. `soon`: see schedule().
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

/// The warp's line is there; its instructions can be issued from cycle `issue` on.
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

/// The line that the warp fetches is not there: the warp waits for it.
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

/// Is the line there that the warp fetches? If not, the warp waits for it.
template <class V>
NW_HD NW_APART_ON_GPU bool find_instructions(V& v, uint32_t warp, uint32_t now) {
  const LineAddr line = kCodeBase + (v.warps[warp].fetch_pc >> v.p.fetch.line_shift);
  if (cache::l1_touch(v.p.fetch.cache, v.s.fetch.cache, v.base, line)) return true;
  wait_for_instructions(v, warp, line, now);
  return false;
}

/// One warp fetches, if one wants to.
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

/// The fetch stage's cycle.
template <class V>
NW_HD NW_APART void fetch_step(V& v, uint32_t now) {
  for (uint32_t i = v.p.fetch.per_cycle; i != 0; --i) fetch_once(v, now, now + (i > 1 ? 1 : 2));
}

/// A line of instructions has come.
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
