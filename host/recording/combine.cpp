// Combines the recordings of programs that run on one machine at the same time into one.
#include "host/recording/combine.h"

#include <fmt/format.h>

#include <utility>

#include "host/core/error.h"
#include "host/recording/bind.h"

namespace nearwarp::runtime {

Recording combine(std::vector<Recording> programs) {
  if (programs.size() > kMaxPrograms)
    throw Error(fmt::format("{} programs on one machine - at most {} at a time", programs.size(),
                            kMaxPrograms));
  Recording whole;
  std::vector<TraceStore> stores;
  uint32_t chunks = 0;
  uint64_t measured = 0;
  bool any_measured = false;
  for (uint32_t i = 0; i < programs.size(); ++i) {
    Recording& p = programs[i];
    whole.name += (i == 0 ? "" : "+") + p.name;
    whole.applications.push_back(p.name);
    whole.bound_stacks.push_back(stacks_of(p, 0));
    const auto kernels = static_cast<uint32_t>(whole.kernels.size());
    const auto launches = static_cast<uint32_t>(whole.launches.size());
    for (LaunchRecord& l : p.launches) {
      l.application = i;
      l.kernel += kernels;
      l.first_chunk += chunks;
      for (uint32_t& before : l.after) before += launches;
      whole.launches.push_back(std::move(l));
    }
    whole.kernels.insert(whole.kernels.end(), p.kernels.begin(), p.kernels.end());
    for (Allocation& a : p.allocations) {
      a.application = i;
      whole.allocations.push_back(std::move(a));
    }
    whole.warp_instructions += p.warp_instructions;
    whole.thread_instructions += p.thread_instructions;
    whole.execution_seconds += p.execution_seconds;
    whole.truncated |= p.truncated;
    any_measured |= p.measured_warp_instructions != 0;
    measured +=
        p.measured_warp_instructions != 0 ? p.measured_warp_instructions : p.warp_instructions;
    if (whole.no_offloading.empty()) whole.no_offloading = p.no_offloading;
    chunks += p.traces.size();
    stores.push_back(std::move(p.traces));
  }
  whole.traces = TraceStore(std::move(stores));
  if (any_measured) whole.measured_warp_instructions = measured;
  return whole;
}

}  // namespace nearwarp::runtime
