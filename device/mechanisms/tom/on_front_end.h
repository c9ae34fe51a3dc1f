// TOM at the front end: the central part of the offload controller. It counts pending offloads per
// stack and tells all SMs what the channel busy monitors report. In the learning phase it adds up
// the reports of the SMs' memory map analyzers, and ends the phase (TOM, sections 3.3, 4.1, 4.3).
#pragma once

#include "device/frontend/mechanisms.h"
#include "device/mechanisms/tom/sm_state.h"

namespace nearwarp::tom {

/// The learning phase as the front end sees it (TOM, section 4.3).
enum class LearningPhase : uint8_t {
  kNone,
  kLearning,
  kStopping,  ///< SMs have been told to stop
  kHeld,      ///< all SMs stand still; the host chooses the mapping before `resume_at`
  kOver,
};

struct ArbiterParams {
  uint32_t stack_warps = 0;         ///< warps that one stack's SMs hold
  uint32_t stack_rows = 0;          ///< rows of a stack SM's shared memory for offloaded warps
  bool count_at_begin = false;      ///< instances count when they begin; else when they end
  bool tell_room = false;           ///< tell SMs which stacks are full
  bool dynamic_control = false;     ///< deny requests when a stack is full; else they wait
  uint64_t learning_instances = 0;  ///< the learning phase ends with this one; 0: there is none
  Tick remap_ticks = 0;  ///< from the last SM's standstill until they go on; at least a window
};

/// A request to offload a warp that waits for room on a stack (without dynamic control).
struct WaitingAsk {
  SmId sm{};
  uint16_t warp = 0;
  uint32_t rows = 0;  ///< rows of shared memory that the warp needs
};

struct ArbiterCounters {
  uint64_t asks = 0, grants = 0, denials = 0, releases = 0;
  uint64_t peak_pending = 0;
  uint64_t peak_rows = 0;
};

struct ArbiterState {
  Ref<WaitingAsk> waiting;  ///< num_stacks x waiting_entries; a ring per stack
  uint32_t waiting_entries = 0;
  uint32_t waiting_head[kMaxStacks] = {};
  uint32_t waiting_count[kMaxStacks] = {};
  uint32_t pending[kMaxStacks] = {};  ///< offloads that were granted and not yet released
  uint32_t rows[kMaxStacks] = {};     ///< rows of shared memory that they occupy
  LearningPhase learning = LearningPhase::kNone;
  uint32_t stopped_sms = 0;
  uint64_t begun = 0;         ///< instances that have begun; used with `count_at_begin`
  uint64_t late_reports = 0;  ///< instances that ended after the last one that counts
  AnalyzerTotals seen;        ///< sums of the SMs' reports
  /// When SMs were told to stop, when all stood still, and when they go on.
  Tick stop_at = 0, held_at = 0, resume_at = 0;
  ArbiterCounters counters;
};

template <class O>
NW_HD inline void grant(O& o, StackId stack, SmId sm, uint32_t warp, uint32_t rows) {
  const uint32_t at_stack = number_of(stack);
  o.s.pending[at_stack] += 1;
  o.s.rows[at_stack] += rows;
  o.s.counters.grants += 1;
  if (o.s.rows[at_stack] > o.s.counters.peak_rows) o.s.counters.peak_rows = o.s.rows[at_stack];
  if (o.s.pending[at_stack] > o.s.counters.peak_pending)
    o.s.counters.peak_pending = o.s.pending[at_stack];
  if (o.p.tell_room && o.s.pending[at_stack] == o.p.stack_warps)
    frontend::tell_all(o.v, o.v.s.word | full_bit(stack));
  frontend::post(o.v, sm, kOffloadGrant, warp);
}

/// Does the shared memory of the stack's SM have room for `rows` more rows?
template <class O>
NW_HD NW_INLINE bool has_rows(const O& o, StackId stack, uint32_t rows) {
  return rows == 0 || o.s.rows[number_of(stack)] + rows <= o.p.stack_rows;
}

template <class O>
NW_HD inline void on_ask(O& o, const OffloadAsk& ask, SmId sm) {
  ArbiterState& s = o.s;
  const auto [warp, stack, rows] = ask;
  const uint32_t at_stack = number_of(stack);
  s.counters.asks += 1;
  const bool has_warp = s.pending[at_stack] < o.p.stack_warps;
  // A request does not overtake one that waits for more shared memory than is free.
  if (has_warp && has_rows(o, stack, rows) && s.waiting_count[at_stack] == 0) {
    grant(o, stack, sm, warp, rows);
  } else if (o.p.dynamic_control) {
    s.counters.denials += 1;
    frontend::post(o.v, sm, has_warp ? kOffloadDenyShared : kOffloadDeny, warp);
  } else {
    uint32_t at = s.waiting_head[at_stack] + s.waiting_count[at_stack];
    if (at >= s.waiting_entries) at -= s.waiting_entries;
    NW_ASSERT(s.waiting_count[at_stack] < s.waiting_entries);
    WaitingAsk& w = s.waiting.in(o.v.base)[at_stack * s.waiting_entries + at];
    w.sm = sm;
    w.warp = static_cast<uint16_t>(warp);
    w.rows = rows;
    s.waiting_count[at_stack] += 1;
  }
}

template <class O>
NW_HD inline void on_release(O& o, const OffloadRelease& release) {
  ArbiterState& s = o.s;
  const auto [stack, rows] = release;
  const uint32_t at_stack = number_of(stack);
  s.counters.releases += 1;
  NW_ASSERT(s.pending[at_stack] > 0 && s.rows[at_stack] >= rows);
  s.pending[at_stack] -= 1;
  s.rows[at_stack] -= rows;
  if (s.waiting_count[at_stack] == 0) {
    if ((o.v.s.word & full_bit(stack)) != 0 && o.p.tell_room)
      frontend::tell_all(o.v, o.v.s.word & ~full_bit(stack));
    return;
  }
  // The rows that this release frees may be enough for several waiting requests.
  while (s.waiting_count[at_stack] != 0 && s.pending[at_stack] < o.p.stack_warps) {
    const WaitingAsk w =
        s.waiting.in(o.v.base)[at_stack * s.waiting_entries + s.waiting_head[at_stack]];
    if (!has_rows(o, stack, w.rows)) return;
    s.waiting_head[at_stack] =
        s.waiting_head[at_stack] + 1 == s.waiting_entries ? 0 : s.waiting_head[at_stack] + 1;
    s.waiting_count[at_stack] -= 1;
    grant(o, stack, w.sm, w.warp, w.rows);
  }
}

/// End the learning phase: dispatch no more thread blocks, and tell all SMs to stop.
template <class O>
NW_HD inline void end_learning(O& o, Tick now) {
  ArbiterState& s = o.s;
  s.learning = LearningPhase::kStopping;
  s.stop_at = now;
  auto& dispatch = o.v.s.dispatch;
  dispatch.held_by = static_cast<uint8_t>(dispatch.held_by | o.bit);
  for (uint32_t i = 0; i < o.v.p.num_sms; ++i) frontend::post(o.v, sm_id(i), kLearningStop, 0);
}

/// Add an SM's report of a complete instance; enough of them end the learning phase.
template <class O>
NW_HD inline void on_instance(O& o, const Packet& m, Tick now) {
  ArbiterState& s = o.s;
  if (s.learning != LearningPhase::kLearning && !o.p.count_at_begin) {
    s.late_reports += 1;
    return;
  }
  add_report(s.seen, m);
  if (!o.p.count_at_begin && s.seen.instances >= o.p.learning_instances) end_learning(o, now);
}

/// An SM reports instances that have begun; with `count_at_begin`, enough of them end the phase.
template <class O>
NW_HD inline void on_begun(O& o, const Packet& m, Tick now) {
  o.s.begun += InstanceBegun::of(m).instances;
  if (o.s.learning == LearningPhase::kLearning && o.s.begun >= o.p.learning_instances)
    end_learning(o, now);
}

/// An SM stands still. After the last one has stopped, the host chooses the mapping.
template <class O>
NW_HD inline void on_stopped(O& o, Tick now) {
  o.s.stopped_sms += 1;
  if (o.s.stopped_sms < o.v.p.num_sms) return;
  o.s.learning = LearningPhase::kHeld;
  o.s.held_at = now;
  o.s.resume_at = now + o.p.remap_ticks;
  o.v.s.host_wanted_by = static_cast<uint8_t>(o.v.s.host_wanted_by | o.bit);
}

struct OnFrontEnd : frontend::Hooks {
  using State = ArbiterState;
  using Params = ArbiterParams;

