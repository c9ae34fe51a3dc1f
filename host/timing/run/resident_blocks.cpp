// Computes how many thread blocks machines hold at a time.
#include "host/timing/run/resident_blocks.h"

#include <algorithm>

#include "host/core/error.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

std::vector<uint64_t> resident_blocks(std::span<const ReplayJob> jobs) {
  if (jobs.empty()) return {};
  const runtime::Recording& recording = *jobs[0].recording;
  std::vector<uint64_t> most(recording.launches.size(), 0);
  // Jobs of one machine differ in their policies alone.
  std::vector<const config::MachineConfig*> machines;
  for (const ReplayJob& job : jobs)
    if (std::ranges::find(machines, job.machine) == machines.end()) machines.push_back(job.machine);
  for (const config::MachineConfig* machine : machines) {
    try {
      for (size_t i = 0; i < most.size(); ++i) {
        const runtime::LaunchRecord& l = recording.launches[i];
        const sm::SmResources needs = block_needs(*machine, *recording.kernels[l.kernel], l);
        most[i] = std::max(
            most[i], uint64_t{machine->gpu.sms} * blocks_per_sm(sm_capacity(*machine), needs));
      }
    } catch (const Error&) {  // the job throws it again when it is run
    }
  }
  return most;
}

}  // namespace nearwarp::sim
