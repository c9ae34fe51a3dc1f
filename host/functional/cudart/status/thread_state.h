// The state that the runtime and driver APIs keep for a thread of the application.
#pragma once

#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

struct CallSite;

struct ThreadState {
  Status last_error = kSuccess;  ///< cudaGetLastError()
  uint32_t number = 0;           ///< a number from 1 on, given with its first error; 0: no error
  const CallSite* outer_call = nullptr;  ///< see OuterCall
  bool synchronous = false;              ///< see Synchronous
  /// The current CUcontext. A call of the runtime API in a thread without one makes the primary
  /// context current.
  void* context = nullptr;
  int device = 0;                                   ///< cudaSetDevice()
  CaptureMode capture_mode = CaptureMode::kGlobal;  ///< cudaThreadExchangeStreamCaptureMode()
  bool in_driver = false;                           ///< the present call is one of the driver API
  bool null_is_of_thread = false;  ///< in this driver call, stream 0 is the thread's own
};

/// The state of the calling thread.
ThreadState& thread_state();

/// While it lives, calls of this thread count as synchronous: the host waits for their work.
class Synchronous {
 public:
  explicit Synchronous(ThreadState& thread = thread_state()) : thread_(thread) {
    thread_.synchronous = true;
  }
  ~Synchronous() { thread_.synchronous = false; }
  Synchronous(const Synchronous&) = delete;
  Synchronous& operator=(const Synchronous&) = delete;

 private:
  ThreadState& thread_;
};

}  // namespace nearwarp::cudart
