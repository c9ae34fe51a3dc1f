// Why an SM issues nothing: what its warps wait for.
#pragma once

#include "device/sm/cycles.h"
#include "device/sm/issue.h"

namespace nearwarp::sm {

// `kPlain`: there is no mechanism on the SM.

/// Warps are ready and none can be issued: what is in their way.
template <bool kPlain, class S>
NW_HD inline CycleUse use_of_ready(const SmParams& p, const S& s) {
  if (!kPlain && s.halted_by != 0) return CycleUse::kMechanism;
  if (!s.unit_warps[static_cast<uint32_t>(Unit::kLsu)].any() || lsu_accepts(p, s))
    return CycleUse::kPorts;
  if (s.lsu_stall == LsuStall::kCredit) return CycleUse::kNetwork;
  const bool misses = (s.lsu_stall == LsuStall::kReply) | (s.free_loads == 0) | (s.lsu_count == 0);
  return misses ? CycleUse::kMisses : CycleUse::kLsu;
}

/// No warp is ready: what most of them wait for; of equals the first one here. Warps at their ends
/// count only if there are no others.
template <bool kPlain, class S>
NW_HD NW_CALLED CycleUse use_of_waiting(const S& s) {
  const auto in = [&](Phase phase) { return s.in_phase[static_cast<uint32_t>(phase)]; };
  const auto held = in(Phase::kHeld), running = in(Phase::kRunning);
  const auto pending = running - s.timed;
  CycleUse use = in(Phase::kFinished).any() ? CycleUse::kMemory : CycleUse::kNoWarp;
  uint32_t most = 0;
  const auto consider = [&](CycleUse other, uint32_t warps) {
    use = warps > most ? other : use;
    most = warps > most ? warps : most;
  };
  consider(CycleUse::kMemory, ((pending - s.away) | in(Phase::kAtFence)).size());
  consider(CycleUse::kDependency, (running & s.timed).size());
  consider(CycleUse::kBarrier,
           (in(Phase::kAtBarrier) | in(Phase::kAtMbarrier) | in(Phase::kAtCopy)).size());
  if (!kPlain && (held.any() || s.away.any())) {
    consider(CycleUse::kAway, (s.away & (pending | held)).size());
    consider(CycleUse::kMechanism, (held - s.away).size());
  }
  consider(CycleUse::kFetch, (in(Phase::kAtFetch) | in(Phase::kAtConstant)).size());
  return use;
}

/// A mechanism has taken a scheduler's turns, for instructions that it issues itself.
template <class S>
NW_HD inline bool slot_is_taken(const SmParams& p, const S& s) {
  bool taken = false;
  for (uint32_t k = 0; k < p.num_schedulers; ++k) taken |= s.slot_taken[k] > s.cycles.since;
  return taken;
}

/// The use of a cycle that leaves this state.
template <class S>
NW_HD NW_APART CycleUse cycle_use(const SmParams& p, const S& s) {
  if (s.in_phase[static_cast<uint32_t>(Phase::kHeld)].any() && slot_is_taken(p, s))
    return CycleUse::kIssued;
  return s.ready.any() ? use_of_ready<false>(p, s) : use_of_waiting<false>(s);
}

/// The use where all warps run, none is ready, and nothing of them is executed elsewhere.
template <class S>
NW_HD NW_INLINE CycleUse use_of_running(const S& s) {
  const uint32_t running = s.in_phase[static_cast<uint32_t>(Phase::kRunning)].size();
  const uint32_t timed = s.timed.size();
  return 2 * timed > running ? CycleUse::kDependency
         : running != 0      ? CycleUse::kMemory
                             : CycleUse::kNoWarp;
}

/// Cycle `now` is stepped: what were those before it spent on?
template <class V>
NW_HD NW_APART_ON_GPU void begin_cycle(V& v, uint32_t now) {
  auto& s = v.s;
  auto& c = s.cycles;
  const bool ready = s.ready.any();
  if (c.from == now || (c.known && !ready && c.timed == s.timed)) return;
  c.uses[static_cast<uint32_t>(c.use)] += c.since - c.from;
  c.from = c.since;
  c.timed = s.timed;
  c.known = !ready;
  if (!v.kPlain && s.in_phase[static_cast<uint32_t>(Phase::kHeld)].any()) {
    c.use = cycle_use(v.p, s);
  } else if (ready) {
    c.use = use_of_ready<V::kPlain>(v.p, s);
  } else {
    c.use = (s.at_rest | s.away).any() ? use_of_waiting<V::kPlain>(s) : use_of_running(s);
  }
}

/// The schedulers have had their turns in it. If nothing was issued, the state that the cycle
/// leaves says why, once the next one is stepped.
template <class V>
NW_HD NW_APART_ON_GPU void note_issue(V& v, uint32_t now, bool issued) {
  auto& c = v.s.cycles;
  c.since = now;
  if (!issued) return;
  c.uses[static_cast<uint32_t>(c.use)] += now - c.from;
  c.uses[static_cast<uint32_t>(CycleUse::kIssued)] += 1;
  c.from = c.since = now + 1;
  c.known = false;
}

}  // namespace nearwarp::sm
