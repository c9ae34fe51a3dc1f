// Streams and events. All work is done inside the call that asks for it, in the order of the
// calls, which is one of the orders that CUDA allows; streams and events only keep their identity,
// the time of a clock that work advances, and which launches have to wait for them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/streams/captures.h"
#include "host/recording/launch_order.h"

namespace nearwarp::cudart {

struct GraphNode;

struct StreamState {
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  int device = 0;                ///< that was current when it was made
  Capture* capture = nullptr;    ///< its work goes there; nullptr: it is done
  std::vector<GraphNode*> tail;  ///< of the capture: what the next work depends on
  std::vector<EdgeData> edges;   ///< as many, for who asks
  std::shared_ptr<runtime::LaunchStream> order;
  std::unordered_map<int, std::array<char, 64>> attributes;  ///< hints
};

struct EventState {
  unsigned flags = 0;
  bool recorded = false;
  double microseconds = 0;       ///< of the clock, when it was recorded
  runtime::LaunchSet before;     ///< what who waits for it waits for
  int device = 0;                ///< that was current when it was made
  Capture* capture = nullptr;    ///< recorded in a stream that was being captured
  std::vector<GraphNode*> tail;  ///< of the stream then
};

class Streams {
 public:
  StreamState* create(unsigned flags, int priority);
  /// Throws Failure unless `stream` lives; default streams are told by nullptr.
  StreamState* find(Stream stream) const;
  /// Finds it for a call that asks for work in it, or waits for that. Throws Failure also if its
  /// capture is invalid, or if it is the legacy stream, which waits for all others, and one of
  /// these is captured.
  StreamState* use(Stream stream) const;
  /// Is it the legacy stream of a device that has captures it would wait for?
  bool waits_for_capture(Stream stream) const;
  void destroy(Stream stream);
  /// The order of its launches; of default streams, too. Throws Failure unless `stream` lives.
  std::shared_ptr<runtime::LaunchStream> order(Stream stream);
  EventState* create_event(unsigned flags);
  EventState& event(void* event) const;
  void destroy_event(void* event);

  Captures captures;
  /// Whether its origin has waited for all that other streams have added.
  bool is_joined(const Capture& capture) const;
  /// No stream and no event is part of the capture any more.
  void end_capture(const Capture* capture);

  /// Advance the clock by work that takes so long.
  void pass(double microseconds) { clock_ += microseconds; }
  double clock() const { return clock_; }

  bool null_is_of_thread = false;  ///< in the call under way, stream 0 is the thread's own

 private:
  using Kind = runtime::LaunchStream::Kind;

  bool is_legacy(Stream stream) const {
    const auto number = reinterpret_cast<uintptr_t>(stream);
    return number == kStreamLegacy || (number == 0 && !null_is_of_thread);
  }
  /// Calls `visit(capture)` for what the legacy stream of the thread's device would wait for.
  template <class Visit>
  void each_blocking_capture(Visit&& visit) const;

  double clock_ = 0;
  uint64_t next_id_ = 2;
  std::unordered_map<const void*, std::unique_ptr<StreamState>> streams_;
  std::unordered_map<const void*, std::unique_ptr<EventState>> events_;
  const std::shared_ptr<runtime::LaunchStream> legacy_ =
      std::make_shared<runtime::LaunchStream>(Kind::kLegacy);
  std::unordered_map<std::thread::id, std::shared_ptr<runtime::LaunchStream>> of_threads_;
};

}  // namespace nearwarp::cudart
