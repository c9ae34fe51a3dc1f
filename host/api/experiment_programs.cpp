// The programs of an experiment: workloads, and the user's own.
#include "host/api/experiment_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "host/api/observers.h"
#include "host/api/programs.h"
#include "host/api/ptx_launches.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/file_hash.h"
#include "host/core/hash.h"
#include "host/programs/application.h"
#include "host/programs/executable.h"
#include "host/programs/names.h"
#include "host/programs/recordings.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/combine.h"

namespace nearwarp {
namespace {

namespace fs = std::filesystem;
using experiment::OwnProgram;

constexpr const char* kDefaultMachine = "tom";

config::MachineConfig machine_of(const OwnProgram& program) {
  return config::load_machine(program.machine.empty() ? kDefaultMachine : program.machine, {});
}

/// A text that changes with the application, its arguments and the files that they name, but not
/// with libraries or with other files that it reads.
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

runtime::Recording execute_application(const OwnProgram& program, const ProgramOptions& asked) {
  programs::ApplicationOptions options;
  options.kernels = program.kernels;
  std::vector<std::string> words = {programs::find_executable(program.app)};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const std::string what = "running " + program.name;
  ApplicationOptions functions;
  functions.tell = asked.tell;
  functions.go_on = [&] { return !asked.progress || asked.progress({what, 0, 0, ""}); };
  AskedOfApplication observer(functions);
  programs::ApplicationRun run =
      programs::run_application(words, machine_of(program), options, observer);
  std::vector<runtime::Journal> processes = programs::take_processes(run, observer);
  if (run.interrupted) throw Interrupted(programs::kApplicationInterrupted);
  if (processes.size() > 1)
    throw Error(fmt::format(
        "'{}' has {} processes that use the GPU ({}) - 'nearwarp record' keeps each, as recordings "
        "of their own: recording = \"{}.nwtrace\"",
        program.app, processes.size(), program.place, program.name));
  return std::move(processes.front().recording);
}

}  // namespace

std::string ExperimentPrograms::file_of(const std::string& name) const {
  if (const OwnProgram* own = experiment_.program(name)) return own->recording;
  return programs::names_recording(name) ? name : "";
}

std::string ExperimentPrograms::key_of_one(const std::string& name) const {
  if (const std::string file = file_of(name); !file.empty()) return programs::recorded_key(file);
  const OwnProgram* own = experiment_.program(name);
  if (own == nullptr) return programs::recording_key_of(workload_named(name), size_);
  return content_hash(own->ptx.empty() ? application_key(*own) : ptx_launches_key(*own)).hex();
}

sweep::Program ExperimentPrograms::program(const std::string& names) const {
  const std::vector<std::string> all = programs::programs_joined(names);
  if (all.size() > runtime::kMaxPrograms) program_key(names, size_);  // throws
  sweep::Program program{names, "", ""};
  for (const std::string& one : all) {
    const runtime::BoundName bound = programs::bound_program(one);
    // Only workloads have a size that one can choose.
    const bool sized = experiment_.program(bound.name) == nullptr && file_of(bound.name).empty();
    if (sized) program.size = size_;
    program.key += (program.key.empty() ? "" : " beside ") + key_of_one(bound.name) +
                   runtime::binding_text(bound.stacks);
  }
  return program;
}

bool ExperimentPrograms::runs_everywhere(const std::string& names) const {
  return std::ranges::all_of(programs::programs_joined(names), [&](const std::string& one) {
    const runtime::BoundName bound = programs::bound_program(one);
    const std::string file = file_of(bound.name);
    return bound.stacks == 0 && (file.empty() || !sass::names_trace(file));
  });
}

void ExperimentPrograms::check(const sweep::Plan& plan, const sweep::Point& point) const {
  const std::string& names = plan.definition.programs[point.program].name;
  const auto machine = plan.machine(point);
  for (const std::string& one : programs::programs_joined(names)) {
    const runtime::BoundName bound = programs::bound_program(one);
    if (machine != nullptr) check_stacks(one, bound.stacks, *machine);
    const std::string file = file_of(bound.name);
    if (file.empty() || !sass::names_trace(file)) continue;
    if (const auto policy = plan.policy(point); policy != nullptr)
      programs::check_policy_for_traces(*policy, file);
  }
}

runtime::Recording ExperimentPrograms::recording_of_one(const std::string& name,
                                                        const std::string& folder,
                                                        const ProgramOptions& options) const {
  Asked asked(options);
  if (const std::string file = file_of(name); !file.empty())
    return programs::load_recorded(file, options.cache, asked);
  const OwnProgram* own = experiment_.program(name);
  if (own == nullptr)
    return programs::recording_of(workload_named(name), size_, options.cache, asked);
  const auto execute = [&] {
    return own->ptx.empty() ? execute_application(*own, options)
                            : execute_ptx_launches(*own, asked);
  };
  return programs::cached_recording(folder, key_of_one(name), "executing the program again",
                                    execute, asked);
}

runtime::Recording ExperimentPrograms::recording(const std::string& names,
                                                 const std::string& folder,
                                                 const ProgramOptions& options) const {
  std::vector<runtime::Recording> recordings;
  for (const std::string& one : programs::programs_joined(names)) {
    const runtime::BoundName bound = programs::bound_program(one);
    recordings.push_back(recording_of_one(bound.name, folder, options));
    runtime::bind(recordings.back(), bound.stacks);
  }
  if (recordings.size() == 1) return std::move(recordings.front());
  return runtime::combine(std::move(recordings));
}

}  // namespace nearwarp
