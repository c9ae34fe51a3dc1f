// nearwarp experiment: all sweeps and figures that an experiment's file names, and their report.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/workloads/workload.h"
#include "host/cli/application.h"
#include "host/cli/backend.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/experiment_programs.h"
#include "host/cli/figure_files.h"
#include "host/cli/interrupt.h"
#include "host/cli/launches_option.h"
#include "host/cli/new_experiment.h"
#include "host/cli/program_recording.h"
#include "host/cli/runner.h"
#include "host/cli/slurm/engine.h"
#include "host/cli/sweep_progress.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/recording/program_studies.h"
#include "host/timing/experiment/chart.h"
#include "host/timing/experiment/document.h"
#include "host/timing/experiment/report.h"
#include "host/timing/experiment/tables.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/file.h"
#include "host/timing/sweep/results_folder.h"
#include "host/timing/sweep/run.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

CommandLine declare_experiment() {
  CommandLine line("experiment", "NAME|FILE.toml",
                   "Run all sweeps of an experiment, as far as they are not done yet, and write\n"
                   "its figures and a report (docs/experiments.md)\n"
                   "nearwarp experiment --new my.toml -- ./app its arguments\n"
                   "writes a file to begin with, for an application of one's own");
  line.value("new",
             "write an experiment's file for the program that is named instead: an application "
             "after --, a recording, traces or a workload",
             "FILE.toml");
  line.value("size", "small, medium, large, or paper; default: the experiment's", "SIZE");
  line.value("only", "only these figures, and the runs that they need", "FIGURE,...");
  line.value("out", "folder for results, tables and report; default: NAME-SIZE", "FOLDER");
  declare_launches(line);
  line.value("shard", "run only part i of n; without it, the command takes all parts", "i/n");
  line.flag("retry", "run points again that failed");
  line.flag("no-run", "run nothing: figures and report of what is there");
  declare_figure_files(line);
  declare_batch_backend(line);
  line.value("threads",
             "on the CPU: points at a time; default: one per processor; under Slurm: CPUs of a "
             "task, default: 1",
             "N");
  line.value("trace-cache", "keep executed programs in this folder and use them again", "FOLDER");
  declare_engine(line);
  line.offer("", experiment_values);
  offer_usual(line);
  return line;
}

struct Request {
  experiment::Experiment experiment;
  std::vector<experiment::PlannedStudy> studies;
  sweep::RunOptions options;
  Words words;  ///< of a program that is to do the same for a part, but for --shard
  ExperimentPrograms programs;
  std::string size, out, cache;
  sweep::ResultsFolder folder;
  std::string results;  ///< the file in it
  unsigned threads = 1;
  Backend backend;
  std::optional<SlurmOptions> slurm;
  bool sharded = false, run = true;
  FigureFiles figure_files;

  std::vector<const sweep::Plan*> plans() const {
    std::vector<const sweep::Plan*> all;
    for (const experiment::PlannedStudy& study : studies) all.push_back(&study.plan);
    return all;
  }
};

/// A task of Slurm's, but for its part.
Words task_words(const CommandLine& line, const std::string& out) {
  Words without = engine_options();
  for (const char* name : {"out", "threads", "figures", "figure-columns", "figure-type"})
    without.emplace_back(name);
  Words words = {"experiment"};
  for (const std::string& word : line.words_without(without)) words.push_back(word);
  words.push_back("--out=" + fs::absolute(out).string());
  return words;
}

/// `how`: what of programs is simulated, as keys have it.
sweep::Plan plan_of(const experiment::Study& study, const ExperimentPrograms& programs,
                    const std::string& how) {
  sweep::Definition d;
  d.version = version();
  for (const std::string& name : study.workloads) {
    d.programs.push_back(programs.program(name));
    d.programs.back().key += how;
  }
  d.divided = !how.empty();
  d.machines = study.machines;
  d.policies = study.policies;
  for (const std::string& text : study.set) d.axes.push_back(sweep::parse_axis(text));
  sweep::Plan plan = sweep::expand(std::move(d));
  for (const sweep::Point& point : plan.points) programs.check(plan, point);
  return plan;
}

