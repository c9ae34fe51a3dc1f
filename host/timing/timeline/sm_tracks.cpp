// Makes and samples the counter tracks of SMs: resident warps, and the uses of cycles.
#include "host/timing/timeline/sm_tracks.h"

#include <algorithm>

#include "host/timing/report/use.h"

namespace nearwarp::timeline {

SmTracks::SmTracks(sim::System& system, TraceWriter& out, uint32_t overview, uint32_t pid)
    : overview_(overview), pid_(pid) {
  for (uint16_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    Track& track = tracks_.emplace_back();
    track.endpoint = i;
    std::string name = "SMs";
    for (const sim::ComponentClass& c : system.classes)
      if (c.name != "sm" && std::find(c.members.begin(), c.members.end(), i) != c.members.end())
        name = c.name == "stack_sm" ? "stack SMs" : c.name + " SMs";
    while (track.all < classes_.size() && classes_[track.all].name != name) track.all += 1;
    if (track.all == classes_.size()) classes_.emplace_back().name = name;
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

/// Write the means over the SMs of each class.
void SmTracks::sample_classes(uint64_t cycle_before, TraceWriter& out) {
  for (Class& c : classes_) {
    if (c.cycles == 0) continue;
    std::array<Sample, sm::kNumCycleUses> changed;
    size_t n = 0;
    for (size_t i = 0; i < c.uses.size(); ++i) {
      const uint64_t value = 10'000 * c.uses[i] / c.cycles;
      if (value != c.shown[i]) changed[n++] = {report::kCycleUses[i].name, value};
      c.shown[i] = value;
    }
    if (n != 0) out.counter(overview_, c.name + ", cycles [%]", cycle_before, {changed.data(), n});
    const uint64_t warps = 100 * c.warp_cycles / c.cycles;
    if (warps != c.warps_shown) {
      const Sample sample{"mean", warps};
      out.counter(overview_, c.name + ", warps on each", cycle_before, {&sample, 1});
    }
    c.warps_shown = warps;
    c.uses = {};
    c.cycles = c.warp_cycles = 0;
  }
}

void SmTracks::sample(sim::System& system, Tick at, uint64_t cycle_before, TraceWriter& out) {
  for (Track& t : tracks_) {
    const sim::CyclesSoFar so_far = sim::cycles_so_far(system, t.endpoint, at);
    const sim::CycleUses uses = so_far.all();
    uint64_t cycles = 0;
    for (size_t i = 0; i < uses.size(); ++i) cycles += uses[i] - t.before[i];
    if (cycles == 0) continue;
    Class& all = classes_[t.all];
    for (size_t i = 0; i < uses.size(); ++i) all.uses[i] += uses[i] - t.before[i];
    all.cycles += cycles;
    all.warp_cycles += so_far.warp_cycles - t.warp_cycles;
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
  sample_classes(cycle_before, out);
}

}  // namespace nearwarp::timeline
