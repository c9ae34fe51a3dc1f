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
template <class V>
NW_HD NW_INLINE uint32_t port_accepts(const V& v, uint32_t unit, uint32_t scheduler) {
  return v.has_sub_cores() ? v.s.ports[unit].accepts[scheduler % v.p.ports[unit]]
                           : v.s.unit_accepts[unit];
}

/// Does a ready warp need a port of another kind than the first, of which most instructions are?
template <class S>
NW_HD NW_INLINE bool waits_for_rare_unit(const S& s) {
  auto m = s.unit_warps[1];
  for (uint32_t u = 2; u < kNumPortUnits; ++u) m |= s.unit_warps[u];
  return m.any();
}

/// Ready warps whose next instruction the scheduler can issue.
template <class V>
NW_HD inline auto issuable(const V& v, uint32_t scheduler, uint32_t now) {
  const auto& s = v.s;
  auto m = s.unit_warps[static_cast<uint32_t>(Unit::kControl)];
  const auto add_unit = [&](uint32_t u) NW_INLINE_LAMBDA {
    if (s.unit_warps[u].any() && port_accepts(v, u, scheduler) <= now) m |= s.unit_warps[u];
  };
  add_unit(0);
  if (waits_for_rare_unit(s))
    for (uint32_t u = 1; u < kNumPortUnits; ++u) add_unit(u);
  const auto lsu = s.unit_warps[static_cast<uint32_t>(Unit::kLsu)];
  if (lsu.any() && lsu_accepts(v.p, s)) m |= lsu;
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
  if (!m.several()) return m.first();
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
  if (V::kHasBlocks && v.copies() && in.action == Action::kPhaseWait) begin_wait(v, warp, a);
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
  op.shared =
      in.accesses_shared() || (trace::record_base(words[a.record]) & trace::kSharedWindow) != 0;
  w.loads = static_cast<uint8_t>(w.loads + 1);
  set_results(v, warp, in, kPendingLoad);
  op.watch = op.shared || v.who(w.watch) == 0 ? uint8_t{0} : hooks::on_access(v, warp);
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
  (in.loads() ? s.counters.loads : s.counters.atomics) += 1;
  if (v.copies() && in.action == Action::kAsyncLoad) e.segment = begin_async_load(v, warp);
}

/// Take a port of the unit from cycle `now` on, for `taken` cycles: one of two, of which one is
/// free. (It does not matter since when.)
template <class V>
NW_HD NW_INLINE void take_port_of_two(V& v, uint32_t unit, uint32_t taken, uint32_t now) {
  uint32_t* free_at = v.s.ports[unit].free_at;
  const uint32_t other = free_at[0] > free_at[1] ? free_at[0] : free_at[1], end = now + taken;
  free_at[0] = end;
  free_at[1] = other;
  v.s.unit_accepts[unit] = end < other ? end : other;
}

/// Take a port of the unit from cycle `now` on, or from when one is free, for `taken` cycles. There
/// are no sub-cores, and nothing waits for ports. Returns the cycle in which it begins.
template <class V>
NW_HD NW_INLINE uint32_t take_first_port(V& v, uint32_t unit, uint32_t taken, uint32_t now) {
  if constexpr (V::kSimple) {
    take_port_of_two(v, unit, taken, now);
    return now;
  }
  uint32_t* free_at = v.s.ports[unit].free_at;
  const uint32_t n = v.p.ports[unit];
  // There are one or two in most machines.
  const uint32_t other = n > 1 ? free_at[1] : kPendingLoad;
  uint32_t port = other < free_at[0] ? 1 : 0;
  uint32_t first = port == 0 ? free_at[0] : other, second = port == 0 ? other : free_at[0];
  for (uint32_t i = 2; i < n; ++i) {
    const uint32_t at = free_at[i];
    second = at < first ? first : at < second ? at : second;
    port = at < first ? i : port;
    first = at < first ? at : first;
  }
  const uint32_t start = first > now ? first : now;
  free_at[port] = start + taken;
  v.s.unit_accepts[unit] = start + taken < second ? start + taken : second;
  return start;
}

