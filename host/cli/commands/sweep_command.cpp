// nearwarp sweep: many workloads, machines, policies and values of keys, resumable and in parts.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "host/api/nearwarp.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/options/launches_words.h"
#include "host/cli/options/repeats_option.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/cli/progress/progress_bar.h"
#include "host/cli/progress/sweep_progress.h"
#include "host/cli/slurm/engine.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/core/workers.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  Words words;  ///< command line of a Slurm task, without --shard
  Sweep sweep;
  SweepOptions how;  ///< how the sweep is run
  std::optional<SlurmOptions> slurm;
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

/// The command line of a Slurm task, without --shard: its results go to the same folder, and it
/// writes no CSV file.
Words task_words(const CommandLine& line) {
  Words without = engine_options();
  for (const char* name : {"out", "csv", "threads"}) without.emplace_back(name);
  Words words = {"sweep"};
  for (const std::string& word : line.words_without(without)) words.push_back(word);
  words.push_back("--out=" + fs::absolute(line.text("out")).string());
  return words;
}

/// The programs that the command line names. `only_traces`: all of them are traces. Throws
/// UsageError, with advice, for words that name none.
Words programs_of(const CommandLine& line, bool* only_traces) {
  Words programs;
  *only_traces = true;
  for (const std::string& word : line.positional())
    for (const std::string& names : split_commas(word)) {
      for (const ProgramName& name : taken(program_names(names))) {
        *only_traces &= name.kind == ProgramName::Kind::kTraces;
        if (name.kind == ProgramName::Kind::kWorkload) check_workload(name.name, "sweep");
      }
      programs.push_back(names);
    }
  if (programs.empty()) throw UsageError("no workload is named - e.g. kmeans,libor");
  return programs;
}

SweepDefinition definition_of(const CommandLine& line) {
  SweepDefinition definition;
  definition.size = line.text("size");
  taken(check_size(definition.size));
  bool only_traces = false;
  definition.programs = programs_of(line, &only_traces);
  definition.max_repeats = max_repeats_option(line);
  BatchOptions launches;
  set_launches(line, launches);
  definition.launches = launches.launches;
  definition.sample = launches.sample;
  definition.cold_caches = launches.cold_caches;
  definition.machines = split_commas(line.text("machine"));
  if (definition.machines.empty()) throw UsageError("--machine names no machine - e.g. tom");
  definition.policies =
      split_commas(only_traces && !line.given("policy") ? "baseline" : line.text("policy"));
  if (definition.policies.empty()) throw UsageError("--policy names no policy - e.g. baseline");
  for (const std::string& text : line.texts("set")) {
    // Sweep::plan() refuses a text without "=", of which `key` is empty.
    const std::string key = text.substr(0, text.find('=') + 1);
    if (!key.empty() && std::ranges::any_of(definition.values, [&](const std::string& other) {
          return other.starts_with(key);
        }))
      throw UsageError(
          fmt::format("{} is set twice - give all its values in one --set, separated "
                      "by commas",
                      key.substr(0, key.size() - 1)));
    definition.values.push_back(text);
  }
  return definition;
}

/// Everything that is wrong with the request as a whole is found here, before anything runs.
Request understand(const CommandLine& line) {
  Request request;
  SweepOptions& how = request.how;
  how.out = line.text("out");
  if (how.out.empty()) {
    throw UsageError("--out is missing - name a file or folder for the results, e.g. --out my/");
  }
  how.part = line.filled("shard");
  how.retry = line.given("retry");
  how.threads =
      line.given("threads") ? static_cast<unsigned>(line.number("threads", 1, 1024)) : processors();
  taken(check(SweepOptions{.out = how.out}));
  // Only `part` can be wrong in these options; users know it as --shard.
  if (const auto part = check(SweepOptions{.out = how.out, .part = how.part}); !part)
    throw UsageError("--shard" + part.failure().message.substr(std::string("part").size()));
  std::error_code failed;
  const bool is_folder = how.out.ends_with('/') || fs::is_directory(how.out, failed);
  request.slurm = chosen_slurm(line);
  if (request.slurm.has_value()) {
    check_backend_name(line);  // the nodes may have devices that this machine has not
    if (!is_folder)
      throw UsageError("with --engine slurm, --out names a folder - write a / at its end");
    request.words = task_words(line);
  } else {
    const Backend backend = chosen_batch_backend(line);
    if (backend.cuda) how.backend = "cuda";
    how.device = backend.device;
    how.locate_fault = backend.locate_fault;
  }
  {
    ProgressBar bar("checking points", "points");
    catch_interrupts();
    request.sweep = taken(Sweep::plan(definition_of(line), [&](uint64_t checked, uint64_t all) {
      bar.update(checked, all);
      return !interrupted();
    }));
  }
  if (line.given("launches") || line.given("sample"))
    check_beside_launches(line, {"checkpoint"}, how.backend == "cuda");
  how.csv = line.text("csv");
  if (!how.csv.empty()) report::check_writable(how.csv);
  how.cache = line.text("trace-cache");
  how.checkpoints = line.text("checkpoint");
  if (!how.checkpoints.empty()) make_folder(how.checkpoints, "--checkpoint");
  if (is_folder) make_folder(how.out, "--out");
  return request;
}

std::string closing_text(const SweepOutcome& outcome) {
  std::string text =
      fmt::format("{} of {} points are in {}", outcome.already_there + outcome.finished,
                  outcome.points, outcome.file);
  if (outcome.already_there != 0)
    text += fmt::format("; {} were there before", outcome.already_there);
  return text + "\n";
}

/// Runs the missing points on this machine; with Slurm, only counts the points that are done.
SweepOutcome run_here(const Request& request) {
  SweepOptions how = request.how;
  how.only_count = request.slurm.has_value();
  SweepDisplay display;
  display.attach_to(how);
  // A reader of the table who leaves early must not end the program before the file is written.
  if (!how.csv.empty()) std::signal(SIGPIPE, SIG_IGN);
  return taken(request.sweep.run(how));
}

int run_sweep(const CommandLine& line, const Words& /*application*/) {
  const Request request = understand(line);
  SlurmOutcome slurm;
  if (request.slurm.has_value())
    slurm = run_on_slurm(SweepParts(request.sweep, request.how), request.words, *request.slurm);
  SweepOutcome outcome = run_here(request);
  if (request.slurm.has_value()) {
    outcome.finished = outcome.already_there - slurm.already_there;
    outcome.already_there = slurm.already_there;
  }
  print(outcome.table + "\n" + closing_text(outcome));
  if (!slurm.trouble.empty()) throw Error(slurm.trouble);
  if (outcome.stopped) {
    throw Error(
        fmt::format("interrupted: {} of {} points are left - the same command again runs "
                    "them",
                    outcome.points - outcome.already_there - outcome.finished, outcome.points));
  }
  if (outcome.failed != 0) {
    throw Error(fmt::format("{} of {} points failed, the first being {}", outcome.failed,
                            outcome.points, outcome.first_failure));
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
