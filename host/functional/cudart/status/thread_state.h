// State of a thread of the application, in the runtime's and in the driver's programming interface.
#pragma once

#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

struct CallSite;

struct ThreadState {
  Status last_error = kSuccess;          ///< cudaGetLastError()
  uint32_t number = 0;                   ///< of threads that had errors, from 1; 0: none yet
  const CallSite* outer_call = nullptr;  ///< see OuterCall
  bool synchronous = false;              ///< see Synchronous
  /// CUcontext that is current. A call of the runtime in a thread without one makes the primary
  /// context current.
  void* context = nullptr;
  int device = 0;                                   ///< cudaSetDevice()
  CaptureMode capture_mode = CaptureMode::kGlobal;  ///< cudaThreadExchangeStreamCaptureMode()
  bool in_driver = false;                           ///< in a call of the driver's interface
  bool null_is_of_thread = false;  ///< in such a call: stream 0 is the thread's own
};

/// The calling thread's.
ThreadState& thread_state();

/// While it lives, what the calling thread asks of streams is complete before the call returns.
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
