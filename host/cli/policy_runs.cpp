// Simulates one recording under several policies, whole systems in parallel.
#include "host/cli/policy_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/sim/simulate.h"

namespace nearwarp::cli {
namespace {

class PolicyRuns {
 public:
  PolicyRuns(const runtime::Recording& recording, const config::MachineConfig& machine,
             const std::vector<config::PolicyConfig>& policies, unsigned threads)
      : recording_(recording),
        machine_(machine),
        policies_(policies),
        results_(policies.size()),
        errors_(policies.size()),
        done_(policies.size()),
        bar_(policies.size() == 1
                 ? fmt::format("{} under {}", recording.name, policies.front().name)
                 : fmt::format("{} under {} policies", recording.name, policies.size())) {
    const auto systems = static_cast<unsigned>(policies.size());
    workers_ = std::clamp(threads, 1u, systems);
    threads_per_system_ = std::max(1u, threads / workers_);
  }

  std::vector<report::RunResult> run() {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < workers_; ++i) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    for (const std::exception_ptr& error : errors_) {
      if (error != nullptr) std::rethrow_exception(error);
    }
    std::vector<report::RunResult> finished;
    for (auto& result : results_) {
      if (result.has_value()) finished.push_back(std::move(*result));
    }
    return finished;
  }

 private:
  void work() {
    for (size_t i = next_++; i < policies_.size() && !stopping(); i = next_++) {
      try {
        sim::SimOptions options;
        options.threads = threads_per_system_;
        options.progress = [this, i](const sim::Progress& progress) {
          done_[i].store(progress.warp_instructions_done, std::memory_order_relaxed);
          draw();
          return !stopping();
        };
        results_[i] = sim::simulate(recording_, machine_, policies_[i], options);
        done_[i] = recording_.warp_instructions;
      } catch (...) {
        errors_[i] = std::current_exception();
        failed_ = true;
      }
    }
  }

  bool stopping() const { return failed_.load(std::memory_order_relaxed) || interrupted(); }

  /// Whoever comes first draws; the others do not wait.
  void draw() {
    const std::unique_lock<std::mutex> lock(drawing_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    uint64_t done = 0;
    for (const auto& part : done_) done += part.load(std::memory_order_relaxed);
    bar_.update(done, recording_.warp_instructions * policies_.size());
  }

  const runtime::Recording& recording_;
  const config::MachineConfig& machine_;
  const std::vector<config::PolicyConfig>& policies_;
  unsigned workers_ = 1, threads_per_system_ = 1;
  std::vector<std::optional<report::RunResult>> results_;
  std::vector<std::exception_ptr> errors_;
  std::vector<std::atomic<uint64_t>> done_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex drawing_;
  ProgressBar bar_;
};

}  // namespace

std::vector<report::RunResult> run_policies(const runtime::Recording& recording,
                                            const config::MachineConfig& machine,
                                            const std::vector<config::PolicyConfig>& policies,
                                            unsigned threads) {
  return PolicyRuns(recording, machine, policies, threads).run();
}

}  // namespace nearwarp::cli
