// Options of commands that run CUDA applications, and the terminal's side of it.
#include "host/cli/application.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <regex>

#include "host/cli/interrupt.h"
#include "host/cli/observer.h"
#include "host/config/find.h"
#include "host/core/error.h"
#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/execution_watch.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

/// The machine as EventTimes::begin() has it, for a process with another working directory.
std::string event_times_option(const CommandLine& line) {
  const std::string kind = line.text("event-times");
  if (kind == "estimated") return "";
  if (kind != "simulated")
    throw UsageError(
        fmt::format("--event-times cannot be '{}' - 'estimated' or 'simulated'", kind));
  std::string text = fs::absolute(config::find_config("machines", line.text("machine"))).string();
  for (const std::string& change : line.texts("set")) text += ';' + change;
  return text;
}

std::string registers_option(const CommandLine& line) {
  const std::string text = line.text("registers");
  cudart::RegisterChoice choice;
  try {
    choice = cudart::parse_registers(text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--registers {}: {}", text, error.what()));
  }
  if (choice.from == cudart::RegisterChoice::From::kPtxas && cudart::find_ptxas().empty())
    throw UsageError(fmt::format(
        "--registers {}: there is no ptxas on $PATH - install the CUDA toolkit, or use 'auto'",
        text));
  return text;
}

}  // namespace

void declare_application(CommandLine& line) {
  line.value("kernels",
             "of an application: simulate only kernels whose name contains a match of this regular "
             "expression; all are executed",
             "REGEX");
  line.value("max-instructions",
             "of an application: simulate the first N thread-instructions, to the end of their "
             "thread block or, where that is far, to equal shares of its warps; all are executed",
             "N");
  line.value("trace-memory",
             "of an application: memory for the traces of thread blocks that run together, in MiB; "
             "if they need more, what comes then is executed, but not simulated",
             "MIB", "2048");
  line.value("event-times",
             "of an application: what cudaEventElapsedTime() tells it, 'estimated', or 'simulated' "
             "under policy baseline while it runs",
             "KIND", "estimated");
  line.value(
      "registers",
      "of an application's kernels, who counts them: 'auto' (its machine code, else "
      "nearwarp's allocation), 'own' (nearwarp's allocation), 'ptxas' (its machine code, else "
      "ptxas), 'ptxas:sm_NN' (ptxas for sm_NN)",
      "WHO", "auto");
  declare_execution(line);
}

void declare_execution(CommandLine& line) {
  line.value("interleave",
             "of an application's kernels: warps of a thread block take turns every N "
             "warp-instructions; default: each runs until it waits or ends",
             "N");
  line.value("execute-most",
             "of an application: end it once its kernels have executed N thread-instructions", "N");
  line.value("time-limit",
             "of an application: end it once its kernels have been executed for so many seconds",
             "SECONDS");
  line.value(
      "devices",
      "of an application: it sees so many GPUs, all alike; they are executed and simulated as "
      "one",
      "N", "1");
  line.flag("strict-bounds",
            "of an application: accesses beside allocations end the kernel even where a GPU "
            "lets them pass, since their page is mapped");
}

programs::Execution execution_options(const CommandLine& line, const Words& application,
                                      const std::string& command) {
  constexpr uint64_t kMostSeconds = 1'000'000'000;
  for (const char* name : {"interleave", "execute-most", "time-limit", "devices", "strict-bounds"})
    if (line.given(name) && application.empty())
      throw UsageError(fmt::format("--{} is for applications - e.g. nearwarp {} --{} ... -- ./app",
                                   name, command, name));
  programs::Execution execution;
  if (line.given("interleave"))
    execution.interleave =
        static_cast<uint32_t>(line.number("interleave", 1, programs::kMostInterleave));
  if (line.given("execute-most"))
    execution.most_thread_instructions = line.number("execute-most", 1, ~uint64_t{0});
  if (line.given("time-limit")) execution.most_seconds = line.number("time-limit", 1, kMostSeconds);
  execution.devices = static_cast<uint32_t>(line.number("devices", 1, cudart::kMostDevices));
  execution.strict_bounds = line.given("strict-bounds");
  return execution;
}

std::string kernels_option(const CommandLine& line) {
  const std::string kernels = line.text("kernels");
  try {
    const std::regex check(kernels);
  } catch (const std::regex_error& error) {
    throw UsageError(fmt::format("--kernels cannot be '{}': {} - a regular expression is needed",
                                 kernels, error.what()));
  }
  return kernels;
}

ApplicationOptions application_options(const CommandLine& line, const Words& application) {
  ApplicationOptions options;
  for (const char* name :
       {"kernels", "max-instructions", "trace-memory", "event-times", "registers"})
    if (line.given(name) && application.empty())
      throw UsageError(fmt::format("--{} is for applications - e.g. nearwarp run --{} ... -- ./app",
                                   name, name));
  options.kernels = kernels_option(line);
  if (line.given("max-instructions"))
    options.max_thread_instructions = line.number("max-instructions", 1, ~uint64_t{0});
  constexpr uint64_t kMostMib = uint64_t{1} << 30;
  options.max_trace_bytes = line.number("trace-memory", 1, kMostMib) << 20;
  options.execution = execution_options(line, application, "run");
  if (application.empty()) return options;
  options.event_times = event_times_option(line);
  options.registers = registers_option(line);
  return options;
}

void tell_ending(const ApplicationRun& run) {
  Terminal terminal;
  programs::tell_ending(run, terminal);
}

std::vector<runtime::Journal> take_processes(ApplicationRun& run) {
  Terminal terminal;
  return programs::take_processes(run, terminal);
}

ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                               const ApplicationOptions& options) {
  Terminal terminal;
  ApplicationRun run = programs::run_application(command, machine, options, terminal);
  if (run.interrupted) forget_interrupt();
  return run;
}

}  // namespace nearwarp::cli
