// Captures of streams: which are under way, and which calls each of them forbids.
//
// A call that a capture forbids fails, and the capture is invalid from then on: its streams take no
// more work, and its end gives no graph.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

struct Graph;
struct StreamState;

/// A capture, from its beginning in one stream to its end there; others join it by events.
struct Capture {
  Graph* graph = nullptr;
  CaptureMode mode = CaptureMode::kGlobal;
  StreamState* origin = nullptr;  ///< where it began
  std::thread::id thread;         ///< that began it
  bool into_given = false;        ///< its graph was there before
  bool is_valid = true;

  /// Throws Failure if it is not.
  void check_valid() const;
  /// Ends the call with `status`, and makes the capture invalid.
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

  /// An entry point is called by a thread with this mode. Throws Failure if a capture forbids it.
  void check_call(const char* function, CaptureMode mode);
  /// A thread with this mode makes a call that may wait for work without a word of it.
  void check_unsafe(CaptureMode mode);

 private:
  /// Throws Failure if there is a capture that `forbids(capture)`; all of these are invalid then.
  template <class Forbids>
  void fail(Forbids&& forbids);

  std::vector<std::unique_ptr<Capture>> all_;
};

}  // namespace nearwarp::cudart
