// The common parts of sweeps and of experiments, which are several of them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "host/api/by_caller.h"
#include "host/api/nearwarp.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/run/replay_batch.h"
#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_file.h"
#include "host/timing/sweep/run.h"

namespace nearwarp {

/// Throws UsageError for what is wrong with the options.
void check_options(const SweepOptions& options);
/// Throws UsageError where what is simulated of programs does not go with the options.
sweep::RunOptions run_options(const SweepOptions& options, const sim::LaunchChoice& launches);
std::unique_ptr<sim::BatchRunner> sweep_runner(const SweepOptions& options);

/// Asks the caller's functions. What one of them has stopped is not gone on with.
class AskedOfSweep : public sweep::Surroundings {
 public:
  void finished(const std::string& line) override {
    if (options_.finished) by_caller([&] { options_.finished(line); });
  }

 protected:
  explicit AskedOfSweep(const SweepOptions& options) : options_(options) {}
  /// For a program that is executed or read.
  ProgramOptions program_options();
  bool go_on(const SweepProgress& progress) {
    stopped_ =
        stopped_ || (options_.progress && !by_caller([&] { return options_.progress(progress); }));
    return !stopped_;
  }
  const SweepOptions& options() const { return options_; }

 private:
  const SweepOptions& options_;
  bool stopped_ = false;
};

/// Looks for the plans' points in what other sweeps wrote into the file. Throws Interrupted if the
/// caller wants no more.
void look_for_points(sweep::ResultsFile& file, std::span<const sweep::Plan* const> plans,
                     const SweepOptions& options);
SweepPoint point_of(const sweep::Plan& plan, const sweep::Point& point);
/// The first point of the part that failed, and why; empty: none failed.
std::string first_failure(const sweep::Plan& plan, const sweep::Shard& part,
                          const sweep::ResultsFile& file);

}  // namespace nearwarp
