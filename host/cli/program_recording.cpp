// Gets a workload's recording: executed now, or from the trace cache.
#include "host/cli/program_recording.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "host/cli/observer.h"
#include "host/cli/unknown_workload.h"
#include "host/core/error.h"
#include "host/recording/combine.h"
#include "host/recording/repeats.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::cli {
runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options) {
  Terminal terminal;
  return programs::execute_workload(workload, size, std::move(options), terminal);
}

runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache) {
  Terminal terminal;
  return programs::recording_of(workload, size, cache, terminal);
}

runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make) {
  Terminal terminal;
  return programs::cached_recording(cache, key, again, make, terminal);
}

runtime::Recording load_recorded(const std::string& path, const std::string& cache) {
  Terminal terminal;
  return programs::load_recorded(path, cache, terminal);
}

void check_stacks(const std::string& programs, const config::MachineConfig& machine) {
  for (const std::string& program : programs_joined(programs)) {
    const uint32_t stacks = bound_program(program).stacks;
    try {
      sim::check_binding(program, stacks, machine);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
}

const workloads::Workload& workload_named(const std::string& name, const std::string& command) {
  check_workload(name, command);
  return *workloads::find(name);
}

std::string mix_key_of(const std::string& names, const std::string& size,
                       const std::string& command) {
  const std::vector<std::string> programs = programs_joined(names);
  if (programs.size() > runtime::kMaxPrograms)
    throw UsageError(fmt::format("'{}' are {} programs at the same time - {} are possible", names,
                                 programs.size(), runtime::kMaxPrograms));
  std::string key;
  for (const std::string& program : programs) {
    const runtime::BoundName bound = bound_program(program);
    key += (key.empty() ? "" : " beside ") +
           recording_key_of(workload_named(bound.name, command), size) +
           runtime::binding_text(bound.stacks);
  }
  return key;
}

runtime::Recording mix_recording_of(const std::string& names, const std::string& size,
                                    const std::string& cache, uint32_t max_repeats) {
  std::vector<runtime::Recording> recordings;
  for (const std::string& program : programs_joined(names)) {
    const runtime::BoundName bound = bound_program(program);
    recordings.push_back(recording_of(workload_named(bound.name), size, cache));
    if (max_repeats != 0) runtime::limit_repeats(recordings.back(), max_repeats);
    runtime::bind(recordings.back(), bound.stacks);
  }
  if (recordings.size() == 1) return std::move(recordings.front());
  return runtime::combine(std::move(recordings));
}

}  // namespace nearwarp::cli
