// Entry points of stream capture. Captured work is kept in the order of the calls, which respects
// all dependencies between streams; each piece depends on what came before it in its stream.
#include <algorithm>
#include <thread>
#include <utility>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2;

Status begin(Stream stream, int mode, Graph* graph, GraphNode* const* dependencies, size_t count,
             NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(mode >= 0 && mode <= 2);
    StreamState* s = r.streams.find(stream);
    require(s != nullptr, kErrorStreamCaptureUnsupported);  // a default stream
    require(s->capture == nullptr);
    require(count == 0 || dependencies != nullptr);
    std::vector<GraphNode*> tail;
    for (size_t i = 0; i < count; ++i) {
      require(r.graphs.node(dependencies[i]).graph == graph);
      tail.push_back(dependencies[i]);
    }
    s->capture = r.streams.captures.begin(
        {graph == nullptr ? r.graphs.create() : &r.graphs.graph(graph),
         static_cast<CaptureMode>(mode), s, std::this_thread::get_id(), graph != nullptr});
    s->tail = std::move(tail);
    return kSuccess;
  });
}

}  // namespace

NW_API cudaStreamBeginCapture(Stream stream, int mode) {
  return begin(stream, mode, nullptr, nullptr, 0);
}
NW_API cudaStreamBeginCaptureToGraph(Stream stream, Graph* graph, GraphNode* const* dependencies,
                                     const EdgeData*, size_t count, int mode) {
  if (graph == nullptr) return failed(kErrorInvalidValue);
  return begin(stream, mode, graph, dependencies, count);
}
NW_API cudaStreamEndCapture(Stream stream, Graph** graph) {
  return api([&](Runtime& r) {
    if (graph != nullptr) *graph = nullptr;
    StreamState* s = r.streams.find(stream);
    require(s != nullptr && s->capture != nullptr);
    Capture& capture = *s->capture;
    capture.require(capture.origin == s, kErrorStreamCaptureUnmatched);
    require(capture.mode == CaptureMode::kRelaxed || capture.thread == std::this_thread::get_id(),
            kErrorStreamCaptureWrongThread);
    require(graph != nullptr || capture.into_given);  // who captured into a graph has it
    const Status status = !capture.is_valid               ? kErrorStreamCaptureInvalidated
                          : !r.streams.is_joined(capture) ? kErrorStreamCaptureUnjoined
                                                          : kSuccess;
    if (status == kSuccess && graph != nullptr) *graph = capture.graph;
    if (status != kSuccess && !capture.into_given) r.graphs.destroy(capture.graph);
    r.streams.end_capture(&capture);
    return status;
  });
}
NW_API cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                GraphNode* const** dependencies, const EdgeData** edges,
                                size_t* count) {
  return api([&](Runtime& r) {
    require(status != nullptr);
    require(!r.streams.waits_for_capture(stream), kErrorStreamCaptureImplicit);
    StreamState* s = r.streams.find(stream);
    const Capture* const of_stream = s == nullptr ? nullptr : s->capture;
    const bool is_active = of_stream != nullptr && of_stream->is_valid;
    Graph* const capture = is_active ? of_stream->graph : nullptr;
    *status = of_stream == nullptr ? kCaptureNone
              : is_active          ? kCaptureActive
                                   : kCaptureInvalidated;
    if (id != nullptr) *id = capture == nullptr ? 0 : reinterpret_cast<uintptr_t>(capture);
    if (graph != nullptr) *graph = capture;
    if (s != nullptr) s->edges.assign(s->tail.size(), EdgeData{});
    if (dependencies != nullptr) *dependencies = capture == nullptr ? nullptr : s->tail.data();
    if (edges != nullptr) *edges = capture == nullptr ? nullptr : s->edges.data();
    if (count != nullptr) *count = capture == nullptr ? 0 : s->tail.size();
    return kSuccess;
  });
}
/// Sets what the stream's next work depends on: these besides (flags 0) or instead (1).
NW_API cudaStreamUpdateCaptureDependencies(Stream stream, GraphNode* const* dependencies,
                                           const EdgeData*, size_t count, unsigned flags) {
  return api([&](Runtime& r) {
    StreamState* s = r.streams.find(stream);
    require(s != nullptr && s->capture != nullptr, kErrorIllegalState);
    s->capture->check_valid();
    require(flags <= 1 && (count == 0 || dependencies != nullptr));
    for (size_t i = 0; i < count; ++i)
      require(r.graphs.node(dependencies[i]).graph == s->capture->graph);
    if (flags == 1) s->tail.clear();
    for (size_t i = 0; i < count; ++i)
      if (std::find(s->tail.begin(), s->tail.end(), dependencies[i]) == s->tail.end())
        s->tail.push_back(dependencies[i]);
    return kSuccess;
  });
}
NW_API cudaStreamIsCapturing(Stream stream, int* status) {
  const OuterCall outer;
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
NW_API cudaThreadExchangeStreamCaptureMode(int* mode) {
  return api([&](Runtime&) {
    require(mode != nullptr && *mode >= 0 && *mode <= 2);
    CaptureMode& current = thread_state().capture_mode;
    *mode = static_cast<int>(std::exchange(current, static_cast<CaptureMode>(*mode)));
    return kSuccess;
  });
}
