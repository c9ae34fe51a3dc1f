// The public interface's many runs side by side.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>

#include "host/api/backend.h"
#include "host/api/by_caller.h"
#include "host/api/cost_scale.h"
#include "host/api/failure.h"
#include "host/api/looker.h"
#include "host/api/state.h"
#include "host/api/time_left.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/divided_batch.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/run/launch_part.h"
#include "host/timing/timeline/follow.h"
#include "host/timing/timeline/timeline.h"
#include "host/timing/timeline/watchers.h"

namespace nearwarp {
namespace {

RunOf of_point(const Point& p) {
  return {Access::shared(p.program), Access::shared(p.machine), Access::shared(p.policy)};
}

sim::ReplayJob job_of(const Point& p) {
  return {.recording = &Access::of(p.program).recording,
          .machine = &Access::of(p.machine).config,
          .policy = &Access::of(p.policy).config};
}

/// The observers that look at a run while it goes on.
class Watched {
 public:
  explicit Watched(const BatchOptions& options) {
    if (!options.follow.empty())
      watchers_.add(
          (follow_ = timeline::make_follower(timeline::parse_followed(options.follow))).get());
    if (!options.timeline.has_value()) return;
    const TimelineOptions& t = *options.timeline;
    // It comes last: it has what the other has found.
    watchers_.add(&timeline_.emplace(
        timeline::Options{.path = t.path, .from = t.from, .to = t.to, .interval = t.interval}));
    if (follow_ != nullptr)
      timeline_->also(
          [this](timeline::TraceWriter& out) { follow_->write(out, timeline::kAlsoPid); });
  }
  bool wanted() const { return !watchers_.empty(); }
  sim::RunWatcher* watcher() { return &watchers_; }
  std::string followed() const { return follow_ != nullptr ? follow_->text() : ""; }
  std::string summary() const { return timeline_.has_value() ? timeline_->summary() : ""; }

 private:
  timeline::Watchers watchers_;
  std::unique_ptr<timeline::Follower> follow_;
  std::optional<timeline::Timeline> timeline_;
};

void check_options(const BatchOptions& options) {
  if (options.backend != "cpu" && options.backend != "cuda")
    throw UsageError(
        fmt::format("there is no backend '{}' - \"cpu\" or \"cuda\"", options.backend));
  const bool divided = launch_choice(options).given;
  if (!options.follow.empty()) timeline::parse_followed(options.follow);
  const bool watched = options.timeline.has_value() || !options.follow.empty();
  if ((watched || options.look) && (divided || options.backend != "cpu"))
    throw UsageError(
        "timeline, follow and look are of whole programs on the CPU - leave launches and sample "
        "out, and take backend \"cpu\"");
  if (divided && !options.checkpoints.empty())
    throw UsageError("checkpoints are of whole programs - leave launches and sample out");
  if (watched && (options.look || !options.checkpoints.empty()))
    throw UsageError("timeline and follow go with neither look nor checkpoints - leave these out");
}

void told(const BatchOptions& options, const std::string& message) {
  by_caller([&] { options.tell(message); });
}

/// The part of each program that is simulated, the same for all of its points.
class Divisions {
 public:
  Divisions(std::span<const Point> points, const BatchOptions& options)
      : points_(points), options_(options), choice_(launch_choice(options)) {}

  /// Null: all of it. A failure if the program has no such launches.
  Expected<const runtime::Division*> of(const Point& point) {
    const Program::State& program = Access::of(point.program);
    if (!choice_.given || !sim::why_no_parts(Access::of(point.policy).config).empty())
      return nullptr;
    auto at = of_.find(&program);
    if (at == of_.end()) {
      at = of_.emplace(&program, guarded([&] {
                return sim::division_of(choice_, program.recording, needs(program));
              }))
               .first;
      if (at->second) tell(program, at->second.value());
    }
    if (!at->second) return at->second.failure();
    return &at->second.value();
  }

