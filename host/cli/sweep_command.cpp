// nearwarp sweep: many workloads, machines, policies and values of keys, resumable and in parts.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "bench/workloads/workload.h"
#include "host/cli/backend.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/interrupt.h"
#include "host/cli/launches_option.h"
#include "host/cli/program_recording.h"
#include "host/cli/progress_bar.h"
#include "host/cli/slurm/engine.h"
#include "host/cli/sweep_progress.h"
#include "host/cli/trace_program.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/repeats.h"
#include "host/timing/report/file.h"
#include "host/timing/sweep/results_folder.h"
#include "host/timing/sweep/run.h"
#include "host/timing/sweep/table.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  Words words;  ///< of a program that is to do the same for a part, but for --shard
  sweep::Plan plan;
  sweep::RunOptions options;
  unsigned threads = 1;
  Backend backend;
  uint32_t max_repeats = 0;                    ///< 0: all
  std::optional<sweep::ResultsFolder> folder;  ///< if results go to one
  std::optional<SlurmOptions> slurm;
  std::string out, csv, cache;
};

CommandLine declare_sweep() {
  CommandLine line("sweep", "WORKLOAD|FILE.nwtrace|kernelslist.g...",
                   "Simulate every combination of what is given; run again, it goes on where it\n"
                   "stopped");
  line.value("machine", "names or paths, separated by commas", "M,N,...", "tom");
  line.value("policy",
             "names or paths, separated by commas; the first one is what speed-ups are over",
             "A,B,...", "baseline,ndp-uncontrolled-bmap,ndp-controlled-bmap");
  line.value("size", "small, medium, large, or paper (2 billion thread-instructions)", "SIZE",
             "small");
  line.list("set",
            "values of a key of the machine or the policies, separated by commas; repeatable",
            "KEY=A,B,...");
  line.value("out", "append results to this file, or to one in this folder (docs/sweep.md)",
             "FILE|FOLDER");
  line.value("csv", "also write a row per point to this file", "FILE");
  declare_repeats(line);
  declare_launches(line);
  line.value("shard", "run only part i of n; 'nearwarp merge' joins them", "i/n");
  line.flag("retry", "run points again that failed");
  declare_batch_backend(line);
  line.value("threads",
             "on the CPU: points at a time; default: one per processor; under Slurm: CPUs of a "
             "task, default: 1",
             "N");
  line.value("checkpoint",
             "keep the state of points in this folder; stopped, they go on from there", "FOLDER");
  line.value("trace-cache", "keep executed programs in this folder and use them again", "FOLDER");
  declare_engine(line);
  line.offer("", workload_values);
  offer_usual(line);
  return line;
}

/// The folder for results, unless --out names a file; it is made.
std::optional<sweep::ResultsFolder> results_folder(const std::string& out) {
  std::error_code failed;
  if (!out.ends_with('/') && !fs::is_directory(out, failed)) return std::nullopt;
  make_folder(out, "--out");
  return sweep::ResultsFolder{out, "sweep"};
}

/// A task of Slurm's, but for its part: the same, with results in the folder and no table.
Words task_words(const CommandLine& line) {
  Words without = engine_options();
  for (const char* name : {"out", "csv", "threads"}) without.emplace_back(name);
  Words words = {"sweep"};
  for (const std::string& word : line.words_without(without)) words.push_back(word);
  words.push_back("--out=" + fs::absolute(line.text("out")).string());
  return words;
}

