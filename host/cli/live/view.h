// The view of a run that goes on: how far each policy is, how busy everything was of late, and
// what SMs did; as JSON for the page that shows it (docs/commands.md).
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/api/nearwarp/looks.h"
#include "host/api/nearwarp/program.h"
#include "host/api/nearwarp/simulation.h"

namespace nearwarp::cli {

class LiveView {
 public:
  /// Shows one program after the other, each under all `policies` of a machine.
  LiveView(Machine machine, const std::vector<std::string>& policies);

  /// A program begins.
  void begin(const Program& program);
  /// How far the batch is whose points are the policies.
  void progress(const Progress& progress);
  /// The run under a policy has found this so far, and is over or not.
  void show(size_t policy, const Result& result, bool over);

  std::string json() const;

 private:
  struct Run {
    std::string policy;
    uint64_t done = 0, total = 0;
    /// So far, and of the time since the sample before; empty: there was none.
    std::optional<Result> all;
    std::optional<RunLook> of_late;
    bool over = false;
  };

  const Machine machine_;
  mutable std::mutex mutex_;  ///< of what follows
  std::string program_;
  std::vector<Run> runs_;
  std::optional<double> seconds_left_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace nearwarp::cli