 private:
  runtime::DivisionNeeds needs(const Program::State& program) const {
    std::vector<sim::ReplayJob> jobs;
    for (const Point& p : points_)
      if (&Access::of(p.program) == &program) jobs.push_back(job_of(p));
    return sim::division_needs(jobs, [this] {
      return !options_.progress || by_caller([&] { return options_.progress({}); });
    });
  }
  void tell(const Program::State& program, const runtime::Division& division) const {
    if (!options_.tell) return;
    if (choice_.sample != 0 && division.parts.empty())
      told(options_,
           fmt::format("a sample of {} for this error would be more than half of the work: all of "
                       "it is simulated, exactly",
                       program.name));
    for (const std::string& why : division.undivided)
      told(options_, fmt::format("not sampled inside: {}", why));
  }

  std::span<const Point> points_;
  const BatchOptions& options_;
  sim::LaunchChoice choice_;
  /// These stay in place.
  std::map<const Program::State*, Expected<runtime::Division>> of_;
};

/// The scale of divided programs, and of runs without BatchOptions::time_left.
const std::shared_ptr<const CostScale> kAllAlike = std::make_shared<const CostScale>();

/// Hands outcomes on to the caller's functions.
class Batch final : public sim::BatchObserver {
 public:
  Batch(std::span<const Point> points, const BatchOptions& options)
      : points_(points), options_(options), done_(points.size()), work_(points.size()) {
    results_.reserve(points.size());
    for (size_t i = 0; i < points.size(); ++i)
      results_.emplace_back(
          failure_of("not begun: progress() stopped the batch before", Failure::Kind::kStopped));
  }
  /// The next job of the batch is this point.
  void add(size_t point, const sim::DividedJob& job) {
    point_of_.push_back(point);
    work_[point] = work_of(job);
    checkpoints_.push_back(job.whole.checkpoint);
    const bool divided = job.division != nullptr && !job.division->parts.empty();
    scales_.push_back(options_.time_left && !divided ? scale_of(points_[point]) : kAllAlike);
  }
  void begin() { left_ = TimeLeftOfAll(work_of_jobs(), scales_); }
  void ended(size_t point, Expected<Result> result) {
    results_[point] = std::move(result);
    failed_ |= !results_[point];
    tell_of(point);
  }
  void finished(size_t job, sim::BatchOutcome outcome) override {
    const size_t point = point_of_[job];
    stopped_ |= outcome.stopped;
    if (outcome.error != nullptr)
      ended(point, failure_of(outcome.error));
    else if (outcome.result.has_value())
      ended(point, result_of(std::move(*outcome.result), of_point(points_[point])));
    else
      tell_of(point);
  }
  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    for (size_t job = 0; job < warp_instructions.size(); ++job)
      work_[point_of_[job]] = warp_instructions[job];
    begin();
  }
  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    for (size_t job = 0; job < warp_instructions.size(); ++job)
      done_[point_of_[job]] = warp_instructions[job];
    if (options_.time_left)
      left_.update(std::chrono::duration<double>(Clock::now() - begun_).count(), warp_instructions);
  }
  bool progress(uint64_t warp_instructions) override {
    if (!options_.progress) return true;
    const uint64_t all = std::accumulate(work_.begin(), work_.end(), uint64_t{0});
    const Progress progress = {.cycles = 0,
                               .warp_instructions = warp_instructions,
                               .warp_instructions_total = all,
                               .of_each = done_,
                               .total_of_each = work_,
                               .seconds_left = options_.time_left ? left_.seconds() : std::nullopt};
    const bool goes_on = by_caller([&] { return options_.progress(progress); });
    stopped_ |= !goes_on;
    return goes_on;
  }
  /// States of runs are of no more use.
  void remove_checkpoints() const {
    std::error_code ignored;  // a file that stays does no harm
    if (failed_ || stopped_) return;
    for (const std::string& file : checkpoints_) std::filesystem::remove(file, ignored);
  }
  std::vector<Expected<Result>> take() { return std::move(results_); }