  template <class O>
  NW_HD static void on_message(O& o, const Packet& m, SmId sm, Tick now) {
    if (m.kind == kOffloadAsk) {
      on_ask(o, OffloadAsk::of(m), sm);
    } else if (m.kind == kOffloadRelease) {
      on_release(o, OffloadRelease::of(m));
    } else if (m.kind == kInstanceSeen) {
      on_instance(o, m, now);
    } else if (m.kind == kInstanceBegun) {
      on_begun(o, m, now);
    } else if (m.kind == kLearningStopped) {
      on_stopped(o, now);
    } else {
      record_fault(o.v.s.fault, kFaultUnexpectedPacket, o.v.p.endpoint, now);
    }
  }
  /// The busy bits of stack `k`'s link have changed.
  template <class O>
  NW_HD static void on_monitor(O& o, uint32_t k, const Packet& m) {
    const uint32_t others = o.v.s.word & ~(3u << (2 * k));
    frontend::tell_all(o.v, others | (StatusBits::of(m).bits & 3) << (2 * k));
  }
  /// After the time for choosing the mapping and copying data, let all SMs go on.
  template <class O>
  NW_HD static void step(O& o, Tick now) {
    if (o.s.learning != LearningPhase::kHeld || o.s.resume_at > now) return;
    o.s.learning = LearningPhase::kOver;
    auto& dispatch = o.v.s.dispatch;
    dispatch.held_by = static_cast<uint8_t>(dispatch.held_by & ~o.bit);
    for (uint32_t i = 0; i < o.v.p.num_sms; ++i) frontend::post(o.v, sm_id(i), kLearningResume, 0);
  }
  template <class O>
  NW_HD static Tick next(const O& o) {
    return o.s.learning == LearningPhase::kHeld ? o.s.resume_at : kNever;
  }
};

}  // namespace nearwarp::tom
