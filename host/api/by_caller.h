// Calls of functions that the library's user has given.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace nearwarp {

/// Thrown in place of an exception from a function of the user's. It is neither an error of the
/// simulator nor the failure of a sweep's point: the Failure that it becomes is of Kind::kStopped.
class CallerThrew final : public std::runtime_error {
 public:
  explicit CallerThrew(const std::string& what)
      : runtime_error("a function of the caller's threw: " + what) {}
};

/// Returns call(), which calls a function of the user's. Throws CallerThrew if that throws.
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
