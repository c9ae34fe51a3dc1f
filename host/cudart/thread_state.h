// What a thread of the application has, in the runtime's and in the driver's programming interface.
#pragma once

#include "host/cudart/abi.h"

namespace nearwarp::cudart {

struct ThreadState {
  Status last_error = kSuccess;  ///< cudaGetLastError()
  /// CUcontext that is current. A call of the runtime in a thread without one makes the primary
  /// context current.
  void* context = nullptr;
  bool in_driver = false;  ///< in a call of the driver's interface, which leaves the above alone
};

/// The calling thread's.
ThreadState& thread_state();

}  // namespace nearwarp::cudart
