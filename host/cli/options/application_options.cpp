// Options of commands that run CUDA applications.
#include "host/cli/options/application_options.h"

#include <fmt/format.h>

#include <regex>

#include "host/cli/expected.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

bool simulated_events_option(const CommandLine& line) {
  const std::string kind = line.text("event-times");
  if (kind == "estimated" || kind == "simulated") return kind == "simulated";
  throw UsageError(fmt::format("--event-times cannot be '{}' - 'estimated' or 'simulated'", kind));
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
  line.offer("event-times", {"estimated", "simulated"});
  line.value(
      "registers",
      "of an application's kernels, who counts them: 'auto' (its machine code, else "
      "nearwarp's allocation), 'own' (nearwarp's allocation), 'ptxas' (its machine code, else "
      "ptxas), 'ptxas:sm_NN' (ptxas for sm_NN)",
      "WHO", "auto");
  line.offer("registers", {"auto", "own", "ptxas", "ptxas:sm_"});
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

void set_execution(const CommandLine& line, const Words& application, const std::string& command,
                   ApplicationOptions& options) {
  constexpr uint64_t kMostSeconds = 1'000'000'000;
  for (const char* name : {"interleave", "execute-most", "time-limit", "devices", "strict-bounds"})
    if (line.given(name) && application.empty())
      throw UsageError(fmt::format("--{} is for applications - e.g. nearwarp {} --{} ... -- ./app",
                                   name, command, name));
  if (line.given("interleave"))
    options.interleave =
        static_cast<uint32_t>(line.number("interleave", 1, ApplicationOptions::kMostInterleave));
  if (line.given("execute-most"))
    options.execute_most = line.number("execute-most", 1, ~uint64_t{0});
  if (line.given("time-limit"))
    options.time_limit_seconds = line.number("time-limit", 1, kMostSeconds);
  options.devices =
      static_cast<uint32_t>(line.number("devices", 1, ApplicationOptions::kMostDevices));
  options.strict_bounds = line.given("strict-bounds");
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
  set_execution(line, application, "run", options);
  if (application.empty()) return options;
  options.simulated_events = simulated_events_option(line);
  options.registers = line.text("registers");
  taken_of_options(check(options));
  return options;
}

}  // namespace nearwarp::cli
