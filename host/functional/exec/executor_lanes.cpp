// Lanes of one warp that wait for one another. The reconvergence stack runs one group of lanes
// until it meets the others; when that group only polls memory, the others must have turns too.
// Lanes that have parted so wait for each other at barriers of the block, and before blocks of
// instructions in which one names lanes that take part in it (__syncwarp(), shuffles, votes).
#include <algorithm>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/exec/interpreter.h"
#include "host/functional/instructions/lanes.h"

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

/// The next group from entry `first` on that has lanes which are not `waiting` runs in place of the
/// running lanes; false if there is none.
bool give_turn(exec::Warp* warp, uint32_t first, uint32_t waiting) {
  for (uint32_t i = first; i < warp->depth; ++i) {
    exec::StackEntry& entry = warp->stack[i];
    const uint32_t others = entry.mask & ~warp->exited;
    if (others == 0 || (others & ~waiting) == 0) continue;
    const exec::StackEntry next = entry;
    entry = {warp->block, warp->reconverge, warp->active};
    warp->block = next.block;
    warp->reconverge = next.reconverge;
    warp->active = others;
    return true;
  }
  return false;
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
  // The next group that does not wait; those that have exited are dropped.
  for (uint32_t i = group_begin(warp); i < warp.depth;) {
    const exec::StackEntry next = warp.stack[i];
    const uint32_t lanes = next.mask & ~warp.exited;
    if (lanes != 0 && (lanes & ~(slot.parked[w] | slot.held[w])) == 0) {
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

/// run_warp() for lanes that have parted from others of their warp: block by block.
exec::Status Executor::run_parted_lanes(Slot& slot, uint32_t w, int64_t& budget) {
  exec::Warp& warp = slot.warps[w];
  while (budget >= 0) {
    int64_t spent = -1;  // to the head of the next block
    exec::Status status = run_warp(context_, warp, spent);
    if (status != exec::Status::kYield) return status;
    if (waits_for_lanes_ && !ready_to_run(slot, w)) continue;
    if (!slot.split[w]) return run_warp(context_, warp, budget);
    spent = 0;  // one block
    status = run_warp(context_, warp, spent);
    budget += spent;
    if (status != exec::Status::kYield) return status;
  }
  return exec::Status::kYield;
}

/// The running lanes, once parted from others of their warp, are where all of them must be, which
/// `stopped` keeps: true when all are there and run as one again, or cannot meet; else others have
/// been given the turn.
bool Executor::meet(Slot& slot, uint32_t w, uint32_t& stopped) {
  exec::Warp& warp = slot.warps[w];
  const uint32_t first = group_begin(warp), lanes = group_lanes(warp, first);
  stopped |= warp.active;
  const uint32_t waiting = slot.parked[w] | slot.held[w];
  if ((lanes & ~waiting) != 0 && give_turn(&warp, first, waiting)) return false;
  slot.held[w] &= ~lanes;
  for (uint32_t i = first; i < warp.depth; ++i) {
    const exec::StackEntry& entry = warp.stack[i];
    if ((entry.mask & ~warp.exited) == 0) continue;
    if (entry.block != warp.block) return true;  // at different places: each by itself
  }
  slot.parked[w] &= ~lanes;
  warp.depth = first;
  warp.active = lanes;
  slot.split[w] = group_lanes(warp, 0) != lanes;
  return true;
}

/// The running lanes are at the head of a block: have they all with whom they must be there? Else
/// others have been given the turn.
bool Executor::ready_to_run(Slot& slot, uint32_t w) {
  const Meeting& meeting = kernel_.meetings[slot.warps[w].block];
  switch (meeting.who) {
    case Meeting::Who::kNobody:
      return true;
    case Meeting::Who::kAllLanes:
      return meet(slot, w, slot.held[w]);
    case Meeting::Who::kMembers:
      return meet_members(slot, w, meeting.row);
  }
  return true;
}

/// A meeting of parts of a warp: each lane waits for those in its word of `row`. Those that are
/// complete run on as one group, with those of them that waited for the last; the others stay.
bool Executor::meet_members(Slot& slot, uint32_t w, uint32_t row) {
  exec::Warp& warp = slot.warps[w];
  const uint32_t first = group_begin(warp), lanes = group_lanes(warp, first);
  const uint32_t* members = exec::row<uint32_t>(warp.rows, static_cast<uint16_t>(row));
  uint32_t here = warp.active;
  for (uint32_t i = first; i < warp.depth; ++i) {
    if (warp.stack[i].block == warp.block) here |= warp.stack[i].mask & ~warp.exited;
  }
  slot.held[w] |= here;
  uint32_t ready = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t bit = 1u << lane;
    if ((here & bit) != 0 && (members[lane] & lanes & ~here) == 0) ready |= bit;
  }
  if (ready == 0) {
    if (give_turn(&warp, first, slot.parked[w] | slot.held[w])) return false;
    ready = warp.active;  // they cannot meet
  }
  slot.held[w] &= ~ready;
  const uint32_t staying = warp.active & ~ready;
  uint32_t kept = first;
  for (uint32_t i = first; i < warp.depth; ++i) {
    exec::StackEntry entry = warp.stack[i];
    if (entry.block == warp.block) entry.mask &= ~ready;
    if ((entry.mask & ~warp.exited) != 0) warp.stack[kept++] = entry;
  }
  if (staying != 0) warp.stack[kept++] = {warp.block, warp.reconverge, staying};
  warp.depth = kept;
  warp.active = ready;
  slot.split[w] = group_lanes(warp, 0) != ready;
  return true;
}

/// Nothing goes on any more: let lanes go on that wait for others of their warp, which may wait for
/// what these do first. False if there are none.
bool Executor::let_go_held_lanes() {
  bool any = false;
  for (const std::unique_ptr<Slot>& slot : resident_) {
    for (uint32_t& held : slot->held) {
      any = any || held != 0;
      held = 0;
    }
  }
  waits_for_lanes_ = false;
  idle_since_ = context_.warp_instructions;
  return any;
}

}  // namespace nearwarp::runtime