/// An instruction that waits for a port has begun in cycle `start`: when is there room for the next
/// one in its queue? When the oldest of the last ones begins.
NW_HD NW_INLINE uint32_t room_behind(const SmParams& p, PortQueue& queue, uint32_t start) {
  queue.starts[queue.oldest] = start;
  const uint32_t next = queue.oldest + 1;
  queue.oldest = next == p.port_queue ? 0 : next;
  return queue.starts[queue.oldest];
}

/// As take_first_port(), of ports for which instructions wait in one queue.
template <class V>
NW_HD NW_INLINE uint32_t take_queued_port(V& v, uint32_t unit, uint32_t taken, uint32_t now) {
  UnitPorts& ports = v.s.ports[unit];
  uint32_t* free_at = ports.free_at;
  const uint32_t n = v.p.ports[unit];
  uint32_t port = n > 1 && free_at[1] < free_at[0] ? 1 : 0;
  for (uint32_t i = 2; i < n; ++i) port = free_at[i] < free_at[port] ? i : port;
  const uint32_t start = free_at[port] > now ? free_at[port] : now;
  free_at[port] = start + taken;
  v.s.unit_accepts[unit] = room_behind(v.p, ports.queue[0], start);
  return start;
}

/// As take_queued_port(), for the port of one scheduler with sub-cores: its queue is its own.
template <class V>
NW_HD NW_CALLED uint32_t take_own_port(V& v, uint32_t unit, uint32_t taken, uint32_t scheduler,
                                       uint32_t now) {
  UnitPorts& ports = v.s.ports[unit];
  const uint32_t n = v.p.ports[unit];
  const uint32_t port = scheduler % n;
  uint32_t& free_at = ports.free_at[port];
  const uint32_t start = free_at > now ? free_at : now;
  free_at = start + taken;
  ports.accepts[port] =
      v.p.port_queue != 0 ? room_behind(v.p, ports.queue[port], start) : start + taken;
  uint32_t room = ports.accepts[0];
  for (uint32_t i = 1; i < n; ++i) room = ports.accepts[i] < room ? ports.accepts[i] : room;
  v.s.unit_accepts[unit] = room;
  return start;
}

/// Have the instruction wait for a port of its unit, where it has to, and take it, for `more`
/// cycles than it needs by itself. Returns the cycle in which it begins.
template <class V>
NW_HD NW_APART_ON_GPU uint32_t take_port(V& v, const ImageInstr& in, uint32_t scheduler,
                                         uint32_t now, uint32_t more) {
  const auto unit = static_cast<uint32_t>(in.unit);
  if (unit >= kNumPortUnits) return now;
  const uint32_t taken = in.interval + more;
  v.s.ports[unit].busy += taken;
  if (v.has_sub_cores()) {
    auto&& rare = v.rarely();
    return take_own_port(rare, unit, taken, scheduler, now);
  }
  return v.queues_for_ports() ? take_queued_port(v, unit, taken, now)
                              : take_first_port(v, unit, taken, now);
}

/// A load of constants is issued that has been looked up in the cache: it takes a cycle more for
/// each further line that its lanes want.
template <class V>
NW_HD NW_CALLED void execute_constants(V& v, uint32_t warp, const ImageInstr& in,
                                       uint32_t scheduler, uint32_t now,
                                       const ConstantLines& constants) {
  const uint32_t more = constants.lines - 1;
  const uint32_t at = take_port(v, in, scheduler, now, more) + in.latency + more;
  set_results(v, warp, in, constants.result == Constants::kMissing ? kPendingLoad : at);
}

/// The warp has issued a barrier or a fence. Returns whether it waits there.
template <class V>
NW_HD NW_CALLED bool waits_for_others(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  const Warp& w = v.warps[warp];
  if (V::kHasBlocks && (in.action == Action::kBarrier || in.action == Action::kBarrierArrive))
    arrive_at_barrier(v, warp, in, now);
  if (in.action == Action::kBarrier) return true;  // released by the last warp to come
  if (V::kHasBlocks && v.copies() && in.action == Action::kPhaseWait &&
      v.s.warp_copies.in(v.base)[warp].wait_mask != 0) {
    enter_phase(v, warp, Phase::kAtMbarrier);
    return true;
  }
  if (in.action != Action::kFence || (w.stores == 0 && w.loads == 0)) return false;
  enter_phase(v, warp, Phase::kAtFence);
  return true;
}

