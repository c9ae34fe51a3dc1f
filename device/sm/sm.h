// A streaming multiprocessor, stepped through a window.
#pragma once

#include "device/sm/cluster_receive.h"
#include "device/sm/cycle_use.h"
#include "device/sm/issue.h"

namespace nearwarp::sm {

inline constexpr uint32_t kNoCycle = 0xffffffffu;

/// The timer of a warp that does not run, or whose cycle is a later one.
template <class V>
NW_HD NW_CALLED void run_other_timer(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.wake > now) {
    set_timer(v, warp, w.wake, now);
    return;
  }
  v.s.timed.clear(warp);
  switch (w.phase) {
    case Phase::kHeld:
      hooks::on_timer(v, warp, now);
      break;
    case Phase::kFinished:
      try_retire(v, warp, now);
      break;
    case Phase::kAtFetch:
      v.s.fetch.wanted.set(warp);
      break;
    default:
      make_ready(v, warp);
      break;
  }
}

/// Warps whose wheel slot has come.
template <class V>
NW_HD NW_INLINE void run_timers(V& v, uint32_t now) {
  auto& s = v.s;
  const uint32_t slot = now % kWheelSlots;
  if ((s.wheel_used & bit(slot)) == 0) return;
  const auto due = s.wheel[slot];
  s.wheel[slot] = {};
  s.wheel_used &= ~bit(slot);
  due.each([&](uint32_t warp) NW_INLINE_LAMBDA {
    const Warp& w = v.warps[warp];
    if (w.phase == Phase::kRunning && w.wake <= now) {
      s.timed.clear(warp);
      make_ready(v, warp);
    } else {
      auto&& rare = v.rarely();
      run_other_timer(rare, warp, now);
    }
  });
}

/// A packet has come over the network, or from the banks: take it. False: it is a mechanism's that
/// has to wait.
template <class V>
NW_HD NW_CALLED bool receive_packet(V& v, Channel& net, uint32_t now) {
  const Tick tick = v.tick(now);
  if (v.kPlain || block_of(front(net, v.base).kind) == kMemoryBlock) {
    const Packet& p = front(net, v.base);
    if (v.s.lsu_stall == LsuStall::kReply && !stays_stalled(v, p)) v.s.lsu_stall = LsuStall::kNone;
    on_reply(v, p, now);
    pop(net, v.base, tick, v.horizon);
    return true;
  }
  if (hooks::accept_tick(v, front(net, v.base)) > tick) return false;
  const Packet p = front(net, v.base);
  pop(net, v.base, tick, v.horizon);
  if (v.s.lsu_stall == LsuStall::kReply) v.s.lsu_stall = LsuStall::kNone;
  hooks::on_packet(v, p, now);
  return true;
}

/// A packet has come from the front end.
template <class V>
NW_HD NW_CALLED void receive_control(V& v, uint32_t now) {
  Channel& control = v.from_front_end();
  const Packet p = front(control, v.base);
  pop(control, v.base, v.tick(now), v.horizon);
  if (v.s.lsu_stall == LsuStall::kReply) v.s.lsu_stall = LsuStall::kNone;
  if (p.kind == PacketKind::kLaunchBlock) {
    launch_block(v, LaunchBlock::of(p), now);
  } else if (v.clusters() && p.kind == PacketKind::kPassClusterBarrier) {
    pass_cluster_barrier(v, PassClusterBarrier::of(p).thread_block, now);
  } else {
    hooks::on_packet(v, p, now);
  }
}

/// The cycles in which the oldest packets of the channels to the SM arrive, or did; kNoCycle: there
/// is none. Nothing that is sent in a window arrives in it, so they are asked for at its begin, and
/// when a packet has been taken.
struct Arrivals {
  uint32_t network = kNoCycle, control = kNoCycle, banks = kNoCycle, cluster = kNoCycle;
  uint32_t first = kNoCycle;  ///< of all

  NW_HD NW_INLINE void find_first() {
    first = network < control ? network : control;
    first = banks < first ? banks : first;
    first = cluster < first ? cluster : first;
  }
};

