// Simulates one recording under several policies, whole systems side by side.
#include "host/cli/policy_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include "host/cli/cost_scale.h"
#include "host/cli/interrupt.h"
#include "host/cli/live/page.h"
#include "host/cli/progress_bar.h"
#include "host/cli/time_left.h"
#include "host/timing/run/checkpoint.h"

namespace nearwarp::cli {
namespace {

/// Keeps outcomes by policy and draws the progress bar; stops everything at the first error.
class PolicyRuns final : public sim::BatchObserver {
 public:
  PolicyRuns(const runtime::Recording& recording, const std::vector<config::PolicyConfig>& policies,
             const std::vector<uint64_t>& work, CostScale scale, LivePage* live)
      : outcomes_(work.size()),
        total_(std::accumulate(work.begin(), work.end(), uint64_t{0})),
        scale_(std::make_shared<const CostScale>(std::move(scale))),
        left_(work, scale_),
        live_(live),
        bar_(policies.size() == 1
                 ? fmt::format("{} under {}", recording.name, policies.front().name)
                 : fmt::format("{} under {} policies", recording.name, policies.size())) {}

  void finished(size_t policy, sim::BatchOutcome outcome) override {
    failed_ = failed_ || outcome.error != nullptr;
    outcomes_[policy] = std::move(outcome);
  }

  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_);
    left_.update(seconds.count(), warp_instructions);
    if (live_ != nullptr) live_->view().progress(warp_instructions, left_.seconds());
  }

  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    total_ = std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t{0});
    left_ = TimeLeftOfAll({warp_instructions.begin(), warp_instructions.end()}, scale_);
  }

  bool progress(uint64_t warp_instructions) override {
    bar_.update(warp_instructions, total_, left_.seconds());
    return !failed_ && !interrupted();
  }

  std::vector<report::RunResult> results() {
    std::vector<report::RunResult> finished;
    for (sim::BatchOutcome& outcome : outcomes_) {
      if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
      if (outcome.result.has_value()) finished.push_back(std::move(*outcome.result));
    }
    return finished;
  }

 private:
  std::vector<sim::BatchOutcome> outcomes_;
  uint64_t total_;
  std::shared_ptr<const CostScale> scale_;
  TimeLeftOfAll left_;
  LivePage* live_;
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
                                            const runtime::Division& division, LivePage* live) {
  std::vector<sim::DividedJob> jobs;
  std::vector<uint64_t> work;  // warp-instructions, by policy
  for (const config::PolicyConfig& policy : policies) {
    sim::DividedJob& job = jobs.emplace_back();
    job.whole = {
        .recording = &recording, .machine = &machine, .policy = &policy, .watcher = watcher};
    if (live != nullptr) job.whole.watcher = live->view().watcher(work.size());
    if (!checkpoints.empty()) job.whole.checkpoint = sim::checkpoint_path(checkpoints, job.whole);
    job.division = &division;
    work.push_back(work_of(job));
  }
  if (live != nullptr) live->view().begin(recording.name, work);
  // Where the program is divided, progress is that of its parts together.
  const bool watched = live != nullptr || isatty(STDERR_FILENO) != 0;
  PolicyRuns runs(recording, policies, work,
                  watched && division.parts.empty() ? CostScale(recording, machine) : CostScale(),
                  live);
  run_divided(runner, jobs, runs);
  std::vector<report::RunResult> results = runs.results();
  std::error_code ignored;  // a file that stays does no harm
  if (!interrupted())
    for (const sim::DividedJob& job : jobs) std::filesystem::remove(job.whole.checkpoint, ignored);
  return results;
}

}  // namespace nearwarp::cli
