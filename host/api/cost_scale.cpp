// The cost of a program's warp-instructions for the host that simulates them.
#include "host/api/cost_scale.h"

#include <algorithm>
#include <map>

#include "host/core/error.h"
#include "host/recording/launch_features.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp {
namespace {

/// Thread blocks of the launch that an SM may have at a time; 0 of one that cannot be run, which is
/// said elsewhere.
uint64_t blocks_of_sm(const runtime::Recording& recording, const runtime::LaunchRecord& launch,
                      const config::MachineConfig& machine) {
  try {
    return sim::blocks_per_sm(sim::sm_capacity(machine),
                              sim::block_needs(machine, *recording.kernels[launch.kernel], launch));
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

CostScale::CostScale(const runtime::Recording& recording, const config::MachineConfig& machine) {
  if (recording.launches.empty()) return;
  launch_of_kernel_.assign(recording.kernels.size(), 0);
  std::vector<double> launches(recording.kernels.size());
  // The first of a kernel's launches stands for all of them.
  std::map<uint32_t, double> beyond_l1;
  End end;
  for (size_t i = 0; const runtime::LaunchFeatures& f : runtime::launch_features(recording)) {
    const runtime::LaunchRecord& launch = recording.launches[i];
    const uint64_t resident = blocks_of_sm(recording, launch, machine);
    auto bytes = beyond_l1.find(launch.kernel);
    if (bytes == beyond_l1.end() && f.transactions != 0)
      bytes =
          beyond_l1.emplace(launch.kernel, bytes_beyond_l1(recording, i, machine, resident)).first;
    const std::vector<WarpCurve> warps = sample_warps(recording, i);
    end.launch =
        cost_in_sm_cycles({.features = f,
                           .warps = warps,
                           .bytes_beyond_l1 = bytes == beyond_l1.end() ? 0 : bytes->second,
                           .resident_blocks = machine.gpu.sms * std::max<uint64_t>(resident, 1)},
                          machine);
    end.instructions += f.warp_instructions;
    end.cost += end.launch.whole;
    end.kernel = launch.kernel;
    launch_of_kernel_[end.kernel] += end.launch.whole;
    launches[end.kernel] += 1;
    ends_.push_back(end);
    i += 1;
  }
  for (size_t kernel = 0; kernel < launches.size(); ++kernel)
    launch_of_kernel_[kernel] /= std::max(launches[kernel], 1.0);
}

size_t CostScale::launch_of(uint64_t warp_instructions) const {
  if (ends_.empty()) return 0;
  const auto at = std::ranges::upper_bound(ends_, warp_instructions, {}, &End::instructions);
  return std::min(static_cast<size_t>(at - ends_.begin()), ends_.size() - 1);
}

double CostScale::cost(uint64_t warp_instructions) const {
  if (ends_.empty()) return static_cast<double>(warp_instructions);
  const size_t launch = launch_of(warp_instructions);
  const End& end = ends_[launch];
  const uint64_t before = launch == 0 ? 0 : ends_[launch - 1].instructions;
  const double instructions = static_cast<double>(std::max<uint64_t>(end.instructions - before, 1));
  return end.cost - end.launch.whole +
         end.launch.of_first(static_cast<double>(warp_instructions - before) / instructions);
}

}  // namespace nearwarp