/// NAME-SIZE; without workloads there is no size.
std::string default_folder(const experiment::Experiment& e, const std::string& size) {
  bool sized = false;
  for (const experiment::Study& study : e.studies)
    for (const std::string& name : study.workloads)
      sized |= e.program(name) == nullptr && !names_recording(name);
  return sized ? fmt::format("{}-{}", e.name, size) : e.name + "-report";
}

/// Everything that is wrong with the request as a whole is found here, before anything runs.
void understand(const CommandLine& line, Request& r) {
  r.experiment = experiment::load_experiment(line.positional()[0]);
  if (line.given("only") && line.text("only").empty())
    throw UsageError("--only names no figure - 'nearwarp show experiment NAME' lists them");
  keep_only(r.experiment, split_commas(line.text("only")));
  r.size = line.given("size") ? line.text("size") : r.experiment.size;
  workloads::parse_size(r.size);
  r.cache = line.text("trace-cache");
  r.out = line.given("out") ? line.text("out") : default_folder(r.experiment, r.size);
  r.programs = {r.experiment, r.size, (fs::path(r.out) / "programs").string(), r.cache};
  const std::string how = key_of(launches_option(line));
  for (const experiment::Study& study : r.experiment.studies) {
    try {
      r.studies.emplace_back(&study, plan_of(study, r.programs, how));
    } catch (const UsageError& error) {
      throw Error(fmt::format("study {} ({}): {}", study.name, r.experiment.path, error.what()));
    }
  }
  for (const experiment::Figure& figure : r.experiment.figures)
    check_figure(r.experiment, r.studies, figure);
  r.sharded = line.given("shard");
  if (r.sharded) r.options.shard = sweep::parse_shard(line.filled("shard"));
  r.figure_files = figure_files(line);
  if (r.figure_files.wanted() && r.sharded)
    throw UsageError("a part has no figures - leave --figures out, and give it without --shard");
  r.options.retry = line.given("retry");
  r.run = !line.given("no-run");
  r.threads =
      line.given("threads") ? static_cast<unsigned>(line.number("threads", 1, 1024)) : processors();
  r.slurm = chosen_slurm(line);
  if (!r.slurm.has_value()) {
    r.backend = chosen_batch_backend(line);
  } else {
    check_backend_name(line);  // what there is here says nothing of the nodes
    if (!r.run) throw UsageError("--no-run runs nothing - leave --engine slurm out");
  }
  r.options.divide = divide_option(line, r.size, r.backend.cuda);
  make_folder(r.out, "--out");
  if (r.slurm.has_value()) r.words = task_words(line, r.out);
  r.folder = {r.out, "results"};
  r.results = r.folder.part(r.options.shard);
}

/// --new: the file and how to go on.
int write_new(const std::string& path, const Words& program, bool application) {
  if (!path.ends_with(".toml"))
    throw UsageError(
        fmt::format("--new cannot be '{}' - a name that ends with .toml is needed", path));
  std::error_code failed;
  if (fs::exists(path, failed))
    throw UsageError(fmt::format("'{}' is there already - give --new another name", path));
  report::write_file(path, new_experiment_text(path, program, application));
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  print(fmt::format("{0} is written - 'nearwarp experiment {0}' runs it and writes its report\n",
                    file));
  return 0;
}

/// Progress over all studies: one is a sweep, and the others are still to come or done.
class Surroundings final : public sweep::Surroundings {
 public:
  Surroundings(const Request& request, size_t points) : request_(request), points_(points) {}

  void begin(const experiment::PlannedStudy& study) {
    study_ = &study;
    before_.points_done += last_.points_done;
    before_.warp_instructions_done += last_.warp_instructions_done;
    before_.cost_done += last_.cost_done;
    last_ = {};
  }

  runtime::Recording recording(size_t program) override {
    progress_.wipe();
    const sweep::Program& p = study_->plan.definition.programs[program];
    runtime::Recording recording = request_.programs.recording(p.name);
    // What an earlier study's points have found out about the program serves this one's.
    recording.studies = found_out_.of(p.key);
    return recording;
  }

