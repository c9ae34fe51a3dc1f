// Programs of the public interface: workloads, recordings and traces.
#include <fmt/format.h>

#include "bench/workloads/workload.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/observers.h"
#include "host/api/programs.h"
#include "host/api/state.h"
#include "host/config/nearest.h"
#include "host/programs/names.h"
#include "host/programs/recordings.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/combine.h"
#include "host/recording/recording_file.h"
#include "host/recording/repeats.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp {
const workloads::Workload& workload_named(const std::string& name) {
  if (const workloads::Workload* found = workloads::find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& w : workloads::all()) names.push_back(w->name());
  throw UsageError(fmt::format("unknown workload '{}' - {}workload_names() has all", name,
                               config::did_you_mean(name.substr(0, name.find(':')), names, 3)));
}

namespace {

using State = Program::State;

/// Executes or reads one program.
State state_of(const ProgramName& name, const std::string& size, const ProgramOptions& options) {
  Asked asked(options);
  const bool is_workload = name.kind == ProgramName::Kind::kWorkload;
  State state;
  state.recording =
      is_workload ? programs::recording_of(workload_named(name.name), size, options.cache, asked)
                  : programs::load_recorded(name.name, options.cache, asked);
  runtime::bind(state.recording, name.stacks);
  state.name = state.recording.name;
  state.one_workload = is_workload;
  if (state.recording.truncated && !is_workload) state.truncated.push_back(state.name);
  if (is_workload) state.size = size;
  if (options.max_repeats != 0) runtime::limit_repeats(state.recording, options.max_repeats);
  return state;
}

/// Joins programs to one that runs all of them at the same time.
State together(std::vector<State> programs) {
  std::vector<runtime::Recording> recordings;
  State all;
  for (State& p : programs) {
    all.name += (all.name.empty() ? "" : "+") + p.name;
    if (all.size.empty()) all.size = p.size;
    all.truncated.insert(all.truncated.end(), p.truncated.begin(), p.truncated.end());
    recordings.push_back(std::move(p.recording));
  }
  all.recording = runtime::combine(std::move(recordings));
  return all;
}

/// Makes a Program, and tells the caller of recordings that are truncated.
Program told(State state, const ProgramOptions& options) {
  if (options.tell)
    for (const std::string& name : state.truncated)
      by_caller([&] {
        options.tell(fmt::format("of {} only a part was recorded, and is simulated", name));
      });
  return Access::make<Program>(std::make_shared<const State>(std::move(state)));
}

}  // namespace

std::vector<ProgramName> names_in(const std::string& joined) {
  std::vector<ProgramName> names;
  for (const std::string& one : programs::programs_joined(joined)) {
    const runtime::BoundName bound = programs::bound_program(one);
    using Kind = ProgramName::Kind;
    const Kind kind = sass::names_trace(bound.name)           ? Kind::kTraces
                      : programs::names_recording(bound.name) ? Kind::kRecording
                                                              : Kind::kWorkload;
    names.push_back({bound.name, kind, bound.stacks});
  }
  return names;
}

State loaded_program(const std::string& names, const std::string& size,
                     const ProgramOptions& options) {
  std::vector<State> programs;
  for (const ProgramName& name : names_in(names)) programs.push_back(state_of(name, size, options));
  return programs.size() == 1 ? std::move(programs.front()) : together(std::move(programs));
}

void check_stacks(const std::string& program, uint32_t stacks,
                  const config::MachineConfig& machine) {
  try {
    sim::check_binding(program, stacks, machine);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void check_program(const std::string& names, const config::MachineConfig& machine,
                   const config::PolicyConfig& policy) {
  for (const ProgramName& name : names_in(names)) {
    check_stacks(name.name + runtime::binding_text(name.stacks), name.stacks, machine);
    if (name.kind == ProgramName::Kind::kTraces)
      programs::check_policy_for_traces(policy, name.name);
  }
}

std::string program_key(const std::string& names, const std::string& size) {
  const std::vector<ProgramName> programs = names_in(names);
  if (programs.size() > runtime::kMaxPrograms)
    throw UsageError(fmt::format("'{}' are {} programs at the same time - {} are possible", names,
                                 programs.size(), runtime::kMaxPrograms));
  std::string key;
  for (const ProgramName& name : programs)
    key += (key.empty() ? "" : " beside ") +
           (name.kind == ProgramName::Kind::kWorkload
                ? programs::recording_key_of(workload_named(name.name), size)
                : programs::recorded_key(name.name)) +
           runtime::binding_text(name.stacks);
  return key;
}

std::vector<WorkloadName> workload_names() {
  std::vector<WorkloadName> names;
  for (const auto& w : workloads::all()) names.push_back({w->name(), w->description()});
  return names;
}

Expected<bool> is_workload(const std::string& name) {
  return guarded([&] { return workloads::find(name) != nullptr; });
}

Expected<Done> check_size(const std::string& size) {
  return guarded([&] {
    workloads::parse_size(size);
    return Done{};
  });
}

Expected<std::vector<ProgramName>> program_names(const std::string& names) {
  return guarded([&] { return names_in(names); });
}

Expected<Program> Program::load(const std::string& names, const std::string& size,
                                const ProgramOptions& options) {
  return guarded([&] { return told(loaded_program(names, size, options), options); });
}

Expected<Done> Program::check(const std::string& names, const Machine& machine,
                              const Policy& policy) {
  return guarded([&] {
    check_program(names, Access::of(machine).config, Access::of(policy).config);
    return Done{};
  });
}

Expected<Program> Program::workload(const std::string& name, const std::string& size,
                                    const ProgramOptions& options) {
  return guarded([&] {
    return told(state_of({name, ProgramName::Kind::kWorkload, 0}, size, options), options);
  });
}

Expected<Program> Program::recording(const std::string& path, const ProgramOptions& options) {
  return guarded([&] {
    return told(state_of({path, ProgramName::Kind::kRecording, 0}, "", options), options);
  });
}

Expected<Done> Program::save(const std::string& path) const {
  return guarded([&] {
    runtime::save_recording(Access::of(*this).recording, path);
    return Done{};
  });
}

const std::string& Program::name() const { return Access::of(*this).name; }
const std::string& Program::size() const { return Access::of(*this).size; }
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
