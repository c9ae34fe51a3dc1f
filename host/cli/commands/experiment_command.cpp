// nearwarp experiment: all sweeps and figures that an experiment's file names, and their report.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/files/figure_files.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/options/launches_words.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/cli/progress/sweep_progress.h"
#include "host/cli/slurm/engine.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/core/workers.h"

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
  line.offer("only", figure_values);
  offer_usual(line);
  return line;
}

struct Request {
  Experiment experiment;
  SweepOptions how;  ///< how the experiment is run
  bool run = true;
  Words words;  ///< command line of a Slurm task, without --shard
  std::optional<SlurmOptions> slurm;
  FigureFiles figure_files;

  bool is_part() const { return !how.part.empty(); }
};

/// The command line of a Slurm task, without --shard: its results go to the same folder.
Words task_words(const CommandLine& line, const std::string& out) {
  Words without = engine_options();
  for (const char* name : {"out", "threads", "figures", "figure-columns", "figure-type"})
    without.emplace_back(name);
  Words words = {"experiment"};
  for (const std::string& word : line.words_without(without)) words.push_back(word);
  words.push_back("--out=" + fs::absolute(out).string());
  return words;
}

/// Throws nearwarp::Error, with the study and advice, for words of studies that name no program.
void check_workloads(const ExperimentFile& file) {
  const std::vector<std::string> own = file.own_programs();
  for (const Study& study : file.studies()) {
    try {
      for (const std::string& names : study.programs)
        for (const ProgramName& name : taken(program_names(names)))
          if (name.kind == ProgramName::Kind::kWorkload && std::ranges::count(own, name.name) == 0)
            check_workload(name.name, "experiment");
    } catch (const UsageError& error) {
      throw Error(fmt::format("study {} ({}): {}", study.name, file.path(), error.what()));
    }
  }
}

Experiment planned(const CommandLine& line, const std::string& name) {
  ExperimentFile file = taken(ExperimentFile::load(name));
  if (line.given("only") && line.text("only").empty())
    throw UsageError("--only names no figure - 'nearwarp show experiment NAME' lists them");
  file = taken(file.only(split_commas(line.text("only"))));
  ExperimentChoice choice;
  choice.size = line.given("size") ? line.text("size") : file.size();
  taken(check_size(choice.size));
  BatchOptions launches;
  set_launches(line, launches);
  choice.launches = launches.launches;
  choice.sample = launches.sample;
  choice.cold_caches = launches.cold_caches;
  check_workloads(file);
  return taken(Experiment::plan(file, choice));
}

/// Everything that is wrong with the request as a whole is found here, before anything runs.
Request understand(const CommandLine& line) {
  Request request;
  request.experiment = planned(line, line.positional()[0]);
  SweepOptions& how = request.how;
  how.out = line.given("out") ? line.text("out") : request.experiment.folder();
  how.part = line.filled("shard");
  how.retry = line.given("retry");
  how.cache = line.text("trace-cache");
  // Only `part` can be wrong in these options; users know it as --shard.
  if (const auto part = check(SweepOptions{.out = "results", .part = how.part}); !part)
    throw UsageError("--shard" + part.failure().message.substr(std::string("part").size()));
  request.figure_files = figure_files(line);
  if (request.figure_files.wanted() && request.is_part())
    throw UsageError("a part has no figures - leave --figures out, and give it without --shard");
  request.run = !line.given("no-run");
  how.threads =
      line.given("threads") ? static_cast<unsigned>(line.number("threads", 1, 1024)) : processors();
  request.slurm = chosen_slurm(line);
  if (request.slurm.has_value()) {
    check_backend_name(line);  // the nodes may have devices that this machine has not
    if (!request.run) throw UsageError("--no-run runs nothing - leave --engine slurm out");
  } else {
    const Backend backend = chosen_batch_backend(line);
    if (backend.cuda) how.backend = "cuda";
    how.device = backend.device;
    how.locate_fault = backend.locate_fault;
  }
  if (line.given("launches") || line.given("sample"))
    check_beside_launches(line, {}, how.backend == "cuda");
  if (request.run) make_folder(how.out, "--out");  // without a run, it must exist already
  if (request.slurm.has_value()) request.words = task_words(line, how.out);
  return request;
}

/// Throws UsageError for an option besides --new, which would have no effect.
void refuse_beside_new(const CommandLine& line) {
  for (const Option& option : line.options())
    if (const std::string name = option.long_name(); name != "new" && line.given(name))
      throw UsageError(fmt::format(
          "--{} does not go with --new, which writes a file and runs nothing - leave it "
          "out, and give it when the experiment is run",
          name));
}

