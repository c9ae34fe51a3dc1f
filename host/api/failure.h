// Between the errors that the simulator throws and those that the public interface hands out.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "host/api/nearwarp.h"
#include "host/core/error_parts.h"

namespace nearwarp {

/// A message's parts: what is wrong (file:line) - what would be right. Where texts of users' are in
/// it, parts are known by those who make it alone.
Failure failure_of(const std::string& message, Failure::Kind kind = Failure::Kind::kError);
Failure failure_of(const ErrorParts& parts, Failure::Kind kind = Failure::Kind::kError);
/// The failure for an error that was thrown elsewhere.
Failure failure_of(const std::exception_ptr& error);

/// Thrown to who uses an object that nothing has made, or that was moved away.
class EmptyObject final : public std::logic_error {
 public:
  EmptyObject() : logic_error("an empty object of nearwarp was used - load or make one first") {}
};

template <class T>
struct ExpectedOf {
  using Type = Expected<T>;
};
template <class T>
struct ExpectedOf<Expected<T>> {
  using Type = Expected<T>;
};

/// The value that `make` returns, or the failure that it throws or returns.
template <class F>
auto guarded(F make) -> typename ExpectedOf<decltype(make())>::Type {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const EmptyObject&) {
    throw;
  } catch (...) {
    return failure_of(std::current_exception());
  }
}

}  // namespace nearwarp
