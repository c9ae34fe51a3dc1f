// Captures of streams that are under way, and the calls that each of them forbids.
//
// A call that a capture forbids fails, and makes the capture invalid: its streams accept no more
// work, and its end returns no graph.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

struct Graph;
struct StreamState;

/// A capture. It begins and ends in one stream; other streams join it by waiting for its events.
struct Capture {
  Graph* graph = nullptr;
  CaptureMode mode = CaptureMode::kGlobal;
  StreamState* origin = nullptr;  ///< the stream in which it began
  std::thread::id thread;         ///< the thread that began it
  bool into_given = false;        ///< it extends a graph that the application has passed
  bool is_valid = true;

  /// Throws Failure if the capture is invalid.
  void check_valid() const;
  /// Makes the capture invalid and throws a Failure with `status`.
  [[noreturn]] void fail(Status status);
  void require(bool condition, Status status) {
    if (!condition) fail(status);
  }
};

class Captures {
 public:
  bool empty() const { return all_.empty(); }
  Capture* begin(const Capture& capture);
  void end(const Capture* capture);

  /// Throws Failure if a capture forbids a thread with this mode to call the entry point
  /// `function`.
  void check_call(const char* function, CaptureMode mode);
  /// Throws Failure if a capture forbids a thread with this mode calls that may wait implicitly for
  /// work of the device.
  void check_unsafe(CaptureMode mode);

 private:
  /// Makes all captures invalid for which `forbids(capture)` holds. Throws Failure if there are
  /// any.
  template <class Forbids>
  void fail(Forbids&& forbids);

  std::vector<std::unique_ptr<Capture>> all_;
};

}  // namespace nearwarp::cudart
