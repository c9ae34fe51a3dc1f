// Entry points of streams, events, host functions and captures.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

NW_CU cuStreamCreate(Stream* stream, unsigned flags) {
  return forward(cudaStreamCreateWithFlags, stream, flags);
}
NW_CU cuStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  return forward(cudaStreamCreateWithPriority, stream, flags, priority);
}
NW_CU cuStreamDestroy_v2(Stream stream) { return forward(cudaStreamDestroy, stream); }
NW_CU cuStreamDestroy(Stream stream) { return cuStreamDestroy_v2(stream); }
NW_CU cuStreamSynchronize(Stream stream) { return forward(cudaStreamSynchronize, stream); }
NW_CU cuStreamQuery(Stream stream) { return forward(cudaStreamQuery, stream); }
NW_CU cuStreamGetPriority(Stream stream, int* priority) {
  return forward(cudaStreamGetPriority, stream, priority);
}
NW_CU cuStreamGetFlags(Stream stream, unsigned* flags) {
  return forward(cudaStreamGetFlags, stream, flags);
}
NW_CU cuStreamGetId(Stream stream, unsigned long long* id) {
  return forward(cudaStreamGetId, stream, id);
}
NW_CU cuStreamGetDevice(Stream stream, Device* device) {
  return forward(cudaStreamGetDevice, stream, device);
}
/// Streams belong to no context in particular.
NW_CU cuStreamGetCtx(Stream stream, void** context) {
  return call([&] {
    unsigned flags = 0;
    require(context != nullptr);
    check(cudaStreamGetFlags(stream, &flags));
    *context = current_context();
    return kSuccess;
  });
}
NW_CU cuStreamGetCtx_v2(Stream stream, void** context, void** green_context) {
  if (green_context != nullptr) *green_context = nullptr;
  return cuStreamGetCtx(stream, context);
}
NW_CU cuStreamCopyAttributes(Stream to, Stream from) {
  return forward(cudaStreamCopyAttributes, to, from);
}
NW_CU cuStreamSetAttribute(Stream stream, int attribute, const void* value) {
  return forward(cudaStreamSetAttribute, stream, attribute, value);
}
NW_CU cuStreamGetAttribute(Stream stream, int attribute, void* value) {
  return forward(cudaStreamGetAttribute, stream, attribute, value);
}
NW_CU cuStreamAttachMemAsync(Stream stream, DevicePtr start, size_t bytes, unsigned flags) {
  return forward(cudaStreamAttachMemAsync, stream, pointer(start), bytes, flags);
}
NW_CU cuStreamWaitEvent(Stream stream, void* event, unsigned flags) {
  return forward(cudaStreamWaitEvent, stream, event, flags);
}
NW_CU cuStreamAddCallback(Stream stream, void (*callback)(Stream, int, void*), void* data,
                          unsigned flags) {
  return forward(cudaStreamAddCallback, stream, callback, data, flags);
}
NW_CU cuLaunchHostFunc(Stream stream, void (*function)(void*), void* data) {
  return forward(cudaLaunchHostFunc, stream, function, data);
}

// --- Events --------------------------------------------------------------------------------------

NW_CU cuEventCreate(void** event, unsigned flags) {
  return forward(cudaEventCreateWithFlags, event, flags);
}
NW_CU cuEventDestroy_v2(void* event) { return forward(cudaEventDestroy, event); }
NW_CU cuEventDestroy(void* event) { return cuEventDestroy_v2(event); }
NW_CU cuEventRecord(void* event, Stream stream) { return forward(cudaEventRecord, event, stream); }
NW_CU cuEventRecordWithFlags(void* event, Stream stream, unsigned flags) {
  return forward(cudaEventRecordWithFlags, event, stream, flags);
}
NW_CU cuEventQuery(void* event) { return forward(cudaEventQuery, event); }
NW_CU cuEventSynchronize(void* event) { return forward(cudaEventSynchronize, event); }
NW_CU cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return forward(cudaEventElapsedTime, milliseconds, start, end);
}
NW_CU cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

// --- Captures ------------------------------------------------------------------------------------

NW_CU cuStreamBeginCapture_v2(Stream stream, int mode) {
  return forward(cudaStreamBeginCapture, stream, mode);
}
NW_CU cuStreamBeginCapture(Stream stream) { return cuStreamBeginCapture_v2(stream, 0); }
NW_CU cuStreamBeginCaptureToGraph(Stream stream, Graph* graph, GraphNode* const* dependencies,
                                  const EdgeData* edges, size_t count, int mode) {
  return forward(cudaStreamBeginCaptureToGraph, stream, graph, dependencies, edges, count, mode);
}
NW_CU cuStreamEndCapture(Stream stream, Graph** graph) {
  return forward(cudaStreamEndCapture, stream, graph);
}
NW_CU cuStreamIsCapturing(Stream stream, int* status) {
  return forward(cudaStreamIsCapturing, stream, status);
}
NW_CU cuStreamGetCaptureInfo_v3(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                GraphNode* const** dependencies, const EdgeData** edges,
                                size_t* count) {
  return forward(cudaStreamGetCaptureInfo, stream, status, id, graph, dependencies, edges, count);
}
NW_CU cuStreamGetCaptureInfo_v2(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                GraphNode* const** dependencies, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
NW_CU cuStreamUpdateCaptureDependencies_v2(Stream stream, GraphNode* const* dependencies,
                                           const EdgeData* edges, size_t count, unsigned flags) {
  return forward(cudaStreamUpdateCaptureDependencies, stream, dependencies, edges, count, flags);
}
NW_CU cuStreamUpdateCaptureDependencies(Stream stream, GraphNode* const* dependencies, size_t count,
                                        unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}
NW_CU cuThreadExchangeStreamCaptureMode(int* mode) {
  return forward(cudaThreadExchangeStreamCaptureMode, mode);
}

}  // namespace nearwarp::cudriver
