// How every call of the driver's interface runs: it goes to the runtime library, whose device,
// memory, modules and streams serve both interfaces.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "host/functional/cudart/api/driver_link.h"
#include "host/functional/cudart/entry_points.h"
#include "host/functional/cudart/status/failure.h"
#include "host/functional/cudriver/abi.h"
#include "host/functional/cudriver/contexts.h"

namespace nearwarp::cudriver {

using namespace cudart;  // behind what has a name here: statuses, handles, structures that are the
                         // same

/// The state that a call needs before it may be made.
enum class Needs { kNothing, kInitialization, kContext };

/// CUresult for a status of the runtime: all numbers that both have mean the same.
Status driver_status(Status status);

/// Set by entry points NAME_ptsz and NAME_ptds on their way to NAME
/// (cudart/api/GenerateStubs.cmake).
extern "C" {
extern
    __attribute__((visibility("hidden"))) constinit thread_local bool nw_cudriver_null_is_of_thread;
}

/// Runs the body of a call, which returns a status of either interface, or throws Failure. The
/// runtime's last error stays what it was.
template <class Body>
Status call(Needs needs, Body&& body) {
  ThreadState& thread = *nw_driver_thread();
  const ThreadState before = thread;
  thread.in_driver = true;
  thread.null_is_of_thread = std::exchange(nw_cudriver_null_is_of_thread, false);
  Status status = kSuccess;
  try {
    if (needs != Needs::kNothing) check_initialized();
    if (needs == Needs::kContext) check_context();
    status = body();
  } catch (const Failure& failure) {
    status = failure.status;
  } catch (const std::bad_alloc&) {
    status = kErrorMemoryAllocation;
  } catch (const std::exception& error) {
    nw_driver_say_once((std::string("internal error: ") + error.what()).c_str());
    status = kErrorUnknown;
  }
  thread.in_driver = before.in_driver;
  thread.null_is_of_thread = before.null_is_of_thread;
  thread.last_error = before.last_error;
  return driver_status(status);
}
template <class Body>
Status call(Body&& body) {
  return call(Needs::kContext, std::forward<Body>(body));
}

/// Makes a call that returns when its work is complete.
template <class Body>
Status synchronous_call(Body&& body) {
  const Synchronous complete(*nw_driver_thread());
  return call(std::forward<Body>(body));
}

/// Hands the arguments to an entry point of the runtime.
template <class... Parameters, class... Arguments>
Status forward(Status (*entry_point)(Parameters...), Arguments... arguments) {
  return call([&] { return entry_point(arguments...); });
}

/// Ends the call if the status is an error.
inline void check(Status status) {
  if (status != kSuccess) throw Failure{status};
}

inline void* pointer(DevicePtr address) { return reinterpret_cast<void*>(address); }
inline DevicePtr address(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

}  // namespace nearwarp::cudriver

/// Begins the definition of an entry point.
#define NW_CU extern "C" __attribute__((visibility("default"))) nearwarp::cudart::Status
