// The public interface's runs: one that can be stopped, and many side by side.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/core/workers.h"
#include "host/timing/run/cpu_run.h"
#include "host/timing/run/cuda_devices.h"
#include "host/timing/run/divided_batch.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/run/launch_part.h"
#include "host/timing/run/models_hash.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp {

std::string version() { return fmt::format("{}+{:.8}", NW_VERSION, sim::models_hash); }

struct Simulation::State {
  // What the run points to.
  std::shared_ptr<const Program::State> program;
  std::shared_ptr<const Machine::State> machine;
  std::shared_ptr<const Policy::State> policy;
  SimulationOptions options;
  std::unique_ptr<sim::CpuRun> run;
  std::optional<report::RunResult> result;  ///< once the program has ended
  std::optional<Failure> failure;           ///< after which it cannot go on

  sim::ReplayJob job() const {
    return {.recording = &program->recording,
            .machine = &machine->config,
            .policy = &policy->config,
            .checkpoint = options.checkpoint};
  }
  sim::SimOptions sim_options() const {
    sim::SimOptions o;
    o.threads = std::max(1u, options.threads);
    if (options.progress)
      o.progress = [this](const sim::Progress& p) {
        return options.progress({p.cycles, p.warp_instructions_done, p.warp_instructions_total});
      };
    return o;
  }
  Expected<Done> step(const sim::StopAt& until) {
    if (failure.has_value()) return *failure;
    if (result.has_value()) return Done{};
    Expected<Done> done = guarded([&] {
      if (run->step(until) == sim::Stepped::kEnded) result = run->end();
      return Done{};
    });
    if (!done) failure = done.failure();
    return done;
  }
  report::RunResult now() { return result.has_value() ? *result : run->so_far(); }
};

Simulation::Simulation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

Expected<Simulation> Simulation::begin(const Program& program, const Machine& machine,
                                       const Policy& policy, SimulationOptions options) {
  return guarded([&] {
    auto state = std::make_unique<State>();
    state->program = Access::shared(program);
    state->machine = Access::shared(machine);
    state->policy = Access::shared(policy);
    state->options = std::move(options);
    state->run = std::make_unique<sim::CpuRun>(state->job(), state->sim_options());
    return Simulation(std::move(state));
  });
}

Expected<Done> Simulation::run() { return state_->step({}); }

Expected<Done> Simulation::run_to_cycle(uint64_t cycle) {
  return state_->step({.tick = state_->run->tick_of(cycle)});
}

Expected<Done> Simulation::run_to_launch(uint64_t launches) {
  return state_->step({.launches = launches});
}

bool Simulation::ended() const { return state_->result.has_value(); }
uint64_t Simulation::cycles() const {
  return ended() ? state_->result->cycles : state_->run->cycles();
}
uint64_t Simulation::launches_ended() const { return state_->run->launches_ended(); }

Expected<uint64_t> Simulation::counter(std::string_view name) const {
  return counter_of(state_->now(), name);
}
Result Simulation::result() const { return result_of(state_->now()); }

Expected<Done> Simulation::save() {
  return guarded([&] {
    if (state_->options.checkpoint.empty())
      throw UsageError(
          "there is no file for the run's state - name one as "
          "SimulationOptions::checkpoint");
    if (!ended()) state_->run->save();
    return Done{};
  });
}

namespace {

/// Hands outcomes on to the caller's functions.
class Batch final : public sim::BatchObserver {
 public:
  Batch(size_t size, const BatchOptions& options) : options_(options) {
    results_.reserve(size);
    for (size_t i = 0; i < size; ++i)
      results_.emplace_back(failure_of("not begun: progress() stopped the batch before"));
  }
  /// The next job of the batch is this point.
  void add(size_t point, const sim::DividedJob& job) {
    points_.push_back(point);
    work_ += work_of(job);
  }
  void ended(size_t point, Expected<Result> result) {
    results_[point] = std::move(result);
    if (options_.finished) options_.finished(point, results_[point]);
  }
  void finished(size_t job, sim::BatchOutcome outcome) override {
    if (outcome.error != nullptr)
      ended(points_[job], failure_of(outcome.error));
    else if (outcome.result.has_value())
      ended(points_[job], result_of(*outcome.result));
    else if (options_.finished)
      options_.finished(points_[job], results_[points_[job]]);
  }
  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    work_ = std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t{0});
  }
  bool progress(uint64_t warp_instructions) override {
    return !options_.progress || options_.progress({0, warp_instructions, work_});
  }
  std::vector<Expected<Result>> take() { return std::move(results_); }

 private:
  const BatchOptions& options_;
  std::vector<size_t> points_;  ///< by job
  uint64_t work_ = 0;           ///< of all of them
  std::vector<Expected<Result>> results_;
};

