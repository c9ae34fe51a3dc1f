// The programs of an experiment: workloads, and what its user brings.
#include "host/cli/experiment_programs.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "host/cli/application.h"
#include "host/cli/program_recording.h"
#include "host/cli/ptx_launches.h"
#include "host/cli/trace_program.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/file_hash.h"
#include "host/core/hash.h"
#include "host/programs/executable.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/combine.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;
using experiment::OwnProgram;

constexpr const char* kDefaultMachine = "tom";

config::MachineConfig machine_of(const OwnProgram& program) {
  return config::load_machine(program.machine.empty() ? kDefaultMachine : program.machine, {});
}

/// Changes with the application, its arguments and the files that they name. Libraries of its own
/// and what it reads by itself are not in it.
std::string application_key(const OwnProgram& program) {
  std::string key = "application " + file_hash(programs::find_executable(program.app));
  for (const std::string& argument : program.arguments) {
    std::error_code failed;
    key += "\nargument " + argument;
    if (fs::is_regular_file(argument, failed)) key += " " + file_hash(argument);
  }
  const config::MachineConfig machine = machine_of(program);
  return key + "\nkernels " + program.kernels + "\nmachine " + machine.name + "\n" +
         config::values_text(machine);
}

runtime::Recording execute_application(const OwnProgram& program) {
  programs::ApplicationOptions options;
  options.kernels = program.kernels;
  Words words = {programs::find_executable(program.app)};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  programs::ApplicationRun run = run_application(words, machine_of(program), options);
  std::vector<runtime::Journal> processes = take_processes(run);
  if (run.interrupted) throw Error(kApplicationInterrupted);
  if (processes.size() > 1)
    throw Error(fmt::format(
        "'{}' has {} processes that use the GPU ({}) - 'nearwarp record' keeps each, as recordings "
        "of their own: recording = \"{}.nwtrace\"",
        program.app, processes.size(), program.place, program.name));
  return std::move(processes.front().recording);
}

}  // namespace

ExperimentPrograms::ExperimentPrograms(const experiment::Experiment& experiment, std::string size,
                                       std::string folder, std::string cache)
    : experiment_(&experiment),
      size_(std::move(size)),
      folder_(std::move(folder)),
      cache_(std::move(cache)) {}

std::string ExperimentPrograms::file_of(const std::string& name) const {
  if (const OwnProgram* own = experiment_->program(name)) return own->recording;
  return names_recording(name) ? name : "";
}

std::string ExperimentPrograms::key_of_one(const std::string& name) const {
  if (const std::string file = file_of(name); !file.empty()) return recorded_key(file);
  const OwnProgram* own = experiment_->program(name);
  if (own == nullptr) return mix_key_of(name, size_, "experiment");
  return content_hash(own->ptx.empty() ? application_key(*own) : ptx_launches_key(*own)).hex();
}

sweep::Program ExperimentPrograms::program(const std::string& names) const {
  const std::vector<std::string> all = programs_joined(names);
  if (all.size() > runtime::kMaxPrograms) mix_key_of(names, size_, "experiment");  // says it
  sweep::Program program{names, "", ""};
  for (const std::string& one : all) {
    const runtime::BoundName bound = bound_program(one);
    // A recording is as large as it was.
    const bool sized = experiment_->program(bound.name) == nullptr && file_of(bound.name).empty();
    if (sized) program.size = size_;
    program.key += (program.key.empty() ? "" : " beside ") + key_of_one(bound.name) +
                   runtime::binding_text(bound.stacks);
  }
  return program;
}

void ExperimentPrograms::check(const sweep::Plan& plan, const sweep::Point& point) const {
  const std::string& names = plan.definition.programs[point.program].name;
  if (const auto machine = plan.machine(point); machine != nullptr) check_stacks(names, *machine);
  for (const std::string& one : programs_joined(names)) {
    const std::string file = file_of(bound_program(one).name);
    if (file.empty() || !sass::names_trace(file)) continue;
    if (const auto policy = plan.policy(point); policy != nullptr)
      check_policy_for_traces(*policy, file);
  }
}

runtime::Recording ExperimentPrograms::recording_of_one(const std::string& name) const {
  if (const std::string file = file_of(name); !file.empty()) return load_recorded(file, cache_);
  const OwnProgram* own = experiment_->program(name);
  if (own == nullptr) return mix_recording_of(name, size_, cache_);
  return cached_recording(folder_, key_of_one(name), "executing the program again", [&] {
    return own->ptx.empty() ? execute_application(*own) : execute_ptx_launches(*own);
  });
}

runtime::Recording ExperimentPrograms::recording(const std::string& names) const {
  std::vector<runtime::Recording> recordings;
  for (const std::string& one : programs_joined(names)) {
    const runtime::BoundName bound = bound_program(one);
    recordings.push_back(recording_of_one(bound.name));
    runtime::bind(recordings.back(), bound.stacks);
  }
  if (recordings.size() == 1) return std::move(recordings.front());
  return runtime::combine(std::move(recordings));
}

}  // namespace nearwarp::cli
