// Submits job arrays and asks for the states of their tasks, by Slurm's own programs.
#include "host/cli/slurm/queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "host/cli/programs/program_output.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

/// The error that a program has printed (else its output, else its exit code), in one line.
std::string said(const ProgramOutput& output) {
  std::string text = output.err.empty() ? output.out : output.err;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? fmt::format("exit code {}", output.status) : text;
}

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

Words answer_of(const Words& words) {
  const ProgramOutput output = output_of(words, true);
  if (output.status != 0) throw Error(fmt::format("{} failed: {}", words[0], said(output)));
  return lines_of(output.out);
}

/// All nodes of the cluster but options.nodes, for sbatch's --exclude: --nodelist would demand all
/// the named nodes for each task.
std::string all_nodes_but(const SlurmOptions& options) {
  const Words wanted = answer_of({"scontrol", "show", "hostnames", options.nodes});
  Words ask = {"sinfo", "--noheader", "--Node", "--format=%N"};
  if (!options.partition.empty()) ask.push_back("--partition=" + options.partition);
  std::set<std::string> others;
  for (const std::string& node : answer_of(ask)) others.insert(node);
  for (const std::string& node : wanted)
    if (others.erase(node) == 0)
      throw Error(fmt::format(
          "--slurm-nodes names '{}', which is no node here - see 'sinfo --Node'", node));
  return fmt::format("{}", fmt::join(others, ","));
}

/// Escapes a path for sbatch's --output, in which "%a" and the like are patterns.
std::string without_patterns(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

}  // namespace

std::string submit(const JobArray& array, const SlurmOptions& options) {
  namespace fs = std::filesystem;
  const fs::path log = array.log;
  Words words = {"sbatch",
                 "--job-name=" + array.name,
                 "--output=" + without_patterns(log.parent_path()) + "/" + log.filename().string(),
                 "--open-mode=append",
                 "--chdir=" + fs::current_path().string(),
                 "--ntasks=1",
                 fmt::format("--cpus-per-task={}", options.cpus)};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  };
  add("partition", options.partition);
  add("account", options.account);
  add("time", options.time);
  if (!options.nodes.empty()) add("exclude", all_nodes_but(options));
  words.insert(words.end(), options.more.begin(), options.more.end());
  words.push_back("--parsable");
  words.push_back(fmt::format("--array={}", fmt::join(array.tasks, ",")));
  words.push_back(array.script);
  // sbatch is waited for even after an interrupt: else a job could run that no record names.
  const ProgramOutput output = output_of(words, false);
  const Words lines = lines_of(output.out);
  if (output.status != 0 || lines.empty()) {
    throw Error(
        fmt::format("sbatch refused the job: {} - options that begin with --slurm say "
                    "what it is told (docs/sweep.md)",
                    said(output)));
  }
  return lines.back().substr(0, lines.back().find(';'));
}

bool TaskState::ended() const {
  static const std::set<std::string> kEnds = {
      "BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
      "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};
  return kEnds.contains(state);
}

void TaskStates::add(const std::string& job, uint32_t task, TaskState state) {
  tasks_[{job, task}] = std::move(state);
}

void TaskStates::add_rest(const std::string& job, TaskState state) {
  rest_[job] = std::move(state);
}

const TaskState* TaskStates::find(const std::string& job, uint32_t task) const {
  if (const auto at = tasks_.find({job, task}); at != tasks_.end()) return &at->second;
  const auto rest = rest_.find(job);
  return rest == rest_.end() ? nullptr : &rest->second;
}

bool TaskStates::all_ended() const {
  const auto ended = [](const auto& entry) { return entry.second.ended(); };
  return std::all_of(tasks_.begin(), tasks_.end(), ended) &&
         std::all_of(rest_.begin(), rest_.end(), ended);
}

std::optional<TaskStates> task_states(const std::set<std::string>& jobs, std::string& why) {
  const ProgramOutput output =
      output_of({"squeue", "--noheader", "--array", "--states=all", "--format=%F|%K|%T|%r",
                 fmt::format("--jobs={}", fmt::join(jobs, ","))},
                true);
  TaskStates states;
  if (output.status != 0) {
    // squeue says this if it is asked for a single job, and has forgotten that.
    if (output.err.find("Invalid job id") != std::string::npos) return states;
    why = said(output);
    return std::nullopt;
  }
  for (const std::string& line : lines_of(output.out)) {
    std::istringstream fields(line);
    std::string job, task;
    TaskState state;
    std::getline(fields, job, '|');
    std::getline(fields, task, '|');
    std::getline(fields, state.state, '|');
    std::getline(fields, state.reason);
    uint32_t number = 0;
    const char* end = task.data() + task.size();
    const auto read = std::from_chars(task.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) {
      states.add(job, number, std::move(state));
    } else {
      states.add_rest(job, std::move(state));
    }
  }
  return states;
}

std::string accounted_state(const std::string& job, uint32_t task) {
  if (!is_on_path("sacct")) return "";
  const ProgramOutput output = output_of({"sacct", "--noheader", "--parsable2", "--allocations",
                                          "--format=State", fmt::format("--jobs={}_{}", job, task)},
                                         true);
  const Words lines = lines_of(output.out);
  if (output.status != 0 || lines.empty()) return "";
  return lines.back().substr(0, lines.back().find(' '));  // "CANCELLED by 1000"
}

}  // namespace nearwarp::cli
