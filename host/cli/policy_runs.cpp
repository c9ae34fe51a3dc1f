// Simulates one recording under several policies, whole systems side by side.
#include "host/cli/policy_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <numeric>
#include <optional>

#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/cli/time_left.h"
#include "host/timing/report/parts.h"
#include "host/timing/run/checkpoint.h"

namespace nearwarp::cli {
namespace {

/// Keeps outcomes by policy and draws the progress bar; stops everything at the first error.
class PolicyRuns final : public sim::BatchObserver {
 public:
  PolicyRuns(const runtime::Recording& recording, const std::vector<config::PolicyConfig>& policies,
             const std::vector<uint64_t>& work)
      : outcomes_(work.size()),
        total_(std::accumulate(work.begin(), work.end(), uint64_t{0})),
        left_(work),
        bar_(policies.size() == 1
                 ? fmt::format("{} under {}", recording.name, policies.front().name)
                 : fmt::format("{} under {} policies", recording.name, policies.size())) {}

  void finished(size_t system, sim::BatchOutcome outcome) override {
    failed_ = failed_ || outcome.error != nullptr;
    outcomes_[system] = std::move(outcome);
  }

  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_);
    left_.update(seconds.count(), warp_instructions);
  }

  bool progress(uint64_t warp_instructions) override {
    bar_.update(warp_instructions, total_, left_.seconds());
    return !failed_ && !interrupted();
  }

  /// Of every `each` systems, which are parts of one run.
  std::vector<report::RunResult> results(const config::MachineConfig& machine, size_t each) {
    std::vector<report::RunResult> finished, parts;
    for (size_t i = 0; i < outcomes_.size(); ++i) {
      sim::BatchOutcome& outcome = outcomes_[i];
      if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
      if (outcome.result.has_value()) parts.push_back(std::move(*outcome.result));
      if ((i + 1) % each != 0) continue;
      if (each == 1 && parts.size() == 1)
        finished.push_back(std::move(parts[0]));
      else if (parts.size() == each)
        finished.push_back(report::joined(machine, parts));
      parts.clear();
    }
    return finished;
  }

 private:
  std::vector<sim::BatchOutcome> outcomes_;
  uint64_t total_;
  TimeLeftOfAll left_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool failed_ = false;
  ProgressBar bar_;
};

}  // namespace

std::vector<report::RunResult> run_policies(const runtime::Recording& recording,
                                            const config::MachineConfig& machine,
                                            const std::vector<config::PolicyConfig>& policies,
                                            sim::BatchRunner& runner,
                                            const std::string& checkpoints,
                                            sim::RunWatcher* watcher,
                                            std::span<const runtime::LaunchPart> parts) {
  std::vector<sim::ReplayJob> systems;
  std::vector<uint64_t> work;  // warp-instructions, by system
  for (const config::PolicyConfig& policy : policies) {
    const sim::ReplayJob whole = {
        .recording = &recording, .machine = &machine, .policy = &policy, .watcher = watcher};
    if (parts.empty()) {
      systems.push_back(whole);
      work.push_back(recording.warp_instructions);
    }
    for (const runtime::LaunchPart& part : parts) {
      systems.push_back(whole);
      systems.back().part = part;
      work.push_back(0);
      for (uint32_t i = part.begin; i < part.end; ++i)
        work.back() += recording.launches[i].warp_instructions;
    }
  }
  if (!checkpoints.empty())
    for (sim::ReplayJob& system : systems)
      system.checkpoint = sim::checkpoint_path(checkpoints, system);
  PolicyRuns runs(recording, policies, work);
  runner.run(systems, runs);
  std::vector<report::RunResult> results = runs.results(machine, std::max<size_t>(1, parts.size()));
  std::error_code ignored;  // a file that stays does no harm
  if (!interrupted())
    for (const sim::ReplayJob& system : systems)
      std::filesystem::remove(system.checkpoint, ignored);
  return results;
}

}  // namespace nearwarp::cli
