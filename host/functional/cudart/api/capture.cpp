// Entry points of stream capture. Captured work is kept in the order of the calls, which respects
// all dependencies between streams; each piece depends on what came before it in its stream.
#include <algorithm>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kCaptureNone = 0, kCaptureActive = 1;

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
    s->capture = graph == nullptr ? r.graphs.create() : &r.graphs.graph(graph);
    s->captures = true;
    s->captures_into = graph != nullptr;
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
    require(s->captures, kErrorStreamCaptureUnmatched);
    require(graph != nullptr || s->captures_into);  // who captured into a graph has it
    if (graph != nullptr) *graph = s->capture;
    r.streams.end_capture(s->capture);
    return kSuccess;
  });
}
NW_API cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                GraphNode* const** dependencies, const EdgeData** edges,
                                size_t* count) {
  return api([&](Runtime& r) {
    require(status != nullptr);
    StreamState* s = r.streams.find(stream);
    Graph* const capture = s == nullptr ? nullptr : s->capture;
    *status = capture == nullptr ? kCaptureNone : kCaptureActive;
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
    require(flags <= 1 && (count == 0 || dependencies != nullptr));
    for (size_t i = 0; i < count; ++i) require(r.graphs.node(dependencies[i]).graph == s->capture);
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
    thread_local int current = 0;
    require(mode != nullptr && *mode >= 0 && *mode <= 2);
    std::swap(*mode, current);
    return kSuccess;
  });
}