  bool progress(const sweep::Progress& progress) override {
    last_ = progress;
    sweep::Progress all;
    all.points = points_;
    all.points_done = before_.points_done + progress.points_done;
    all.warp_instructions_done = before_.warp_instructions_done + progress.warp_instructions_done;
    all.warp_instructions = before_.warp_instructions_done + progress.warp_instructions;
    all.cost_done = before_.cost_done + progress.cost_done;
    all.cost = before_.cost_done + progress.cost;
    // Points of later studies are taken to be as the mean of those known.
    const size_t known = before_.points_done + progress.points;
    if (known != 0 && points_ > known) {
      all.warp_instructions += all.warp_instructions / known * (points_ - known);
      all.cost *= static_cast<double>(points_) / static_cast<double>(known);
    }
    progress_.update({.points_done = all.points_done,
                      .points = all.points,
                      .warp_instructions_done = all.warp_instructions_done,
                      .warp_instructions = all.warp_instructions,
                      .cost_done = all.cost_done,
                      .cost = all.cost});
    return !interrupted();
  }

 private:
  const Request& request_;
  size_t points_;
  const experiment::PlannedStudy* study_ = nullptr;
  sweep::Progress before_, last_;
  SweepBar progress_;
  runtime::ProgramStudies found_out_;
};

struct Totals {
  size_t points = 0, already_there = 0, finished = 0, failed = 0;
  bool stopped = false;
  size_t left() const { return points - already_there - finished; }

  void add(const sweep::Outcome& o) {
    points += o.points;
    already_there += o.already_there;
    finished += o.finished;
    failed += o.failed;
    stopped = stopped || o.stopped;
  }
};

/// Calls visit(study, options) for all studies; a point that several have is the first one's.
template <class Visit>
void for_each_study(const Request& r, Visit visit) {
  sweep::RunOptions options = r.options;
  for (const experiment::PlannedStudy& study : r.studies) {
    visit(study, options);
    for (const sweep::Point& point : study.points) options.others.insert(point.id);
  }
}

/// All of the points in the file are "already there".
Totals count(const Request& r, const sweep::ResultsFile& file) {
  Totals totals;
  for_each_study(r, [&](const auto& study, const sweep::RunOptions& options) {
    totals.add(sweep::count_results(study.plan, options, file));
  });
  return totals;
}

Totals run_studies(const Request& r, sweep::ResultsFile& file) {
  Totals totals;
  catch_interrupts();
  const Totals before = count(r, file);
  Surroundings surroundings(r, before.left() + (r.options.retry ? before.failed : 0));
  const auto runner = make_runner(r.backend, r.threads);
  for_each_study(r, [&](const auto& study, const sweep::RunOptions& options) {
    if (totals.stopped) {
      totals.points += sweep::count_results(study.plan, options, file).points;
      return;
    }
    surroundings.begin(study);
    totals.add(sweep::run_sweep(study.plan, options, *runner, surroundings, file));
  });
  return totals;
}

/// What is missing, run here or on a cluster. Points are left if `trouble` says why.
Totals run_missing(const Request& r, std::string& trouble) {
  SlurmOutcome slurm;
  if (r.slurm.has_value())
    slurm = run_on_slurm({r.plans(), r.folder, r.words, r.options.retry}, *r.slurm);
  trouble = slurm.trouble;
  bool torn = false;
  if (!r.sharded) {
    std::vector<std::string> order;
    for (const sweep::Plan* plan : r.plans()) order.push_back(plan->id);
    torn = sweep::join_parts(r.folder, order);
  }
  sweep::ResultsFile file(r.results);
  if (torn || file.dropped_torn_line()) {
    std::fprintf(stderr, "nearwarp: the last line of '%s' was cut off; its point runs again\n",
                 r.results.c_str());
  }
  std::error_code failed;
  if (r.sharded && fs::exists(r.folder.whole(), failed)) file.read_also(r.folder.whole());
  if (!r.slurm.has_value()) return run_studies(r, file);
  Totals totals = count(r, file);
  totals.finished = totals.already_there - slurm.already_there;
  totals.already_there = slurm.already_there;
  return totals;
}

