// Streams and events.
#include "host/functional/cudart/streams/streams.h"

#include "host/functional/cudart/status/failure.h"

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
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number == kStreamLegacy || (number == 0 && !null_is_of_thread)) return legacy_;
  auto& own = of_threads_[std::this_thread::get_id()];
  if (own == nullptr)
    own = std::make_shared<runtime::LaunchStream>(Kind::kBlocking,
                                                  static_cast<uint32_t>(next_id_++ - 1));
  return own;
}

void Streams::destroy(Stream stream) {
  require(streams_.erase(stream) == 1, kErrorInvalidResourceHandle);
}

void Streams::end_capture(const Graph* graph) {
  for (const auto& [handle, stream] : streams_)
    if (stream->capture == graph) {
      stream->capture = nullptr;
      stream->captures = false;
      stream->tail.clear();
    }
  for (const auto& [handle, event] : events_)
    if (event->capture == graph) event->capture = nullptr;
}

EventState* Streams::create_event(unsigned flags) {
  auto event = std::make_unique<EventState>();
  event->flags = flags;
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
