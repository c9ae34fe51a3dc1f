// Laying out an SM's State in an arena: the one way in which builders and tests do it. Host only.
#pragma once

#include <algorithm>

#include "device/core/arena.h"
#include "device/sm/sm_state.h"

namespace nearwarp::sm {

/// The State of an SM that is empty, without endpoint and channels.
template <uint32_t kWords>
SmStateOf<kWords> make_sm(ArenaBuilder& a, const SmParams& p) {
  SmStateOf<kWords> s;
  s.free_warps = WarpSet<kWords>::lowest(p.num_warps);
  s.free_loads = low_bits(p.load_entries);
  s.warps = a.allocate<Warp>(p.num_warps);
  s.scoreboard = a.allocate<uint32_t>(p.num_warps * p.slots_per_warp);
  s.load_entries = a.allocate<LoadEntry>(p.load_entries);
  s.blocks = a.allocate<BlockSlotOf<kWords>>(p.num_blocks);
  if (!p.in_stack) {
    s.barrier_waiting = a.allocate<WarpSet<kWords>>(p.num_blocks * kMaxBarriers);
    s.barrier_arrived = a.allocate<uint16_t>(p.num_blocks * kMaxBarriers);
  }
  const uint32_t lines = p.l1.index.sets * p.l1.ways;
  s.l1.tags = a.allocate<LineAddr>(lines);
  s.l1.last_use = a.allocate<uint32_t>(lines);
  s.l1.filling = a.allocate<uint8_t>(lines);
  s.l1.mshr_line = a.allocate<LineAddr>(p.l1.mshrs);
  s.l1.mshr_since = a.allocate<uint32_t>(p.l1.mshrs);
  s.l1.mshr_way = a.allocate<uint16_t>(p.l1.mshrs);
  s.l1.mshr_count = a.allocate<uint8_t>(p.l1.mshrs);
  s.l1.mshr_loads = a.allocate<uint8_t>(p.l1.mshrs * p.l1.merges);
  s.l1.mshr_free = low_bits(p.l1.mshrs);
  if (!p.l1.plain) {
    s.l1.lines = a.allocate<cache::L1Line>(lines);
    s.l1.mshr_missing = a.allocate<uint16_t>(p.l1.mshrs);
    s.l1.mshr_needs = a.allocate<uint8_t>(p.l1.mshrs * p.l1.merges);
    for (uint32_t k = 1; k < 4; ++k)
      if (p.l1.mshrs > 64 * k) s.l1.mshr_free_more[k - 1] = low_bits(p.l1.mshrs - 64 * k);
  }
  std::fill_n(a.get(s.l1.tags), lines, kNoLine);
  std::fill_n(a.get(s.l1.mshr_line), p.l1.mshrs, kNoLine);
  if (p.tlb.entries != 0) s.tlb = make_tlb(a, p.tlb);
  return s;
}

}  // namespace nearwarp::sm