/// Files of an experiment's parts are taken together with the whole's.
experiment::Results all_results(const Request& r) {
  experiment::Results results;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(r.out)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("results") && name.ends_with(".jsonl")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    for (auto& [id, line] : experiment::read_results(path)) {
      const auto at = results.find(id);
      if (at == results.end() || at->second.at("status") == "failed")
        results.insert_or_assign(id, std::move(line));
    }
  return results;
}

/// Figures, tables and report of what is there. Returns what is printed.
std::string write_all(const Request& r) {
  const experiment::Results results = all_results(r);
  const fs::path out = r.out;
  make_folder((out / "figures").string(), "--out");
  std::vector<experiment::Chart> charts;
  std::string text;
  for (const experiment::Figure& figure : r.experiment.figures) {
    charts.push_back(make_chart(r.experiment, r.studies, figure, results));
    report::write_file((out / "figures" / (figure.name + ".csv")).string(),
                       experiment::chart_csv(charts.back()));
    report::write_file((out / "figures" / (figure.name + ".tex")).string(),
                       experiment::chart_latex(charts.back()));
    text += experiment::chart_text(charts.back(), output_width()) + "\n";
  }
  report::write_file((out / "points.csv").string(),
                     experiment::points_csv(version(), r.studies, results));
  const auto document =
      experiment::document_of(r.experiment, version(), r.size, r.studies, charts, results);
  using Json = nlohmann::ordered_json;
  std::string summary;
  for (const Json& one : document.at("summary"))
    summary += report::wrapped(one.at("text").get<std::string>(), output_width());
  if (!summary.empty()) text = summary + "\n" + text;
  report::write_file((out / "experiment.json").string(),
                     document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  report::write_file((out / "report.html").string(), experiment::report_html(document));
  if (r.figure_files.wanted()) write_figure_files(r.figure_files, r.out);
  return text;
}

int run_experiment(const CommandLine& line, const Words& application) {
  const bool has_application = !application.empty();
  if (line.given("new"))
    return write_new(line.text("new"), has_application ? application : line.positional(),
                     has_application);
  if (has_application)
    throw UsageError(
        "an application after -- goes with --new FILE.toml, which writes its experiment - then: "
        "nearwarp experiment ./FILE.toml");
  Request r;
  understand(line, r);
  Totals totals;
  std::string trouble;
  if (r.run) totals = run_missing(r, trouble);
  // A reader of the tables who leaves early must not end the program before all is written.
  std::signal(SIGPIPE, SIG_IGN);
  std::string text;
  if (!r.sharded) {
    text = write_all(r);
    const std::string out = fs::path(r.out) / "";
    text += fmt::format("{0}report.html, {0}points.csv and {0}figures/ are written", out);
  } else {
    text = fmt::format("the results of part {} of {} are in {}", r.options.shard.part,
                       r.options.shard.parts, r.results);
  }
  if (r.run)
    text += fmt::format("; {} points{}, {} of them were there before", totals.points,
                        totals.stopped ? ", not all of them done" : "", totals.already_there);
  print(text + "\n");
  if (!trouble.empty()) throw Error(trouble);
  if (totals.stopped) {
    throw Error(
        fmt::format("interrupted: {} of {} points are left - the same command again runs "
                    "them",
                    totals.left(), totals.points));
  }
  if (totals.failed != 0) {
    throw Error(fmt::format("{} of {} points failed - {} says why; --retry runs them again",
                            totals.failed, totals.points,
                            r.sharded ? r.results : r.out + "/points.csv"));
  }
  return 0;
}

}  // namespace

Command experiment_command() {
  return {.name = "experiment",
          .uses = {{"NAME [OPTION...]", "sweeps, figures, report of a study"}},
          .declare = declare_experiment,
          .least = 1,
          .most = 1,
          .application = true,
          .run = run_experiment};
}

}  // namespace nearwarp::cli
