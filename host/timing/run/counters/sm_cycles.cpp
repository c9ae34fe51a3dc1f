// Counts the uses of an SM's cycles up to a tick between two windows.
#include "host/timing/run/counters/sm_cycles.h"

#include "device/sm/cycle_use.h"

namespace nearwarp::sim {

CycleUses CyclesSoFar::all() const {
  CycleUses sums = {};
  for (const CycleUses& uses : by_kernel)
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += uses[i];
  return sums;
}

uint64_t sm_cycles_before(System& system, uint32_t endpoint, Tick tick) {
  return cycle_at_or_after(tick, system.params<sm::SmParams>(endpoint).period);
}

CyclesSoFar cycles_so_far(System& system, uint32_t endpoint, Tick tick) {
  const auto& p = system.params<sm::SmParams>(endpoint);
  const uint64_t end = sm_cycles_before(system, endpoint, tick);
  return with_sm(system, endpoint, [&](const auto& s) {
    const auto& c = s.cycles;
    const uint64_t* counts = c.counts.in(system.arena.base());
    CyclesSoFar so_far;
    so_far.by_kernel.resize(c.counts.count / sm::kNumCycleUses);
    for (size_t k = 0; k < so_far.by_kernel.size(); ++k)
      std::copy_n(counts + k * sm::kNumCycleUses, sm::kNumCycleUses, so_far.by_kernel[k].begin());
    CycleUses& now = so_far.by_kernel[c.row / sm::kNumCycleUses];
    for (size_t i = 0; i < now.size(); ++i) now[i] += c.uses[i];
    now[static_cast<size_t>(c.use)] += c.since - c.from;
    // The SM's state has not changed since cycle `since`. If the SM was stepped beyond `tick`, the
    // difference is negative, and takes away cycles that were counted with the same use.
    now[static_cast<size_t>(sm::cycle_use(p, s))] += end - c.since;
    so_far.warp_cycles =
        c.warp_cycles + (p.num_warps - s.free_warps.size()) * (end - c.warps_since);
    return so_far;
  });
}

}  // namespace nearwarp::sim
