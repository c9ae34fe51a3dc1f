// The options of `--engine slurm`.
#include "host/cli/slurm/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "host/cli/programs/program_output.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

constexpr uint64_t kMaxTasks = 100'000;
/// Options of sbatch that this program passes itself, or with which it could not watch its jobs.
constexpr const char* kReserved[] = {"-a", "--array",     "-M",     "--clusters", "--parsable",
                                     "-W", "--test-only", "--wrap", "--wait"};

/// Throws if one of the user's `words` is no option, or a reserved one.
void check_user_options(const Words& words) {
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!word.starts_with("-"))
      throw UsageError(fmt::format(
          "--slurm-args cannot be '{}' - write options of sbatch, each with its value behind a =, "
          "e.g. --slurm-args '--mem=8G --qos=long'",
          word));
    if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved))
      throw UsageError(
          fmt::format("--slurm-args cannot have {}, which nearwarp uses itself or "
                      "could not follow - leave it out",
                      name));
  }
}

}  // namespace

void declare_engine(CommandLine& line) {
  line.value("engine", "local, or slurm: parts run as a job array (docs/sweep.md)", "local|slurm",
             "local");
  line.value("slurm-tasks",
             "in so many parts, a task each; default: 16, or as many as there are points", "N");
  line.value("slurm-partition", "Slurm's partition", "NAME");
  line.value("slurm-account", "Slurm's account", "NAME");
  line.value("slurm-time", "time limit of a task, as sbatch's --time", "TIME");
  line.value("slurm-nodes", "run on these nodes only", "LIST");
  line.list("slurm-args", "more options for sbatch; repeatable", "'OPTION...'");
  line.value("slurm-resubmit", "how often tasks that ended early are submitted again", "N", "2");
}

Words engine_options() {
  return {"engine",     "slurm-tasks", "slurm-partition", "slurm-account",
          "slurm-time", "slurm-nodes", "slurm-args",      "slurm-resubmit"};
}

std::optional<SlurmOptions> chosen_slurm(const CommandLine& line) {
  const std::string engine = line.text("engine");
  if (engine != "local" && engine != "slurm") {
    throw UsageError(fmt::format("there is no engine '{}'{}", engine,
                                 config::suggestion(engine, {"local", "slurm"})));
  }
  if (engine == "local") {
    for (const std::string& name : engine_options())
      if (name != "engine" && line.given(name))
        throw UsageError(fmt::format("--{} belongs to --engine slurm - add that", name));
    return std::nullopt;
  }
  if (line.given("shard"))
    throw UsageError("--engine slurm makes parts itself - leave --shard out");
  SlurmOptions options;
  if (line.given("slurm-tasks"))
    options.tasks = static_cast<uint32_t>(line.number("slurm-tasks", 1, kMaxTasks));
  options.cpus = line.given("threads") ? static_cast<uint32_t>(line.number("threads", 1, 1024)) : 1;
  options.resubmit = static_cast<uint32_t>(line.number("slurm-resubmit", 0, 1000));
  options.partition = line.text("slurm-partition");
  options.account = line.text("slurm-account");
  options.time = line.text("slurm-time");
  options.nodes = line.text("slurm-nodes");
  for (const std::string& text : line.texts("slurm-args")) {
    std::istringstream words(text);
    for (std::string word; words >> word;) options.more.push_back(word);
  }
  check_user_options(options.more);
  for (const char* program : {"sbatch", "squeue"}) {
    if (is_on_path(program)) continue;
    throw Error(fmt::format(
        "--engine slurm needs Slurm's {}, which is not on PATH - run it where jobs are submitted "
        "from, a login node of the cluster (on Debian the package is slurm-client)",
        program));
  }
  return options;
}

}  // namespace nearwarp::cli
