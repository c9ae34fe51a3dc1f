// Counter tracks of SMs: warps that are there, and what cycles are spent on.
#include "host/timing/timeline/sm_tracks.h"

#include "host/timing/report/use.h"

namespace nearwarp::timeline {

SmTracks::SmTracks(sim::System& system, TraceWriter& out, uint32_t pid) : pid_(pid) {
  for (uint16_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    tracks_.emplace_back().endpoint = i;
    out.process(pid + i, system.nodes[i].name, pid + i);
  }
}

void SmTracks::begin(sim::System& system, Tick at) {
  for (Track& t : tracks_) {
    const sim::CyclesSoFar so_far = sim::cycles_so_far(system, t.endpoint, at);
    t.before = so_far.all();
    t.warp_cycles = so_far.warp_cycles;
  }
}

void SmTracks::sample(sim::System& system, Tick at, uint64_t cycle_before, TraceWriter& out) {
  for (Track& t : tracks_) {
    const sim::CyclesSoFar so_far = sim::cycles_so_far(system, t.endpoint, at);
    const sim::CycleUses uses = so_far.all();
    uint64_t cycles = 0;
    for (size_t i = 0; i < uses.size(); ++i) cycles += uses[i] - t.before[i];
    if (cycles == 0) continue;
    std::array<Sample, sm::kNumCycleUses> changed;
    size_t n = 0;
    for (size_t i = 0; i < uses.size(); ++i) {
      const uint64_t value = 10'000 * (uses[i] - t.before[i]) / cycles;
      if (value != t.uses[i]) changed[n++] = {report::kCycleUses[i].name, value};
      t.uses[i] = value;
    }
    if (n != 0) out.counter(pid_ + t.endpoint, "% of cycles", cycle_before, {changed.data(), n});
    const uint64_t warps = 100 * (so_far.warp_cycles - t.warp_cycles) / cycles;
    if (warps != t.warps) {
      const Sample sample{"warps", warps};
      out.counter(pid_ + t.endpoint, "warps", cycle_before, {&sample, 1});
    }
    t.warps = warps;
    t.before = uses;
    t.warp_cycles = so_far.warp_cycles;
  }
}

}  // namespace nearwarp::timeline
