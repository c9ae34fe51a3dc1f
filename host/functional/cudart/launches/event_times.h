// Simulated times for an application's events. Each launch is simulated as soon as it has been
// executed, so that its end is known when the next event is recorded.
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
  /// `machine` is the file of a machine and overrides "key=value" behind semicolons; if it is
  /// empty, no launch is simulated. Throws nearwarp::Error if there is no such machine.
  void begin(const std::string& machine);
  bool active() const { return run_ != nullptr; }

  void allocation(const runtime::Allocation&) override {}
  void kernel(const compiler::Kernel& kernel) override;
  void chunk(const runtime::TraceChunk& chunk) override;
  void launch(const runtime::LaunchRecord& launch, double execution_seconds) override;
  void truncated() override {}

  /// The simulated time in microseconds from the end of the launch before to the end of the last
  /// one. Nothing if the last one was not simulated as a whole.
  std::optional<double> take();

 private:
  std::unique_ptr<sim::LaunchTimer> run_;
  runtime::TraceStore traces_;  ///< traces of the present launch
  uint64_t core_mhz_ = 1;
  std::optional<double> microseconds_;
};

}  // namespace nearwarp::cudart
