// nearwarp check: looks for races, misused barriers and masks, and memory errors in the kernels of
// a workload or an application.
#include <fmt/format.h>

#include <csignal>

#include "host/api/nearwarp/checks.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/application_options.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/cli/progress/notes.h"
#include "host/cli/with_options.h"
#include "host/core/error.h"
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

CheckReport checked_workload(const std::string& name, const std::string& size,
                             CheckOptions options) {
  check_workload(name, "check");
  catch_interrupts();
  Notes notes;
  options.progress = notes.progress_function();
  return taken(nearwarp::check_workload(name, size, options));
}

CheckReport checked_application(const CommandLine& line, const Words& application,
                                ApplicationOptions run, const CheckOptions& options) {
  run.machine = taken(Machine::load(line.text("machine"), line.texts("set"), Foreign::kPassedOver));
  catch_interrupts();
  Notes notes;
  run.tell = [&](const std::string& message) { notes.tell(message); };
  run.go_on = [] { return !interrupted(); };
  CheckReport found = taken(check_application(application, run, options));
  if (found.interrupted) forget_interrupt();
  return found;
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
  const std::string size = line.text("size");
  taken(check_size(size));
  CheckOptions options;
  options.kernels = kernels_option(line);
  options.misuse = !line.given("no-misuse");
  options.unwritten = !line.given("no-unwritten");
  const uint64_t most = line.number("max-reports", 0, CheckReport::kMostFindings);
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);
  const CheckReport found = application.empty()
                                ? checked_workload(line.positional()[0], size, options)
                                : checked_application(line, application, execution, options);
  // A reader who leaves early must not end the program before the file is written.
  if (!json.empty()) std::signal(SIGPIPE, SIG_IGN);
  if (!json.empty()) report::write_file(json, found.document);
  for (const CheckedProgram& program : found.programs)
    print((&program == found.programs.data() ? "" : "\n") +
          with_options(taken(program.text(most)), "max-reports"));
  if (found.interrupted) throw Error("the application was interrupted: findings are partial");
  if (found.exit_status != 0) return found.exit_status;
  return found.clean() ? 0 : kFound;
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
