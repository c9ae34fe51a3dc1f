// The GPU's front end: thread-block dispatcher, and the offload controller's central part, which
// counts pending requests per stack and spreads the channel busy monitor's news. In the learning
// phase it adds up what the SMs' memory map analyzers report and ends the phase.
//
// It meets every SM through a pair of control channels. Everything that arrives is taken at once,
// answers wait in one outbox per SM, so nothing here can block anything.
//
// Dispatch: round robin over SMs, one thread block per SM and cycle [GPGPU-Sim 4.2]. A launch
// begins when the one before has ended.
#pragma once

#include "device/core/fault.h"
#include "device/core/lane_group.h"
#include "device/core/step.h"
#include "device/offload/sm_offload_state.h"
#include "device/sm/kernel_image.h"

namespace nearwarp::frontend {

using sm::LaunchInfo;
using sm::SystemView;

struct FrontEndParams {
  uint32_t period = 1;  ///< ticks per core cycle
  uint32_t num_sms = 0;
  uint32_t num_stacks = 0;
  uint32_t launch_gap =
      1;  ///< core cycles from the last block's end (or time 0) to the next launch
  uint32_t stack_warps = 0;      ///< warps that one stack's SMs hold
  bool dynamic_control = false;  ///< deny when a stack is full; else the question waits
  uint32_t outbox_entries = 0;   ///< per SM
  uint16_t endpoint = 0;
  uint64_t learning_instances = 0;  ///< the learning phase ends with this one; 0: there is none
  Tick remap_ticks = 0;  ///< from the last SM's standstill until they go on; at least a window
};

/// The learning phase as the front end sees it (TOM, section 4.3).
enum class LearningPhase : uint8_t {
  kNone,
  kLearning,
  kStopping,  ///< SMs have been told to stop
  kHeld,      ///< all stand still; the host chooses the mapping before `resume_at`
  kOver,
};

/// A message that waits for its SM's control channel.
struct Outgoing {
  uint32_t tag = 0;
  uint8_t kind = 0;  ///< PacketKind
};

struct Outbox {
  uint32_t head = 0, count = 0;
  uint32_t free_blocks = 0;  ///< block slots that the current launch may still use on this SM
  bool busy_news = false;    ///< the busy bits have changed since the SM was told
  uint32_t told_busy = 0;
};

/// A question that waits for a slot (uncontrolled offloading).
struct Waiting {
  uint16_t sm = 0;
  uint16_t warp = 0;
};

struct FrontEndCounters {
  uint64_t blocks_dispatched = 0, blocks_done = 0;
  uint64_t asks = 0, grants = 0, denials = 0, releases = 0;
  uint64_t peak_pending = 0;
};

struct FrontEndState {
  Ref<Ref<Channel>> to_sm, from_sm;  ///< by SM
  Ref<Ref<Channel>> from_link_port;  ///< by stack; count 0 without a monitor
  Ref<Outbox> outbox;                ///< by SM
  Ref<Outgoing> outgoing;            ///< num_sms x outbox_entries
  Ref<Waiting> waiting;              ///< num_stacks x waiting_entries
  uint32_t waiting_entries = 0;
  uint32_t waiting_head[kMaxStacks] = {};
  uint32_t waiting_count[kMaxStacks] = {};
  uint32_t pending[kMaxStacks] = {};  ///< granted and not yet released
  uint32_t busy_channels = 0;
  uint32_t busy_to_tell = 0;  ///< SMs with busy_news
  uint32_t outgoing_total = 0;
  uint32_t launch = 0;       ///< current or next launch
  bool running = false;      ///< its blocks are being dispatched
  Tick launch_at = 0;        ///< when the next launch begins
  uint32_t next_block = 0;   ///< next to be dispatched
  uint32_t blocks_left = 0;  ///< of the launch, not yet done
  uint32_t free_total = 0;   ///< sum of free_blocks
  uint32_t next_sm = 0;      ///< round robin
  Ref<uint32_t> done_log;    ///< thread blocks done since the host looked last
  uint32_t num_done = 0;
  bool placed = false;   ///< standstill: the host has chosen a mapping and placed the data
  Ref<Tick> launch_end;  ///< by launch: when its last block was done
  LearningPhase learning = LearningPhase::kNone;
  uint32_t stopped_sms = 0;
  uint64_t late_reports = 0;  ///< instances that ended after the last one that counts
  offload::AnalyzerTotals seen;
  Tick stop_at = 0, held_at = 0, resume_at = 0;  ///< interrupt, standstill, end of the phase
  FrontEndCounters counters;
  Fault fault;
};

namespace detail {

NW_HD inline void push(const FrontEndParams& p, FrontEndState& s, std::byte* base, uint32_t sm,
                       PacketKind kind, uint32_t tag) {
  Outbox& o = s.outbox.in(base)[sm];
  NW_ASSERT(o.count < p.outbox_entries);
  uint32_t at = o.head + o.count;
  if (at >= p.outbox_entries) at -= p.outbox_entries;
  Outgoing& out = s.outgoing.in(base)[sm * p.outbox_entries + at];
  out.kind = static_cast<uint8_t>(kind);
  out.tag = tag;
  o.count += 1;
  s.outgoing_total += 1;
}

NW_HD inline void grant(const FrontEndParams& p, FrontEndState& s, std::byte* base, uint32_t stack,
                        uint32_t sm, uint32_t warp) {
  s.pending[stack] += 1;
  s.counters.grants += 1;
  if (s.pending[stack] > s.counters.peak_pending) s.counters.peak_pending = s.pending[stack];
  push(p, s, base, sm, PacketKind::kOffloadGrant, warp);
}

NW_HD inline void on_message(const FrontEndParams& p, FrontEndState& s, std::byte* base,
                             const Packet& m, uint32_t sm, bool log_done, Tick now) {
  const uint32_t stack = m.aux;
  switch (m.kind) {
    case PacketKind::kBlockDone:
      s.outbox.in(base)[sm].free_blocks += 1;
      s.free_total += 1;
      s.blocks_left -= 1;
      s.counters.blocks_done += 1;
      if (log_done) {
        NW_ASSERT(s.num_done < s.done_log.count);
        s.done_log.in(base)[s.num_done++] = m.line;
      }
      if (s.blocks_left == 0) {
        s.launch_end.in(base)[s.launch] = now;
        s.launch += 1;
        s.running = false;
        s.launch_at = now + Tick{p.launch_gap} * p.period;
      }
      break;
    case PacketKind::kOffloadAsk:
      s.counters.asks += 1;
      if (s.pending[stack] < p.stack_warps) {
        grant(p, s, base, stack, sm, m.tag);
      } else if (p.dynamic_control) {
        s.counters.denials += 1;
        push(p, s, base, sm, PacketKind::kOffloadDeny, m.tag);
      } else {
        uint32_t at = s.waiting_head[stack] + s.waiting_count[stack];
        if (at >= s.waiting_entries) at -= s.waiting_entries;
        NW_ASSERT(s.waiting_count[stack] < s.waiting_entries);
        Waiting& w = s.waiting.in(base)[stack * s.waiting_entries + at];
        w.sm = static_cast<uint16_t>(sm);
        w.warp = static_cast<uint16_t>(m.tag);
        s.waiting_count[stack] += 1;
      }
      break;
    case PacketKind::kOffloadRelease: {
      s.counters.releases += 1;
      NW_ASSERT(s.pending[stack] > 0);
      s.pending[stack] -= 1;
      if (s.waiting_count[stack] == 0) break;
      const Waiting w = s.waiting.in(base)[stack * s.waiting_entries + s.waiting_head[stack]];
      s.waiting_head[stack] =
          s.waiting_head[stack] + 1 == s.waiting_entries ? 0 : s.waiting_head[stack] + 1;
      s.waiting_count[stack] -= 1;
      grant(p, s, base, stack, w.sm, w.warp);
      break;
    }
    case PacketKind::kInstanceSeen:
      if (s.learning != LearningPhase::kLearning) {
        s.late_reports += 1;
        break;
      }
      offload::add_report(s.seen, m);
      if (s.seen.instances < p.learning_instances) break;
      s.learning = LearningPhase::kStopping;
      s.stop_at = now;
      for (uint32_t i = 0; i < p.num_sms; ++i) push(p, s, base, i, PacketKind::kStop, 0);
      break;
    case PacketKind::kStopped:
      s.stopped_sms += 1;
      if (s.stopped_sms < p.num_sms) break;
      s.learning = LearningPhase::kHeld;
      s.held_at = now;
      s.resume_at = now + p.remap_ticks;
      break;
    default:
      record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
      break;
  }
}

/// Nothing is dispatched while the SMs stop or stand still.
NW_HD inline bool may_dispatch(const FrontEndState& s) {
  return s.learning != LearningPhase::kStopping && s.learning != LearningPhase::kHeld;
}

/// The host has had its time: let all SMs go on.
NW_HD inline void end_learning(const FrontEndParams& p, FrontEndState& s, std::byte* base,
                               Tick now) {
  if (s.learning != LearningPhase::kHeld || s.resume_at > now) return;
  s.learning = LearningPhase::kOver;
  for (uint32_t i = 0; i < p.num_sms; ++i) push(p, s, base, i, PacketKind::kResume, 0);
}

/// The busy bits of stack `k`'s link have changed. Leader only.
NW_HD inline void on_busy_news(const FrontEndParams& p, FrontEndState& s, std::byte* base,
                               uint32_t k, uint32_t bits) {
  s.busy_channels = (s.busy_channels & ~(3u << (2 * k))) | bits << (2 * k);
  for (uint32_t i = 0; i < p.num_sms; ++i) {
    Outbox& o = s.outbox.in(base)[i];
    const bool news = o.told_busy != s.busy_channels;
    s.busy_to_tell += (news ? 1u : 0u) - (o.busy_news ? 1u : 0u);
    o.busy_news = news;
  }
}

/// f(first, m) for runs of at most 64 of [from, to): what one ballot can look at.
template <class F>
NW_HD NW_INLINE void by_ballots(uint32_t from, uint32_t to, F&& f) {
  for (uint32_t at = from; at < to; at += 64) f(at, to - at < 64 ? to - at : 64);
}

/// Take one message of every SM and link port.
template <class G>
NW_HD inline void receive(const G& g, const FrontEndParams& p, FrontEndState& s,
                          const SystemView& system, Tick now, Horizon& horizon) {
  std::byte* base = system.arena;
  by_ballots(0, p.num_sms, [&](uint32_t first, uint32_t m) {
    const uint64_t arrived = g.ballot(m, [&](uint32_t i) {
      return has_packet(*s.from_sm.in(base)[first + i].in(base), base, now);
    });
    if (arrived == 0) return;
    g.leader([&] {
      for (uint64_t bits = arrived; bits != 0; bits &= bits - 1) {
        const uint32_t i = first + count_trailing_zeros(bits);
        Channel& c = *s.from_sm.in(base)[i].in(base);
        const Packet message = front(c, base);
        pop(c, base, now, horizon);
        on_message(p, s, base, message, i, system.log_done, now);
      }
    });
  });
  const uint64_t arrived = g.ballot(s.from_link_port.count, [&](uint32_t k) {
    return has_packet(*s.from_link_port.in(base)[k].in(base), base, now);
  });
  if (arrived == 0) return;
  g.leader([&] {
    for (uint64_t bits = arrived; bits != 0; bits &= bits - 1) {
      const uint32_t k = count_trailing_zeros(bits);
      Channel& c = *s.from_link_port.in(base)[k].in(base);
      const uint32_t busy = front(c, base).sectors & 3;
      pop(c, base, now, horizon);
      on_busy_news(p, s, base, k, busy);
    }
  });
}

/// Begin the launch whose time has come.
NW_HD inline void begin_launch(const FrontEndParams& p, FrontEndState& s, const SystemView& system,
                               Tick now) {
  if (s.running || s.launch >= system.image.num_launches || s.launch_at > now || !may_dispatch(s))
    return;
  const LaunchInfo& info = system.image.launches[s.launch];
  s.running = true;
  s.next_block = 0;
  s.blocks_left = info.num_blocks;
  s.free_total = info.blocks_per_sm * p.num_sms;
  for (uint32_t i = 0; i < p.num_sms; ++i)
    s.outbox.in(system.arena)[i].free_blocks = info.blocks_per_sm;
}

/// Are there thread blocks to be dispatched, and room for one on some SM?
NW_HD inline bool has_blocks(const FrontEndState& s, const SystemView& system) {
  return s.running && s.free_total != 0 && may_dispatch(s) &&
         s.next_block < system.image.launches[s.launch].num_blocks;
}

/// Has SM `i` something to be told, the thread block apart?
NW_HD NW_INLINE bool has_news(const Outbox& o) { return o.count != 0 || o.busy_news; }

/// One packet to SM `i`: answers first, then busy bits, then a thread block. Leader only. Returns
/// whether it was a thread block.
NW_HD inline bool send_one(const FrontEndParams& p, FrontEndState& s, const SystemView& system,
                           uint32_t i, Tick now, Horizon& horizon) {
  std::byte* base = system.arena;
  Outbox& o = s.outbox.in(base)[i];
  Packet m;
  m.src = p.endpoint;
  m.dst = static_cast<uint16_t>(i);
  bool block = false;
  if (o.count != 0) {
    const Outgoing& out = s.outgoing.in(base)[i * p.outbox_entries + o.head];
    m.kind = static_cast<PacketKind>(out.kind);
    m.tag = out.tag;
    o.head = o.head + 1 == p.outbox_entries ? 0 : o.head + 1;
    o.count -= 1;
    s.outgoing_total -= 1;
  } else if (o.busy_news) {
    m.kind = PacketKind::kChannelBusy;
    m.sectors = s.busy_channels;
    o.told_busy = s.busy_channels;
    o.busy_news = false;
    s.busy_to_tell -= 1;
  } else {
    if (s.next_block >= system.image.launches[s.launch].num_blocks) return false;
    m.kind = PacketKind::kLaunchBlock;
    m.tag = s.launch;
    m.line = s.next_block++;
    o.free_blocks -= 1;
    s.free_total -= 1;
    s.counters.blocks_dispatched += 1;
    block = true;
  }
  send(*s.to_sm.in(base)[i].in(base), base, now, m, horizon);
  return block;
}

/// At most one packet to every SM; thread blocks go round, beginning with `next_sm`.
template <class G>
NW_HD inline void send_all(const G& g, const FrontEndParams& p, FrontEndState& s,
                           const SystemView& system, Tick now, Horizon& horizon) {
  std::byte* base = system.arena;
  const bool blocks = has_blocks(s, system);
  if (s.outgoing_total == 0 && s.busy_to_tell == 0 && !blocks) return;
  const uint32_t begin = s.next_sm;
  const auto send_to = [&](uint32_t first, uint32_t m) {
    const uint64_t able = g.ballot(m, [&](uint32_t i) {
      const Outbox& o = s.outbox.in(base)[first + i];
      return (has_news(o) || (blocks && o.free_blocks != 0)) &&
             can_send(*s.to_sm.in(base)[first + i].in(base), base, now);
    });
    if (able == 0) return;
    g.leader([&] {
      for (uint64_t bits = able; bits != 0; bits &= bits - 1) {
        const uint32_t i = first + count_trailing_zeros(bits);
        if (send_one(p, s, system, i, now, horizon)) s.next_sm = i + 1 == p.num_sms ? 0 : i + 1;
      }
    });
  };
  by_ballots(begin, p.num_sms, send_to);
  by_ballots(0, begin, send_to);
}

/// When the front end can do something next, not before `from`; `poll`: a credit that is not known
/// yet may change that. The same in all lanes.
template <class G>
NW_HD inline Tick next_event(const G& g, const FrontEndParams& p, const FrontEndState& s,
                             const SystemView& system, Tick from, bool& poll) {
  std::byte* base = system.arena;
  Tick next = kNever;
  uint32_t key = g.minimum(p.num_sms, [&](uint32_t i) {
    return ticks_ahead(head_arrival(*s.from_sm.in(base)[i].in(base), base), from);
  });
  const uint32_t link_key = g.minimum(s.from_link_port.count, [&](uint32_t k) {
    return ticks_ahead(head_arrival(*s.from_link_port.in(base)[k].in(base), base), from);
  });
  key = link_key < key ? link_key : key;
  const bool blocks = has_blocks(s, system);
  poll = false;
  if (s.outgoing_total != 0 || s.busy_to_tell != 0 || blocks) {
    const auto credit = [&](uint32_t i) {
      const Outbox& o = s.outbox.in(base)[i];
      if (!has_news(o) && !(blocks && o.free_blocks != 0)) return kNoKey;
      return ticks_ahead(send_tick(*s.to_sm.in(base)[i].in(base), base), from);
    };
    const auto unknown = [&](uint32_t i) {
      const Outbox& o = s.outbox.in(base)[i];
      return (has_news(o) || (blocks && o.free_blocks != 0)) &&
             send_tick(*s.to_sm.in(base)[i].in(base), base) >= kNever;
    };
    poll = g.any(p.num_sms, unknown);
    const uint32_t credit_key = g.minimum(p.num_sms, credit);
    key = credit_key < key ? credit_key : key;
  }
  next = tick_of_key(key, from);
  if (!s.running && s.launch < system.image.num_launches && may_dispatch(s))
    next = min_tick(next, s.launch_at);
  if (s.learning == LearningPhase::kHeld) next = min_tick(next, s.resume_at);
  if (next >= kNever) return kNever;
  return cycle_at_or_after(max_tick(next, from), p.period) * p.period;
}

}  // namespace detail

/// Step the front end through a window.
///
/// Reads:  messages of SMs and link ports; sends to SMs.
/// Units:  times in ticks of the machine's base clock.
/// Source: TOM, sections 3.3 and 4.1 (pending limit, busy bits); dispatch as customary.
template <class G>
NW_HD StepResult step_front_end(const G& g, const FrontEndParams& p, FrontEndState& s,
                                const SystemView& system, const Window& window, Horizon& horizon) {
  bool poll = false;
  Tick t = detail::next_event(g, p, s, system, window.begin, poll);
  while (t < window.end) {
    detail::receive(g, p, s, system, t, horizon);
    g.leader([&] {
      detail::end_learning(p, s, system.arena, t);
      detail::begin_launch(p, s, system, t);
    });
    detail::send_all(g, p, s, system, t, horizon);
    t = detail::next_event(g, p, s, system, t + 1, poll);
  }
  StepResult r;
  r.wake = t;
  r.poll = poll;
  return r;
}

}  // namespace nearwarp::frontend
