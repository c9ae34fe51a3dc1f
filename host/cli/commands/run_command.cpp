// nearwarp run: a workload on a machine under one or several policies, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "host/api/nearwarp.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/commands/policy_runs.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/files/result_files.h"
#include "host/cli/interrupt.h"
#include "host/cli/live/page.h"
#include "host/cli/options/application_options.h"
#include "host/cli/options/backend.h"
#include "host/cli/options/launches_words.h"
#include "host/cli/options/repeats_option.h"
#include "host/cli/options/timeline_options.h"
#include "host/cli/programs/profile_run.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/cli/progress/notes.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/core/workers.h"

namespace nearwarp::cli {
namespace {

struct Request {
  // Either `names` or `application` is filled.
  std::string names;  ///< programs that run at the same time: workloads, recordings, traces
  Words application;  ///< path and arguments
  ApplicationOptions application_options;
  std::string size;
  Words overrides;
  Machine machine;
  std::vector<Policy> policies;
  unsigned threads = 1;
  uint32_t max_repeats = 0;  ///< equal launches that are simulated, at most; 0: all
  BatchOptions how;          ///< how the programs are simulated
  bool explain = false;
  bool profile = false;  ///< count what is executed, and simulate nothing
  bool legend = false;   ///< explain the rows of the table
  size_t profile_lines = 0;
  ResultFiles files;
  std::string cache;
  std::optional<uint16_t> live_port;  ///< port of the page that shows the run; 0: any free one
};

CommandLine declare_run() {
  CommandLine line(
      "run", "WORKLOAD|FILE.nwtrace|kernelslist.g[+...]",
      "Simulate a workload, a recorded program (FILE.nwtrace), Accel-Sim's traces\n"
      "(kernelslist.g) or a CUDA application (nearwarp run [OPTION...] -- APPLICATION\n"
      "ARG...) on a machine under one or several policies, side by side. Programs\n"
      "joined by + run at the same time, each with its own address space\n"
      "(kmeans+libor). After @ goes the memory stack that a program's thread blocks and\n"
      "pages keep to, or the first and the last of several (kmeans@0+libor@1-3)");
  line.value("machine", "name, or path of a .toml file", "NAME", "tom");
  line.value("policy",
             "names or paths, separated by commas; the first one is what speed-ups are over",
             "A,B,...", "baseline,ndp-uncontrolled-bmap,ndp-controlled-bmap");
  line.value("size", "small, medium, large, or paper (2 billion thread-instructions)", "SIZE",
             "small");
  line.list("set", "override a key of the machine or of all policies; repeatable", "KEY=VALUE");
  declare_batch_backend(line);
  line.value(
      "threads",
      "on the CPU: at most so many at a time; default: one per policy, at most one per processor",
      "N");
  line.flag("explain",
            "also say which events took most energy, and for each candidate block "
            "why it was offloaded or not");
  line.flag("legend", "say what the rows of the table are, as on a terminal");
  declare_profile(line);
  ResultFiles::declare(line, "docs/json.md", "policy");
  line.value("checkpoint", "keep the state of runs in this folder; stopped, they go on from there",
             "FOLDER");
  declare_timeline(line);
  line.value("follow",
             "print one warp's way through the machine, with times, and show it in the timeline: "
             "KERNEL:WARP or KERNEL#LAUNCH:WARP, from 0 on; with /N the way of its N-th request "
             "that misses the L1; 0xADDRESS: of all requests for that line of memory; one policy, "
             "on the CPU",
             "WHAT");
  declare_live(line);
  declare_application(line);
  declare_repeats(line);
  declare_launches(line);
  line.value("trace-cache",
             "keep executed programs, and what ptxas answers, in this folder and use them again",
             "FOLDER");
  line.offer("", workload_values);
  offer_usual(line);
  return line;
}

/// Throws UsageError for options and policies that do not go with --launches or --sample.
void check_launches(const CommandLine& line, const Request& request) {
  if (request.how.launches.empty() && request.how.sample.empty()) return;
  check_beside_launches(line, {"profile", "timeline", "follow", "checkpoint"},
                        request.how.backend == "cuda");
  for (const Policy& policy : request.policies) check_policy_for_parts(policy);
}

/// Which kinds of programs the command line names.
struct Kinds {
  bool workload = false, trace = false;
};
/// Throws UsageError for programs that do not exist.
Kinds check_names(const std::string& names) {
  Kinds kinds;
  for (const ProgramName& program : taken(program_names(names))) {
    kinds.trace |= program.kind == ProgramName::Kind::kTraces;
    if (program.kind != ProgramName::Kind::kWorkload) continue;
    check_workload(program.name);
    kinds.workload = true;
  }
  return kinds;
}

/// Everything that can be wrong with the request is found here, before anything runs.
Request understand(const CommandLine& line, const Words& application) {
  Request request;
  request.application = application;
  request.application_options = application_options(line, application);
  request.size = line.text("size");
  taken(check_size(request.size));
  request.profile = line.given("profile");
  request.profile_lines = profile_lines_option(line);
  Kinds kinds;
  if (application.empty()) {
    request.names = line.positional()[0];
    kinds = check_names(request.names);
    if (line.given("size") && !kinds.workload)
      throw UsageError(
          fmt::format("--size is for workloads - '{}' is as large as it was when it was recorded",
                      request.names));
  }
  request.overrides = line.texts("set");
  request.machine =
      taken(Machine::load(line.text("machine"), request.overrides, Foreign::kPassedOver));
  if (const std::string note = request.machine.note(); !note.empty())
    std::fprintf(stderr, "nearwarp: %s\n", note.c_str());
  // The other default policies need code to choose candidates from, and stacks that compute.
  const bool only_baseline =
      request.profile || kinds.trace || !request.machine.computes_in_stacks();
  const std::string policies =
      only_baseline && !line.given("policy") ? "baseline" : line.text("policy");
  request.policies =
      taken(Policy::load_all(split_commas(policies), request.overrides, Foreign::kPassedOver));
  for (const Policy& policy : request.policies)
    if (application.empty()) taken(Program::check(request.names, request.machine, policy));
  if (request.policies.empty()) throw UsageError("--policy names no policy - e.g. baseline");
  if (line.given("threads")) {
    request.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  } else {
    request.threads = request.profile || line.given("launches") || line.given("sample")
                          ? processors()
                          : std::min(processors(), static_cast<unsigned>(request.policies.size()));
  }
  request.how.timeline = timeline_options(line, request.policies.size());
  request.how.follow = follow_option(line, request.policies.size());
  request.live_port = live_option(line);
  const Backend backend = chosen_batch_backend(line);
  if (backend.cuda) request.how.backend = "cuda";
  request.how.device = backend.device;
  request.how.locate_fault = backend.locate_fault;
  request.max_repeats = max_repeats_option(line);
  set_launches(line, request.how);
  request.explain = line.given("explain");
  request.legend = line.given("legend") || output_is_terminal();
  request.files = ResultFiles::of(line);
  if (request.profile && !request.files.csv.empty())
    throw UsageError("--csv does not go with --profile - take --json");
  request.cache = line.text("trace-cache");
  if (!request.cache.empty() && !application.empty()) {
    make_folder(request.cache, "--trace-cache");
    request.application_options.cache = std::filesystem::absolute(request.cache).string();
  }
  request.how.checkpoints = line.text("checkpoint");
  if (!request.how.checkpoints.empty()) make_folder(request.how.checkpoints, "--checkpoint");
  request.how.threads = request.threads;
  check_launches(line, request);
  return request;
}

/// Loads or executes the programs of the request. Programs that run at the same time are one
/// Program, except for a profile. If an application ran, `application` says how it ended.
std::vector<Program> programs_of(const Request& request, ApplicationRun* application) {
  Notes notes;
  ProgramOptions options = notes.program_options();
  options.cache = request.cache;
  options.max_repeats = request.max_repeats;
  if (request.application.empty()) {
    if (!request.profile) return {taken(Program::load(request.names, request.size, options))};
    std::vector<Program> programs;  // by name alone, as a profile knows no stacks
    for (const ProgramName& name : taken(program_names(request.names)))
      programs.push_back(taken(Program::load(name.name, request.size, options)));
    return programs;
  }
  ApplicationOptions own = request.application_options;
  own.machine = request.machine;
  own.max_repeats = request.max_repeats;
  own.tell = options.tell;
  own.go_on = [] { return !interrupted(); };
  *application = taken(Program::run_application(request.application, own));
  if (application->interrupted) forget_interrupt();
  for (const Program& program : application->processes)
    if (program.truncated())
      notes.tell(fmt::format("of {} only a part was recorded, and is simulated", program.name()));
  return application->processes;
}

/// Prints the tables and writes the files. The files are written even if a table cannot be made.
void present(const Request& request, const std::vector<Result>& results) {
  std::exception_ptr failure;
  // A reader of the table who leaves early must not end the program before the file is written.
  if (request.files.any()) std::signal(SIGPIPE, SIG_IGN);
  const TableOptions how{
      .width = output_width(), .legend = request.legend, .explain = request.explain};
  try {
    const std::span<const Result> all = results;
    for (size_t at = 0; at < all.size(); at += request.policies.size()) {
      if (at != 0) print("\n");
      print(taken(table(all.subspan(at, std::min(request.policies.size(), all.size() - at)), how)));
    }
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (request.files.any()) request.files.write(taken(document(results, request.machine)), "runs");
  if (failure != nullptr) std::rethrow_exception(failure);
}

int run_run(const CommandLine& line, const Words& application) {
  const Request request = understand(line, application);
  catch_interrupts();
  ApplicationRun ran;
  if (request.profile) {
    present_profiles(programs_of(request, &ran), {.machine = request.machine,
                                                  .overrides = request.overrides,
                                                  .threads = request.threads,
                                                  .lines = request.profile_lines,
                                                  .json = request.files.json});
    return ran.exit_status;
  }
  std::optional<LivePage> live;
  if (request.live_port.has_value()) {
    Words policies;
    for (const Policy& policy : request.policies) policies.push_back(policy.name());
    live.emplace(*request.live_port, request.machine, policies);
  }
  const std::vector<Program> programs = programs_of(request, &ran);
  const bool watched = request.how.timeline.has_value() || !request.how.follow.empty();
  if (watched && programs.size() > 1)
    throw Error(fmt::format("--{} is of one program, and the application ran {} processes",
                            request.how.timeline.has_value() ? "timeline" : "follow",
                            programs.size()));
  std::vector<Result> results;  // program by program, under each policy in turn
  for (const Program& program : programs)
    for (Result& result : run_policies(program, request.machine, request.policies, request.how,
                                       live.has_value() ? &*live : nullptr))
      results.push_back(std::move(result));
  present(request, results);
  if (!request.how.follow.empty())
    print("\n" + fitted_lines(results.empty() ? "" : results.front().followed, output_width()));
  if (!interrupted() && ran.interrupted)
    throw Error("the application was interrupted: results are partial");
  if (!interrupted()) return ran.exit_status;
  const size_t wanted = programs.size() * request.policies.size();
  throw Error(results.size() < wanted
                  ? fmt::format("interrupted: results are partial, and {} of {} policies were not "
                                "begun",
                                wanted - results.size(), wanted)
                  : std::string("interrupted: results are partial"));
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .uses = {{"WORKLOAD [OPTION...]", "simulate under several policies"},
                   {"[OPTION...] -- APPLICATION", "the same for any CUDA application"},
                   {"kernelslist.g [OPTION...]", "the same for Accel-Sim's traces"}},
          .declare = declare_run,
          .least = 1,
          .most = 1,
          .application = true,
          .run = run_run};
}

}  // namespace nearwarp::cli
