// Reports kernels that take long to execute, and ends the application after a limit of time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nearwarp::cudart {

/// Exit status of an application that a limit of execution has ended; that of timeout(1).
inline constexpr int kStoppedStatus = 124;

class ExecutionWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// Sets the limit of the time in all launches together, without host code. 0: no limit.
  void set_limit(uint64_t seconds) { limit_ = std::chrono::seconds(seconds); }
  /// `executed` is the number of warp-instructions before the launch.
  void begin_launch(const std::string& kernel, uint64_t executed, Clock::time_point now);
  void end_launch(Clock::time_point now);
  /// Called regularly during a launch; `message` receives a text for the user, if there is one.
  /// Returns false if the application is to be ended.
  bool look(uint64_t executed, Clock::time_point now, std::string* message);

 private:
  Clock::duration limit_{}, before_{};  // before_: time in earlier launches
  Clock::time_point begun_;
  Clock::duration next_message_{};
  std::string kernel_;
  uint64_t executed_before_ = 0;
};

}  // namespace nearwarp::cudart
