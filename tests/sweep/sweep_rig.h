// Small sweeps without simulation: definitions, and a runner that makes results up.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/mechanisms/tom/settings.h"
#include "host/timing/run/replay_batch.h"
#include "host/timing/sweep/run.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {

inline sweep::Definition definition(std::vector<std::string> sets = {},
                                    std::vector<std::string> programs = {"alpha"},
                                    std::vector<std::string> policies = {"baseline",
                                                                         "ndp-controlled-bmap"}) {
  sweep::Definition d;
  d.version = "1.2.3";
  for (const std::string& name : programs) d.programs.push_back({name, "small", "key of " + name});
  d.machines = {"tom"};
  d.policies = std::move(policies);
  for (const std::string& text : sets) d.axes.push_back(sweep::parse_axis(text));
  return d;
}

/// A result whose numbers follow from the configuration.
inline report::RunResult made_up(const sim::ReplayJob& system) {
  report::RunResult result;
  result.machine = system.machine->name;
  result.policy = system.policy->name;
  result.cycles = 1000 + system.machine->sm.warps +
                  100 * system.policy->table<tom::OffloadSettings>().load_miss_percent;
  result.thread_instructions = 32 * system.recording->warp_instructions;
  result.warp_instructions = system.recording->warp_instructions;
  result.link_use.available_ticks = 3;
  result.link_use.gpu_to_memory_busy_ticks = 1;
  result.wall_seconds = 0.5;
  result.counters.push_back({"sm.made_up", 7, "events", "Made up."});
  return result;
}

/// Makes results up, those of the last system first, and notes what it was given.
class FakeRunner final : public sim::BatchRunner {
 public:
  std::function<report::RunResult(const sim::ReplayJob&)> simulate = made_up;
  size_t ran = 0;
  std::vector<size_t> batches;  ///< sizes of the batches it was given

  void run(std::span<const sim::ReplayJob> systems, sim::BatchObserver& observer) override {
    batches.push_back(systems.size());
    for (size_t i = systems.size(); i-- > 0;) {
      if (!observer.progress(0)) return;
      sim::BatchOutcome outcome;
      try {
        outcome.result = simulate(systems[i]);
      } catch (...) {
        outcome.error = std::current_exception();
      }
      ran += 1;
      observer.finished(i, std::move(outcome));
    }
  }
};

/// Makes recordings of 100 warp-instructions, and stops the sweep once `stop_at` points are done.
class FakeSurroundings final : public sweep::Surroundings {
 public:
  size_t stop_at = static_cast<size_t>(-1);
  uint32_t launches = 0;  ///< launches of each recording
  std::vector<size_t> recorded;
  std::set<size_t> broken;  ///< programs that cannot be executed
  std::vector<sweep::Progress> seen;

  runtime::Recording recording(size_t program) override {
    recorded.push_back(program);
    if (broken.contains(program)) throw Error("it does not run");
    runtime::Recording recording;
    recording.warp_instructions = 100;
    recording.kernels = {std::make_shared<compiler::Kernel>()};
    recording.launches.resize(launches);
    for (runtime::LaunchRecord& l : recording.launches) l.warp_instructions = 100 / launches;
    return recording;
  }
  bool progress(const sweep::Progress& progress) override {
    seen.push_back(progress);
    return progress.points_done < stop_at;
  }
};

/// Runs a sweep into a file.
struct SweepRig {
  FakeRunner runner;
  FakeSurroundings surroundings;
  sweep::RunOptions options;

  sweep::Outcome run(const sweep::Plan& plan, const std::string& path) {
    sweep::ResultsFile file(path);
    return sweep::run_sweep(plan, options, runner, surroundings, file);
  }
};

}  // namespace nearwarp::testing
