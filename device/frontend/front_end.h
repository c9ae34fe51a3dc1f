// The GPU's front end, stepped through a window: it takes the messages of all SMs and monitors, and
// sends SMs the thread blocks that they run, messages of mechanisms, and the status word
// (FrontEndState::word).
//
// A pair of control channels connects it with every SM. It takes messages as soon as they arrive,
// and its answers wait in one outbox per SM, so it never blocks a sender.
#pragma once

#include "device/core/lanes.h"
#include "device/frontend/dispatcher.h"
#include "device/frontend/mechanisms.h"

namespace nearwarp::frontend {

namespace detail {

template <class V>
NW_HD inline void on_message(V& v, const Packet& m, SmId sm, Tick now) {
  if (m.kind == PacketKind::kBlockDone) {
    const BlockDone done = BlockDone::of(m);
    if (done.in_cluster) clusters::leave(v, done.member);
    block_done(v, done.thread_block, sm, now);
  } else if (m.kind == PacketKind::kAtClusterBarrier) {
    clusters::at_barrier(v, AtClusterBarrier::of(m).member);
  } else if (!hooks::on_message(v, m, sm, now)) {
    record_fault(v.s.fault, kFaultUnexpectedPacket, v.p.endpoint, now);
  }
}

/// Call f(first, m) for consecutive runs of [from, to) of at most 64 elements, the width of a
/// ballot.
template <class F>
NW_HD NW_INLINE void by_ballots(uint32_t from, uint32_t to, F&& f) {
  for (uint32_t at = from; at < to; at += 64) f(at, to - at < 64 ? to - at : 64);
}

/// Take one message of every SM, L2 slice and monitor that has sent one.
template <class V>
NW_HD inline void receive(V& v, Tick now, Horizon& horizon) {
  std::byte* base = v.base;
  by_ballots(0, v.p.num_sms, [&](uint32_t first, uint32_t m) {
    const uint64_t arrived = lanes::ballot(m, [&](uint32_t i) {
      return has_packet(*v.s.from_sm.in(base)[first + i].in(base), base, now);
    });
    if (arrived == 0) return;
    for (uint64_t bits = arrived; bits != 0; bits &= bits - 1) {
      const uint32_t i = first + count_trailing_zeros(bits);
      Channel& c = *v.s.from_sm.in(base)[i].in(base);
      const Packet message = front(c, base);
      pop(c, base, now, horizon);
      on_message(v, message, sm_id(i), now);
    }
  });
  by_ballots(0, v.s.from_slice.count, [&](uint32_t first, uint32_t m) {
    const uint64_t clean = lanes::ballot(m, [&](uint32_t i) {
      return has_packet(*v.s.from_slice.in(base)[first + i].in(base), base, now);
    });
    for (uint64_t bits = clean; bits != 0; bits &= bits - 1) {
      pop(*v.s.from_slice.in(base)[first + count_trailing_zeros(bits)].in(base), base, now,
          horizon);
      v.s.dispatch.cleaning -= 1;
    }
  });
  const uint64_t arrived = lanes::ballot(v.s.from_monitor.count, [&](uint32_t k) {
    return has_packet(*v.s.from_monitor.in(base)[k].in(base), base, now);
  });
  if (arrived == 0) return;
  for (uint64_t bits = arrived; bits != 0; bits &= bits - 1) {
    const uint32_t k = count_trailing_zeros(bits);
    Channel& c = *v.s.from_monitor.in(base)[k].in(base);
    const Packet message = front(c, base);
    pop(c, base, now, horizon);
    if (!hooks::on_monitor(v, k, message))
      record_fault(v.s.fault, kFaultUnexpectedPacket, v.p.endpoint, now);
  }
}

/// Does the outbox have a message for its SM, apart from a thread block?
NW_HD NW_INLINE bool has_message(const Outbox& o) { return o.count != 0 || o.word_changed; }

/// Send SM `i` one packet: a waiting message, else the status word if it has changed, else a thread
/// block if `may_have_block`. Returns true if it was a thread block.
template <class V>
NW_HD NW_APART inline bool send_one(V& v, uint32_t i, bool may_have_block, Tick now,
                                    Horizon& horizon) {
  Outbox& o = v.s.outbox.in(v.base)[i];
  Packet m;
  m.src = v.p.endpoint;
  m.dst = endpoint_of(i);
  bool block = false;
  if (o.count != 0) {
    const Outgoing& out = v.s.outgoing.in(v.base)[i * v.p.outbox_entries + o.head];
    m.kind = out.kind;
    m.tag = out.tag;
    o.head = o.head + 1 == v.p.outbox_entries ? 0 : o.head + 1;
    o.count -= 1;
    v.s.outgoing_total -= 1;
  } else if (o.word_changed) {
    StatusBits{v.s.word}.put(v.p.word_kind, m);
    o.told = v.s.word;
    o.word_changed = false;
    v.s.sms_to_tell -= 1;
  } else {
    if (!may_have_block || !take_block(v, sm_id(i), m)) return false;
    block = true;
  }
  send(*v.s.to_sm.in(v.base)[i].in(v.base), v.base, now, m, horizon);
  expect_answer(*v.s.to_sm.in(v.base)[i].in(v.base), *v.s.from_sm.in(v.base)[i].in(v.base), now,
                horizon);
  return block;
}

/// Send every SM at most one packet. Thread blocks are dealt round robin from `next_sm` on or, with
/// DispatchParams::fill, one per cycle to the first SM with room.
template <class V>
NW_HD inline void send_all(V& v, Tick now, Horizon& horizon) {
  std::byte* base = v.base;
  const bool blocks = has_blocks(v);
  if (v.s.outgoing_total == 0 && v.s.sms_to_tell == 0 && !blocks) return;
  const bool fill = v.p.dispatch.fill;
  const uint32_t begin = fill ? 0 : v.s.dispatch.next_sm;
  bool sent = false;  // a thread block
  const auto send_to = [&](uint32_t first, uint32_t m) {
    const uint64_t able = lanes::ballot(m, [&](uint32_t i) {
      const Outbox& o = v.s.outbox.in(base)[first + i];
      return (has_message(o) || (blocks && o.takes != 0)) &&
             can_send(*v.s.to_sm.in(base)[first + i].in(base), base, now);
    });
    if (able == 0) return;
    for (uint64_t bits = able; bits != 0; bits &= bits - 1) {
      const uint32_t i = first + count_trailing_zeros(bits);
      if (!send_one(v, i, !(fill && sent), now, horizon)) continue;
      sent = true;
      v.s.dispatch.next_sm = i + 1 == v.p.num_sms ? 0 : i + 1;
    }
  };
  by_ballots(begin, v.p.num_sms, send_to);
  by_ballots(0, begin, send_to);
  if (sent) note_marks(v, now);
  if (v.s.dispatch.cluster_sent) {
    v.s.dispatch.cluster_sent = false;
    dispatcher::open_clusters(v);
  }
}

/// Begin the launches that may begin, and tell L2 slices. Slices that keep writes must be clean
/// before a thread block is dispatched. The channels to slices always have room, since slices take
/// these messages at once and only so many launches are in flight.
template <class V>
NW_HD inline void begin_launches_everywhere(V& v, Tick now, Horizon& horizon) {
  const uint32_t before = v.s.dispatch.begun;
  begin_launches(v, now);
  if (v.s.dispatch.begun == before) return;
  v.s.dispatch.cleaning = v.s.from_slice.count;
  Packet m;
  m.kind = PacketKind::kNewLaunch;
  m.src = v.p.endpoint;
  for (uint32_t i = 0; i < v.s.to_slice.count; ++i)
    send(*v.s.to_slice.in(v.base)[i].in(v.base), v.base, now, m, horizon);
}

/// The earliest tick, `from` or later, at which the front end can do something. `poll` is set if a
/// channel's credit that is not known yet may make it earlier.
template <class V>
NW_HD inline Tick next_event(V& v, Tick from, bool& poll) {
  std::byte* base = v.base;
  const FrontEndState& s = v.s;
  uint32_t key = lanes::minimum(v.p.num_sms, [&](uint32_t i) {
    return ticks_ahead(head_arrival(*s.from_sm.in(base)[i].in(base), base), from);
  });
  const uint32_t monitor_key = lanes::minimum(s.from_monitor.count, [&](uint32_t k) {
    return ticks_ahead(head_arrival(*s.from_monitor.in(base)[k].in(base), base), from);
  });
  key = monitor_key < key ? monitor_key : key;
  if (s.dispatch.cleaning != 0) {
    const uint32_t clean_key = lanes::minimum(s.from_slice.count, [&](uint32_t k) {
      return ticks_ahead(head_arrival(*s.from_slice.in(base)[k].in(base), base), from);
    });
    key = clean_key < key ? clean_key : key;
  }
  const bool blocks = has_blocks(v);
  poll = false;
  if (s.outgoing_total != 0 || s.sms_to_tell != 0 || blocks) {
    const auto credit = [&](uint32_t i) {
      const Outbox& o = s.outbox.in(base)[i];
      if (!has_message(o) && !(blocks && o.takes != 0)) return kNoKey;
      return ticks_ahead(send_tick(*s.to_sm.in(base)[i].in(base), base), from);
    };
    const auto unknown = [&](uint32_t i) {
      const Outbox& o = s.outbox.in(base)[i];
      return (has_message(o) || (blocks && o.takes != 0)) &&
             send_tick(*s.to_sm.in(base)[i].in(base), base) >= kNever;
    };
    poll = lanes::any(v.p.num_sms, unknown);
    const uint32_t credit_key = lanes::minimum(v.p.num_sms, credit);
    key = credit_key < key ? credit_key : key;
  }
  Tick next = min_tick(tick_of_key(key, from), min_tick(next_launch(v), hooks::next(v)));
  if (next >= kNever) return kNever;
  return cycle_at_or_after(max_tick(next, from), v.p.period) * v.p.period;
}

}  // namespace detail

/// Step the front end through a window. `List`: the mechanisms that may be attached to it.
///
/// Reads:  messages of SMs and monitors; sends to SMs.
/// Units:  times in ticks of the machine's base clock.
/// Source: dispatch as customary.
template <class List>
NW_HD NW_APART StepResult step_front_end(const FrontEndParams& p, FrontEndState& s,
                                         const SystemView& system, const Window& window,
                                         Horizon& horizon) {
  FrontEndView<List> v{p, s, system, system.arena};
  bool poll = false;
  Tick t = detail::next_event(v, window.begin, poll);
  while (t < horizon.end_of_step(window.end)) {
    detail::receive(v, t, horizon);
    hooks::step(v, t);
    detail::begin_launches_everywhere(v, t, horizon);
    detail::send_all(v, t, horizon);
    t = detail::next_event(v, t + 1, poll);
  }
  StepResult r;
  r.wake = t;
  r.poll = poll;
  return r;
}

}  // namespace nearwarp::frontend
