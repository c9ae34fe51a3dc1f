// CUDA applications as programs of the public interface.
#include "host/api/application.h"

#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "host/api/failure.h"
#include "host/api/observers.h"
#include "host/api/state.h"
#include "host/config/find.h"
#include "host/functional/cudart/code/register_choice.h"
#include "host/functional/cudart/device_spec.h"
#include "host/recording/repeats.h"

namespace nearwarp {

static_assert(ApplicationOptions::kMostInterleave == programs::kMostInterleave);
static_assert(ApplicationOptions::kMostDevices == cudart::kMostDevices);

namespace {

/// The machine in the form that EventTimes::begin() reads, with an absolute path, since the
/// application may have another working directory. Throws UsageError for a machine that is no file.
std::string event_times(const Machine::State& machine) {
  if (machine.text.has_value())
    throw UsageError(fmt::format(
        "machine '{}' is a text, and an application's events are timed by that of a file - load "
        "one",
        machine.config.name));
  std::string text =
      std::filesystem::absolute(config::find_config("machines", machine.source)).string();
  for (const std::string& change : machine.changes) text += ';' + change;
  return text;
}

void check_registers(const std::string& text) {
  cudart::RegisterChoice choice;
  try {
    choice = cudart::parse_registers(text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("registers {}: {}", text, error.what()));
  }
  if (choice.from == cudart::RegisterChoice::From::kPtxas && cudart::find_ptxas().empty())
    throw UsageError(fmt::format(
        "registers {}: there is no ptxas on $PATH - install the CUDA toolkit, or use 'auto'",
        text));
}

}  // namespace

Machine machine_of(const ApplicationOptions& options) {
  return options.machine.has_value() ? *options.machine : Machine::load("tom").value();
}

programs::ApplicationOptions own_options(const ApplicationOptions& o,
                                         const Machine::State& machine) {
  try {
    const std::regex check(o.kernels);
  } catch (const std::regex_error& error) {
    throw UsageError(
        fmt::format("kernels '{}': {} - a regular expression is needed", o.kernels, error.what()));
  }
  if (o.interleave > ApplicationOptions::kMostInterleave)
    throw UsageError(
        fmt::format("interleave {} - 0 to {}", o.interleave, ApplicationOptions::kMostInterleave));
  if (o.devices == 0 || o.devices > ApplicationOptions::kMostDevices)
    throw UsageError(
        fmt::format("devices {} - 1 to {}", o.devices, ApplicationOptions::kMostDevices));
  check_registers(o.registers);
  programs::ApplicationOptions own;
  own.kernels = o.kernels;
  own.max_thread_instructions = o.max_thread_instructions;
  own.max_trace_bytes = o.max_trace_bytes;
  own.registers = o.registers;
  own.ptxas_cache = o.cache;
  own.output = o.output;
  own.execution = {.interleave = o.interleave,
                   .most_thread_instructions = o.execute_most,
                   .most_seconds = o.time_limit_seconds,
                   .devices = o.devices,
                   .strict_bounds = o.strict_bounds};
  if (o.simulated_events) own.event_times = event_times(machine);
  return own;
}

Expected<ApplicationRun> Program::run_application(Texts command,
                                                  const ApplicationOptions& options) {
  return guarded([&] {
    const Machine taken = machine_of(options);
    const Machine::State& machine = Access::of(taken);
    AskedOfApplication asked(options);
    programs::ApplicationRun run =
        programs::run_application(std::vector<std::string>(command.begin(), command.end()),
                                  machine.config, own_options(options, machine), asked);
    ApplicationRun all{{}, run.exit_status, run.interrupted};
    for (runtime::Journal& process : programs::take_processes(run, asked)) {
      auto state = std::make_shared<State>();
      state->recording = std::move(process.recording);
      state->name = state->recording.name;
      if (run.interrupted) state->cut_short = programs::kApplicationInterrupted;
      if (options.max_repeats != 0) runtime::limit_repeats(state->recording, options.max_repeats);
      all.processes.push_back(Access::make<Program>(std::move(state)));
    }
    return all;
  });
}

Expected<Done> check(const ApplicationOptions& options) {
  return guarded([&] {
    const Machine machine = machine_of(options);
    own_options(options, Access::of(machine));
    return Done{};
  });
}

Expected<std::vector<Program>> Program::processes(Texts command,
                                                  const ApplicationOptions& options) {
  Expected<ApplicationRun> run = run_application(command, options);
  if (!run) return run.failure();
  return std::move(run->processes);
}

Expected<Program> Program::application(Texts command, const ApplicationOptions& options) {
  Expected<std::vector<Program>> all = processes(command, options);
  if (!all) return all.failure();
  if (all->size() == 1) return std::move(all->front());
  return failure_of(ErrorParts{
      .what = fmt::format("'{}' ran {} processes that used the GPU", command.front(), all->size()),
      .right = "take processes()"});
}

}  // namespace nearwarp
