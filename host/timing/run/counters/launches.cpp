// Rows of the launches, and how long the run took.
#include "host/recording/repeats.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

void collect_launches(const runtime::Recording& recording, const ImageTables& image, System& system,
                      uint64_t now_cycle, report::RunResult& result) {
  const frontend::DispatchState& f = system.front_end().dispatch;
  const Tick* end = f.launch_end.in(system.arena.base());
  const std::vector<uint32_t> alike = runtime::first_alike(recording);
  const auto number = [&](uint32_t index) {
    return uint64_t{index} + recording.launches[index].left_before;
  };
  uint64_t before = 0;
  for (uint32_t i = 0; i < image.launches.size() && i <= f.launch; ++i) {
    const bool ended = i < f.launch;
    const uint64_t at = ended ? (end[i] + system.core_period - 1) / system.core_period : now_cycle;
    const runtime::LaunchRecord& l = recording.launches[image.recorded_launch[i]];
    report::KernelRow row;
    row.kernel = recording.kernels[l.kernel]->name;
    row.launch = number(image.recorded_launch[i]);
    row.alike = number(alike[image.recorded_launch[i]]);
    row.stands_for = l.stands_for;
    row.cycles = at - before;
    row.warp_instructions = ended ? l.warp_instructions : 0;
    row.thread_instructions = ended ? l.thread_instructions : 0;
    result.kernels.push_back(row);
    before = at;
    result.cycles = at;
  }
}

}  // namespace nearwarp::sim
