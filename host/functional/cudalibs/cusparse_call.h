// How cuSPARSE's entry points run: what they throw becomes their status.
#pragma once

#include "host/functional/cudalibs/call.h"
#include "host/functional/cudalibs/cusparse.h"
#include "host/functional/cudalibs/not_supported.h"

#define NW_CUSPARSE extern "C" __attribute__((visibility("default"))) nearwarp::cusparse::Status

namespace nearwarp::cusparse {

/// Runs a call: f(), whose Failure is what it returns.
template <class F>
Status call(const char* name, F&& f) noexcept {
  const Status status = cudalibs::status_of<Failure, Status>(
      {kSuccess, kAllocFailed, kExecutionFailed, kInternalError}, f);
  if (status == kNotSupported)
    cudalibs::say_not_supported(name, "with these types or options", "cuSPARSE",
                                "CUSPARSE_STATUS_NOT_SUPPORTED");
  return status;
}
/// Makes a call that needs a handle.
template <class F>
Status call(const char* name, const Handle* handle, F&& f) noexcept {
  return handle == nullptr ? kNotInitialized : call(name, f);
}

}  // namespace nearwarp::cusparse
