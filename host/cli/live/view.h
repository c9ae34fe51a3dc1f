// What a run that goes on looks like: how far each policy is, how busy everything was of late, and
// what SMs did; as JSON for the page that shows it (docs/commands.md).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::cli {

class LiveView {
 public:
  /// Of one program after the other, each under all `policies` of a machine that outlives this.
  LiveView(const config::MachineConfig& machine, std::vector<std::string> policies);
  ~LiveView();

  /// A program begins: warp-instructions of it, by policy.
  void begin(const std::string& program, std::span<const uint64_t> work);
  /// Warp-instructions done, by policy, and how long all will still take, if anybody can say.
  void progress(std::span<const uint64_t> done, std::optional<double> seconds_left);
  /// Looks at the run under a policy, some times a second, from the thread that steps it.
  sim::RunWatcher* watcher(size_t policy);

  std::string json() const;

 private:
  class Watcher;
  struct Run {
    std::string policy;
    uint64_t done = 0, total = 0;
    /// So far, and of the time since the sample before; empty: there was none.
    std::optional<report::RunResult> all, of_late;
    bool over = false;
  };
  void set(size_t policy, report::RunResult all, bool over);

  const config::MachineConfig& machine_;
  mutable std::mutex mutex_;  ///< of what follows
  std::string program_;
  std::vector<Run> runs_;
  std::optional<double> seconds_left_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace nearwarp::cli