sweep::Definition definition_of(const CommandLine& line) {
  sweep::Definition definition;
  definition.version = version();
  const std::string size = line.text("size");
  workloads::parse_size(size);
  for (const std::string& word : line.positional()) {
    for (const std::string& name : split_commas(word)) {
      if (const auto one = one_recording(name))
        definition.programs.push_back(
            {name, "", recorded_key(one->name) + runtime::binding_text(one->stacks)});
      else
        definition.programs.push_back({name, size, mix_key_of(name, size, "sweep")});
    }
  }
  if (const uint32_t most = max_repeats_option(line); most != 0)
    for (sweep::Program& program : definition.programs)
      program.key += fmt::format(", {} of launches that are the same", most);
  const sim::LaunchChoice launches = launches_option(line);
  definition.divided = launches.given;
  for (sweep::Program& program : definition.programs) program.key += key_of(launches);
  if (definition.programs.empty()) throw UsageError("no workload is named - e.g. kmeans,libor");
  definition.machines = split_commas(line.text("machine"));
  if (definition.machines.empty()) throw UsageError("--machine names no machine - e.g. tom");
  const bool only_traces =
      std::all_of(definition.programs.begin(), definition.programs.end(),
                  [](const sweep::Program& p) { return sass::names_trace(p.name); });
  definition.policies =
      split_commas(only_traces && !line.given("policy") ? "baseline" : line.text("policy"));
  if (definition.policies.empty()) throw UsageError("--policy names no policy - e.g. baseline");
  for (const std::string& text : line.texts("set")) {
    definition.axes.push_back(sweep::parse_axis(text));
    for (size_t i = 0; i + 1 < definition.axes.size(); ++i) {
      if (definition.axes[i].key != definition.axes.back().key) continue;
      throw UsageError(
          fmt::format("{} is set twice - give all its values in one --set, separated "
                      "by commas",
                      definition.axes[i].key));
    }
  }
  return definition;
}

/// Throws UsageError for a policy that a program's traces do not suffice for, and for stacks that a
/// machine does not have.
void check_programs(const sweep::Plan& plan) {
  const auto is_bound = [](const std::string& program) {
    return bound_program(program).stacks != 0;
  };
  for (size_t program = 0; program < plan.definition.programs.size(); ++program) {
    const std::string& programs = plan.definition.programs[program].name;
    const bool bound = std::ranges::any_of(programs_joined(programs), is_bound);
    const auto one = one_recording(programs);
    const bool traced = one && sass::names_trace(one->name);
    if (!bound && !traced) continue;
    for (size_t i = 0; i < plan.points_of_program(); ++i) {
      const sweep::Point point = plan.points[program * plan.points_of_program() + i];
      if (bound)
        if (const auto machine = plan.machine(point); machine != nullptr)
          check_stacks(programs, *machine);
      if (traced)
        if (const auto policy = plan.policy(point); policy != nullptr)
          check_policy_for_traces(*policy, one->name);
    }
  }
}

/// Everything that is wrong with the request as a whole is found here, before anything runs.
Request understand(const CommandLine& line) {
  Request request;
  if (line.text("out").empty()) {
    throw UsageError("--out is missing - name a file or folder for the results, e.g. --out my/");
  }
  if (line.given("shard")) request.options.shard = sweep::parse_shard(line.text("shard"));
  request.options.retry = line.given("retry");
  request.threads =
      line.given("threads") ? static_cast<unsigned>(line.number("threads", 1, 1024)) : processors();
  request.slurm = chosen_slurm(line);
  if (request.slurm.has_value()) {
    check_backend_name(line);  // what there is here says nothing of the nodes
    if (!line.text("out").ends_with('/') && !fs::is_directory(line.text("out")))
      throw UsageError("with --engine slurm, --out names a folder - write a / at its end");
    request.words = task_words(line);
  } else {
    request.backend = chosen_batch_backend(line);
  }
  {
    ProgressBar bar("checking points", "points");
    catch_interrupts();
    request.plan = sweep::expand(definition_of(line), [&](uint64_t checked, uint64_t all) {
      bar.update(checked, all);
      return !interrupted();
    });
  }
  check_programs(request.plan);
  request.options.divide = divide_option(line, line.text("size"), request.backend.cuda);
  request.max_repeats = max_repeats_option(line);
  request.csv = line.text("csv");
  if (!request.csv.empty()) report::check_writable(request.csv);
  request.cache = line.text("trace-cache");
  request.options.checkpoints = line.text("checkpoint");
  if (!request.options.checkpoints.empty())
    make_folder(request.options.checkpoints, "--checkpoint");
  request.folder = results_folder(line.text("out"));
  request.out =
      request.folder.has_value() ? request.folder->part(request.options.shard) : line.text("out");
  return request;
}

