// The observer of a program that is executed or read: it receives messages and progress, and can
// stop the work.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::programs {

class Observer {
 public:
  virtual ~Observer() = default;
  /// Receives a message that is no error.
  virtual void tell(const std::string& /*message*/) {}
  /// Called some times a second; returns false to stop the work.
  virtual bool go_on() { return true; }
  /// Receives how much of `what` is done, and the total, 0 if that is unknown. `unit` is the unit
  /// of the speed for a million per second. Returns false to stop the work.
  virtual bool progress(const std::string& /*what*/, uint64_t /*done*/, uint64_t /*total*/,
                        const char* /*unit*/) {
    return go_on();
  }
};

}  // namespace nearwarp::programs
