// nearwarp check: looks for races, misused barriers and masks, and memory errors in the kernels of
// a workload or an application.
#include <fmt/format.h>

#include <csignal>

#include "bench/workloads/workload.h"
#include "host/cli/application.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/interrupt.h"
#include "host/cli/program_recording.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/racecheck/checker.h"
#include "host/functional/racecheck/report.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

constexpr int kFound = 3;  ///< exit code if anything was found

CommandLine declare_check() {
  CommandLine line("check", "WORKLOAD",
                   "Look for races between threads, for barriers and masks that are misused, for\n"
                   "reads of memory that nobody wrote, and for memory errors, in the kernels of a\n"
                   "workload or of a CUDA application (nearwarp check [OPTION...] -- APPLICATION\n"
                   "ARG...). The exit code is 3 if there are any (docs/check.md)");
  line.value("size", "of a workload: small, medium, large or paper", "SIZE", "small");
  line.value("kernels",
             "look only at kernels whose name contains a match of this regular expression",
             "REGEX");
  line.flag("no-misuse", "do not look for barriers and masks that are misused");
  line.flag("no-unwritten", "do not look for reads of memory that nobody wrote");
  line.value("max-reports", "print at most so many findings of a process", "N", "20");
  line.value("json", "write all that was found to this file (docs/check.md)", "FILE");
  line.value("machine", "what an application takes the GPU for: name, or path of a .toml file",
             "NAME", "tom");
  line.list("set", "override a key of the machine; repeatable", "KEY=VALUE");
  declare_execution(line);
  line.offer("", workload_values);
  offer_usual(line);
  line.offer("set", machine_key_values);
  return line;
}

racecheck::Findings check_workload(const workloads::Workload& workload, workloads::Size size,
                                   const racecheck::Checker::Options& options) {
  racecheck::Checker checker(options);
  checker.findings().program = workload.name();
  runtime::VirtualDevice::Options device;
  device.record_traces = false;
  device.checker = &checker;
  try {
    execute_workload(workload, size, std::move(device));
  } catch (const runtime::DeviceFault& fault) {
    checker.findings().errors.push_back(fault.what());
  }
  checker.end_launch();
  return checker.findings();
}

int run_check(const CommandLine& line, const Words& application) {
  for (const char* name : {"machine", "set"})
    if (line.given(name) && application.empty())
      throw UsageError(fmt::format(
          "--{} is for applications - e.g. nearwarp check --{} ... -- ./app", name, name));
  ApplicationOptions execution;
  set_execution(line, application, "check", execution);
  if (line.given("size") && !application.empty())
    throw UsageError("--size is for workloads - e.g. nearwarp check --size medium bfs-rmat");
  const workloads::Size size = workloads::parse_size(line.text("size"));
  const std::string kernels = kernels_option(line);
  const uint64_t most = line.number("max-reports", 0, racecheck::FindingTable::kMost);
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  programs::ApplicationRun run;
  if (application.empty()) {
    const workloads::Workload& workload = workload_named(line.positional()[0], "check");
    catch_interrupts();
    racecheck::Checker::Options options;
    options.kernels = kernels;
    options.misuse = !line.given("no-misuse");
    options.unwritten = !line.given("no-unwritten");
    run.findings.push_back(check_workload(workload, size, options));
  } else {
    const config::MachineConfig machine =
        config::load_machine(line.text("machine"), line.texts("set"));
    catch_interrupts();
    programs::ApplicationOptions options;
    options.check = true;
    for (const char* kind : {"misuse", "unwritten"}) {
      if (!line.given(std::string("no-") + kind)) continue;
      options.check_without += (options.check_without.empty() ? "" : ",") + std::string(kind);
    }
    options.kernels = kernels;
    options.execution = execution_of(execution);
    run = run_application(application, machine, options);
    tell_ending(run);
  }
  bool clean = true;
  uint64_t launches = 0;
  for (const racecheck::Findings& findings : run.findings) {
    clean = clean && findings.clean();
    launches += findings.launches;
  }
  if ((run.findings.empty() || (clean && launches == 0)) && run.interrupted)
    throw Error(fmt::format("{}: {}", kApplicationInterrupted,
                            run.findings.empty()
                                ? why_not_used(run)
                                : "no launch that was to be checked had ended - there is nothing "
                                  "to report"));
  if (run.findings.empty()) throw Error(why_not_used(run));
  if (clean && launches == 0)
    throw Error(kernels.empty() ? why_not_launched(run)
                                : fmt::format("no kernel with a match of '{}' was launched - "
                                              "there is nothing to check",
                                              kernels));
  // A reader who leaves early must not end the program before the file is written.
  if (!json.empty()) std::signal(SIGPIPE, SIG_IGN);
  if (!json.empty()) report::write_file(json, racecheck::format_json(run.findings, version()));
  for (size_t i = 0; i < run.findings.size(); ++i)
    print((i == 0 ? "" : "\n") + racecheck::format_text(run.findings[i], most));
  if (run.interrupted)
    throw Error(fmt::format("{}: findings are partial", kApplicationInterrupted));
  if (run.exit_status != 0) return run.exit_status;
  return clean ? 0 : kFound;
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .uses = {{"WORKLOAD | -- APPLICATION", "find races, misuse, memory errors"}},
          .declare = declare_check,
          .least = 1,
          .most = 1,
          .application = true,
          .run = run_check};
}

}  // namespace nearwarp::cli
