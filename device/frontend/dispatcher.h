// The thread-block dispatcher: round robin over SMs, one thread block per SM and cycle [GPGPU-Sim
// 4.2]. A launch begins when the one before has ended.
#pragma once

#include "device/frontend/front_end_state.h"

namespace nearwarp::frontend {

/// Nothing is dispatched while a mechanism says so.
NW_HD inline bool may_dispatch(const DispatchState& d) { return d.held_by == 0; }

/// Begin the launch whose time has come. Leader only.
template <class V>
NW_HD inline void begin_launch(V& v, Tick now) {
  DispatchState& d = v.s.dispatch;
  if (d.running || d.launch >= v.system.image.num_launches || d.launch_at > now || !may_dispatch(d))
    return;
  const LaunchInfo& info = v.system.image.launches[d.launch];
  d.running = true;
  d.next_block = 0;
  d.blocks_left = info.num_blocks;
  d.free_total = info.blocks_per_sm * v.p.num_sms;
  for (uint32_t i = 0; i < v.p.num_sms; ++i)
    v.s.outbox.in(v.base)[i].free_blocks = info.blocks_per_sm;
}

/// Are there thread blocks to be dispatched, and room for one on some SM?
template <class V>
NW_HD inline bool has_blocks(const V& v) {
  const DispatchState& d = v.s.dispatch;
  return d.running && d.free_total != 0 && may_dispatch(d) &&
         d.next_block < v.system.image.launches[d.launch].num_blocks;
}

/// Take the next thread block for SM `i`. Returns false if there is none. Leader only.
template <class V>
NW_HD inline bool take_block(V& v, uint32_t i, Packet& m) {
  DispatchState& d = v.s.dispatch;
  if (d.next_block >= v.system.image.launches[d.launch].num_blocks) return false;
  m.kind = PacketKind::kLaunchBlock;
  m.tag = d.launch;
  m.line = d.next_block++;
  v.s.outbox.in(v.base)[i].free_blocks -= 1;
  d.free_total -= 1;
  v.s.counters.blocks_dispatched += 1;
  return true;
}

/// Thread block `thread_block` on SM `sm` has ended. Leader only.
template <class V>
NW_HD inline void block_done(V& v, uint32_t thread_block, uint32_t sm, Tick now) {
  DispatchState& d = v.s.dispatch;
  v.s.outbox.in(v.base)[sm].free_blocks += 1;
  d.free_total += 1;
  d.blocks_left -= 1;
  v.s.counters.blocks_done += 1;
  if (v.system.log_done) {
    NW_ASSERT(d.num_done < d.done_log.count);
    d.done_log.in(v.base)[d.num_done++] = thread_block;
  }
  if (d.blocks_left != 0) return;
  d.launch_end.in(v.base)[d.launch] = now;
  d.launch += 1;
  d.running = false;
  d.launch_at = now + Tick{v.p.launch_gap} * v.p.period;
}

/// When the next launch wants to begin; kNever if there is none or one is under way.
template <class V>
NW_HD inline Tick next_launch(const V& v) {
  const DispatchState& d = v.s.dispatch;
  return !d.running && d.launch < v.system.image.num_launches && may_dispatch(d) ? d.launch_at
                                                                                 : kNever;
}

}  // namespace nearwarp::frontend
