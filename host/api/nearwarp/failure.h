// Failures as values.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

/// Marks what the library has for others.
#define NEARWARP_API __attribute__((visibility("default")))

namespace nearwarp {

/// An error of a user's, or of the simulator.
struct Failure {
  enum class Kind : uint8_t {
    kError,    ///< something did not work out
    kUsage,    ///< what was asked for is wrong
    kStopped,  ///< one of the caller's functions wanted it, or threw something
  };
  std::string message;  ///< all of it: what is wrong (where) - what would be right
  std::string what;     ///< the first part
  std::string file;     ///< where, if it is in a file; else empty
  uint32_t line = 0;    ///< in it, from 1 on; 0: no line
  std::string right;    ///< what would be right; may be empty
  Kind kind = Kind::kError;
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}              // NOLINT: a value is one
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: so is a failure
  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  /// Throws std::logic_error with the failure's message if there is no value.
  T& value() & {
    if (!value_.has_value()) throw std::logic_error(failure_.message);
    return *value_;
  }
  const T& value() const& { return const_cast<Expected*>(this)->value(); }
  /// By value, so that it outlives what a function has just returned.
  T value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& failure() const { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

/// The value of a function that says no more than that it went well.
struct Done {};

}  // namespace nearwarp