class Surroundings final : public sweep::Surroundings {
 public:
  explicit Surroundings(const Request& request) : request_(request) {}

  runtime::Recording recording(size_t program) override {
    progress_.wipe();
    const sweep::Program& p = request_.plan.definition.programs[program];
    const auto one = one_recording(p.name);
    if (!one) return mix_recording_of(p.name, p.size, request_.cache, request_.max_repeats);
    runtime::Recording recording = load_recorded(one->name, request_.cache);
    if (request_.max_repeats != 0) runtime::limit_repeats(recording, request_.max_repeats);
    runtime::bind(recording, one->stacks);
    return recording;
  }

  bool progress(const sweep::Progress& progress) override {
    progress_.update(progress);
    return !interrupted();
  }

 private:
  const Request& request_;
  SweepProgress progress_;
};

/// The first point that failed, and why.
std::string first_failure(const Request& request, const sweep::ResultsFile& file) {
  const sweep::Plan& plan = request.plan;
  for (const sweep::Point& point : plan.points) {
    const sweep::Summary* summary = file.find(point.id);
    if (!request.options.shard.has(point.index) || summary == nullptr || !summary->failed())
      continue;
    std::string title =
        fmt::format("{} on {} under {}", plan.definition.programs[point.program].name,
                    plan.machine_name(point), plan.policy_name(point));
    for (const std::string& change : plan.overrides(point)) title += ", " + change;
    return fmt::format("{}: {}", title, summary->error);
  }
  return "";
}

std::string closing_text(const sweep::Outcome& outcome, const sweep::ResultsFile& file) {
  std::string text =
      fmt::format("{} of {} points are in {}", outcome.already_there + outcome.finished,
                  outcome.points, file.path());
  if (outcome.already_there != 0)
    text += fmt::format("; {} were there before", outcome.already_there);
  return text + "\n";
}

int run_sweep(const CommandLine& line, const Words& /*application*/) {
  const Request request = understand(line);
  SlurmOutcome slurm;
  if (request.slurm.has_value())
    slurm = run_on_slurm({{&request.plan}, *request.folder, request.words, request.options.retry},
                         *request.slurm);
  bool torn = false;
  const bool is_part = request.options.shard.parts != 1;
  if (request.folder.has_value() && !is_part)
    torn = sweep::join_parts(*request.folder, {request.plan.id});
  sweep::ResultsFile file(request.out);
  if (torn || file.dropped_torn_line()) {
    std::fprintf(stderr, "nearwarp: the last line of '%s' was cut off; its point runs again\n",
                 request.out.c_str());
  }
  if (request.folder.has_value() && is_part && fs::exists(request.folder->whole()))
    file.read_also(request.folder->whole());
  sweep::Outcome outcome;
  if (request.slurm.has_value()) {
    outcome = sweep::count_results(request.plan, request.options, file);
    outcome.finished = outcome.already_there - slurm.already_there;
    outcome.already_there = slurm.already_there;
  } else {
    Surroundings surroundings(request);
    const auto runner = make_runner(request.backend, request.threads);
    outcome = sweep::run_sweep(request.plan, request.options, *runner, surroundings, file);
  }
  if (!request.csv.empty()) {
    // A reader of the table who leaves early must not end the program before the file is written.
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(request.csv, sweep::format_csv(request.plan, request.options.shard, file));
  }
  print(sweep::format_table(request.plan, file) + "\n" + closing_text(outcome, file));
  if (!slurm.trouble.empty()) throw Error(slurm.trouble);
  if (outcome.stopped) {
    throw Error(
        fmt::format("interrupted: {} of {} points are left - the same command again runs "
                    "them",
                    outcome.points - outcome.already_there - outcome.finished, outcome.points));
  }
  if (outcome.failed != 0) {
    throw Error(fmt::format("{} of {} points failed, the first being {}", outcome.failed,
                            outcome.points, first_failure(request, file)));
  }
  return 0;
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .uses = {{"WORKLOAD... [OPTION...]", "many configurations, resumable"}},
          .declare = declare_sweep,
          .least = 1,
          .most = kAnyNumber,
          .run = run_sweep};
}

}  // namespace nearwarp::cli