/// Issue the warp's next instruction by a scheduler and look at the one after it. Returns false if
/// it cannot be issued yet: only loads of constants find that out when it is their turn.
template <class V>
NW_HD NW_APART_ON_GPU bool issue(V& v, uint32_t warp, uint32_t scheduler, uint32_t now) {
  Warp& w = v.warps[warp];
  auto& s = v.s;
  const ImageInstr& in = v.instr(w.at.pc);
  s.ready.clear(warp);
  s.unit_warps[static_cast<uint32_t>(w.unit)].clear(warp);
  if (V::kHasBlocks && v.copies() && in.action > Action::kExit) {
    auto&& rare = v.rarely();
    return issue_copy(rare, warp, in, now);
  }
  ConstantLines constants = {Constants::kThere, 1};
  const bool by_cache = v.caches_constants() && in.action == Action::kConstant;
  if (by_cache) {
    auto&& rare = v.rarely();
    constants = load_constants(rare, warp, in, now);
    if (constants.result == Constants::kStalled) return false;
  }
  const uint32_t threads = population_count(w.at.mask);
  s.counters.count_issue(in, threads);
  if (v.who(w.count) != 0) hooks::after_issue(v, warp, threads);
  const uint64_t* words = v.words(w);
  const bool record = (in.flags & kHasRecord) != 0;
  if (record && in.action != Action::kConstant) {
    issue_memory(v, warp, in, words, now);
  } else {
    if (record)
      w.at.trace_pos = read_access(words, w.at.trace_pos, w.at.mask, in.flags & kGuarded).next;
    if (!v.kPlain && w.unit != in.unit) {
      hooks::issue_elsewhere(v, warp, in, now);
    } else if (by_cache) {
      auto&& rare = v.rarely();
      execute_constants(rare, warp, in, scheduler, now, constants);
    } else {
      const uint32_t at = take_port(v, in, scheduler, now, 0) + in.latency;
      set_results(v, warp, in, at);
      if (v.copies() && in.action == Action::kProductCommit) commit_products(v, warp, at);
    }
  }
  const uint32_t next = now + ((in.flags & kBranch) != 0 ? v.p.branch_latency : 1);
  const bool waits = in.action >= Action::kBarrier;
  advance(w.at, words, v.system.image, w.first_block);
  if (waits) {
    auto&& rare = v.rarely();
    if (waits_for_others(rare, warp, in, now)) return true;
  }
  continue_warp(v, warp, now, next, now + 1);
  return true;
}

/// One issue slot per scheduler. Returns whether anything was issued. A warp is ready.
template <class V>
NW_HD NW_APART_ON_GPU bool issue_cycle(V& v, uint32_t now,
                                       const typename V::Warps* scheduler_warps) {
  auto& s = v.s;
  const SmParams& p = v.p;
  auto m = issuable(v, 0, now);
  if (!m.any() && !v.has_sub_cores()) return false;
  bool any = false;
  for (uint32_t k = 0;;) {
    const auto own = m & scheduler_warps[k];
    if (own.any() && (v.kPlain || s.slot_taken[k] <= now)) {
      const uint32_t warp = pick(v, k, own);
      const auto unit = static_cast<uint32_t>(v.warps[warp].unit);
      s.last_warp[k] = static_cast<uint8_t>(warp);
      any |= issue(v, warp, k, now);
      if (k + 1 == p.num_schedulers) return any;
      // Others may no longer be issued where it went.
      if (unit < kNumPortUnits ? s.unit_accepts[unit] > now
                               : unit == static_cast<uint32_t>(Unit::kLsu) && !lsu_accepts(p, s))
        m -= s.unit_warps[unit];
    }
    if (++k == p.num_schedulers) return any;
    if (v.has_sub_cores()) m = issuable(v, k, now);
  }
}

}  // namespace nearwarp::sm
