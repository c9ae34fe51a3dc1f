// Who is told what happens while a program is executed or read, and may have it stop.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::programs {

class Observer {
 public:
  virtual ~Observer() = default;
  /// Something worth knowing that is no error.
  virtual void tell(const std::string& /*message*/) {}
  /// Asked some times a second; false: what is done is to stop.
  virtual bool go_on() { return true; }
  /// Tells how much of `what` is done, of a total that is known if it is not 0; false stops, as for
  /// go_on(). `unit` is that of the speed, for a million a second.
  virtual bool progress(const std::string& /*what*/, uint64_t /*done*/, uint64_t /*total*/,
                        const char* /*unit*/) {
    return go_on();
  }
};

}  // namespace nearwarp::programs
