// nearwarp record: runs a CUDA application and keeps what it did, for later runs and sweeps.
#include <fmt/format.h>

#include <filesystem>

#include "host/api/nearwarp/traces.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/application_options.h"
#include "host/cli/progress/notes.h"
#include "host/cli/wrong_file.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_record() {
  CommandLine line("record", "",
                   "Run a CUDA application on the simulated GPU and keep what its kernels did:\n"
                   "nearwarp record [OPTION...] -- APPLICATION ARG...\n"
                   "'nearwarp run FILE.nwtrace' and 'sweep' simulate it as often as you like");
  line.value("out", "where to; default: the application's name and .nwtrace", "FILE.nwtrace");
  line.value(
      "accel-sim",
      "write traces as Accel-Sim's tracer does (version 6, .tracez) into this folder; without "
      "--out, nothing else",
      "FOLDER");
  line.value("machine", "what the application takes the GPU for: name, or path of a .toml file",
             "NAME", "tom");
  line.list("set", "override a key of the machine; repeatable", "KEY=VALUE");
  declare_application(line);
  offer_usual(line);
  line.offer("set", machine_key_values);
  return line;
}

/// The file of a process: "app.nwtrace" of the first one, "app.2.nwtrace" of the second.
std::string path_of(const std::string& first, size_t process) {
  if (process == 0) return first;
  const std::filesystem::path path = first;
  return (path.parent_path() / fmt::format("{}.{}.nwtrace", path.stem().string(), process + 1))
      .string();
}

/// The folder of a process: "traces" of the first one, "traces.2" of the second.
std::string folder_of(const std::string& first, size_t process) {
  return process == 0 ? first : fmt::format("{}.{}", first, process + 1);
}

void say_written(const std::string& path, const Program& program) {
  const size_t launches = program.launches().size();
  print(fmt::format("{}: {} warp-instructions in {} launch{}{}\n", path,
                    report::grouped(program.warp_instructions()), launches,
                    launches == 1 ? "" : "es",
                    program.truncated() ? ", not all of the program" : ""));
}

/// Advice for a command line that has a word in place of "--" and an application.
std::string advice_on(const std::string& word) {
  if (taken(is_workload(word)))
    return fmt::format(
        "'{0}' is a workload, and 'nearwarp record' is for applications - 'nearwarp run {0}' "
        "executes and simulates it, and --trace-cache FOLDER keeps what it executed",
        word);
  if (const std::string advice = wrong_file(word, "record"); !advice.empty()) return advice;
  return fmt::format(
      "'{0}' stands before the -- - 'nearwarp record [OPTION...] -- {0} ARG...' is for "
      "applications",
      word);
}

int run_record(const CommandLine& line, const Words& application) {
  if (application.empty() && !line.positional().empty())
    throw UsageError(advice_on(line.positional()[0]));
  if (application.empty())
    throw UsageError(
        "'nearwarp record' needs -- and an application - e.g. nearwarp record -- ./app");
  std::string out = line.text("out");
  if (!out.empty() && !out.ends_with(".nwtrace"))
    throw UsageError(
        fmt::format("--out cannot be '{}' - a name that ends with .nwtrace is needed", out));
  const std::string traces = line.text("accel-sim");
  const bool keeps = traces.empty() || !out.empty();
  if (line.given("accel-sim")) make_folder(traces, "--accel-sim");
  if (out.empty())
    out = std::filesystem::path(application.front()).filename().string() + ".nwtrace";
  if (keeps) report::check_writable(out);
  const Machine machine =
      taken(Machine::load(line.text("machine"), line.texts("set"), Foreign::kPassedOver));
  ApplicationOptions options = application_options(line, application);
  catch_interrupts();
  Notes notes;
  options.machine = machine;
  options.tell = [&](const std::string& message) { notes.tell(message); };
  options.go_on = [] { return !interrupted(); };
  const ApplicationRun run = taken(Program::run_application(application, options));
  if (run.interrupted) forget_interrupt();
  for (size_t i = 0; i < run.processes.size(); ++i) {
    const Program& program = run.processes[i];
    if (keeps) {
      const std::string path = path_of(out, i);
      taken(program.save(path));
      say_written(path, program);
    }
    if (!traces.empty())
      say_written(taken(write_traces(program, folder_of(traces, i), options.tell)), program);
  }
  if (run.interrupted)
    throw Error("the application was interrupted: what was executed before is recorded");
  return run.exit_status;
}

}  // namespace

Command record_command() {
  return {.name = "record",
          .uses = {{"[OPTION...] -- APPLICATION", "keep it for later runs and sweeps"}},
          .declare = declare_record,
          .least = 0,
          .most = 1,
          .application = true,
          .run = run_record};
}

}  // namespace nearwarp::cli
