// The times that events tell an application: as simulated, if that is wanted. Each launch is then
// simulated when it has been executed, so that the next event knows when it ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/recording/recording.h"
#include "host/timing/run/launch_timer.h"

namespace nearwarp::cudart {

class EventTimes final : public runtime::RecordingSink {
 public:
  /// `machine`: its file, and overrides "key=value" after semicolons; empty: no launch is
  /// simulated. Throws nearwarp::Error if there is no such machine.
  void begin(const std::string& machine);
  bool active() const { return run_ != nullptr; }

  void allocation(const runtime::Allocation&) override {}
  void kernel(const compiler::Kernel& kernel) override;
  void chunk(const runtime::TraceChunk& chunk) override;
  void launch(const runtime::LaunchRecord& launch, double execution_seconds) override;
  void truncated() override {}

  /// The time of the launch that has just ended: microseconds since the one before. Nothing if it
  /// was not simulated as a whole.
  std::optional<double> take();

 private:
  std::unique_ptr<sim::LaunchTimer> run_;
  runtime::TraceStore traces_;  ///< of the launch under way
  uint64_t core_mhz_ = 1;
  std::optional<double> microseconds_;
};

}  // namespace nearwarp::cudart
