// Between the errors that the simulator throws and those that the public interface hands out.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "host/api/nearwarp.h"
#include "host/core/error.h"

namespace nearwarp {

/// A message's parts: what is wrong (file:line) - what would be right.
Failure failure_of(const std::string& message, Failure::Kind kind = Failure::Kind::kError);
/// The failure for an error that was thrown elsewhere.
Failure failure_of(const std::exception_ptr& error);

/// The value that `make` returns, or the failure that it throws.
template <class F>
auto guarded(F make) -> Expected<decltype(make())> {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    return failure_of(std::current_exception());
  }
}

}  // namespace nearwarp
