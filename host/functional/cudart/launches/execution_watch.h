// Tells of kernels that take long to execute, and when the time allowed is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nearwarp::cudart {

/// Once an application has been stopped by a limit of execution: as timeout(1) says it.
inline constexpr int kStoppedStatus = 124;

class ExecutionWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// 0: no limit. The time of all launches together counts, none of the host's.
  void set_limit(uint64_t seconds) { limit_ = std::chrono::seconds(seconds); }
  /// `executed`: warp-instructions of the launches before.
  void begin_launch(const std::string& kernel, uint64_t executed, Clock::time_point now);
  void end_launch(Clock::time_point now);
  /// Called now and then in a launch. False: stop. `message` gets what is to be told, if anything.
  bool look(uint64_t executed, Clock::time_point now, std::string* message);

 private:
  Clock::duration limit_{}, before_{};  // before_: of earlier launches
  Clock::time_point begun_;
  Clock::duration next_message_{};
  std::string kernel_;
  uint64_t executed_before_ = 0;
};

}  // namespace nearwarp::cudart