template <class V>
NW_HD NW_INLINE uint32_t arrival_cycle(const V& v, const Channel& channel) {
  const Tick t = head_arrival(channel, v.base);
  return t < kNever ? static_cast<uint32_t>(cycle_at_or_after(t, v.p.period)) : kNoCycle;
}
template <class V>
NW_HD NW_CALLED uint32_t arrival_from_cluster(const V& v) {
  const ClusterPort& c = cluster_port(v);
  const uint32_t request = arrival_cycle(v, *c.requests_in.in(v.base));
  const uint32_t reply = arrival_cycle(v, *c.replies_in.in(v.base));
  const uint32_t first = request < reply ? request : reply;
  if (!v.copies()) return first;
  const uint32_t line = arrival_cycle(v, *c.copies_in.in(v.base));
  return line < first ? line : first;
}
template <class V>
NW_HD NW_INLINE void find_arrivals(const V& v, Arrivals& a) {
  a.network = arrival_cycle(v, v.from_network());
  if (v.s.from_front_end.count != 0) a.control = arrival_cycle(v, v.from_front_end());
  if (v.s.from_banks.count != 0) a.banks = arrival_cycle(v, v.from_banks());
  if (v.clusters()) a.cluster = arrival_from_cluster(v);
  a.find_first();
}

/// All that has come from the banks: its subcores take what the TSVs bring.
template <class V>
NW_HD NW_CALLED void receive_from_banks(V& v, uint32_t now, Arrivals& a) {
  while (a.banks <= now && receive_packet(v, v.from_banks(), now))
    a.banks = arrival_cycle(v, v.from_banks());
}

/// One packet from the network, one from the front end, and what the banks, other SMs of the GPC
/// and mechanisms' channels bring.
template <class V>
NW_HD NW_APART_ON_GPU void receive(V& v, uint32_t now, Arrivals& a) {
  if (a.first > now && v.who(v.s.own_channels) == 0) return;
  if (a.network <= now) {
    receive_packet(v, v.from_network(), now);
    a.network = arrival_cycle(v, v.from_network());
  }
  if (a.banks <= now) {
    auto&& rare = v.rarely();
    receive_from_banks(rare, now, a);
  }
  if (v.clusters() && a.cluster <= now) {
    auto&& rare = v.rarely();
    receive_from_cluster(rare, now);
    a.cluster = arrival_from_cluster(v);
  }
  if (v.who(v.s.own_channels) != 0) hooks::take_own(v, now);
  if (V::kHasBlocks && a.control <= now) {
    auto&& rare = v.rarely();
    receive_control(rare, now);
    a.control = arrival_cycle(v, v.from_front_end());
  }
  a.find_first();
}

template <class V>
NW_HD NW_INLINE bool may_issue(const V& v) {
  return v.who(v.s.halted_by) == 0;
}

/// Are there ready warps that wait for nothing, or for ports?
template <class S>
NW_HD NW_INLINE bool ready_beside_lsu(const S& s) {
  return !(s.ready == s.unit_warps[static_cast<uint32_t>(Unit::kLsu)]);
}
/// Are there ready warps whose access the load-store unit takes?
template <class S>
NW_HD NW_INLINE bool ready_for_lsu(const SmParams& p, const S& s) {
  return s.unit_warps[static_cast<uint32_t>(Unit::kLsu)].any() && lsu_accepts(p, s);
}

/// Sends what waits beside the load-store unit for the network to take it.
template <class V>
NW_HD NW_CALLED void send_others(V& v, uint32_t now) {
  walk_step(v, now);
  if (v.s.fetch.unsent != 0) send_fetch(v, now);
  if (v.s.constants.unsent != 0) send_constant_read(v, now);
}

/// Work after issuing and fetching, in cycles in which there is any of it.
template <class V>
NW_HD NW_CALLED void end_cycle(V& v, uint32_t now) {
  if (v.who(v.s.own_channels) != 0) hooks::end_cycle(v, now);
  while (V::kHasBlocks && v.s.recheck_barriers != 0) {
    const uint32_t block = count_trailing_zeros(v.s.recheck_barriers);
    v.s.recheck_barriers &= v.s.recheck_barriers - 1;
    recheck_barriers(v, block, now);
  }
  if (V::kHasBlocks && v.s.to_front_end.count != 0) {
    report_blocks(v, now);
    if (v.s.at_cluster_barrier != 0) tell_of_barrier(v, now);
    if (v.who(v.s.wants_control) != 0) hooks::use_control(v, now);
  }
}

