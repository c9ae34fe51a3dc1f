// The times that events tell an application.
#include "host/functional/cudart/launches/event_times.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/cudart/say.h"

namespace nearwarp::cudart {

void EventTimes::begin(const std::string& machine) {
  if (machine.empty()) return;
  std::vector<std::string> parts;
  for (size_t at = 0; at <= machine.size();) {
    const size_t end = std::min(machine.find(';', at), machine.size());
    parts.push_back(machine.substr(at, end - at));
    at = end + 1;
  }
  const std::string file = parts.front();
  parts.erase(parts.begin());
  const config::MachineConfig config = config::load_machine(file, parts);
  core_mhz_ = config.clocks.core_mhz;
  run_ = std::make_unique<sim::LaunchTimer>(config, config::Loader().policy("baseline", parts));
}

void EventTimes::kernel(const compiler::Kernel& kernel) {
  if (active()) run_->add_kernel(kernel);
}

void EventTimes::chunk(const runtime::TraceChunk& chunk) {
  if (active()) traces_.append(chunk);
}

void EventTimes::launch(const runtime::LaunchRecord& launch, double) {
  if (!active()) return;
  runtime::TraceStore traces = std::exchange(traces_, runtime::TraceStore());
  if (launch.blocks_recorded != launch.grid.count()) return;
  try {
    const uint64_t cycles = run_->launch(launch, std::move(traces));
    // Kernels that a kernel launched count with it.
    microseconds_ =
        microseconds_.value_or(0) + static_cast<double>(cycles) / static_cast<double>(core_mhz_);
  } catch (const Error& error) {
    run_.reset();
    say(fmt::format("{}; events tell estimated times from here on", error.what()));
  }
}

std::optional<double> EventTimes::take() { return std::exchange(microseconds_, std::nullopt); }

}  // namespace nearwarp::cudart
