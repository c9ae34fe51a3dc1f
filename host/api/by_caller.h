// Calls of functions that the caller has given.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace nearwarp {

/// Thrown in place of what a function of the caller's threw: no error of the simulator's, nor of a
/// point of a sweep. The failure that follows from it is of Kind::kStopped.
class CallerThrew final : public std::runtime_error {
 public:
  explicit CallerThrew(const std::string& what)
      : runtime_error("a function of the caller's threw: " + what) {}
};

/// Returns what `call`, which calls a function of the caller's, returns.
template <class F>
auto by_caller(F call) {
  try {
    return call();
  } catch (const std::exception& e) {
    throw CallerThrew(e.what());
  } catch (...) {
    throw CallerThrew("something that is no std::exception");
  }
}

}  // namespace nearwarp
