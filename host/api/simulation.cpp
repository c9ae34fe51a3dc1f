// The public interface's Simulation: a run that can be stopped and resumed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/api/turns.h"
#include "host/timing/run/cpu_run.h"
#include "host/timing/run/models_hash.h"

namespace nearwarp {

std::string version() { return fmt::format("{}+{:.8}", NW_VERSION, sim::models_hash); }

struct Simulation::State {
  RunOf of;  ///< keeps alive what the run points to
  SimulationOptions options;
  std::unique_ptr<sim::CpuRun> run;
  std::optional<report::RunResult> result;  ///< set once the program has ended
  std::optional<Failure> failure;           ///< set once the run cannot go on
  std::exception_ptr thrown;                ///< what progress() threw to stop the run
  Turns turns{"the simulation is running"};
  /// The state of the run when progress() was last called, which other threads may read.
  std::atomic<uint64_t> cycles = 0, launches = 0;
  std::atomic<bool> ended = false;

  sim::ReplayJob job() const {
    return {.recording = &of.program->recording,
            .machine = &of.machine->config,
            .policy = &of.policy->config,
            .checkpoint = options.checkpoint};
  }
  sim::SimOptions sim_options() {
    sim::SimOptions o;
    o.threads = std::max(1u, options.threads);
    o.progress = [this](const sim::Progress& p) {
      tell();
      if (!options.progress) return true;
      try {
        return by_caller([&] {
          return options.progress({p.cycles, p.warp_instructions_done, p.warp_instructions_total});
        });
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
    };
    return o;
  }
  /// Sets the members that other threads may read.
  void tell() {
    cycles = result.has_value() ? result->cycles : run->cycles();
    launches = run->launches_ended();
    ended = result.has_value();
  }
  Expected<Done> step(const sim::StopAt& until) {
    return guarded([&] { return turns.work([&] { return step_now(until); }); });
  }
  Expected<Done> step_now(const sim::StopAt& until) {
    if (failure.has_value()) return *failure;
    if (result.has_value()) return Done{};
    thrown = nullptr;
    Expected<Done> done = guarded([&] {
      if (run->step(until) == sim::Stepped::kEnded) result = run->end();
      return Done{};
    });
    tell();
    if (!done) failure = done.failure();
    if (thrown != nullptr) return failure_of(thrown);
    return done;
  }
  report::RunResult now() { return result.has_value() ? *result : run->so_far(); }
};

Simulation::Simulation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

Simulation::State& Simulation::state() const {
  if (state_ == nullptr) throw EmptyObject();
  return *state_;
}

Expected<Simulation> Simulation::begin(const Program& program, const Machine& machine,
                                       const Policy& policy, SimulationOptions options) {
  return guarded([&] {
    auto state = std::make_unique<State>();
    state->of = {Access::shared(program), Access::shared(machine), Access::shared(policy)};
    state->options = std::move(options);
    state->run = std::make_unique<sim::CpuRun>(state->job(), state->sim_options());
    state->tell();
    return Simulation(std::move(state));
  });
}

Expected<Done> Simulation::run() { return state().step({}); }

Expected<Done> Simulation::run_to_cycle(uint64_t cycle) {
  return state().step({.tick = state().run->tick_of(cycle)});
}

Expected<Done> Simulation::run_to_launch(uint64_t launches) {
  return state().step({.launches = launches});
}

bool Simulation::ended() const { return state().ended; }
uint64_t Simulation::cycles() const { return state().cycles; }
uint64_t Simulation::launches_ended() const { return state().launches; }

Expected<uint64_t> Simulation::counter(std::string_view name) const {
  return guarded([&] {
    return state().turns.look([&] {
      if (state().result.has_value()) return counter_of(*state().result, name);
      return counter_of(state().run->so_far(), name);
    });
  });
}

Expected<Result> Simulation::now() const {
  return guarded(
      [&] { return state().turns.look([&] { return result_of(state().now(), state().of); }); });
}
Result Simulation::result() const { return now().value(); }

Expected<Done> Simulation::save() {
  return guarded([&] {
    return state().turns.look([&] {
      if (state().options.checkpoint.empty())
        throw UsageError(
            "there is no file for the run's state - name one as "
            "SimulationOptions::checkpoint");
      if (!state().result.has_value()) state().run->save();
      return Done{};
    });
  });
}

}  // namespace nearwarp
