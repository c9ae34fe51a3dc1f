// Runs the parts of sweeps as tasks of Slurm's job arrays, and waits for them.
#include "host/cli/slurm/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "host/cli/interrupt.h"
#include "host/cli/slurm/folder_lock.h"
#include "host/cli/slurm/progress.h"
#include "host/cli/slurm/queue.h"
#include "host/cli/slurm/record.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPause = 100ms;  ///< time between two checks for an interrupt
/// The number of pauses between two looks at the files of results: a second's worth, and more for
/// more than a hundred parts, since each file is a request to the file system's server.
uint32_t look_pauses(uint32_t parts) { return std::max(10u, parts / 10); }
/// Time between two calls of squeue. It doubles from the first value up to the last one, since
/// Slurm's controller serves the whole cluster.
constexpr auto kFirstQuestion = 1s, kLastQuestion = 32s;

/// A word in single quotes, as a shell reads it.
std::string in_quotes(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// One call of run_on_slurm().
class Run {
 public:
  Run(SweepParts& points, const Words& command, const SlurmOptions& options)
      : points_(points),
        command_(command),
        options_(options),
        folder_(fs::absolute(points.folder()) / "slurm"),
        record_path_(folder_ / "job.json"),
        sweep_(points.id()) {
    make_folder(folder_.string(), "--out");
    lock_.emplace(folder_ / "lock");
  }

  SlurmOutcome run() {
    catch_interrupts();
    SlurmOutcome outcome;
    const bool goes_on = take_up();
    if (!goes_on) begin();
    points_.look();
    outcome.already_there = points_.points() - points_.left();
    if (goes_on && !in_flight().empty())
      progress_.tell(fmt::format("{} submitted before; {} of {} points are left", jobs_text(),
                                 points_.left(), points_.points()));
    submit_what_is_left();
    wait();
    if (interrupted() && !in_flight().empty()) {
      outcome.trouble = fmt::format(
          "interrupted: {} of {} points are left, and {} on - the same command again waits for "
          "the rest; 'scancel {}' ends it",
          points_.left(), points_.points(),
          jobs_text() + (jobs_in_flight().size() == 1 ? " goes" : " go"),
          fmt::join(jobs_in_flight(), " "));
    } else {
      if (points_.left() != 0) outcome.trouble = why_points_are_left();
      fs::remove(record_path_);
    }
    progress_.wipe();
    return outcome;
  }

 private:
  /// Goes on with the jobs in the folder's record. False if there is no record, or one of another
  /// sweep or another number of parts whose jobs have ended; throws nearwarp::Error if these still
  /// run.
  bool take_up() {
    std::optional<SlurmRecord> found = load_record(record_path_);
    if (!found.has_value()) return false;
    const bool same_parts = options_.tasks == 0 || parts_for(options_.tasks) == found->parts;
    if (found->sweep == sweep_ && same_parts) {
      record_ = std::move(*found);
      points_.divide(record_.parts);
      for (const auto& [part, there] : record_.submitted)
        points_.count_failures(part, there.results_bytes);
      return true;
    }
    std::string why;
    const auto states = task_states(found->jobs(), why);
    if (states.has_value() && states->all_ended()) return false;
    const std::string jobs = fmt::format("{}", fmt::join(found->jobs(), " "));
    throw Error(
        found->sweep == sweep_
            ? fmt::format("job {} runs this in {} parts - leave --slurm-tasks out to wait for it, "
                          "or 'scancel {}' first",
                          jobs, found->parts, jobs)
            : fmt::format("job {} works in '{}' on other points (of another command, or another "
                          "version of nearwarp) - wait for it, 'scancel {}', or choose another "
                          "--out",
                          jobs, points_.folder().string(), jobs));
  }

  void begin() {
    points_.join();  // tasks leave out points that the whole sweep's file has
    record_.sweep = sweep_;
    record_.parts = parts_for(options_.tasks);
    points_.divide(record_.parts);
  }

  /// The number of parts: `wanted`, or the usual one for 0, but at most one for each point.
  uint32_t parts_for(uint32_t wanted) const {
    constexpr uint32_t kUsual = 16;
    return static_cast<uint32_t>(
        std::min<size_t>(wanted == 0 ? kUsual : wanted, points_.planned()));
  }

  // --- submitting

  void submit_what_is_left() {
    std::vector<uint32_t> parts;
    for (uint32_t part = 1; part <= record_.parts; ++part)
      if (points_.left(part) != 0 && !record_.submitted.contains(part)) parts.push_back(part);
    if (parts.empty()) return;
    size_t points = 0;
    for (const uint32_t part : parts) points += points_.left(part);
    submit_parts(parts);
    progress_.tell(
        fmt::format("job {} is submitted: {} of {} points, in {} task{}; Ctrl-C ends "
                    "the waiting alone",
                    record_.submitted.at(parts[0]).job, points, points_.points(), parts.size(),
                    parts.size() == 1 ? "" : "s"));
  }

  void submit_parts(const std::vector<uint32_t>& parts) {
    for (const uint32_t part : parts) {
      // Network file systems remember for long that a file was missing, so it is made before
      // anything looks for it.
      const std::ofstream made(points_.file(part), std::ios::app);
    }
    JobArray array;
    array.name = "nearwarp-" + folder_.parent_path().filename().string();
    array.script = write_script();
    array.log = folder_ / "part-%a.log";
    array.tasks = parts;
    const std::string job = submit(array, options_);
    for (const uint32_t part : parts) {
      const auto [at, is_new] = record_.submitted.try_emplace(part);
      at->second.job = job;
      at->second.submissions += 1;
      if (is_new) {
        at->second.results_bytes = points_.read(part);
        points_.count_failures(part, at->second.results_bytes);
      }
    }
    save_record(record_, record_path_);
    states_.reset();
    pause_ = kFirstQuestion;
    question_ = Clock::now() + pause_;
  }

  std::string write_script() {
    std::string text =
        "#!/bin/sh\n# A task of a job array: one part. Written by 'nearwarp' for sbatch.\nexec " +
        in_quotes(fs::read_symlink("/proc/self/exe"));
    for (const std::string& word : command_) text += " " + in_quotes(word);
    text += fmt::format(" --threads={} --shard=\"$SLURM_ARRAY_TASK_ID/{}\"\n", options_.cpus,
                        record_.parts);
    const std::string path = folder_ / "task.sh";
    report::write_file(path, text);
    return path;
  }

  // --- waiting

  void wait() {
    while (!interrupted() && !in_flight().empty()) {
      progress_.update(points_.points() - points_.left(), points_.points(), label());
      for (uint32_t i = 0; i < look_pauses(record_.parts) && !interrupted(); ++i)
        std::this_thread::sleep_for(kPause);
      points_.look();
      if (Clock::now() < question_ || in_flight().empty()) continue;
      ask();
      pause_ = std::min<Clock::duration>(2 * pause_, kLastQuestion);
      question_ = Clock::now() + pause_;
    }
  }

  void ask() {
    std::string why;
    const auto states = task_states(jobs_in_flight(), why);
    if (interrupted()) return;
    if (!states.has_value()) {
      if (!silent_) progress_.tell(fmt::format("squeue does not answer: {} - still waiting", why));
      silent_ = true;
      return;
    }
    silent_ = false;
    states_ = states;
    points_.look();  // tasks may have written results just before they ended
    std::vector<uint32_t> again;
    for (const uint32_t part : in_flight()) {
      const SubmittedPart& there = record_.submitted.at(part);
      const TaskState* task = states->find(there.job, part);
      if (task != nullptr && !task->ended()) continue;
      const std::string state = task != nullptr ? task->state : accounted_state(there.job, part);
      if (state == "CANCELLED" || there.submissions > options_.resubmit) {
        endings_[part] = state;
      } else {
        again.push_back(part);
        progress_.tell(fmt::format("{}; submitted again ({} of {})", ending_text(part, state),
                                   there.submissions, options_.resubmit));
      }
    }
    if (!again.empty()) submit_parts(again);
  }

  /// Parts whose tasks wait or run, as far as is known.
  std::vector<uint32_t> in_flight() const {
    std::vector<uint32_t> parts;
    for (const auto& [part, there] : record_.submitted)
      if (points_.left(part) != 0 && !endings_.contains(part)) parts.push_back(part);
    return parts;
  }

  std::set<std::string> jobs_in_flight() const {
    std::set<std::string> jobs;
    for (const uint32_t part : in_flight()) jobs.insert(record_.submitted.at(part).job);
    return jobs;
  }

  // --- messages

  std::string jobs_text() const {
    const std::set<std::string> jobs = jobs_in_flight();
    return fmt::format("{} {}", jobs.size() == 1 ? "job" : "jobs", fmt::join(jobs, ", "));
  }

  std::string label() const {
    std::string text = jobs_text();
    if (!states_.has_value()) return text;
    size_t running = 0, waiting = 0;
    std::string reason;
    for (const uint32_t part : in_flight()) {
      const TaskState* task = states_->find(record_.submitted.at(part).job, part);
      if (task == nullptr || task->ended()) continue;
      (task->waits() ? waiting : running) += 1;
      if (task->waits()) reason = task->reason;
    }
    if (running != 0) text += fmt::format(", {} running", running);
    if (waiting != 0) text += fmt::format(", {} waiting ({})", waiting, reason);
    return text;
  }

  std::string ending_text(uint32_t part, const std::string& state) const {
    std::string text = fmt::format("part {} of {} (job {}_{}) ended{}, {} of its points being left",
                                   part, record_.parts, record_.submitted.at(part).job, part,
                                   state.empty() ? "" : " as " + state, points_.left(part));
    const std::string path = folder_ / fmt::format("part-{}.log", part);
    std::ifstream log(path);
    std::string last;
    for (std::string line; std::getline(log, line);)
      if (!line.empty()) last = line;
    if (!log.is_open())
      return text + ", and without a log: can its node write to " + folder_.string() + "?";
    return text + fmt::format(" ({}: {})", path, last.empty() ? "empty" : last);
  }

  std::string why_points_are_left() const {
    const bool cancelled = std::all_of(endings_.begin(), endings_.end(), [](const auto& ending) {
      return ending.second == "CANCELLED";
    });
    const std::string left =
        fmt::format("{} of {} points are left", points_.left(), points_.points());
    if (endings_.empty()) return left + " - the same command again runs them";  // interrupted
    if (cancelled) {
      return fmt::format("job {} was cancelled: {} - the same command again submits them",
                         record_.submitted.at(endings_.begin()->first).job, left);
    }
    const auto& [part, state] =
        *std::find_if(endings_.begin(), endings_.end(),
                      [](const auto& ending) { return ending.second != "CANCELLED"; });
    return fmt::format("{}: {}, submitted {} times - the same command again submits it", left,
                       ending_text(part, state), record_.submitted.at(part).submissions);
  }

  SweepParts& points_;
  const Words& command_;
  const SlurmOptions& options_;
  const fs::path folder_, record_path_;
  const std::string sweep_;
  std::optional<FolderLock> lock_;
  SlurmRecord record_;
  std::optional<TaskStates> states_;         ///< squeue's last answer
  std::map<uint32_t, std::string> endings_;  ///< by part that is given up: its task's last state
  Clock::duration pause_ = kFirstQuestion;
  Clock::time_point question_ = Clock::now();
  bool silent_ = false;  ///< squeue has not answered when last asked
  SlurmProgress progress_;
};

}  // namespace

SlurmOutcome run_on_slurm(SweepParts parts, const Words& command, const SlurmOptions& options) {
  return Run(parts, command, options).run();
}

}  // namespace nearwarp::cli
