// Thread blocks on an SM: launch, barriers, end.
#pragma once

#include "device/sm/clusters.h"
#include "device/sm/progress.h"

namespace nearwarp::sm {

/// Lets the barrier's warps go on.
template <class V>
NW_HD NW_APART inline void release_barrier(V& v, uint32_t at, uint32_t now) {
  v.s.barriers.in(v.base)[at].arrived = 0;
  auto& waiting = v.s.barrier_waiting.in(v.base)[at];
  const auto release = waiting;
  waiting = {};
  release.each([&](uint32_t warp) {
    enter_phase(v, warp, Phase::kRunning);
    continue_warp(v, warp, now, now + 1);
  });
}

/// Release a barrier if enough of the block's warps have come.
template <class V>
NW_HD inline void try_release_barrier(V& v, uint32_t block, uint32_t barrier, uint32_t now) {
  const uint32_t at = block * kMaxBarriers + barrier;
  const BarrierState& b = v.s.barriers.in(v.base)[at];
  const uint32_t expected = b.expected != 0 ? b.expected : v.blocks[block].alive;
  if (b.arrived == 0 || b.arrived < expected) return;
  if (barrier == kMaxBarriers - 1 && v.clusters()) {
    auto&& rare = v.rarely();
    if (meet_cluster(rare, block)) return;
  }
  release_barrier(v, at, now);
}

template <class V>
NW_HD inline bool traces_cut(const V& v, uint32_t block) {
  return v.system.image.launches[v.blocks[block].launch].cut;
}

/// Warps of the block have ended: barriers of all that are left may be complete. And warps whose
/// traces were cut never come to the barriers where others expect them by number: where all that
/// are left wait, they go on.
template <class V>
NW_HD NW_APART void recheck_barriers(V& v, uint32_t block, uint32_t now) {
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < kMaxBarriers; ++i) {
    if (v.s.barriers.in(v.base)[block * kMaxBarriers + i].arrived == 0) continue;  // no warp waits
    try_release_barrier(v, block, i, now);
    waiting += v.s.barrier_waiting.in(v.base)[block * kMaxBarriers + i].size();
  }
  if (waiting == 0 || waiting < v.blocks[block].alive || !traces_cut(v, block)) return;
  for (uint32_t i = 0; i < kMaxBarriers; ++i) release_barrier(v, block * kMaxBarriers + i, now);
}

template <class V>
NW_HD inline void arrive_at_barrier(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  Warp& w = v.warps[warp];
  NW_ASSERT(w.guest_of == 0);  // mechanisms move no code with barriers
  NW_ASSERT(in.lane_bytes < kMaxBarriers);
  const uint32_t at = w.block_slot * kMaxBarriers + in.lane_bytes;
  v.s.counters.barriers += 1;
  BarrierState& barrier = v.s.barriers.in(v.base)[at];
  barrier.arrived += 1;
  barrier.expected = in.number();
  if (in.action == Action::kBarrier) {
    enter_phase(v, warp, Phase::kAtBarrier);
    v.s.barrier_waiting.in(v.base)[at].set(warp);
    // Traces that were cut may have ended before the barrier's number of warps is there.
    if (in.number() != 0 && traces_cut(v, w.block_slot)) v.s.recheck_barriers |= bit(w.block_slot);
  }
  try_release_barrier(v, w.block_slot, in.lane_bytes, now);
}

/// All blocks of the cluster have come to their barrier.
template <class V>
NW_HD NW_CALLED void pass_cluster_barrier(V& v, uint32_t thread_block, uint32_t now) {
  uint32_t block = 0;
  while (!v.blocks[block].used || v.blocks[block].thread_block != thread_block) ++block;
  NW_ASSERT(block < v.p.num_blocks);
  cluster_slot(v, block).at_barrier = false;
  release_barrier(v, block * kMaxBarriers + kMaxBarriers - 1, now);
}

/// Launch a thread block: take warp slots, point them at their traces.
template <class V>
NW_HD NW_APART void launch_block(V& v, const LaunchBlock& block, uint32_t now) {
  const LaunchInfo& info = v.system.image.launches[block.launch];
  // A new kernel sees memory, not what caches kept. Launches are numbered as they begin: what has
  // come since a later one began is new enough for those before it.
  if (block.launch_number > v.s.newest_launch) {
    cache::l1_flush(v.p.l1, v.s.l1, v.base);
    if (v.p.constants.cached) forget_constants(v);
    v.s.newest_launch = block.launch_number;
  }
  uint32_t slot = 0;
  while (v.blocks[slot].used) ++slot;
  NW_ASSERT(slot < v.p.num_blocks);
  auto& b = v.blocks[slot];
  b.used = true;
  b.thread_block = info.first_block + block.block;
  b.alive = info.warps_per_block;
  b.launch = block.launch;
  b.warps = {};
  for (uint32_t i = 0; i < kMaxBarriers; ++i) {
    v.s.barriers.in(v.base)[slot * kMaxBarriers + i] = {};
    v.s.barrier_waiting.in(v.base)[slot * kMaxBarriers + i] = {};
  }
  if (v.copies())
    for (uint32_t i = 0; i < trace::kMaxMbarriers; ++i)
      v.s.mbarriers.in(v.base)[slot * trace::kMaxMbarriers + i] = {};
  if (v.clusters()) join_cluster(v, slot, block, info);
  count_warps(v, now);
  enter_order(v, slot, info.kernel, now);
  const KernelInfo& kernel = v.system.image.kernels[info.kernel];
  const TraceBlock& trace = v.system.trace(b.thread_block);
  for (uint32_t i = 0; i < info.warps_per_block; ++i) {
    const uint32_t warp = v.s.free_warps.take_first();
    b.warps.set(warp);
    Warp& w = v.warps[warp];
    take_slot(v, warp);
    if (v.copies()) v.s.warp_copies.in(v.base)[warp] = {};
    w.kernel = static_cast<uint16_t>(info.kernel);
    w.first_block = kernel.first_block;
    w.thread_block = b.thread_block;
    w.block_slot = static_cast<uint8_t>(slot);
    w.space = static_cast<uint8_t>(info.space);
    w.at.trace_pos = trace.warp_offset[i];
    uint32_t* slots = v.slots(warp);
    for (uint32_t k = 0; k < kernel.num_slots; ++k) slots[k] = 0;
    fetch_first(w.at, trace.words, v.system.image, w.first_block);
    w.fetch_pc = w.at.pc;
  }
  b.running = b.warps;
  b.warps.each([&](uint32_t warp) { continue_warp(v, warp, now, now + 1); });
}

/// Tell the front end of ended blocks.
template <class V>
NW_HD inline void report_blocks(V& v, uint32_t now) {
  if (v.s.blocks_done == 0 || !can_send(v.to_front_end(), v.base, v.tick(now))) return;
  const uint32_t slot = count_trailing_zeros(v.s.blocks_done);
  v.s.blocks_done &= v.s.blocks_done - 1;
  Packet p;
  p.src = v.s.endpoint;
  p.dst = v.p.front_end;
  BlockDone done;
  done.thread_block = v.blocks[slot].thread_block;
  done.in_cluster = v.clusters() && cluster_slot(v, slot).used;
  if (done.in_cluster) done.member = cluster_slot(v, slot).member();
  done.put(p);
  v.blocks[slot].used = false;
  send(v.to_front_end(), v.base, v.tick(now), p, v.horizon);
  expect_answer(v.to_front_end(), v.from_front_end(), v.tick(now), v.horizon);
}

}  // namespace nearwarp::sm
