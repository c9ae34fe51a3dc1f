// The state of a run in progress as JSON, for the page that shows it (docs/commands.md): how far
// each policy is, how busy everything was of late, and what SMs did.
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

  /// To be called when a program begins.
  void begin(const Program& program);
  /// Takes the progress of a batch whose points are the policies.
  void progress(const Progress& progress);
  /// Takes the result so far of the run under a policy. `over`: the run has ended.
  void show(size_t policy, const Result& result, bool over);

  std::string json() const;

 private:
  struct Run {
    std::string policy;
    uint64_t done = 0, total = 0;
    std::optional<Result> all;       ///< the last result; empty: there was none yet
    std::optional<RunLook> of_late;  ///< the time between the last two results
    bool over = false;
  };

  const Machine machine_;
  mutable std::mutex mutex_;  ///< protects the members below
  std::string program_;
  std::vector<Run> runs_;
  std::optional<double> seconds_left_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace nearwarp::cli
