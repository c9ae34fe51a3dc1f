// Runs the points of a sweep that are not in its file yet.
#include "host/timing/sweep/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <vector>

#include "host/core/error.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/divided_batch.h"
#include "host/timing/run/launch_part.h"
#include "host/timing/run/learning.h"
#include "host/timing/run/resident_blocks.h"

namespace nearwarp::sweep {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.what();
  } catch (const std::bad_alloc&) {
    return "out of memory - use fewer threads";
  } catch (const std::exception& e) {
    return fmt::format("internal error: {}", e.what());
  }
}

class SweepRun final : public sim::BatchObserver {
 public:
  SweepRun(const Plan& plan, const RunOptions& options, sim::BatchRunner& runner,
           Surroundings& surroundings, ResultsFile& file)
      : plan_(plan),
        options_(options),
        runner_(runner),
        surroundings_(surroundings),
        file_(file),
        todo_(plan.definition.programs.size()),
        sizes_(plan.definition.programs.size()) {
    for (const Point& point : plan.points) {
      if (!is_ours(options, point)) continue;
      outcome_.points += 1;
      const Summary* there = file.find(point.id);
      if (there != nullptr && !(options.retry && there->failed())) {
        outcome_.already_there += 1;
      } else {
        todo_[point.program].push_back(&point);
        progress_.points += 1;
      }
    }
  }

  Outcome run() {
    for (program_ = 0; program_ < todo_.size() && !outcome_.stopped; ++program_)
      if (!todo_[program_].empty()) run_program();
    return outcome_;
  }

 private:
  /// The program's points, but for those that cannot be run.
  void run_program() {
    points_.clear();
    for (const Point* point : todo_[program_]) {
      if (point->error.empty()) {
        points_.push_back(point);
      } else {
        fail(*point, point->error);
      }
    }
    sizes_[program_] = 0;
    if (points_.empty() || !execute()) return;
    for (size_t next = 0; next < points_.size() && !outcome_.stopped;) {
      first_ = next;
      next = std::min(points_.size(), first_ + kPointsAtOnce);
      before_ += run_points(next);
    }
    forget_jobs();
    recording_ = {};
  }

  /// The program's points from first_ to `end`. Returns their work.
  uint64_t run_points(size_t end) {
    forget_jobs();
    work_ = 0;
    for (size_t i = first_; i < end; ++i) {
      const Point& point = *points_[i];
      sim::DividedJob& job = jobs_.emplace_back();
      machines_.push_back(plan_.machine(point));
      policies_.push_back(plan_.policy(point));
      job.whole = {&recording_, machines_.back().get(), policies_.back().get()};
      if (!options_.checkpoints.empty())
        job.whole.checkpoint = sim::checkpoint_path(options_.checkpoints, job.whole);
      job.division = &division_;
      work_ += work_of(job);
    }
    // Points that come later are taken to be like these.
    const double mean = static_cast<double>(work_) / static_cast<double>(end - first_);
    *sizes_[program_] += work_;
    still_to_come_ = static_cast<uint64_t>(mean * static_cast<double>(points_.size() - end));
    run_divided(runner_, jobs_, *this);
    still_to_come_ = 0;
    return work_;
  }

  void forget_jobs() {
    jobs_.clear();
    machines_.clear();
    policies_.clear();
  }

  /// The failure of a program is one of all its points, unless it was stopped.
  bool execute() {
    try {
      recording_ = surroundings_.recording(program_);
      division_ = options_.divide ? options_.divide(recording_, needs()) : runtime::Division();
      return true;
    } catch (const Error&) {
      const std::exception_ptr error = std::current_exception();
      if (!progress(0)) return false;
      for (const Point* point : points_) fail(*point, message_of(error));
      return false;
    }
  }

  /// Of all of the program's points, those included that are not to be run: a point's parts do not
  /// depend on which others are.
  runtime::DivisionNeeds needs() {
    runtime::DivisionNeeds needs;
    std::shared_ptr<const config::MachineConfig> last;
    for (const Point& point : plan_.points) {
      if (point.program != program_ || !point.error.empty()) continue;
      const auto machine = plan_.machine(point);
      const auto policy = plan_.policy(point);
      const sim::ReplayJob job = {&recording_, machine.get(), policy.get()};
      const auto learning = sim::learning_launches({&job, 1}, [&] { return progress(0); });
      needs.together = std::max(needs.together, learning);
      needs.before = std::max(needs.before, sim::launches_before(*machine, *policy));
      if (machine == last) continue;
      last = machine;
      if (!progress(0)) break;
      const std::vector<uint64_t> resident = sim::resident_blocks({&job, 1});
      needs.resident.resize(resident.size());
      for (size_t i = 0; i < resident.size(); ++i)
        needs.resident[i] = std::max(needs.resident[i], resident[i]);
    }
    return needs;
  }