/// Everything after the load-store unit's addresses are known. Returns whether the front end may
/// have been sent something.
template <class V>
NW_HD NW_APART_ON_GPU bool finish_cycle(V& v, uint32_t now,
                                        const typename V::Warps* scheduler_warps) {
  auto& s = v.s;
  if (v.others_unsent()) {
    auto&& rare = v.rarely();
    send_others(rare, now);
  }
  if (lsu_may_step(s)) lsu_step(v, now);
  if (V::kHasBlocks && v.copies() && s.boxes_to_send != 0) {
    auto&& rare = v.rarely();
    copy_step(rare, now);
  }
  if (v.clusters() && s.boxes_to_share != 0) {
    auto&& rare = v.rarely();
    share_step(rare, now);
  }
  if (v.who(s.wants_network) != 0) hooks::use_network(v, now);
  const bool issued = s.ready.any() && (ready_beside_lsu(s) || lsu_accepts(v.p, s)) &&
                      may_issue(v) && issue_cycle(v, now, scheduler_warps);
  if (issued) s.counters.active_cycles += 1;
  note_issue(v, now, issued);
  if (v.may_fetch()) {
    auto&& rare = v.rarely();
    fetch_step(rare, now);
  }
  const uint64_t rest = s.recheck_barriers | s.blocks_done | s.at_cluster_barrier |
                        v.who(uint32_t{s.own_channels} | s.wants_control);
  if (rest != 0) {
    auto&& rare = v.rarely();
    end_cycle(rare, now);
  }
  return rest != 0;
}

/// The next cycle in which something can happen, as it is being found, from `from` on.
struct NextCycle {
  uint32_t cycle;
  const uint32_t from;

  NW_HD NW_INLINE void at(uint32_t c) {
    const uint32_t t = c > from ? c : from;
    cycle = t < cycle ? t : cycle;
  }
};

template <class V>
NW_HD NW_INLINE void when(NextCycle& n, const V& v, Tick t, bool& poll) {
  if (t >= kNever) {
    poll = true;
  } else if (t <= v.tick(n.from)) {
    n.at(n.from);
  } else {
    n.at(static_cast<uint32_t>(cycle_at_or_after(t, v.p.period)));
  }
}