sim::ReplayJob job_of(const Point& p) {
  return {.recording = &Access::of(p.program).recording,
          .machine = &Access::of(p.machine).config,
          .policy = &Access::of(p.policy).config};
}

std::unique_ptr<sim::BatchRunner> runner_of(const BatchOptions& options) {
  if (options.backend == "cpu") {
    return std::make_unique<sim::CpuBatch>(options.threads == 0 ? processors() : options.threads);
  }
  if (options.backend != "cuda")
    throw UsageError(
        fmt::format("there is no backend '{}' - \"cpu\" or \"cuda\"", options.backend));
  std::string why;
  const auto devices = sim::cuda_devices(why);
  if (devices.empty())
    throw Error(fmt::format("there is no CUDA device: {} - use backend \"cpu\"", why));
  if (options.device < 0 || static_cast<size_t>(options.device) >= devices.size())
    throw UsageError(
        fmt::format("there is no CUDA device {} - 0 to {}", options.device, devices.size() - 1));
  return sim::open_cuda_batch(options.device, {});
}

sim::LaunchChoice choice_of(const BatchOptions& options) {
  if (!options.launches.empty() && !options.sample.empty())
    throw UsageError("launches and sample are two ways of one thing - give one of them");
  sim::LaunchChoice choice;
  if (!options.sample.empty())
    choice = sim::parse_sample(options.sample, "sample");
  else if (!options.launches.empty())
    choice = sim::parse_launches(options.launches, "launches");
  else if (options.cold_caches)
    throw UsageError("cold_caches is for launches and sample - leave it out");
  if (choice.given && options.backend != "cpu")
    throw UsageError("launches and sample work on the CPU - take backend \"cpu\"");
  choice.warm = !options.cold_caches;
  return choice;
}

/// What of each program is simulated, for all of its points alike.
class Divisions {
 public:
  Divisions(std::span<const Point> points, const BatchOptions& options)
      : points_(points), options_(options), choice_(choice_of(options)) {}

  /// Null: all of it. A failure if the program has no such launches.
  Expected<const runtime::Division*> of(const Point& point) {
    const runtime::Recording& recording = Access::of(point.program).recording;
    if (!choice_.given || !sim::why_no_parts(Access::of(point.policy).config).empty())
      return nullptr;
    auto at = of_.find(&recording);
    if (at == of_.end())
      at = of_.emplace(&recording, guarded([&] {
                return sim::division_of(choice_, recording, needs(recording));
              }))
               .first;
    if (!at->second) return at->second.failure();
    return &at->second.value();
  }

 private:
  runtime::DivisionNeeds needs(const runtime::Recording& recording) const {
    std::vector<sim::ReplayJob> jobs;
    for (const Point& p : points_)
      if (&Access::of(p.program).recording == &recording) jobs.push_back(job_of(p));
    return sim::division_needs(jobs,
                               [this] { return !options_.progress || options_.progress({}); });
  }

  std::span<const Point> points_;
  const BatchOptions& options_;
  sim::LaunchChoice choice_;
  std::map<const runtime::Recording*, Expected<runtime::Division>> of_;  ///< which stay in place
};

}  // namespace

std::vector<Expected<Result>> run_all(std::span<const Point> points, const BatchOptions& options) {
  Batch batch(points.size(), options);
  const Expected<Done> done = guarded([&] {
    const std::unique_ptr<sim::BatchRunner> runner = runner_of(options);
    Divisions divisions(points, options);
    std::vector<sim::DividedJob> jobs;
    for (size_t i = 0; i < points.size(); ++i) {
      const Expected<const runtime::Division*> division = divisions.of(points[i]);
      if (!division) {
        batch.ended(i, division.failure());
        continue;
      }
      jobs.push_back({.whole = job_of(points[i]), .division = division.value()});
      batch.add(i, jobs.back());
    }
    if (!jobs.empty()) run_divided(*runner, jobs, batch);
    return Done{};
  });
  std::vector<Expected<Result>> results = batch.take();
  if (!done)
    for (Expected<Result>& r : results)
      if (!r) r = done.failure();
  return results;
}

}  // namespace nearwarp
