// Times a program's launches while the program is being executed: launches come one by one, and the
// time of each is known before the next one.
#pragma once

#include <cstdint>
#include <memory>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// Simulates launches one by one. Times are the same as in a simulation of all launches at once,
/// since the machine keeps its state from launch to launch. There is one exception: a kernel with
/// more than 2048 registers and predicates begins with cold caches.
class LaunchTimer {
 public:
  /// `policy` must have no mechanism, since mechanisms analyse whole programs. Throws
  /// nearwarp::Error for other policies.
  LaunchTimer(const config::MachineConfig& machine, const config::PolicyConfig& policy);
  ~LaunchTimer();

  /// Add a kernel for later launches. LaunchRecord::kernel numbers kernels in the order in which
  /// they are added.
  void add_kernel(const compiler::Kernel& kernel);
  /// Simulate a launch, whose chunks are the last ones in `traces` (chunks of a launch that ended
  /// with a fault may come before them). Returns the core cycles from the end of the launch before
  /// (or time 0) to the end of this one. Throws nearwarp::Error if it cannot be simulated; later
  /// launches cannot be simulated after that.
  uint64_t launch(const runtime::LaunchRecord& record, runtime::TraceStore traces);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::sim