/// The next cycle from `from` on in which something can happen. `poll`: a credit that is not known
/// yet may change that.
/// `end`: the first cycle beyond the window. Packets that arrive there or later may just now be
/// written by their sender, so only those that arrive before may be looked at.
template <class V>
NW_HD NW_APART_ON_GPU uint32_t next_cycle(const V& v, const Arrivals& a, uint32_t from,
                                          uint32_t end, bool& poll) {
  const auto& s = v.s;
  const SmParams& p = v.p;
  poll = false;
  if (s.ready.any() && may_issue(v) && ready_for_lsu(p, s)) return from;
  if (v.may_fetch()) return from;
  NextCycle n{kNoCycle, from};
  if (s.wheel_used != 0) {
    const uint32_t r = from % kWheelSlots;
    const uint64_t turned = r == 0 ? s.wheel_used : s.wheel_used >> r | s.wheel_used << (64 - r);
    n.cycle = from + count_trailing_zeros(turned);
  }
  if (ready_beside_lsu(s) && may_issue(v)) {
    if (s.unit_warps[static_cast<uint32_t>(Unit::kControl)].any()) n.cycle = from;
    if (s.unit_warps[0].any()) n.at(s.unit_accepts[0]);
    if (waits_for_rare_unit(s))
      for (uint32_t u = 1; u < kNumPortUnits; ++u)
        if (s.unit_warps[u].any()) n.at(s.unit_accepts[u]);
  }
  if (n.cycle == from) return from;
  const bool wants_network =
      s.lsu_stall == LsuStall::kCredit || v.others_unsent() || v.who(s.wants_network) != 0;
  if ((s.lsu_count != 0 && s.lsu_stall == LsuStall::kNone) ||
      (s.parked_ready != 0 && !s.lines_valid))
    n.at(s.lsu_busy_until);
  if (wants_network) when(n, v, send_tick(v.to_network(), v.base), poll);
  if (v.clusters() && s.boxes_to_share != 0)
    when(n, v, send_tick(*cluster_port(v).copies_out.in(v.base), v.base), poll);
  if (v.who(s.attached) != 0 && from < end && a.network <= from) {
    const Packet& packet = front(v.from_network(), v.base);
    const bool own = block_of(packet.kind) != kMemoryBlock;
    when(n, v, own ? hooks::accept_tick(v, packet) : 0, poll);
    n.at(a.control);
    n.at(a.banks);
    n.at(a.cluster);
  } else {
    n.at(a.first);
  }
  if (v.who(s.own_channels) != 0) {
    const Tick own = hooks::own_arrival(v, poll);
    if (own < kNever) when(n, v, own, poll);
  }
  const bool reports = (s.blocks_done | s.at_cluster_barrier) != 0 ||
                       (v.who(s.wants_control) != 0 && hooks::control_ready(v));
  if (reports && s.to_front_end.count != 0) when(n, v, send_tick(v.to_front_end(), v.base), poll);
  return n.cycle;
}

/// The warps of each scheduler: they have them in turns. Once a window, so sets of one word are
/// constants.
template <uint32_t kWords>
NW_HD NW_INLINE void take_turns(uint32_t schedulers, WarpSet<kWords>* warps) {
  if constexpr (kWords == 1) {
    using Set = WarpSet<1>;
    const uint64_t first = schedulers == 2   ? Set::every(2, 0).word[0]
                           : schedulers == 4 ? Set::every(4, 0).word[0]
                           : schedulers == 1 ? Set::every(1, 0).word[0]
                                             : Set::every(3, 0).word[0];
    for (uint32_t k = 0; k < kMaxSchedulers; ++k) warps[k].word[0] = first << k;
  } else {
    for (uint32_t k = 0; k < schedulers; ++k) warps[k] = WarpSet<kWords>::every(schedulers, k);
  }
}
static_assert(kMaxSchedulers == 4);

/// Step an SM through a window. `List`: the mechanisms that may be attached to it.
///
/// Reads:  replies and other packets of the network, messages of the front end; sends to both.
/// Units:  a cycle is `p.period` ticks; times within the SM are cycles.
template <class List, uint32_t kWords>
NW_HD NW_APART inline StepResult step_sm(const SmParams& p, SmStateOf<kWords>& s,
                                         const SystemView& system, const Window& window,
                                         Horizon& horizon) {
  SmViewOf<kWords, List> v(p, s, system, horizon);
  const uint32_t first = static_cast<uint32_t>(cycle_at_or_after(window.begin, p.period));
  uint32_t end = static_cast<uint32_t>(cycle_at_or_after(window.end, p.period));
  WarpSet<kWords> scheduler_warps[kMaxSchedulers];
  take_turns(p.num_schedulers, scheduler_warps);
  Arrivals arrivals;
  find_arrivals(v, arrivals);
  uint32_t now = kNoCycle;
  bool poll = false;
  for (uint32_t from = first;;) {
    now = next_cycle(v, arrivals, from, end, poll);
    if (now >= end) break;
    from = now + 1;
    begin_cycle(v, now);
    receive(v, now, arrivals);
    run_timers(v, now);
    if ((s.lsu_count | s.parked_ready) != 0) {
      unpark(v, now);
      if (lsu_needs_lines(s, now)) lsu_find_lines(p, s, system);
    }
    if (finish_cycle(v, now, scheduler_warps)) horizon.shorten(end, p.period);
  }
  StepResult r;
  r.wake = now == kNoCycle ? kNever : v.tick(now);
  r.poll = poll;
  return r;
}

}  // namespace nearwarp::sm
