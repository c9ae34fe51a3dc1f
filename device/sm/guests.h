// Guests: warps that a mechanism, instead of the dispatcher, brings to an SM from another SM. They
// belong to no thread block of this SM; for the schedulers' order each is a block of its own.
#pragma once

#include "device/sm/progress.h"

namespace nearwarp::sm {

/// Take a warp slot (there must be a free one) for a guest of the mechanism with this bit, which
/// watches it. The caller starts it with continue_warp(). Returns the slot.
template <class V>
NW_HD inline uint32_t add_guest(V& v, uint32_t mechanism_bit, const Cursor& at, uint32_t kernel,
                                uint32_t thread_block, uint32_t now) {
  NW_ASSERT(v.s.free_warps.any());
  count_warps(v, now);
  const uint32_t warp = v.s.free_warps.take_first();
  Warp& w = v.warps[warp];
  take_slot(v, warp);
  w.at = at;
  w.fetch_pc = at.pc;
  w.kernel = static_cast<uint16_t>(kernel);
  w.first_block = v.system.image.kernels[kernel].first_block;
  w.thread_block = thread_block;
  w.block_slot = static_cast<uint8_t>(warp);
  w.guest_of = static_cast<uint8_t>(mechanism_bit);
  w.watch = static_cast<uint8_t>(mechanism_bit);
  v.blocks[warp].warps = V::Warps::of(warp);
  v.blocks[warp].used = true;
  enter_order(v, warp, kernel, now);
  uint32_t* slots = v.slots(warp);
  const uint32_t n = v.system.image.kernels[kernel].num_slots;
  for (uint32_t k = 0; k < n; ++k) slots[k] = 0;
  return warp;
}

/// Free the slot of a guest that has finished.
template <class V>
NW_HD inline void remove_guest(V& v, uint32_t warp, uint32_t now) {
  count_warps(v, now);
  enter_phase(v, warp, Phase::kFree);
  v.blocks[warp].used = false;
  v.s.free_warps.set(warp);
  v.s.counters.warps_finished += 1;
  leave_order(v, warp, now);
}

}  // namespace nearwarp::sm
