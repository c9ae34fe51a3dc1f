// The public interface's failures as the errors that the program ends with.
#pragma once

#include <string>
#include <utility>

#include "host/api/nearwarp.h"
#include "host/core/error.h"

namespace nearwarp::cli {

[[noreturn]] inline void end_with(const Failure& failure) {
  if (failure.kind == Failure::Kind::kUsage) throw UsageError(failure.message);
  throw Error(failure.message);
}

template <class T>
T taken(Expected<T> made) {
  if (!made) end_with(made.failure());
  return std::move(made.value());
}

/// The value made of options that are named as in the public interface, but for dashes.
template <class T>
T taken_of_options(Expected<T> made) {
  if (made) return std::move(made.value());
  Failure failure = made.failure();
  failure.message = "--" + failure.message;
  end_with(failure);
}

}  // namespace nearwarp::cli