  void finished(size_t job, sim::BatchOutcome outcome) override {
    if (outcome.stopped) return;
    const Point& point = *points_[first_ + job];
    if (outcome.error != nullptr) return fail(point, message_of(outcome.error));
    file_.append(result_line(plan_, point, std::move(*outcome.result)));
    std::error_code ignored;  // a file that stays does no harm
    std::filesystem::remove(jobs_[job].whole.checkpoint, ignored);
    progress_.points_done += 1;
    outcome_.finished += 1;
  }

  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    const uint64_t before = work_;
    work_ = std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t{0});
    *sizes_[program_] += work_ - before;
  }

  bool progress(uint64_t warp_instructions) override {
    progress_.warp_instructions_done = before_ + warp_instructions;
    progress_.warp_instructions = expected();
    if (!surroundings_.progress(progress_)) outcome_.stopped = true;
    return !outcome_.stopped;
  }

  void fail(const Point& point, const std::string& error) {
    file_.append(failure_line(plan_, point, error));
    progress_.points_done += 1;
    outcome_.finished += 1;
  }

  /// Warp-instructions of all points to run.
  uint64_t expected() const {
    uint64_t known = still_to_come_, known_points = 0, unknown_points = 0;
    for (size_t i = 0; i < todo_.size(); ++i) {
      if (!sizes_[i].has_value()) {
        unknown_points += todo_[i].size();
      } else if (*sizes_[i] != 0) {
        known += *sizes_[i];
        known_points += todo_[i].size();
      }
    }
    if (known_points == 0) return 0;
    const double mean = static_cast<double>(known) / static_cast<double>(known_points);
    return known + static_cast<uint64_t>(mean * static_cast<double>(unknown_points));
  }

  const Plan& plan_;
  const RunOptions& options_;
  sim::BatchRunner& runner_;
  Surroundings& surroundings_;
  ResultsFile& file_;
  std::vector<std::vector<const Point*>> todo_;  ///< by program
  /// By program: warp-instructions of all of its points, once that is known.
  std::vector<std::optional<uint64_t>> sizes_;
  size_t program_ = 0;                 ///< the one that runs
  std::vector<const Point*> points_;   ///< that it has to run
  size_t first_ = 0;                   ///< of them, in the batch that runs
  std::vector<sim::DividedJob> jobs_;  ///< the batch, as runs
  std::vector<std::shared_ptr<const config::MachineConfig>> machines_;  ///< that they point to
  std::vector<std::shared_ptr<const config::PolicyConfig>> policies_;
  uint64_t work_ = 0;             ///< of the batch that runs, warp-instructions
  uint64_t still_to_come_ = 0;    ///< work of the program's later batches, as expected
  runtime::Recording recording_;  ///< of the program that runs
  runtime::Division division_;    ///< and what of it is simulated
  uint64_t before_ = 0;           ///< warp-instructions of earlier programs' points
  Progress progress_;
  Outcome outcome_;
};

}  // namespace

bool is_ours(const RunOptions& options, const Point& point) {
  return options.shard.has(point.index) && !options.others.contains(point.id);
}

Outcome count_results(const Plan& plan, const RunOptions& options, const ResultsFile& file) {
  Outcome outcome;
  for (const Point& point : plan.points) {
    if (!is_ours(options, point)) continue;
    outcome.points += 1;
    const Summary* there = file.find(point.id);
    if (there == nullptr) continue;
    outcome.already_there += 1;
    if (there->failed()) outcome.failed += 1;
  }
  return outcome;
}

Outcome run_sweep(const Plan& plan, const RunOptions& options, sim::BatchRunner& runner,
                  Surroundings& surroundings, ResultsFile& file) {
  Outcome outcome = SweepRun(plan, options, runner, surroundings, file).run();
  outcome.failed = count_results(plan, options, file).failed;
  return outcome;
}

}  // namespace nearwarp::sweep
