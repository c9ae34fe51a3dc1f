// Warp schedulers and the issue stage.
#pragma once

#include "device/sm/blocks.h"
#include "device/sm/constants.h"
#include "device/sm/lsu.h"

namespace nearwarp::sm {

template <class S>
NW_HD inline bool lsu_accepts(const SmParams& p, const S& s) {
  return s.lsu_count + population_count(s.parked_ops) < p.lsu_queue && s.free_loads != 0;
}

/// When a scheduler can issue to a port of the unit.
template <class S>
NW_HD NW_INLINE uint32_t port_accepts(const SmParams& p, const S& s, uint32_t unit,
                                      uint32_t scheduler) {
  return p.sub_cores ? s.port_accepts[unit][scheduler % p.ports[unit]] : s.unit_accepts[unit];
}

/// Ready warps whose next instruction the scheduler can issue.
template <class S>
NW_HD inline auto issuable(const SmParams& p, const S& s, uint32_t scheduler, uint32_t now) {
  auto m = s.unit_warps[static_cast<uint32_t>(Unit::kControl)];
  for (uint32_t u = 0; u < kNumPortUnits; ++u)
    if (s.unit_warps[u].any() && port_accepts(p, s, u, scheduler) <= now) m |= s.unit_warps[u];
  const auto lsu = s.unit_warps[static_cast<uint32_t>(Unit::kLsu)];
  if (lsu.any() && lsu_accepts(p, s)) m |= lsu;
  return m;
}

/// Choose among the warps of `m`. Greedy-then-oldest: the last one again, else the oldest thread
/// block's lowest warp (warps of a block are launched together). Loose round robin: the next after
/// the last one.
template <class V>
NW_HD inline uint32_t pick(const V& v, uint32_t scheduler, typename V::Warps m) {
  const uint32_t last = v.s.last_warp[scheduler];
  if (v.p.policy == SchedulerPolicy::kLooseRoundRobin) {
    const auto after = m - V::Warps::lowest(last + 1);
    return after.any() ? after.first() : m.first();
  }
  if (m.test(last)) return last;
  for (uint32_t i = 0; i < v.s.num_block_order; ++i) {
    const auto of_block = m & v.blocks[v.s.block_order[i]].warps;
    if (of_block.any()) return of_block.first();
  }
  return m.first();
}

/// Hand a memory instruction to the load-store unit. `next` is set to the trace position after it.
template <class V>
NW_HD inline void issue_memory(V& v, uint32_t warp, const ImageInstr& in, const uint64_t* words,
                               uint32_t now) {
  Warp& w = v.warps[warp];
  const Access a = read_access(words, w.at.trace_pos, w.at.mask, in.flags & kGuarded);
  w.at.trace_pos = a.next;
  if (a.mask == 0) {  // no lane takes part
    set_results(v, warp, in, now + 1);
    return;
  }
  auto& s = v.s;
  const uint32_t at = (s.lsu_head + s.lsu_count) % kMaxLsuQueue;
  s.lsu_count += 1;
  LsuOp& op = s.lsu[at];
  op.pc = w.at.pc;
  op.mask = a.mask;
  op.record = a.record;
  op.thread_block = w.thread_block;
  op.warp = static_cast<uint8_t>(warp);
  op.space = w.space;
  op.shared = in.action == Action::kSharedLoad || in.action == Action::kSharedStore ||
              in.action == Action::kSharedAtomic ||
              (trace::record_base(words[a.record]) & trace::kSharedWindow) != 0;
  w.loads = static_cast<uint8_t>(w.loads + 1);
  set_results(v, warp, in, kPendingLoad);
  op.watch = op.shared || w.watch == 0 ? uint8_t{0} : hooks::on_access(v, warp);
  if (op.shared) return;
  if (in.action == Action::kStore) {
    op.epoch = static_cast<uint8_t>(add_store(s) % kEpochs);
    s.counters.stores += 1;
    return;
  }
  const uint32_t entry = count_trailing_zeros(s.free_loads);
  s.free_loads &= s.free_loads - 1;
  LoadEntry& e = v.load_entries[entry];
  e.pc = w.at.pc;
  e.remaining = 0;
  e.warp = static_cast<uint8_t>(warp);
  e.issued = false;
  op.entry = static_cast<uint8_t>(entry);
  (in.action == Action::kLoad ? s.counters.loads : s.counters.atomics) += 1;
}

/// Have the instruction wait for a port of its unit, where it has to, and take it, for `more`
/// cycles than it needs by itself. Returns the cycle in which it begins.
template <class V>
NW_HD inline uint32_t take_port(V& v, const ImageInstr& in, uint32_t scheduler, uint32_t now,
                                uint32_t more) {
  const auto unit = static_cast<uint32_t>(in.unit);
  if (unit >= kNumPortUnits) return now;
  uint32_t* free_at = v.s.port_free[unit];
  const uint32_t n = v.p.ports[unit];
  uint32_t port = 0;
  if (v.p.sub_cores) {
    port = scheduler % n;
  } else {
    for (uint32_t i = 1; i < n; ++i) port = free_at[i] < free_at[port] ? i : port;
  }
  const uint32_t start = free_at[port] > now ? free_at[port] : now;
  free_at[port] = start + in.interval + more;
  uint32_t room = free_at[port];
  if (v.p.port_queue != 0) {
    // There is room again when the oldest of the last ones begins.
    PortQueue& queue = v.s.port_queue[unit][v.p.sub_cores ? port : 0];
    queue.starts[queue.oldest] = start;
    queue.oldest = queue.oldest + 1 == v.p.port_queue ? 0 : queue.oldest + 1;
    room = queue.starts[queue.oldest];
  }
  uint32_t* accepts = v.s.port_accepts[unit];
  accepts[port] = room;
  if (v.p.sub_cores || v.p.port_queue == 0)  // each port has room of its own
    for (uint32_t i = 0; i < n; ++i) room = accepts[i] < room ? accepts[i] : room;
  v.s.unit_accepts[unit] = room;
  return start;
}

/// Issue the warp's next instruction by a scheduler and look at the one after it. Returns false if
/// it cannot be issued yet: only loads of constants find that out when it is their turn.
template <class V>
NW_HD inline bool issue(V& v, uint32_t warp, uint32_t scheduler, uint32_t now) {
  Warp& w = v.warps[warp];
  auto& s = v.s;
  const ImageInstr& in = v.instr(w.at.pc);
  s.ready.clear(warp);
  s.unit_warps[static_cast<uint32_t>(w.unit)].clear(warp);
  Constants constants = Constants::kThere;
  uint32_t lines = 1;
  if (in.action == Action::kConstant && v.p.constants.cached) {
    constants = load_constants(v, warp, in, now, lines);
    if (constants == Constants::kStalled) return false;
  }
  const uint32_t threads = population_count(w.at.mask);
  s.counters.issued += 1;
  s.counters.issued_threads += threads;
  s.counters.issued_by_unit[static_cast<uint32_t>(in.unit)] += 1;
  s.counters.threads_by_class[static_cast<uint32_t>(in.energy_class())] += threads;
  s.counters.register_reads += threads * in.register_reads;
  s.counters.register_writes += threads * in.register_writes;
  if (w.count != 0) hooks::after_issue(v, warp, threads);
  const uint64_t* words = v.words(w);
  if ((in.flags & kHasRecord) != 0 && in.action != Action::kConstant) {
    issue_memory(v, warp, in, words, now);
  } else {
    if ((in.flags & kHasRecord) != 0)
      w.at.trace_pos = read_access(words, w.at.trace_pos, w.at.mask, in.flags & kGuarded).next;
    if (w.unit != in.unit) {
      hooks::issue_elsewhere(v, warp, in, now);
    } else {
      const uint32_t at = take_port(v, in, scheduler, now, lines - 1) + in.latency + (lines - 1);
      set_results(v, warp, in, constants == Constants::kMissing ? kPendingLoad : at);
    }
  }
  const uint32_t next = now + ((in.flags & kBranch) != 0 ? v.p.branch_latency : 1);
  advance(w.at, words, v.system.image, w.first_block);
  if (in.action >= Action::kBarrier) {
    if (in.action == Action::kBarrier || in.action == Action::kBarrierArrive)
      arrive_at_barrier(v, warp, in, now);
    if (in.action == Action::kBarrier) return true;  // released by the last warp to come
    if (in.action == Action::kFence && (w.stores != 0 || w.loads != 0)) {
      enter_phase(v, warp, Phase::kAtFence);
      return true;
    }
  }
  continue_warp(v, warp, now, next);
  return true;
}

/// One issue slot per scheduler. Returns whether anything was issued.
template <class V>
NW_HD inline bool issue_cycle(V& v, uint32_t now, const typename V::Warps* scheduler_warps) {
  if (!v.s.ready.any()) return false;
  if (v.s.lsu_stall == LsuStall::kReply && !lsu_accepts(v.p, v.s) &&
      !(v.s.ready - v.s.unit_warps[static_cast<uint32_t>(Unit::kLsu)]).any())
    return false;
  bool any = false;
  for (uint32_t k = 0; k < v.p.num_schedulers; ++k) {
    const auto m = issuable(v.p, v.s, k, now) & scheduler_warps[k];
    if (!m.any() || v.s.slot_taken[k] > now) continue;
    const uint32_t warp = pick(v, k, m);
    v.s.last_warp[k] = static_cast<uint8_t>(warp);
    any |= issue(v, warp, k, now);
  }
  return any;
}

}  // namespace nearwarp::sm
