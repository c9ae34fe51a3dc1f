// A machine that a program runs on while it is being executed: launches come one by one, and the
// time that each took is known before the next.
#pragma once

#include <cstdint>
#include <memory>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// Times are those of a simulation of all launches at once: the machine goes on from where the
/// launch before has left it. The one exception are kernels with more than 2048 registers and
/// predicates, which begin on a machine whose caches are cold.
class LaunchTimer {
 public:
  /// `policy` offloads nothing: what is to be offloaded is learnt from whole programs. Throws
  /// nearwarp::Error for other policies.
  LaunchTimer(const config::MachineConfig& machine, const config::PolicyConfig& policy);
  ~LaunchTimer();

  /// A kernel of the launches that follow, in the order of LaunchRecord::kernel.
  void add_kernel(const compiler::Kernel& kernel);
  /// Simulate a launch; its chunks are the last ones in `traces` (those of a launch that a fault
  /// ended may stand before them). Returns the core cycles from the end of the
  /// launch before (or time 0) to its own. Throws nearwarp::Error if it cannot be simulated; later
  /// launches then cannot, either.
  uint64_t launch(const runtime::LaunchRecord& record, runtime::TraceStore traces);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::sim
