// Failures as values.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

/// Marks functions and classes that the library exports.
#define NEARWARP_API __attribute__((visibility("default")))

namespace nearwarp {

/// An error of the user, or of the simulator.
struct Failure {
  enum class Kind : uint8_t {
    kError,    ///< the work failed
    kUsage,    ///< the request is wrong
    kStopped,  ///< a callback of the caller's asked to stop, or threw an exception
  };
  std::string message;  ///< the whole text: what is wrong (where) - what would be right
  std::string what;     ///< what is wrong
  std::string file;     ///< the file that the error is in; empty if it is in none
  uint32_t line = 0;    ///< line in the file, from 1 on; 0: no line
  std::string right;    ///< what would be right; may be empty
  Kind kind = Kind::kError;
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}              // NOLINT: meant to be implicit
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: meant to be implicit
  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  /// Throws std::logic_error with the failure's message if there is no value.
  T& value() & {
    if (!value_.has_value()) throw std::logic_error(failure_.message);
    return *value_;
  }
  const T& value() const& { return const_cast<Expected*>(this)->value(); }
  /// Returns by value, so that the result outlives a temporary Expected.
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

/// The value of a function that has no result but its success.
struct Done {};

}  // namespace nearwarp
