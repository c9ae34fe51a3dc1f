// The state of a handle, and how its calls report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cublas/abi.h"
#include "host/functional/cudalibs/call.h"

namespace nearwarp::cublas {

struct Handle {
  Stream stream = nullptr;
  int pointer_mode = kHostPointers;
  int atomics_mode = 0;
  int math_mode = 0;
  int sm_count_target = 0;
  void* workspace = nullptr;  ///< the application's
  size_t workspace_bytes = 0;
};

/// Ends a call with a status.
struct Failure {
  Status status;
};
inline void require(bool holds, Status otherwise = kInvalidValue) {
  if (!holds) throw Failure{otherwise};
}

/// `function` of this library is not supported, or not with these arguments: said once for each
/// pair, on standard error.
void say_not_supported(const char* function, const char* what = nullptr);

/// Runs a call: f(), whose Failure is what it returns.
template <class F>
Status call(const char* name, F&& f) noexcept {
  const Status status = cudalibs::status_of<Failure, Status>(
      {kSuccess, kAllocFailed, kExecutionFailed, kInternalError}, f);
  if (status == kNotSupported) say_not_supported(name, "with these types or options");
  return status;
}
/// Makes a call that needs a handle.
template <class F>
Status call(const char* name, const Handle* handle, F&& f) noexcept {
  return handle == nullptr ? kNotInitialized : call(name, f);
}

}  // namespace nearwarp::cublas
