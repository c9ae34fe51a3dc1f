// Lanes of one warp that wait for one another. The reconvergence stack runs one group of lanes
// until it meets the others; when that group only polls memory, the others must have turns too.
#include <algorithm>

#include "host/runtime/executor.h"
#include "host/runtime/executor_slot.h"

namespace nearwarp::runtime {

namespace {

/// First of the entries on top of the stack that are reconverging with the running lanes.
uint32_t group_begin(const exec::Warp& warp) {
  uint32_t first = warp.depth;
  while (first > 0 && warp.stack[first - 1].reconverge == warp.reconverge) --first;
  return first;
}

uint32_t group_lanes(const exec::Warp& warp, uint32_t first) {
  uint32_t lanes = warp.active;
  for (uint32_t i = first; i < warp.depth; ++i) lanes |= warp.stack[i].mask & ~warp.exited;
  return lanes;
}

}  // namespace

/// Let other lanes of the warp run: those that wait for the running ones at the point where all
/// meet go on alone (they meet again one level further out), and all groups take turns.
void Executor::rotate_lanes(Slot& slot, uint32_t w) {
  exec::Warp& warp = slot.warps[w];
  if (warp.depth == 0) return;
  const uint32_t first = group_begin(warp);
  if (first > 0 && warp.stack[first - 1].block == warp.reconverge) {
    exec::StackEntry& join = warp.stack[first - 1];
    const uint32_t outer = join.reconverge;
    join.mask &= ~warp.exited & ~group_lanes(warp, first);
    for (uint32_t i = first; i < warp.depth; ++i) warp.stack[i].reconverge = outer;
    if (join.mask == 0) {
      std::copy(warp.stack + first, warp.stack + warp.depth, warp.stack + first - 1);
      --warp.depth;
    }
    warp.reconverge = outer;
    slot.split[w] = 1;
  }
  // The next group that is not at a barrier; those that have exited are dropped.
  for (uint32_t i = group_begin(warp); i < warp.depth;) {
    const exec::StackEntry next = warp.stack[i];
    const uint32_t lanes = next.mask & ~warp.exited;
    if (lanes != 0 && (lanes & ~slot.parked[w]) == 0) {
      ++i;
      continue;
    }
    std::copy(warp.stack + i + 1, warp.stack + warp.depth, warp.stack + i);
    if (lanes == 0) {
      --warp.depth;
      continue;
    }
    warp.stack[warp.depth - 1] = {warp.block, warp.reconverge, warp.active};
    warp.block = next.block;
    warp.reconverge = next.reconverge;
    warp.active = lanes;
    return;
  }
}

/// The running lanes, once parted from others of their warp, are at a barrier: true when all of
/// them are there and run as one again; else others have been given the turn.
bool Executor::meet_at_barrier(Slot& slot, uint32_t w) {
  exec::Warp& warp = slot.warps[w];
  const uint32_t first = group_begin(warp), lanes = group_lanes(warp, first);
  uint32_t& parked = slot.parked[w];
  parked |= warp.active;
  if ((lanes & ~parked) != 0) {
    // The next group that is not there yet.
    for (uint32_t i = first; i < warp.depth; ++i) {
      exec::StackEntry& entry = warp.stack[i];
      const uint32_t others = entry.mask & ~warp.exited;
      if (others == 0 || (others & ~parked) == 0) continue;
      const exec::StackEntry next = entry;
      entry = {warp.block, warp.reconverge, warp.active};
      warp.block = next.block;
      warp.reconverge = next.reconverge;
      warp.active = others;
      return false;
    }
  }
  uint32_t together = warp.active;
  for (uint32_t i = first; i < warp.depth; ++i) {
    const exec::StackEntry& entry = warp.stack[i];
    if ((entry.mask & ~warp.exited) == 0) continue;
    if (entry.block != warp.block) return true;  // at different barriers: each by itself
    together |= entry.mask & ~warp.exited;
  }
  warp.depth = first;
  warp.active = together;
  warp.barrier_mask |= together;
  parked = 0;
  slot.split[w] = 0;
  return true;
}

}  // namespace nearwarp::runtime
