// Collects a row of results for each launch, and the number of cycles that the run took.
#include <algorithm>

#include "host/recording/repeats.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

void collect_launches(const runtime::Recording& recording, const ImageTables& image, System& system,
                      uint64_t now_cycle, report::RunResult& result) {
  const frontend::LaunchState* launches =
      system.front_end().dispatch.launches.in(system.arena.base());
  const Tick gap = Tick{system.front_end_params().launch_gap} * system.front_end_params().period;
  const auto known = recording.studies->of<std::vector<uint32_t>>(
      "first alike", [&] { return runtime::first_alike(recording); });
  const std::vector<uint32_t>& alike = *known;
  const auto number = [&](uint32_t index) {
    return uint64_t{index} + recording.launches[index].left_before;
  };
  for (const std::string& name : recording.applications)
    result.applications.push_back({name, 0, 0, 0});
  const auto cycle = [&](Tick at) { return (at + system.core_period - 1) / system.core_period; };
  for (uint32_t i = 0; i < image.launches.size(); ++i) {
    const frontend::LaunchState& state = launches[i];
    if (state.ready == kNever) continue;  // the launch still waits for others
    const bool ended = state.end != kNever;
    const uint64_t at = ended ? cycle(state.end) : now_cycle;
    const runtime::LaunchRecord& l = recording.launches[image.recorded_launch[i]];
    report::KernelRow row;
    row.kernel = recording.kernels[l.kernel]->name;
    row.code = recording.kernels[l.kernel]->code;
    row.registers = image.registers[i];
    row.registers_source = image.registers_source.empty()
                               ? compiler::source_text(recording.kernels[l.kernel]->machine_code)
                               : image.registers_source;
    row.launch = number(image.recorded_launch[i]);
    row.alike = number(alike[image.recorded_launch[i]]);
    row.stands_for = l.stands_for;
    row.stream = l.stream;
    row.begin = cycle(state.ready - gap);  // the end of the last launch that it waited for
    row.cycles = at - row.begin;
    row.warp_instructions = ended ? l.warp_instructions : 0;
    row.thread_instructions = ended ? l.thread_instructions : 0;
    result.kernels.push_back(row);
    result.cycles = std::max(result.cycles, at);
    if (l.application >= result.applications.size()) continue;
    report::ApplicationRow& application = result.applications[l.application];
    application.cycles = std::max(application.cycles, at);
    application.warp_instructions += row.warp_instructions;
    application.thread_instructions += row.thread_instructions;
  }
}

}  // namespace nearwarp::sim
