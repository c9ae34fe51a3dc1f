// nearwarp run: a workload on a machine under one or several policies, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/workloads/workload.h"
#include "host/cli/application.h"
#include "host/cli/backend.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/interrupt.h"
#include "host/cli/launches_option.h"
#include "host/cli/live/page.h"
#include "host/cli/policy_runs.h"
#include "host/cli/profile_run.h"
#include "host/cli/program_recording.h"
#include "host/cli/result_files.h"
#include "host/cli/terminal.h"
#include "host/cli/timeline_options.h"
#include "host/cli/trace_program.h"
#include "host/config/base_clock.h"
#include "host/config/config.h"
#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/bind.h"
#include "host/recording/combine.h"
#include "host/recording/repeats.h"
#include "host/timing/compare/decomposition.h"
#include "host/timing/report/applications.h"
#include "host/timing/report/bound.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/energy_text.h"
#include "host/timing/report/explain.h"
#include "host/timing/report/json.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/launches.h"
#include "host/timing/report/registers.h"
#include "host/timing/report/table.h"
#include "host/timing/timeline/watchers.h"

namespace nearwarp::cli {
namespace {

struct Request {
  // One of these two:
  /// Workloads, recordings, Accel-Sim's traces; several run at the same time.
  std::vector<runtime::BoundName> programs;
  Words application;  ///< and its arguments
  ApplicationOptions application_options;
  std::string size;
  Words overrides;
  config::MachineConfig machine;
  std::vector<config::PolicyConfig> policies;
  unsigned threads = 1;
  uint32_t max_repeats = 0;  ///< 0: all
  sim::LaunchChoice launches;
  Backend backend;
  bool explain = false;
  bool profile = false;  ///< instead of a simulation
  bool legend = false;   ///< what the rows of the table are
  size_t profile_lines = 0;
  ResultFiles files;
  std::string cache, checkpoints;
  std::optional<timeline::Options> timeline;
  std::optional<timeline::Followed> follow;
  std::optional<uint16_t> live_port;  ///< of a page that shows how the run goes on; 0: any
};

/// What is to be simulated, executed.
struct Program {
  std::string name, size;
  runtime::Recording recording;
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

/// What parts of programs do not go with.
void check_launches(const CommandLine& line, const Request& request) {
  if (!request.launches.given) return;
  check_beside_launches(line, {"profile", "timeline", "follow", "checkpoint"},
                        request.backend.cuda);
  for (const config::PolicyConfig& policy : request.policies) check_policy_for_parts(policy);
}

/// Everything that can be wrong with the request is found here, before anything runs.
Request understand(const CommandLine& line, const Words& application) {
  Request request;
  request.application = application;
  request.application_options = application_options(line, application);
  request.size = line.text("size");
  workloads::parse_size(request.size);
  request.profile = line.given("profile");
  request.profile_lines = profile_lines_option(line);
  bool has_workload = false, has_trace = false;
  if (application.empty()) {
    for (const std::string& program : programs_joined(line.positional()[0])) {
      request.programs.push_back(bound_program(program));
      const std::string& name = request.programs.back().name;
      has_trace |= sass::names_trace(name);
      if (names_recording(name)) continue;
      workload_named(name);
      has_workload = true;
    }
    if (line.given("size") && !has_workload)
      throw UsageError(
          fmt::format("--size is for workloads - '{}' is as large as it was when it was recorded",
                      line.positional()[0]));
  }
  request.overrides = line.texts("set");
  request.machine = config::load_machine(line.text("machine"), request.overrides);
  if (application.empty()) check_stacks(line.positional()[0], request.machine);
  if (const std::string note = config::clock_note(request.machine); !note.empty())
    std::fprintf(stderr, "nearwarp: %s\n", note.c_str());
  // The other default policies need code to choose candidates from, and stacks that compute.
  const bool only_baseline =
      request.profile || has_trace || !config::shape_of(request.machine).stacks_behind_links();
  const std::string policies =
      only_baseline && !line.given("policy") ? "baseline" : line.text("policy");
  config::Loader loader;
  for (const std::string& name : split_commas(policies)) {
    request.policies.push_back(loader.policy(name, request.overrides));
    for (const runtime::BoundName& program : request.programs)
      if (sass::names_trace(program.name))
        check_policy_for_traces(request.policies.back(), program.name);
  }
  if (request.policies.empty()) throw UsageError("--policy names no policy - e.g. baseline");
  std::vector<const config::PolicyConfig*> all;
  for (const config::PolicyConfig& policy : request.policies) all.push_back(&policy);
  config::refuse_without_effect(all);
  if (line.given("threads")) {
    request.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  } else {
    request.threads = request.profile || line.given("launches") || line.given("sample")
                          ? processors()
                          : std::min(processors(), static_cast<unsigned>(request.policies.size()));
  }
  request.timeline = timeline_options(line, request.policies.size());
  request.follow = follow_option(line, request.policies.size());
  request.live_port = live_option(line);
  if (!request.profile && !request.timeline.has_value() && !request.follow.has_value() &&
      !request.live_port.has_value())
    request.backend = chosen_batch_backend(line);
  request.max_repeats = max_repeats_option(line);
  request.launches = launches_option(line);
  request.explain = line.given("explain");
  request.legend = line.given("legend") || output_is_terminal();
  request.files = ResultFiles::of(line);
  if (request.profile && !request.files.csv.empty())
    throw UsageError("--csv does not go with --profile - take --json");
  request.cache = line.text("trace-cache");
  if (!request.cache.empty() && !application.empty()) {
    make_folder(request.cache, "--trace-cache");
    request.application_options.ptxas_cache = std::filesystem::absolute(request.cache).string();
  }
  request.checkpoints = line.text("checkpoint");
  if (!request.checkpoints.empty()) make_folder(request.checkpoints, "--checkpoint");
  check_launches(line, request);
  return request;
}

std::string json_text(const Request& request, const std::vector<report::RunResult>& results) {
  report::RunContext context;
  context.version = version();
  for (const config::KeyDescription& key : config::describe_whole(request.machine)) {
    context.machine.emplace_back(key.key, key.value);
  }
  return report::format_json(results, context);
}

/// One of the built-in programs by itself: its launches are what everybody expects.
bool is_workload(const Request& request) {
  return request.programs.size() == 1 && !names_recording(request.programs[0].name);
}

/// A policy that offloads next to nothing has fewer main SMs all the same, which mostly is what it
/// loses.
std::string fewer_sms_note(const Request& request, std::span<const report::RunResult> results) {
  constexpr double kNextToNothing = 0.005;
  const auto& gpu = request.machine.gpu;
  std::string names;
  for (const report::RunResult& r : results)
    if (r.parts.stack_sms && r.offloaded_fraction() < kNextToNothing)
      names += (names.empty() ? "" : ", ") + r.policy;
  if (names.empty() || gpu.sms <= gpu.sms_with_ndp) return "";
  return report::wrapped(
      fmt::format("{}: next to nothing was offloaded, and with stack SMs the main GPU has {} SMs "
                  "instead of {}. What these are worth alone: --policy baseline --set gpu.sms={}.",
                  names, gpu.sms_with_ndp, gpu.sms, gpu.sms_with_ndp),
      output_width());
}

/// What each policy changes, by kernel and by what SMs did, beside the first one.
std::string changed_cycles(std::span<const report::RunResult> results, size_t width) {
  std::string text;
  for (size_t i = 1; i < results.size(); ++i) {
    const std::string parts = compare::format_shortly(
        compare::decompose(report::run_json(results[0]), report::run_json(results[i])),
        fmt::format("{} over {}", results[i].policy, results[0].policy), width);
    if (!parts.empty()) text += parts;
  }
  return text;
}

std::string tables(const Request& request, std::span<const report::RunResult> results) {
  const size_t width = output_width();
  std::string text = report::format_table(results, width, request.legend);
  if (const std::string launches = report::format_launches(results, width); !launches.empty())
    text += "\n" + launches;
  if (const std::string note = fewer_sms_note(request, results); !note.empty()) text += "\n" + note;
  if (const std::string bounds = report::format_bounds(results, width); !bounds.empty())
    text += "\n" + bounds;
  if (const std::string changed = changed_cycles(results, width); !changed.empty())
    text += "\n" + changed;
  if (const std::string kernels = report::format_kernels(results, width); !kernels.empty())
    text += "\n" + kernels;
  if (!is_workload(request) || request.explain) {
    const std::string registers = report::format_registers(results, width);
    if (!registers.empty()) text += "\n" + registers;
  }
  const std::string applications = report::format_applications(results, width);
  if (!applications.empty()) text += "\n" + applications;
  const std::string sections = report::format_sections(results, width);
  if (!sections.empty()) text += "\n" + sections;
  if (!request.explain) return text;
  for (const report::RunResult& result : results)
    if (const std::string use = report::format_use(result, width); !use.empty()) text += "\n" + use;
  const std::string energy = report::format_energy(results, width);
  if (!energy.empty()) text += "\n" + energy;
  for (const report::RunResult& result : results)
    if (const std::string part = report::format_explanation(result, width); !part.empty())
      text += "\n" + part;
  const std::string legend = report::explanation_legend(results, width);
  return legend.empty() ? text : text + "\n" + legend;
}

/// What of the program is simulated: one division that suits all of the policies.
runtime::Division division_for(const Request& request, const Program& program) {
  if (!request.launches.given) return {};
  std::vector<sim::ReplayJob> jobs;
  for (const config::PolicyConfig& policy : request.policies)
    jobs.push_back({&program.recording, &request.machine, &policy});
  return sim::division_of(request.launches, program.recording,
                          sim::division_needs(jobs, [] { return !interrupted(); }));
}

/// Results of one program after the other, in the order of `programs`.
std::vector<report::RunResult> simulate(const Request& request,
                                        const std::vector<Program>& programs,
                                        sim::BatchRunner& runner, sim::RunWatcher* watcher,
                                        LivePage* live) {
  std::vector<report::RunResult> all;
  for (const Program& program : programs) {
    const runtime::Division division = division_for(request, program);
    if (request.launches.sample != 0 && division.parts.empty())
      std::fprintf(stderr,
                   "nearwarp: a sample of %s for this error would be more than half of the work: "
                   "all of it is simulated, exactly\n",
                   program.name.c_str());
    for (const std::string& why : division.undivided)
      std::fprintf(stderr, "nearwarp: not sampled inside: %s\n", why.c_str());
    for (report::RunResult& result :
         run_policies(program.recording, request.machine, request.policies, runner,
                      request.checkpoints, watcher, division, live)) {
      result.workload = program.name;
      result.size = program.size;
      result.overrides = request.overrides;
      all.push_back(std::move(result));
    }
  }
  return all;
}

/// Programs as one, which run at the same time.
Program together(std::vector<Program> programs) {
  std::vector<runtime::Recording> recordings;
  Program all;
  for (Program& p : programs) {
    all.name += (all.name.empty() ? "" : "+") + p.name;
    if (all.size.empty()) all.size = p.size;
    recordings.push_back(std::move(p.recording));
  }
  all.recording = runtime::combine(std::move(recordings));
  return all;
}

std::vector<Program> programs_of(const Request& request, ApplicationRun* application) {
  std::vector<Program> programs;
  for (const auto& [name, stacks] : request.programs) {
    const bool recorded = names_recording(name);
    runtime::Recording recording =
        recorded ? load_recorded(name, request.cache)
                 : recording_of(workload_named(name), request.size, request.cache);
    if (!request.profile) runtime::bind(recording, stacks);
    programs.push_back({recording.name, recorded ? "" : request.size, std::move(recording)});
  }
  if (!request.application.empty()) {
    *application =
        run_application(request.application, request.machine, request.application_options);
    for (runtime::Journal& process : take_processes(*application))
      programs.push_back({process.recording.name, "", std::move(process.recording)});
  }
  for (const Program& program : programs)
    if (program.recording.truncated && program.size.empty())
      std::fprintf(stderr, "nearwarp: of %s only a part was recorded, and is simulated\n",
                   program.name.c_str());
  if (request.max_repeats != 0)
    for (Program& program : programs)
      runtime::limit_repeats(program.recording, request.max_repeats);
  if (request.programs.size() > 1 && !request.profile) {
    Program all = together(std::move(programs));
    programs.clear();
    programs.push_back(std::move(all));
  }
  return programs;
}

/// Table and file; neither is lost because the other cannot be written.
void present(const Request& request, const std::vector<report::RunResult>& results) {
  std::exception_ptr failure;
  // A reader of the table who leaves early must not end the program before the file is written.
  if (request.files.any()) std::signal(SIGPIPE, SIG_IGN);
  try {
    const std::span<const report::RunResult> all = results;
    for (size_t at = 0; at < all.size(); at += request.policies.size()) {
      if (at != 0) print("\n");
      print(tables(request, all.subspan(at, std::min(request.policies.size(), all.size() - at))));
    }
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (request.files.any()) request.files.write(json_text(request, results), "runs");
  if (failure != nullptr) std::rethrow_exception(failure);
}

/// A profile of each program, those that would run together too.
void run_profile(const Request& request, const std::vector<Program>& programs) {
  profile::Options options;
  options.line_bytes = request.machine.l1.line_bytes;
  options.threads = request.threads;
  std::vector<report::Profile> profiles;
  for (const Program& p : programs)
    profiles.push_back(profile_of(p.recording, p.name, p.size, options));
  present_profiles(profiles, request.profile_lines, request.files.json,
                   {version(), request.machine.name, request.overrides});
}

int run_run(const CommandLine& line, const Words& application) {
  const Request request = understand(line, application);
  catch_interrupts();
  ApplicationRun ran;
  if (request.profile) {
    run_profile(request, programs_of(request, &ran));
    return ran.exit_status;
  }
  const auto runner = make_runner(request.backend, request.threads);
  std::optional<LivePage> live;
  if (request.live_port.has_value()) {
    Words policies;
    for (const config::PolicyConfig& policy : request.policies) policies.push_back(policy.name);
    live.emplace(*request.live_port, request.machine, policies);
  }
  const std::vector<Program> programs = programs_of(request, &ran);
  const bool watched = request.timeline.has_value() || request.follow.has_value();
  if (watched && programs.size() > 1)
    throw Error(fmt::format("--{} is of one program, and the application ran {} processes",
                            request.timeline.has_value() ? "timeline" : "follow", programs.size()));
  std::optional<timeline::Timeline> timeline;
  std::unique_ptr<timeline::Follower> follow;
  timeline::Watchers watchers;  // the timeline comes last: it has what the other has found
  if (request.follow.has_value())
    watchers.add((follow = timeline::make_follower(*request.follow)).get());
  if (request.timeline.has_value()) watchers.add(&timeline.emplace(*request.timeline));
  if (follow != nullptr && timeline.has_value())
    timeline->also([&](timeline::TraceWriter& out) { follow->write(out, timeline::kAlsoPid); });
  std::vector<report::RunResult> results =
      simulate(request, programs, *runner, watched ? &watchers : nullptr,
               live.has_value() ? &*live : nullptr);
  for (report::RunResult& result : results) {
    if (!ran.interrupted || result.partial) continue;
    result.partial = true;
    result.partial_reason = kApplicationInterrupted;
  }
  if (timeline.has_value() && !timeline->summary().empty())
    std::fprintf(stderr, "nearwarp: %s\n", timeline->summary().c_str());
  present(request, results);
  if (follow != nullptr) print("\n" + fitted_lines(follow->text(), output_width()));
  if (!interrupted() && ran.interrupted)
    throw Error(fmt::format("{}: results are partial", kApplicationInterrupted));
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
