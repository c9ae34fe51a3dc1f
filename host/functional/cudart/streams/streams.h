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
#include "host/recording/launch_order.h"

namespace nearwarp::cudart {

struct Graph;
struct GraphNode;

struct StreamState {
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  Graph* capture = nullptr;      ///< its work goes there; nullptr: it is done
  bool captures = false;         ///< it began the capture, rather than joined it by an event
  bool captures_into = false;    ///< a graph that was there before
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
  Graph* capture = nullptr;      ///< recorded in a stream that was being captured
  std::vector<GraphNode*> tail;  ///< of the stream then
};

class Streams {
 public:
  StreamState* create(unsigned flags, int priority);
  /// Throws Failure unless `stream` lives; default streams are told by nullptr.
  StreamState* find(Stream stream) const;
  void destroy(Stream stream);
  /// The order of its launches; of default streams, too. Throws Failure unless `stream` lives.
  std::shared_ptr<runtime::LaunchStream> order(Stream stream);
  EventState* create_event(unsigned flags);
  EventState& event(void* event) const;
  void destroy_event(void* event);

  /// No stream and no event is part of the capture any more.
  void end_capture(const Graph* graph);

  /// Advance the clock by work that takes so long.
  void pass(double microseconds) { clock_ += microseconds; }
  double clock() const { return clock_; }

  bool null_is_of_thread = false;  ///< in the call under way, stream 0 is the thread's own

 private:
  using Kind = runtime::LaunchStream::Kind;

  double clock_ = 0;
  uint64_t next_id_ = 2;
  std::unordered_map<const void*, std::unique_ptr<StreamState>> streams_;
  std::unordered_map<const void*, std::unique_ptr<EventState>> events_;
  const std::shared_ptr<runtime::LaunchStream> legacy_ =
      std::make_shared<runtime::LaunchStream>(Kind::kLegacy);
  std::unordered_map<std::thread::id, std::shared_ptr<runtime::LaunchStream>> of_threads_;
};

}  // namespace nearwarp::cudart
