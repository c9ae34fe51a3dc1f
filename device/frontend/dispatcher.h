// The thread-block dispatcher.
//
// A launch joins the line one launch gap after the last launch that it waits for has ended. It
// begins when it is first in line and fewer than `max_running` launches are in flight, and ends
// with its last thread block. A thread block goes to an SM that has room for it, at most one to an
// SM per cycle [GPGPU-Sim 4.2]. The oldest launch in flight takes precedence; younger ones get the
// room that it leaves. block_queues.h says which block an SM gets; clusters.h starts the blocks of
// a cluster together.
#pragma once

#include "device/frontend/block_queues.h"
#include "device/frontend/clusters.h"
#include "device/frontend/front_end_state.h"

namespace nearwarp::frontend {

namespace dispatcher {

template <class V>
NW_HD inline LaunchState& launch(V& v, uint32_t i) {
  return v.s.dispatch.launches.in(v.base)[i];
}
template <class V>
NW_HD inline uint32_t& taken(V& v, uint32_t place, uint32_t group) {
  return v.s.dispatch.taken.in(v.base)[place * v.p.dispatch.groups + group];
}
template <class V>
NW_HD inline uint32_t& ready(V& v, uint32_t place, uint32_t group) {
  return v.s.dispatch.ready.in(v.base)[place * v.p.dispatch.groups + group];
}
template <class V>
NW_HD inline BlockQueues queues(const V& v, const LaunchInfo& info) {
  return {info.num_blocks, info.row, v.p.dispatch.groups, info.stacks};
}
template <class V>
NW_HD inline const LaunchInfo& running(const V& v, uint32_t place) {
  return v.system.image.launches[v.s.dispatch.running.in(v.base)[place]];
}

/// The queue from which a group of SMs takes its next block of the launch at `place` in `running`:
/// its own, or with stealing the longest other one; `groups` if no block is left.
template <class V>
NW_HD NW_APART inline uint32_t source(V& v, uint32_t place, uint32_t group) {
  const BlockQueues q = queues(v, running(v, place));
  if (taken(v, place, group) < q.length(group)) return group;
  uint32_t from = q.groups, most = 0;
  if (!v.p.dispatch.steal) return from;
  for (uint32_t g = 0; g < q.groups; ++g) {
    const uint32_t left = q.length(g) - taken(v, place, g);
    if (left <= most) continue;
    most = left;
    from = g;
  }
  return from;
}

/// Are the launch's thread blocks dispatched a whole cluster at a time?
template <class V>
NW_HD inline bool in_clusters(const V& v, const LaunchInfo& info) {
  return v.p.dispatch.gpcs != 0 && info.cluster > 1;
}

/// Ask for the host if, after blocks were taken from a queue, it should prepare more of them.
template <class V>
NW_HD inline void note_taken(V& v, uint32_t place, uint32_t from) {
  if (!v.system.on_demand) return;
  DispatchState& d = v.s.dispatch;
  const uint32_t at = ready(v, place, from);
  d.host_wanted |=
      at < queues(v, running(v, place)).length(from) && taken(v, place, from) + d.margin > at;
}

/// Update the set of launches of which an SM can take a thread block.
template <class V>
NW_HD inline void look_for_room(V& v, SmId sm) {
  DispatchState& d = v.s.dispatch;
  const SmRoom& room = d.rooms.in(v.base)[number_of(sm)];
  uint32_t takes = 0;
  for (uint32_t k = 0; k < d.num_running; ++k) {
    if (in_clusters(v, running(v, k))) {
      if (clusters::takes(v, sm, d.running.in(v.base)[k])) takes |= 1u << k;
      continue;
    }
    const bool alone =
        !v.p.dispatch.one_at_a_time || room.blocks == 0 || room.launch == d.running.in(v.base)[k];
    if (alone && room.free.holds(running(v, k).needs) && room.may_run(running(v, k)) &&
        source(v, k, room.group) != v.p.dispatch.groups)
      takes |= 1u << k;
  }
  uint32_t& known = v.s.outbox.in(v.base)[number_of(sm)].takes;
  d.sms_that_take += (takes != 0 ? 1u : 0u) - (known != 0 ? 1u : 0u);
  known = takes;
}

/// Start clusters in GPCs that have room for them, those of the oldest launch first. A launch whose
/// blocks are dispatched one by one holds younger launches' clusters up until all its blocks have
/// begun.
template <class V>
NW_HD NW_APART inline void open_clusters(V& v) {
  DispatchState& d = v.s.dispatch;
  const uint32_t begin = d.next_gpc;
  for (uint32_t n = 0; n < v.p.dispatch.gpcs; ++n) {
    const uint32_t g = (begin + n) % v.p.dispatch.gpcs;
    Gpc& gpc = clusters::gpc(v, g);
    for (uint32_t k = 0; k < d.num_running && gpc.open == kNoCluster; ++k) {
      const LaunchInfo& info = running(v, k);
      uint32_t& next = taken(v, k, 0);
      if (next >= info.num_blocks) continue;
      if (!in_clusters(v, info) || d.free_cluster == kNoCluster) break;
      const uint32_t rank = next % info.cluster;
      if (!clusters::open(v, g, d.running.in(v.base)[k], next - rank, rank)) continue;
      next += info.cluster - rank;
      d.next_gpc = g + 1 == v.p.dispatch.gpcs ? 0 : g + 1;
      note_taken(v, k, 0);
      for (uint32_t i = 0; i < gpc.count; ++i) look_for_room(v, gpc.sms[i]);
    }
  }
}
template <class V>
NW_HD inline void look_for_room(V& v) {
  if (v.p.dispatch.gpcs != 0) open_clusters(v);
  for (uint32_t i = 0; i < v.p.num_sms; ++i) look_for_room(v, sm_id(i));
}

/// Append to the line a launch that waits for no other any more; it may begin at `ready`.
NW_HD inline void stand_in_line(DispatchState& d, std::byte* base, uint32_t i, Tick ready) {
  LaunchState& l = d.launches.in(base)[i];
  l.ready = ready;
  l.next = kNoLaunch;
  (d.line_tail == kNoLaunch ? d.line_head : d.launches.in(base)[d.line_tail].next) = i;
  d.line_tail = i;
}

/// Remove the launch at `place` in `running`, which has ended, and line up those that waited for
/// it.
template <class V>
NW_HD inline void end_launch(V& v, uint32_t place, Tick now) {
  DispatchState& d = v.s.dispatch;
  uint32_t* running = d.running.in(v.base);
  const uint32_t ended = running[place];
  launch(v, ended).end = now;
  d.ended += 1;
  d.num_running -= 1;
  for (uint32_t k = place; k < d.num_running; ++k) {
    running[k] = running[k + 1];
    for (uint32_t g = 0; g < v.p.dispatch.groups; ++g) {
      taken(v, k, g) = taken(v, k + 1, g);
      ready(v, k, g) = ready(v, k + 1, g);
    }
  }
  const LaunchInfo& info = v.system.image.launches[ended];
  for (uint32_t k = 0; k < info.num_waiting; ++k) {
    const uint32_t next = v.system.image.waiting[info.first_waiting + k];
    if (--launch(v, next).waits_for == 0)
      stand_in_line(d, v.base, next, now + Tick{v.p.launch_gap} * v.p.period);
  }
  d.host_wanted |= v.system.on_demand;
  look_for_room(v);
}

}  // namespace dispatcher

/// Line up the launches of a program that wait for no other; they may begin at `at`. Called before
/// the first step, or before an idle machine goes on with another program.
NW_HD inline void enter_program(DispatchState& d, std::byte* base, const LaunchInfo* launches,
                                uint32_t num_launches, Tick at) {
  d.line_head = d.line_tail = kNoLaunch;
  d.ended = 0;
  for (uint32_t i = 0; i < num_launches; ++i) {
    LaunchState& l = d.launches.in(base)[i];
    l = LaunchState{};
    l.waits_for = launches[i].waits_for;
    l.blocks_left = launches[i].num_blocks;
    if (l.waits_for == 0) dispatcher::stand_in_line(d, base, i, at);
  }
}

/// May anything be dispatched? Not while a mechanism holds dispatch back, or L2 slices write lines
/// back between launches.
NW_HD inline bool may_dispatch(const DispatchState& d) { return d.held_by == 0 && d.cleaning == 0; }

/// The tick at which the next launch can begin; kNever if the line is empty or as many launches as
/// allowed are in flight.
template <class V>
NW_HD inline Tick next_launch(const V& v) {
  const DispatchState& d = v.s.dispatch;
  const bool may = d.line_head != kNoLaunch && d.num_running < v.p.dispatch.max_running;
  return may && may_dispatch(d) ? d.launches.in(v.base)[d.line_head].ready : kNever;
}

/// Begin the launches that are due.
template <class V>
NW_HD inline void begin_launches(V& v, Tick now) {
  DispatchState& d = v.s.dispatch;
  if (next_launch(v) > now) return;
  do {
    const uint32_t i = d.line_head;
    LaunchState& l = dispatcher::launch(v, i);
    d.line_head = l.next;
    if (l.next == kNoLaunch) d.line_tail = kNoLaunch;
    l.number = ++d.begun;
    BlockQueues left_out = dispatcher::queues(v, v.system.image.launches[i]);
    left_out.num_blocks = l.left_out;
    for (uint32_t g = 0; g < v.p.dispatch.groups; ++g) {
      dispatcher::taken(v, d.num_running, g) = left_out.length(g);
      dispatcher::ready(v, d.num_running, g) = left_out.length(g) + d.margin;
    }
    d.running.in(v.base)[d.num_running++] = i;
  } while (next_launch(v) <= now);
  if (v.p.dispatch.from_first) d.next_sm = 0;
  d.host_wanted |= v.system.on_demand;
  dispatcher::look_for_room(v);
}

/// Are there thread blocks to be dispatched, and room for one on some SM?
template <class V>
NW_HD inline bool has_blocks(const V& v) {
  return v.s.dispatch.sms_that_take != 0 && may_dispatch(v.s.dispatch);
}

/// Take the next thread block for an SM. Returns false if there is none.
template <class V>
NW_HD inline bool take_block(V& v, SmId sm, Packet& m) {
  DispatchState& d = v.s.dispatch;
  const uint32_t takes = v.s.outbox.in(v.base)[number_of(sm)].takes;
  if (takes == 0) return false;
  const uint32_t place = count_trailing_zeros(takes);
  const uint32_t launch = d.running.in(v.base)[place];
  const LaunchInfo& info = v.system.image.launches[launch];
  LaunchBlock block;
  block.launch = launch;
  block.launch_number = dispatcher::launch(v, launch).number;
  if (dispatcher::in_clusters(v, info)) {
    clusters::take(v, sm, block);
    block.put(m);
    v.s.counters.blocks_dispatched += 1;
    dispatcher::look_for_room(v, sm);
    return true;
  }
  const BlockQueues q = dispatcher::queues(v, info);
  SmRoom& room = d.rooms.in(v.base)[number_of(sm)];
  const uint32_t from = dispatcher::source(v, place, room.group);
  uint32_t& taken = dispatcher::taken(v, place, from);
  block.block = q.at(from, taken++);
  block.put(m);
  room.free.take(info.needs);
  room.blocks += 1;
  room.launch = launch;
  v.s.counters.blocks_dispatched += 1;
  dispatcher::note_taken(v, place, from);
  if (taken == q.length(from)) {
    dispatcher::look_for_room(v);
  } else {
    dispatcher::look_for_room(v, sm);
  }
  return true;
}

/// After blocks were dispatched: record the time of the marks, in numbers of blocks, that have been
/// reached, and ask for the host.
template <class V>
NW_HD inline void note_marks(V& v, Tick now) {
  DispatchState& d = v.s.dispatch;
  for (uint32_t i = 0; i < DispatchState::kMarks; ++i) {
    if (v.s.counters.blocks_dispatched < d.marks[i] || d.marked[i] != kNever) continue;
    d.marked[i] = now;
    d.host_wanted = true;
  }
}

/// Give back the room of thread block `thread_block` (numbered over all launches), which has ended
/// on an SM, and end its launch if it was the last one.
template <class V>
NW_HD inline void block_done(V& v, uint32_t thread_block, SmId sm, Tick now) {
  DispatchState& d = v.s.dispatch;
  uint32_t place = 0;
  while (thread_block - dispatcher::running(v, place).first_block >=
         dispatcher::running(v, place).num_blocks) {
    place += 1;
    NW_ASSERT(place < d.num_running);
  }
  SmRoom& room = d.rooms.in(v.base)[number_of(sm)];
  room.free.give_back(dispatcher::running(v, place).needs);
  room.blocks -= 1;
  v.s.counters.blocks_done += 1;
  if (v.system.on_demand) {
    NW_ASSERT(d.num_done < d.done_log.count);
    d.done_log.in(v.base)[d.num_done++] = thread_block;
    d.host_wanted = true;
  }
  if (--dispatcher::launch(v, d.running.in(v.base)[place]).blocks_left == 0) {
    dispatcher::end_launch(v, place, now);
    return;
  }
  if (v.p.dispatch.gpcs != 0) dispatcher::open_clusters(v);
  dispatcher::look_for_room(v, sm);
}

}  // namespace nearwarp::frontend
