// Runs the points of a sweep that are not in its file yet.
#include "host/timing/sweep/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "host/core/error.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/divided_batch.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/sweep/point_costs.h"

namespace nearwarp::sweep {
namespace {

/// Points that are made before it is asked whether to go on: a tenth of a second.
constexpr size_t kPointsFromAskToAsk = 256;
/// Each of them learns a mapping, if its policy does, before the first point runs.
constexpr size_t kMostExamples = 32;

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
    const sweep::Plan* const one = &plan;
    if (!file.is_placed(plan.id))
      file.place({&one, 1}, [&] { return surroundings_.progress(progress_); });
    for (size_t i = 0; i < plan.points.size(); ++i) {
      if (!is_ours(i)) continue;
      outcome_.points += 1;
      if (is_there(i)) {
        outcome_.already_there += 1;
        continue;
      }
      progress_.points += 1;
      const PointPlace at = plan.place(i);
      todo_[at.program].add(at);
    }
  }

  Outcome run() {
    for (program_ = 0; program_ < todo_.size() && !outcome_.stopped; ++program_)
      if (todo_[program_].points != 0) run_program();
    return outcome_;
  }

 private:
  /// Points of a program that are not done.
  struct Todo {
    size_t points = 0;
    std::map<std::pair<size_t, size_t>, size_t> left;  ///< by machine and policy

    void add(const PointPlace& at) {
      points += 1;
      left[{at.machine, at.policy}] += 1;
    }
  };

  bool is_ours(size_t index) const { return sweep::is_ours(options_, index); }
  bool is_there(size_t index) const {
    const ResultsFile::Entry* there = find_point(plan_, file_, index);
    return there != nullptr && !(options_.retry && there->second.failed());
  }

  /// Nothing has changed since the last progress but that points were made.
  bool goes_on() {
    outcome_.stopped |= !surroundings_.progress(progress_);
    return !outcome_.stopped;
  }

  /// The program's points, but for those that cannot be run.
  void run_program() {
    points_of_program_ = todo_[program_].points;
    points_begun_ = 0;
    still_to_come_ = 0;
    sizes_[program_] = 0;
    bool executed = false;
    const size_t begin = program_ * plan_.points_of_program();
    const size_t end = begin + plan_.points_of_program();
    for (size_t i = begin; i < end && !outcome_.stopped;) {
      points_.clear();
      const size_t at_once = options_.divide ? kDividedPointsAtOnce : kPointsAtOnce;
      for (; i < end && points_.size() < at_once; ++i) {
        if (!is_ours(i) || is_there(i)) continue;
        Point point = plan_.points[i];
        points_begun_ += 1;
        if (points_begun_ % kPointsFromAskToAsk == 0 && !goes_on()) return;
        if (point.error.empty())
          points_.push_back(std::move(point));
        else
          fail(point, point.error);
      }
      if (points_.empty()) continue;
      if (!executed && !execute()) {
        // The failure of a program is one of all its points.
        for (; i < end && !outcome_.stopped; ++i) fail_if_ours(i);
        return;
      }
      executed = true;
      before_ += run_points();
    }
    still_to_come_ = 0;
    forget_jobs();
    recording_ = {};
  }

  void fail_if_ours(size_t index) {
    if (!is_ours(index) || is_there(index)) return;
    const Point point = plan_.points[index];
    if (++points_begun_ % kPointsFromAskToAsk == 0 && !goes_on()) return;
    fail(point, point.error.empty() ? why_not_executed_ : point.error);
  }