/// Carries out --new: writes the experiment's file, and prints how to go on.
int write_new(const std::string& path, const Words& program, bool application) {
  if (!path.ends_with(".toml"))
    throw UsageError(
        fmt::format("--new cannot be '{}' - a name that ends with .toml is needed", path));
  std::error_code failed;
  if (fs::exists(path, failed))
    throw UsageError(fmt::format("'{}' is there already - give --new another name", path));
  if (application) {
    taken(new_experiment(path, program));
  } else {
    const std::string& name = program.front();
    const std::vector<ProgramName> names = taken(program_names(name));
    if (names.size() != 1)
      throw UsageError(
          fmt::format("--new writes the experiment of one program, and '{}' has {} - name one, and "
                      "join them in "
                      "the file's workloads",
                      name, names.size()));
    if (names[0].kind == ProgramName::Kind::kWorkload) check_workload(name, "experiment");
    taken(new_experiment(path, name));
  }
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  print(fmt::format("{0} is written - 'nearwarp experiment {0}' runs it and writes its report\n",
                    file));
  return 0;
}

/// Runs the missing points on this machine; with Slurm, only counts the points that are done.
ExperimentOutcome run_here(const Request& request) {
  SweepOptions how = request.how;
  how.only_count = request.slurm.has_value();
  catch_interrupts();
  SweepDisplay display;
  display.attach_to(how);
  return taken(request.experiment.run(how));
}

/// Runs the missing points, on this machine or on a cluster. If a cluster leaves points, `trouble`
/// says why.
ExperimentOutcome run_missing(const Request& request, std::string& trouble) {
  if (!request.slurm.has_value()) return run_here(request);
  const SlurmOutcome slurm =
      run_on_slurm(SweepParts(request.experiment, request.how), request.words, *request.slurm);
  trouble = slurm.trouble;
  ExperimentOutcome outcome = run_here(request);
  outcome.finished = outcome.already_there - slurm.already_there;
  outcome.already_there = slurm.already_there;
  return outcome;
}

/// Writes figures, tables and report of the points that are done. Returns the text to print,
/// without figures if the run was stopped: they would consist mostly of gaps.
std::string write_all(const Request& request, bool stopped) {
  const std::string& out = request.how.out;
  const ExperimentReport report = taken(request.experiment.report(out, output_width()));
  taken(report.write(out));
  if (request.figure_files.wanted()) write_figure_files(request.figure_files, out);
  std::string text;
  if (!stopped) {
    if (!report.summary.empty()) text += report.summary + "\n";
    for (const FigureTable& figure : report.figures) text += figure.text + "\n";
  }
  const std::string files = fmt::format("{0}report.html, {0}points.csv and {0}figures/ are written",
                                        (fs::path(out) / "").string());
  return text + wrapped(files, output_width(), "") + "\n";
}

int run_experiment(const CommandLine& line, const Words& application) {
  const bool has_application = !application.empty();
  if (!has_application && line.positional().empty()) {
    if (line.given("new"))
      throw UsageError(
          "--new needs the program that the file is for: -- ./app its arguments, a recording, "
          "traces or a workload");
    throw UsageError(
        "'nearwarp experiment' needs NAME|FILE.toml - 'nearwarp list experiments' has the names");
  }
  if (line.given("new")) {
    refuse_beside_new(line);
    return write_new(line.text("new"), has_application ? application : line.positional(),
                     has_application);
  }
  if (has_application)
    throw UsageError(
        "an application after -- goes with --new FILE.toml, which writes its experiment - then: "
        "nearwarp experiment ./FILE.toml");
  const Request request = understand(line);
  ExperimentOutcome outcome;
  std::string trouble;
  if (request.run) outcome = run_missing(request, trouble);
  // A reader of the tables who leaves early must not end the program before all is written.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string& part = request.how.part;
  std::string text = request.is_part() ? fmt::format("the results of part {} of {} are in {}\n",
                                                     part.substr(0, part.find('/')),
                                                     part.substr(part.find('/') + 1), outcome.file)
                                       : write_all(request, outcome.stopped);
  if (request.run)
    text += fmt::format("{} points{}, {} of them were there before\n", outcome.points,
                        outcome.stopped ? ", not all of them done" : "", outcome.already_there);
  print(text);
  if (!trouble.empty()) throw Error(trouble);
  if (outcome.stopped) {
    throw Error(
        fmt::format("interrupted: {} of {} points are left - the same command again runs them",
                    outcome.points - outcome.already_there - outcome.finished, outcome.points));
  }
  if (outcome.failed != 0) {
    throw Error(fmt::format("{} of {} points failed - {} says why; --retry runs them again",
                            outcome.failed, outcome.points,
                            request.is_part() ? outcome.file : request.how.out + "/points.csv"));
  }
  return 0;
}

}  // namespace

Command experiment_command() {
  return {.name = "experiment",
          .uses = {{"NAME [OPTION...]", "sweeps, figures, report of a study"}},
          .declare = declare_experiment,
          .least = 0,  // what is missing depends on --new
          .most = 1,
          .application = true,
          .run = run_experiment};
}

}  // namespace nearwarp::cli
