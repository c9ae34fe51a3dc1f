// How a warp goes on after an instruction, and how it ends.
#pragma once

#include "device/sm/fetch.h"
#include "device/sm/mechanisms.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::sm {

/// The first cycle in which all registers of a warp have their values; kPendingLoad while one of
/// them is being loaded.
template <class V>
NW_HD NW_APART inline uint32_t registers_ready(const V& v, uint32_t warp) {
  const uint32_t* slots = v.slots(warp);
  const uint32_t n = v.system.image.kernels[v.warps[warp].kernel].num_slots;
  uint32_t at = 0;
  for (uint32_t i = 0; i < n; ++i) at = slots[i] > at ? slots[i] : at;
  return at;
}

/// Add thread block slot `block` to the order of blocks, as the newest one.
template <class V>
NW_HD inline void enter_order(V& v, uint32_t block, uint32_t kernel, uint32_t now) {
  v.s.block_order[v.s.num_block_order++] = static_cast<uint8_t>(block);
  count_for_kernel(v, kernel, now);
}

/// Remove thread block slot `block` from the order of blocks.
template <class V>
NW_HD NW_APART inline void leave_order(V& v, uint32_t block, uint32_t now) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < v.s.num_block_order; ++i)
    if (v.s.block_order[i] != block) v.s.block_order[kept++] = v.s.block_order[i];
  v.s.num_block_order = kept;
  if (kept == 0) return;
  const uint32_t newest = v.s.block_order[kept - 1];
  count_for_kernel(v, v.warps[v.blocks[newest].warps.first()].kernel, now);
}

/// Retire the warp if it is at its end and has nothing in flight any more. With its last warp the
/// thread block ends. A guest, an offloaded warp, is left to its mechanism.
template <class V>
NW_HD NW_APART void try_retire(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.phase != Phase::kFinished || w.loads != 0 || w.stores != 0) return;
  if (v.copies() && v.s.warp_copies.in(v.base)[warp].boxes != 0) return;
  if (!V::kHasBlocks || v.who(w.guest_of) != 0) {
    hooks::on_guest_finished(v, warp, now);
    return;
  }
  auto& b = v.blocks[w.block_slot];
  b.running.clear(warp);
  v.s.counters.warps_finished += 1;
  if (b.running.any()) return;
  count_warps(v, now);
  b.warps.each([&](uint32_t i) { enter_phase(v, i, Phase::kFree); });
  v.s.free_warps |= b.warps;
  v.s.blocks_done |= bit(w.block_slot);
  v.s.counters.blocks_finished += 1;
  leave_order(v, w.block_slot, now);
}

/// The warp has come to the end of its trace.
template <class V>
NW_HD NW_APART inline void finish_warp(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  enter_phase(v, warp, Phase::kFinished);
  if (V::kHasBlocks && v.who(w.guest_of) == 0) {
    v.blocks[w.block_slot].alive -= 1;
    v.s.recheck_barriers |= bit(w.block_slot);
  }
  try_retire(v, warp, now);
}

/// Schedule the warp for the instruction at its cursor, leave it to a mechanism, or finish it.
/// Always inline: it is executed for every issued instruction, and compilers would call it where
/// there are two kinds of SM. `soon`: see schedule().
template <class V>
NW_HD NW_INLINE void continue_warp(V& v, uint32_t warp, uint32_t now, uint32_t earliest,
                                   uint32_t soon) {
  Warp& w = v.warps[warp];
  if (w.at.pc == kEndOfTrace) {
    if (v.who(w.watch) != 0) hooks::at_end(v, warp, now);
    finish_warp(v, warp, now);
    return;
  }
  const ImageInstr& in = v.instr(w.at.pc);
  const uint32_t who = v.who((in.marks | (in.edges & w.watch)) & v.s.attached);
  if (who != 0 && hooks::at_cursor(v, who, warp, now, earliest)) return;
  if (v.fetches()) {
    next_from_buffer(v, warp, now, earliest, soon);
  } else {
    schedule(v, warp, now, earliest, soon);
  }
}
template <class V>
NW_HD NW_APART_ON_GPU void continue_warp(V& v, uint32_t warp, uint32_t now, uint32_t earliest) {
  continue_warp(v, warp, now, earliest, now);
}

}  // namespace nearwarp::sm