  /// The points of points_. Returns their work.
  uint64_t run_points() {
    const std::vector<const runtime::Division*> divisions = divide_points();
    if (points_.empty() || outcome_.stopped) return 0;
    forget_jobs();
    work_ = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      sim::DividedJob& job = jobs_.emplace_back();
      machines_.push_back(plan_.machine(point));
      policies_.push_back(plan_.policy(point));
      job.whole = {&recording_, machines_.back().get(), policies_.back().get()};
      if (!options_.checkpoints.empty())
        job.whole.checkpoint = sim::checkpoint_path(options_.checkpoints, job.whole);
      job.division = divisions[i];
      work_of_jobs_.push_back(work_of(job));
      work_ += work_of_jobs_.back();
    }
    done_of_jobs_.assign(jobs_.size(), 0);
    job_is_done_.assign(jobs_.size(), false);
    // Points that come later are taken to be like these.
    const double mean = static_cast<double>(work_) / static_cast<double>(points_.size());
    *sizes_[program_] += work_;
    still_to_come_ =
        static_cast<uint64_t>(mean * static_cast<double>(points_of_program_ - points_begun_));
    cost_left_.reset();
    run_divided(runner_, jobs_, *this);
    return work_;
  }

  /// How each of points_ is divided. Those that cannot be have failed, and are gone.
  std::vector<const runtime::Division*> divide_points() {
    forget_divisions();
    std::vector<const runtime::Division*> divisions;
    if (!options_.divide) {
      divisions.assign(points_.size(), division_for(needs_));
      return divisions;
    }
    std::vector<Point> points;
    for (Point& point : points_) {
      const auto machine = plan_.machine(point);
      const auto policy = plan_.policy(point);
      try {
        divisions.push_back(division_for({&recording_, machine.get(), policy.get()}));
        points.push_back(std::move(point));
      } catch (const Error&) {
        const std::exception_ptr error = std::current_exception();
        if (!progress(0)) return {};
        fail(point, message_of(error));
      }
    }
    points_ = std::move(points);
    return divisions;
  }

  void forget_jobs() {
    jobs_.clear();
    machines_.clear();
    policies_.clear();
    work_of_jobs_.clear();
    done_of_jobs_.clear();
  }

  /// False if it cannot be, with the points of points_ failed, or was stopped.
  bool execute() {
    try {
      recording_ = surroundings_.recording(program_);
      divisions_.clear();
      needs_ = options_.divide ? needs() : runtime::DivisionNeeds();
      division_for(needs_);
      return true;
    } catch (const Error&) {
      const std::exception_ptr error = std::current_exception();
      if (!progress(0)) return false;
      why_not_executed_ = message_of(error);
      for (const Point& point : points_) fail(point, why_not_executed_);
      return false;
    }
  }

  /// Positions of the program's examples, of each machine under each policy at most so many.
  std::vector<size_t> some_examples() const {
    std::map<std::pair<size_t, size_t>, std::vector<size_t>> all;
    for (const size_t index : plan_.examples(program_)) {
      const PointPlace at = plan_.place(index);
      all[{at.machine, at.policy}].push_back(index);
    }
    std::vector<size_t> some;
    for (const auto& [at, examples] : all) {
      const size_t last = examples.size() - 1, many = std::min(last, kMostExamples - 1);
      for (size_t i = 0; i <= many; ++i) some.push_back(examples[many == 0 ? 0 : i * last / many]);
    }
    return some;
  }

  /// Needs of examples, those included that are not to be run: a point's parts do not depend on
  /// which others are.
  runtime::DivisionNeeds needs() {
    runtime::DivisionNeeds needs;
    for (const size_t at : some_examples()) {
      const Point point = plan_.points[at];
      if (!point.error.empty()) continue;
      const auto machine = plan_.machine(point);
      const auto policy = plan_.policy(point);
      add_needs({&recording_, machine.get(), policy.get()}, needs);
      if (!progress(0)) break;
    }
    return needs;
  }

  void add_needs(const sim::ReplayJob& job, runtime::DivisionNeeds& needs) {
    const runtime::DivisionNeeds own =
        sim::division_needs({&job, 1}, [this] { return progress(0); });
    needs.before = std::max(needs.before, own.before);
    needs.together = std::max(needs.together, own.together);
    needs.apart = needs.apart || own.apart;
    needs.by_load = needs.by_load || own.by_load;
    needs.resident.resize(own.resident.size());
    for (size_t i = 0; i < own.resident.size(); ++i)
      needs.resident[i] = std::max(needs.resident[i], own.resident[i]);
  }

  /// Between two portions of points. The first division is the examples'; those that points have of
  /// their own would be as many as there are points.
  void forget_divisions() {
    if (!divisions_.empty()) divisions_.erase(divisions_.begin() + 1, divisions_.end());
  }

  /// The examples' division, unless it does not suffice for the point.
  const runtime::Division* division_for(const sim::ReplayJob& job) {
    runtime::DivisionNeeds needs = needs_;
    add_needs(job, needs);
    return division_for(needs);
  }

  const runtime::Division* division_for(const runtime::DivisionNeeds& needs) {
    for (const auto& [of, division] : divisions_)
      if (of == needs) return &division;
    divisions_.emplace_back(
        needs, options_.divide ? options_.divide(recording_, needs) : runtime::Division());
    return &divisions_.back().second;
  }

  void finished(size_t job, sim::BatchOutcome outcome) override {
    if (outcome.stopped) return;
    const Point& point = points_[job];
    if (outcome.error != nullptr) {
      fail(point, message_of(outcome.error));
    } else {
      const double seconds = outcome.result->wall_seconds;
      costs_.add(point.program, point.machine, point.policy, work_of_jobs_[job], seconds);
      seconds_ += seconds;
      keep(point, result_line(plan_, point, std::move(*outcome.result)));
    }
    std::error_code ignored;  // a file that stays does no harm
    if (outcome.error == nullptr) std::filesystem::remove(jobs_[job].whole.checkpoint, ignored);
    job_is_done_[job] = true;
    work_of_jobs_[job] = 0;  // what is under way and what is left is counted by the others
    done_of_jobs_[job] = 0;
  }

  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    const uint64_t before = work_;
    for (size_t i = 0; i < work_of_jobs_.size() && i < warp_instructions.size(); ++i)
      if (!job_is_done_[i]) work_of_jobs_[i] = warp_instructions[i];
    work_ = std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t{0});
    *sizes_[program_] += work_ - before;
    cost_left_.reset();
  }

  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    for (size_t i = 0; i < done_of_jobs_.size() && i < warp_instructions.size(); ++i)
      done_of_jobs_[i] = std::min(warp_instructions[i], work_of_jobs_[i]);
  }

  bool progress(uint64_t warp_instructions) override {
    progress_.warp_instructions_done = before_ + warp_instructions;
    progress_.warp_instructions = expected();
    measure_cost();
    if (!surroundings_.progress(progress_)) outcome_.stopped = true;
    return !outcome_.stopped;
  }

  void measure_cost() {
    progress_.cost_done = progress_.cost = seconds_;
    for (size_t i = 0; i < done_of_jobs_.size(); ++i) {
      if (done_of_jobs_[i] == 0) continue;
      const Point& point = points_[i];
      progress_.cost_done += static_cast<double>(done_of_jobs_[i]) *
                             costs_.of(point.program, point.machine, point.policy);
    }
    if (!cost_left_.has_value()) cost_left_ = cost_left();
    progress_.cost += *cost_left_;
  }

  /// The cost of the points that are not done.
  double cost_left() const {
    double cost = 0;
    const double of_others = mean_work();
    for (size_t program = 0; program < todo_.size(); ++program) {
      const Todo& todo = todo_[program];
      const double work = sizes_[program].value_or(0) != 0 && program == program_
                              ? static_cast<double>(work_) / static_cast<double>(jobs_.size())
                              : of_others;
      for (const auto& [at, points] : todo.left)
        if (points != 0)
          cost += static_cast<double>(points) * work * costs_.of(program, at.first, at.second);
    }
    return cost;
  }

  void fail(const Point& point, const std::string& error) {
    keep(point, failure_line(plan_, point, error));
  }

  void keep(const Point& point, const std::string& line) {
    file_.append(line);
    surroundings_.finished(line);
    progress_.points_done += 1;
    outcome_.finished += 1;
    todo_[point.program].left[{point.machine, point.policy}] -= 1;
    cost_left_.reset();
  }

  /// Warp-instructions of all points to run.
  uint64_t expected() const {
    uint64_t known = still_to_come_, known_points = 0, unknown_points = 0;
    for (size_t i = 0; i < todo_.size(); ++i) {
      if (!sizes_[i].has_value()) {
        unknown_points += todo_[i].points;
      } else if (*sizes_[i] != 0) {
        known += *sizes_[i];
        known_points += todo_[i].points;
      }
    }
    if (known_points == 0) return 0;
    const double mean = static_cast<double>(known) / static_cast<double>(known_points);
    return known + static_cast<uint64_t>(mean * static_cast<double>(unknown_points));
  }

  /// Warp-instructions of a point of the programs that were executed, on the average.
  double mean_work() const {
    double work = static_cast<double>(still_to_come_), points = 0;
    for (size_t i = 0; i < todo_.size(); ++i) {
      if (sizes_[i].value_or(0) == 0) continue;
      work += static_cast<double>(*sizes_[i]);
      points += static_cast<double>(todo_[i].points);
    }
    return points == 0 ? 1 : work / points;
  }

  const Plan& plan_;
  const RunOptions& options_;
  sim::BatchRunner& runner_;
  Surroundings& surroundings_;
  ResultsFile& file_;
  std::vector<Todo> todo_;  ///< by program
  /// By program: warp-instructions of all of its points, once that is known.
  std::vector<std::optional<uint64_t>> sizes_;
  size_t program_ = 0;            ///< the one that runs
  size_t points_of_program_ = 0;  ///< that it has to run
  size_t points_begun_ = 0;       ///< of them, up to the batch that runs
  std::string why_not_executed_;
  std::vector<Point> points_;                          ///< of the batch that runs
  std::vector<sim::DividedJob> jobs_;                  ///< the same, as runs
  std::vector<uint64_t> work_of_jobs_, done_of_jobs_;  ///< warp-instructions; 0 of what has ended
  std::vector<bool> job_is_done_;
  std::vector<std::shared_ptr<const config::MachineConfig>> machines_;  ///< that they point to
  std::vector<std::shared_ptr<const config::PolicyConfig>> policies_;
  uint64_t work_ = 0;             ///< of the batch that runs, warp-instructions
  uint64_t still_to_come_ = 0;    ///< work of the program's later batches, as expected
  runtime::Recording recording_;  ///< of the program that runs
  runtime::DivisionNeeds needs_;  ///< of its examples
  /// Parts of the program that are simulated, by points' needs; they stay where they are.
  std::deque<std::pair<runtime::DivisionNeeds, runtime::Division>> divisions_;
  uint64_t before_ = 0;  ///< warp-instructions of earlier programs' points
  PointCosts costs_;
  double seconds_ = 0;               ///< that points took which are done
  std::optional<double> cost_left_;  ///< unless it has changed
  Progress progress_;
  Outcome outcome_;
};

}  // namespace

bool is_ours(const RunOptions& options, size_t index) {
  return options.shard.has(index) && !options.others.contains(index);
}

Outcome count_results(const Plan& plan, const RunOptions& options, const ResultsFile& file) {
  Outcome outcome;
  for (size_t i = 0; i < plan.points.size(); ++i) {
    if (!is_ours(options, i)) continue;
    outcome.points += 1;
    const ResultsFile::Entry* there = find_point(plan, file, i);
    if (there == nullptr) continue;
    outcome.already_there += 1;
    if (there->second.failed()) outcome.failed += 1;
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