 private:
  using Clock = std::chrono::steady_clock;

  void tell_of(size_t point) const {
    if (options_.finished) by_caller([&] { options_.finished(point, results_[point]); });
  }
  /// Points of one program and machine share it.
  std::shared_ptr<const CostScale> scale_of(const Point& point) {
    const Program::State& program = Access::of(point.program);
    const Machine::State& machine = Access::of(point.machine);
    std::shared_ptr<const CostScale>& scale = scale_of_[{&program, &machine}];
    if (scale == nullptr)
      scale = std::make_shared<const CostScale>(program.recording, machine.config);
    return scale;
  }
  std::vector<uint64_t> work_of_jobs() const {
    std::vector<uint64_t> work;
    for (const size_t point : point_of_) work.push_back(work_[point]);
    return work;
  }

  std::span<const Point> points_;
  const BatchOptions& options_;
  std::vector<size_t> point_of_;                          ///< by job
  std::vector<std::string> checkpoints_;                  ///< by job
  std::vector<std::shared_ptr<const CostScale>> scales_;  ///< by job
  std::map<std::pair<const Program::State*, const Machine::State*>,
           std::shared_ptr<const CostScale>>
      scale_of_;
  std::vector<uint64_t> done_, work_;  ///< warp-instructions, by point
  TimeLeftOfAll left_{{}};
  Clock::time_point begun_ = Clock::now();
  bool failed_ = false, stopped_ = false;
  std::vector<Expected<Result>> results_;
};

/// Simulates the points, and hands what came of them to `batch`.
void simulate(std::span<const Point> points, const BatchOptions& options, Batch& batch,
              Watched& watched) {
  const std::unique_ptr<sim::BatchRunner> runner = batch_runner(options);
  Divisions divisions(points, options);
  std::vector<std::unique_ptr<Looker>> lookers;
  std::vector<sim::DividedJob> jobs;
  for (size_t i = 0; i < points.size(); ++i) {
    const Expected<const runtime::Division*> division = divisions.of(points[i]);
    if (!division) {
      batch.ended(i, division.failure());
      continue;
    }
    sim::DividedJob& job = jobs.emplace_back();
    job = {.whole = job_of(points[i]), .division = division.value()};
    if (watched.wanted()) job.whole.watcher = watched.watcher();
    if (options.look) {
      const auto show = [&options, i, of = of_point(points[i])](const report::RunResult& run,
                                                                bool over) {
        by_caller([&] { options.look(i, result_of(run, of, JsonText::kLeftOut), over); });
      };
      job.whole.watcher = lookers.emplace_back(std::make_unique<Looker>(show)).get();
    }
    if (!options.checkpoints.empty())
      job.whole.checkpoint = sim::checkpoint_path(options.checkpoints, job.whole);
    batch.add(i, job);
  }
  if (jobs.empty()) return;
  batch.begin();
  run_divided(*runner, jobs, batch);
  batch.remove_checkpoints();
}

}  // namespace

Expected<Done> check(const BatchOptions& options) {
  return guarded([&] {
    check_options(options);
    return Done{};
  });
}

std::vector<Expected<Result>> run_all(std::span<const Point> points, const BatchOptions& options) {
  Batch batch(points, options);
  std::string followed;
  const Expected<Done> done = guarded([&] {
    check_options(options);
    Watched watched(options);
    if (watched.wanted() && points.size() != 1)
      throw UsageError(
          fmt::format("a timeline, or a warp that is followed, is of one point, and there are {}",
                      points.size()));
    simulate(points, options, batch, watched);
    followed = watched.followed();
    if (options.tell && !watched.summary().empty()) told(options, watched.summary());
    return Done{};
  });
  std::vector<Expected<Result>> results = batch.take();
  for (Expected<Result>& r : results) {
    if (!r && !done) r = done.failure();
    if (r) r->followed = followed;
  }
  return results;
}

}  // namespace nearwarp
