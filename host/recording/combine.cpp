// Several programs that run on one machine at the same time.
#include "host/recording/combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::runtime {

namespace {

/// Appends a program's launches, whose kernels and chunks begin at these numbers of the whole. "All
/// before" are those of the same program: the ones for which no other waits yet.
void add_launches(Recording& whole, const Recording& program, uint32_t application,
                  uint32_t first_kernel, uint32_t first_chunk) {
  const auto first = static_cast<uint32_t>(whole.launches.size());
  std::set<uint32_t> last;
  for (const LaunchRecord& l : program.launches) {
    LaunchRecord& launch = whole.launches.emplace_back(l);
    launch.application = application;
    launch.kernel += first_kernel;
    launch.first_chunk += first_chunk;
    if (launch.after_all) {
      launch.after.assign(last.begin(), last.end());
    } else {
      for (uint32_t& before : launch.after) before += first;
    }
    launch.after_all = false;
    for (const uint32_t before : launch.after) last.erase(before);
    last.insert(static_cast<uint32_t>(whole.launches.size() - 1));
  }
}

}  // namespace

Recording combine(std::vector<Recording> programs) {
  if (programs.size() > kMaxPrograms)
    throw Error(fmt::format("{} programs on one machine - at most {} at a time", programs.size(),
                            kMaxPrograms));
  Recording whole;
  std::vector<TraceStore> stores;
  uint32_t chunks = 0;
  for (uint32_t i = 0; i < programs.size(); ++i) {
    Recording& p = programs[i];
    whole.name += (i == 0 ? "" : "+") + p.name;
    whole.applications.push_back(p.name);
    add_launches(whole, p, i, static_cast<uint32_t>(whole.kernels.size()), chunks);
    whole.kernels.insert(whole.kernels.end(), p.kernels.begin(), p.kernels.end());
    for (Allocation& a : p.allocations) {
      a.application = i;
      whole.allocations.push_back(std::move(a));
    }
    whole.warp_instructions += p.warp_instructions;
    whole.thread_instructions += p.thread_instructions;
    whole.execution_seconds += p.execution_seconds;
    whole.truncated |= p.truncated;
    if (whole.no_offloading.empty()) whole.no_offloading = p.no_offloading;
    chunks += p.traces.size();
    stores.push_back(std::move(p.traces));
  }
  whole.traces = TraceStore(std::move(stores));
  return whole;
}

}  // namespace nearwarp::runtime
