// The public interface's run that can be stopped and gone on with.
#include <fmt/format.h>

#include <algorithm>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/timing/run/cpu_run.h"
#include "host/timing/run/models_hash.h"

namespace nearwarp {

std::string version() { return fmt::format("{}+{:.8}", NW_VERSION, sim::models_hash); }

struct Simulation::State {
  RunOf of;  ///< what the run points to
  SimulationOptions options;
  std::unique_ptr<sim::CpuRun> run;
  std::optional<report::RunResult> result;  ///< once the program has ended
  std::optional<Failure> failure;           ///< after which it cannot go on

  sim::ReplayJob job() const {
    return {.recording = &of.program->recording,
            .machine = &of.machine->config,
            .policy = &of.policy->config,
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

bool Simulation::ended() const { return state().result.has_value(); }
uint64_t Simulation::cycles() const {
  return ended() ? state().result->cycles : state().run->cycles();
}
uint64_t Simulation::launches_ended() const { return state().run->launches_ended(); }

Expected<uint64_t> Simulation::counter(std::string_view name) const {
  if (state().result.has_value()) return counter_of(*state().result, name);
  return counter_of(state().run->so_far(), name);
}
Result Simulation::result() const { return result_of(state().now(), state().of); }

Expected<Done> Simulation::save() {
  return guarded([&] {
    if (state().options.checkpoint.empty())
      throw UsageError(
          "there is no file for the run's state - name one as "
          "SimulationOptions::checkpoint");
    if (!ended()) state().run->save();
    return Done{};
  });
}

}  // namespace nearwarp
