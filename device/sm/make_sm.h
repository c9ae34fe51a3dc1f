// Laying out an SM's State in an arena: the one way in which builders and tests do it. Host only.
#pragma once

#include <algorithm>

#include "device/core/arena.h"
#include "device/sm/sm_view.h"

namespace nearwarp::sm {

/// A cache that is empty.
inline cache::L1State make_l1(ArenaBuilder& a, const cache::L1Params& p) {
  cache::L1State s;
  const uint32_t lines = p.index.sets * p.ways;
  s.tags = a.allocate<LineAddr>(lines);
  s.last_use = a.allocate<uint32_t>(lines);
  s.filling = a.allocate<uint8_t>(lines);
  s.mshr_line = a.allocate<LineAddr>(p.mshrs);
  s.mshr_since = a.allocate<uint32_t>(p.mshrs);
  s.mshr_way = a.allocate<uint16_t>(p.mshrs);
  s.mshr_count = a.allocate<uint8_t>(p.mshrs);
  s.mshr_loads = a.allocate<uint8_t>(p.mshrs * p.merges);
  s.mshr_free = low_bits(p.mshrs);
  if (!p.plain) {
    s.lines = a.allocate<cache::L1Line>(lines);
    s.mshr_missing = a.allocate<uint16_t>(p.mshrs);
    s.mshr_needs = a.allocate<uint8_t>(p.mshrs * p.merges);
    for (uint32_t k = 1; k < 4; ++k)
      if (p.mshrs > 64 * k) s.mshr_free_more[k - 1] = low_bits(p.mshrs - 64 * k);
  }
  std::fill_n(a.get(s.tags), lines, kNoLine);
  std::fill_n(a.get(s.mshr_line), p.mshrs, kNoLine);
  return s;
}

/// The State of an SM that is empty, without endpoint and channels. `kernels`: of the program.
template <uint32_t kWords>
SmStateOf<kWords> make_sm(ArenaBuilder& a, const SmParams& p, uint32_t kernels = 1) {
  SmStateOf<kWords> s;
  s.simple = is_simple(p);
  for (uint32_t u = 0; u < kNumPortUnits; ++u)
    for (uint32_t i = std::max(p.ports[u], 1u); i < kMaxPorts; ++i)
      s.ports[u].free_at[i] = kPendingLoad;
  s.free_warps = WarpSet<kWords>::lowest(p.num_warps);
  s.free_loads = low_bits(p.load_entries);
  s.warps = a.allocate<Warp>(p.num_warps);
  s.scoreboard = a.allocate<uint32_t>(p.num_warps * p.slots_per_warp);
  s.load_entries = a.allocate<LoadEntry>(p.load_entries);
  s.blocks = a.allocate<BlockSlotOf<kWords>>(p.num_blocks);
  if (!p.in_stack) {
    s.barrier_waiting = a.allocate<WarpSet<kWords>>(p.num_blocks * kMaxBarriers);
    s.barriers = a.allocate<BarrierState>(p.num_blocks * kMaxBarriers);
  }
  s.l1 = make_l1(a, p.l1);
  if (p.fetch.cached) s.fetch.cache = make_l1(a, p.fetch.cache);
  if (p.constants.cached) {
    const cache::L1Params& c = p.constants.cache;
    const uint32_t loads = std::min(c.mshrs * c.merges, kMaxConstantLoads);
    s.constants.cache = make_l1(a, c);
    s.constants.loads = a.allocate<LoadEntry>(loads);
    s.constants.free_loads = low_bits(loads);
  }
  if (p.copies) {
    s.copies = a.allocate<CopyEngine>(1);
    *a.get(s.copies) = CopyEngine{};
    s.warp_copies = a.allocate<WarpCopies>(p.num_warps);
    s.mbarriers = a.allocate<MbarrierState>(p.num_blocks * trace::kMaxMbarriers);
  }
  if (p.clusters) {
    s.cluster = a.allocate<ClusterPort>(1);
    *a.get(s.cluster) = ClusterPort{};
    s.cluster_slots = a.allocate<ClusterSlot>(p.num_blocks);
    if (p.copies) s.shared_boxes = a.allocate<SharedBox>(kMaxBoxes);
  }
  if (p.tlb.entries != 0) s.tlb = make_tlb(a, p.tlb);
  s.cycles.counts = a.allocate<uint64_t>(kernels * kNumCycleUses);
  return s;
}

}  // namespace nearwarp::sm
