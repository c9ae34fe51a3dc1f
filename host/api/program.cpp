// Programs of the public interface: workloads, recordings, traces and applications.
#include <fmt/format.h>

#include <regex>

#include "bench/workloads/execution.h"
#include "bench/workloads/workload.h"
#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/config/nearest.h"
#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/register_choice.h"
#include "host/programs/application.h"
#include "host/programs/recordings.h"
#include "host/recording/recording_file.h"
#include "host/recording/repeats.h"

namespace nearwarp {
namespace {

Program program_of(runtime::Recording recording, const ProgramOptions& options) {
  if (options.max_repeats != 0) runtime::limit_repeats(recording, options.max_repeats);
  auto state = std::make_shared<Program::State>();
  state->recording = std::move(recording);
  return Access::make<Program>(std::move(state));
}

const workloads::Workload& workload_named(const std::string& name) {
  if (const workloads::Workload* found = workloads::find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& w : workloads::all()) names.push_back(w->name());
  throw UsageError("unknown workload '" + name + "'" +
                   config::suggestion(name.substr(0, name.find(':')), names));
}

/// Hands on to the functions of the caller's options.
class Asked final : public programs::Observer {
 public:
  explicit Asked(const ProgramOptions& options) : options_(options) {}
  void tell(const std::string& message) override {
    if (options_.tell) options_.tell(message);
  }
  bool progress(const std::string&, uint64_t done, uint64_t, const char*) override {
    return !options_.progress || options_.progress(done);
  }

 private:
  const ProgramOptions& options_;
};
class AskedOfApplication final : public programs::Observer {
 public:
  explicit AskedOfApplication(const ApplicationOptions& options) : options_(options) {}
  void tell(const std::string& message) override {
    if (options_.tell) options_.tell(message);
  }
  bool go_on() override { return !options_.go_on || options_.go_on(); }

 private:
  const ApplicationOptions& options_;
};

programs::ApplicationOptions own_options(const ApplicationOptions& o) {
  try {
    const std::regex check(o.kernels);
  } catch (const std::regex_error& error) {
    throw UsageError(
        fmt::format("kernels '{}': {} - a regular expression is needed", o.kernels, error.what()));
  }
  if (o.interleave > programs::kMostInterleave)
    throw UsageError(
        fmt::format("interleave {} - 0 to {}", o.interleave, programs::kMostInterleave));
  if (o.devices == 0 || o.devices > cudart::kMostDevices)
    throw UsageError(fmt::format("devices {} - 1 to {}", o.devices, cudart::kMostDevices));
  cudart::parse_registers(o.registers);
  programs::ApplicationOptions own;
  own.kernels = o.kernels;
  own.max_thread_instructions = o.max_thread_instructions;
  own.max_trace_bytes = o.max_trace_bytes;
  own.registers = o.registers;
  own.output = o.output;
  own.execution = {.interleave = o.interleave,
                   .most_thread_instructions = o.execute_most,
                   .most_seconds = o.time_limit_seconds,
                   .devices = o.devices,
                   .strict_bounds = o.strict_bounds};
  return own;
}

}  // namespace

std::vector<WorkloadName> workload_names() {
  std::vector<WorkloadName> names;
  for (const auto& w : workloads::all()) names.push_back({w->name(), w->description()});
  return names;
}

Expected<Program> Program::workload(const std::string& name, const std::string& size,
                                    const ProgramOptions& options) {
  return guarded([&] {
    const workloads::Workload& workload = workload_named(name);
    const workloads::Size parsed = workloads::parse_size(size);
    Asked asked(options);
    runtime::Recording recording = programs::execute_workload(workload, parsed, {}, asked);
    workloads::limit_runs(parsed, recording);
    return program_of(std::move(recording), options);
  });
}

Expected<Program> Program::recording(const std::string& path, const ProgramOptions& options) {
  return guarded([&] {
    Asked asked(options);
    return program_of(programs::load_recorded(path, "", asked), options);
  });
}

Expected<std::vector<Program>> Program::processes(std::span<const std::string> command,
                                                  const ApplicationOptions& options) {
  return guarded([&] {
    const programs::ApplicationOptions own = own_options(options);
    const config::MachineConfig machine = options.machine.has_value()
                                              ? Access::of(*options.machine).config
                                              : config::load_machine("tom");
    AskedOfApplication asked(options);
    programs::ApplicationRun run = programs::run_application(
        std::vector<std::string>(command.begin(), command.end()), machine, own, asked);
    std::vector<Program> all;
    for (runtime::Journal& process : programs::take_processes(run, asked))
      all.push_back(program_of(std::move(process.recording), {.max_repeats = options.max_repeats}));
    return all;
  });
}

Expected<Program> Program::application(std::span<const std::string> command,
                                       const ApplicationOptions& options) {
  Expected<std::vector<Program>> all = processes(command, options);
  if (!all) return all.failure();
  if (all->size() == 1) return std::move(all->front());
  return failure_of(fmt::format("'{}' ran {} processes that used the GPU - take processes()",
                                command.front(), all->size()));
}

Expected<Done> Program::save(const std::string& path) const {
  return guarded([&] {
    runtime::save_recording(Access::of(*this).recording, path);
    return Done{};
  });
}

const std::string& Program::name() const { return Access::of(*this).recording.name; }
uint64_t Program::warp_instructions() const {
  return Access::of(*this).recording.warp_instructions;
}
uint64_t Program::thread_instructions() const {
  return Access::of(*this).recording.thread_instructions;
}

bool Program::truncated() const { return Access::of(*this).recording.truncated; }

std::vector<Launch> Program::launches() const {
  const runtime::Recording& recording = Access::of(*this).recording;
  std::vector<Launch> launches;
  launches.reserve(recording.launches.size());
  for (const runtime::LaunchRecord& l : recording.launches)
    launches.push_back(
        {recording.kernels[l.kernel]->name, l.warp_instructions, l.thread_instructions});
  return launches;
}

}  // namespace nearwarp
