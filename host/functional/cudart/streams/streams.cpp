// Streams and events.
#include "host/functional/cudart/streams/streams.h"

#include <algorithm>
#include <unordered_set>

#include "host/functional/cudart/status/failure.h"
#include "host/functional/cudart/status/thread_state.h"
#include "host/functional/cudart/streams/graphs.h"

namespace nearwarp::cudart {

namespace {

constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking

}  // namespace

StreamState* Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<StreamState>();
  const Kind kind = (flags & kNonBlocking) != 0 ? Kind::kNonBlocking : Kind::kBlocking;
  stream->order =
      std::make_shared<runtime::LaunchStream>(kind, static_cast<uint32_t>(next_id_ - 1));
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = priority;
  stream->device = thread_state().device;
  StreamState* const handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

StreamState* Streams::find(Stream stream) const {
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number == 0 || number == kStreamLegacy || number == kStreamPerThread) return nullptr;
  const auto it = streams_.find(stream);
  require(it != streams_.end(), kErrorInvalidResourceHandle);
  return it->second.get();
}

std::shared_ptr<runtime::LaunchStream> Streams::order(Stream stream) {
  if (StreamState* const s = find(stream); s != nullptr) return s->order;
  if (is_legacy(stream)) return legacy_;
  auto& own = of_threads_[std::this_thread::get_id()];
  if (own == nullptr)
    own = std::make_shared<runtime::LaunchStream>(Kind::kBlocking,
                                                  static_cast<uint32_t>(next_id_++ - 1));
  return own;
}

void Streams::destroy(Stream stream) {
  const auto it = streams_.find(stream);
  require(it != streams_.end(), kErrorInvalidResourceHandle);
  if (Capture* const capture = it->second->capture; capture != nullptr) {
    capture->is_valid = false;
    if (capture->origin == it->second.get()) end_capture(capture);
  }
  streams_.erase(it);
}

// --- Captures ------------------------------------------------------------------------------------

template <class Visit>
void Streams::each_blocking_capture(Visit&& visit) const {
  for (const auto& [handle, stream] : streams_)
    if (stream->capture != nullptr && (stream->flags & kNonBlocking) == 0 &&
        stream->device == thread_state().device)
      visit(*stream->capture);
}

bool Streams::waits_for_capture(Stream stream) const {
  if (captures.empty() || !is_legacy(stream)) return false;
  bool waits = false;
  each_blocking_capture([&](const Capture&) { waits = true; });
  return waits;
}

StreamState* Streams::use(Stream stream) const {
  if (StreamState* const s = find(stream); s != nullptr) {
    if (s->capture != nullptr) s->capture->check_valid();
    return s;
  }
  if (waits_for_capture(stream)) {
    each_blocking_capture([](Capture& capture) { capture.is_valid = false; });
    throw Failure{kErrorStreamCaptureImplicit};
  }
  return nullptr;
}

bool Streams::is_joined(const Capture& capture) const {
  std::unordered_set<const GraphNode*> joined;
  std::vector<const GraphNode*> open(capture.origin->tail.begin(), capture.origin->tail.end());
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    if (joined.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::ranges::all_of(streams_, [&](const auto& entry) {
    const StreamState& stream = *entry.second;
    return stream.capture != &capture ||
           std::ranges::all_of(stream.tail, [&](const auto* n) { return joined.contains(n); });
  });
}

void Streams::end_capture(const Capture* capture) {
  for (const auto& [handle, stream] : streams_)
    if (stream->capture == capture) {
      stream->capture = nullptr;
      stream->tail.clear();
    }
  for (const auto& [handle, event] : events_)
    if (event->capture == capture) event->capture = nullptr;
  captures.end(capture);
}

// --- Events --------------------------------------------------------------------------------------

EventState* Streams::create_event(unsigned flags) {
  auto event = std::make_unique<EventState>();
  event->flags = flags;
  event->device = thread_state().device;
  EventState* const handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

EventState& Streams::event(void* event) const {
  const auto it = events_.find(event);
  require(it != events_.end(), kErrorInvalidResourceHandle);
  return *it->second;
}

void Streams::destroy_event(void* event) {
  require(events_.erase(event) == 1, kErrorInvalidResourceHandle);
}

}  // namespace nearwarp::cudart
