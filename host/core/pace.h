// A limit on how often a caller's function is called.
#pragma once

#include <chrono>

namespace nearwarp {

/// Says when a caller's function is due, in work that could call it thousands of times a second.
class Pace {
 public:
  /// True at first, and then ten times a second at most.
  bool is_due() {
    const Clock::time_point now = Clock::now();
    if (now < due_) return false;
    due_ = now + kApart;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kApart = std::chrono::milliseconds(100);
  Clock::time_point due_ = Clock::time_point::min();
};

}  // namespace nearwarp
