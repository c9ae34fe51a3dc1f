// Lays out an SM's state in an arena, for machines and for tests. Host only.
#pragma once

#include <algorithm>

#include "device/core/arena.h"
#include "device/sm/sm_view.h"

namespace nearwarp::sm {

/// Lay out the state of an empty SM, without endpoint and channels. `kernels`: the number of
/// kernels of the program.
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
  s.l1 = cache::make_l1(a, p.l1);
  if (p.fetch.cached) s.fetch.cache = cache::make_l1(a, p.fetch.cache);
  if (p.constants.cached) {
    const cache::L1Params& c = p.constants.cache;
    const uint32_t loads = std::min(c.mshrs * c.merges, kMaxConstantLoads);
    s.constants.cache = cache::make_l1(a, c);
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
