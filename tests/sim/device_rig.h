// Runs on an emulated device, and what became of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/timing/run/accelerator_batch.h"
#include "kernels/emulated_device.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {

/// Keeps what a batch says; stops it after `asked_at_most` questions.
class KeepingObserver final : public sim::BatchObserver {
 public:
  explicit KeepingObserver(size_t systems, int asked_at_most = -1)
      : outcomes(systems), left_(asked_at_most) {}
  void finished(size_t system, sim::BatchOutcome outcome) override {
    order.push_back(system);
    outcomes[system] = std::move(outcome);
  }
  bool progress(uint64_t warp_instructions) override {
    heard.push_back(warp_instructions);
    return left_ < 0 || left_-- > 0;
  }
  /// The message of the system's error; empty if it has none.
  std::string error(size_t system) const {
    if (outcomes[system].error == nullptr) return "";
    try {
      std::rethrow_exception(outcomes[system].error);
    } catch (const std::exception& e) {
      return e.what();
    }
  }

  std::vector<sim::BatchOutcome> outcomes;
  std::vector<size_t> order;
  std::vector<uint64_t> heard;

 private:
  int left_;
};

/// A machine and policies for systems of a batch.
struct Configs {
  config::MachineConfig machine;
  std::vector<config::PolicyConfig> policies;
  Configs(const std::vector<std::string>& policy_names, const std::vector<std::string>& overrides)
      : machine(config::load_machine("tom", overrides)) {
    for (const std::string& name : policy_names)
      policies.push_back(config::load_policy(name, overrides));
  }
  std::vector<sim::ReplayJob> systems(const runtime::Recording& recording) const {
    std::vector<sim::ReplayJob> all;
    for (const config::PolicyConfig& policy : policies)
      all.push_back({&recording, &machine, &policy});
    return all;
  }
};

/// Runs all of `systems` on `device`; throws what went wrong with one of them.
inline std::vector<report::RunResult> run_on(kernels::Device& device,
                                             std::span<const sim::ReplayJob> systems,
                                             const sim::AcceleratorBatchOptions& options = {}) {
  KeepingObserver observer(systems.size());
  sim::AcceleratorBatch(device, options).run(systems, observer);
  std::vector<report::RunResult> results;
  for (sim::BatchOutcome& outcome : observer.outcomes) {
    if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
    results.push_back(std::move(outcome.result.value()));
  }
  return results;
}

/// Runs all systems together in a batch.
inline std::vector<report::RunResult> run_as_batch(kernels::Device& device,
                                                   std::span<const sim::ReplayJob> systems,
                                                   sim::AcceleratorBatchOptions options = {}) {
  options.way = sim::DeviceWay::kBatch;
  return run_on(device, systems, options);
}

}  // namespace nearwarp::testing
