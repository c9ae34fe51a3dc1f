// The public interface's runs: one that can be stopped, and many side by side.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/core/workers.h"
#include "host/timing/run/cpu_run.h"
#include "host/timing/run/cuda_devices.h"
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
  Batch(size_t size, const BatchOptions& options, uint64_t work) : options_(options), work_(work) {
    results_.reserve(size);
    for (size_t i = 0; i < size; ++i)
      results_.emplace_back(failure_of("not begun: progress() stopped the batch before"));
  }
  void finished(size_t at, sim::BatchOutcome outcome) override {
    if (outcome.error != nullptr)
      results_[at] = failure_of(outcome.error);
    else if (outcome.result.has_value())
      results_[at] = result_of(*outcome.result);
    if (options_.finished) options_.finished(at, results_[at]);
  }
  bool progress(uint64_t warp_instructions) override {
    return !options_.progress || options_.progress({0, warp_instructions, work_});
  }
  std::vector<Expected<Result>> take() { return std::move(results_); }

 private:
  const BatchOptions& options_;
  uint64_t work_;
  std::vector<Expected<Result>> results_;
};

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

}  // namespace

std::vector<Expected<Result>> run_all(std::span<const Point> points, const BatchOptions& options) {
  std::vector<sim::ReplayJob> jobs;
  uint64_t work = 0;
  for (const Point& p : points) {
    jobs.push_back({.recording = &Access::of(p.program).recording,
                    .machine = &Access::of(p.machine).config,
                    .policy = &Access::of(p.policy).config});
    work += work_of(jobs.back());
  }
  Batch batch(points.size(), options, work);
  const Expected<Done> done = guarded([&] {
    if (!jobs.empty()) runner_of(options)->run(jobs, batch);
    return Done{};
  });
  std::vector<Expected<Result>> results = batch.take();
  if (!done)
    for (Expected<Result>& r : results)
      if (!r) r = done.failure();
  return results;
}

}  // namespace nearwarp
