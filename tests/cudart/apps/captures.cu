// Captures of streams: what they forbid, by their modes and threads', and that what is forbidden
// makes them invalid.
#include <thread>

#include "tests/cudart/apps/check.h"

__global__ void add(int* p, int value) { *p += value; }

namespace {

int* memory;
cudaStream_t stream, other;
cudaEvent_t event;

void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  CUDA(cudaStreamBeginCapture(stream, mode));
  add<<<1, 1, 0, stream>>>(memory, 1);
  CUDA(cudaPeekAtLastError());
}

cudaStreamCaptureStatus state(cudaStream_t of) {
  cudaStreamCaptureStatus status;
  CUDA(cudaStreamIsCapturing(of, &status));
  return status;
}

/// Ends the capture: expects `error`, and a graph if that is cudaSuccess.
void end(cudaError_t error) {
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(1);
  if (error == cudaErrorStreamCaptureInvalidated)
    CHECK(state(stream) == cudaStreamCaptureStatusInvalidated);
  CHECK(cudaStreamEndCapture(stream, &graph) == error);
  CHECK(cudaGetLastError() == error);
  CHECK((graph != nullptr) == (error == cudaSuccess));
  CHECK(state(stream) == cudaStreamCaptureStatusNone && state(other) == cudaStreamCaptureStatusNone);
  if (graph != nullptr) CUDA(cudaGraphDestroy(graph));
}

/// Expects a call inside a capture to fail with this error, and to make the capture invalid.
template <class Call>
void forbidden(cudaError_t error, Call&& call,
               cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  begin(mode);
  FAILS(error, call());
  end(cudaErrorStreamCaptureInvalidated);
}

template <class Call>
void allowed(Call&& call, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  begin(mode);
  CUDA(call());
  end(cudaSuccess);
}

cudaError_t allocate() {
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, 4);
  CHECK((p != nullptr) == (status == cudaSuccess));
  return status;
}

template <class Call>
cudaError_t in_thread(Call&& call, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  cudaError_t status = cudaSuccess;
  std::thread([&] {
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    status = call();
  }).join();
  return status;
}

void waiting() {
  forbidden(cudaErrorStreamCaptureUnsupported, [] { return cudaStreamSynchronize(stream); });
  forbidden(cudaErrorStreamCaptureUnsupported, [] { return cudaStreamQuery(stream); });
  allowed([] { return cudaStreamSynchronize(other); });
  // The device waits for all of its streams, in every mode.
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed})
    forbidden(cudaErrorStreamCaptureUnsupported, [] { return cudaDeviceSynchronize(); }, mode);
  forbidden(cudaErrorStreamCaptureUnsupported, [] {
    return cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
  });
}

void unsafe_calls() {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal})
    forbidden(cudaErrorStreamCaptureUnsupported, allocate, mode);
  allowed(allocate, cudaStreamCaptureModeRelaxed);
  int host;
  void* p;
  size_t pitch;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  forbidden(cudaErrorStreamCaptureUnsupported, [&] { return cudaFree(memory); });
  forbidden(cudaErrorStreamCaptureUnsupported, [&] { return cudaMallocHost(&p, 4); });
  forbidden(cudaErrorStreamCaptureUnsupported, [&] { return cudaMallocManaged(&p, 4); });
  forbidden(cudaErrorStreamCaptureUnsupported, [&] { return cudaMallocPitch(&p, &pitch, 4, 4); });
  forbidden(cudaErrorStreamCaptureUnsupported,
            [&] { return cudaMallocArray(&array, &format, 4, 4); });
  forbidden(cudaErrorStreamCaptureUnsupported,
            [&] { return cudaHostRegister(&host, sizeof(host), 0); });
  CUDA(cudaEventRecord(event, other));
  forbidden(cudaErrorStreamCaptureUnsupported, [] { return cudaEventQuery(event); });
  forbidden(cudaErrorStreamCaptureUnsupported, [] { return cudaEventSynchronize(event); });
  allowed([] { return cudaEventSynchronize(event); }, cudaStreamCaptureModeRelaxed);

  // Global captures forbid calls in threads without a capture, too, unless the thread relaxes its mode.
  begin();
  CHECK(in_thread(allocate) == cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  allowed([] { return in_thread(allocate, cudaStreamCaptureModeThreadLocal); });
  allowed([] { return in_thread(allocate, cudaStreamCaptureModeRelaxed); });
  allowed([] { return in_thread(allocate); }, cudaStreamCaptureModeThreadLocal);
  // A thread that has a capture can relax its mode, too.
  auto mode = cudaStreamCaptureModeThreadLocal;
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == cudaStreamCaptureModeGlobal);
  forbidden(cudaErrorStreamCaptureUnsupported, allocate);
  mode = cudaStreamCaptureModeRelaxed;
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == cudaStreamCaptureModeThreadLocal);
  allowed(allocate);
  mode = cudaStreamCaptureModeGlobal;
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
}

/// The legacy stream waits for all blocking streams.
void legacy_stream() {
  int value = 0;
  cudaStreamCaptureStatus status;
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
    forbidden(cudaErrorStreamCaptureImplicit,
              [&] { return cudaMemcpy(&value, memory, 4, cudaMemcpyDefault); }, mode);
    forbidden(cudaErrorStreamCaptureImplicit, [] { return cudaMemsetAsync(memory, 0, 4, 0); },
              mode);
    forbidden(cudaErrorStreamCaptureImplicit, [] {
      add<<<1, 1>>>(memory, 1);
      return cudaPeekAtLastError();
    }, mode);
  }
  forbidden(cudaErrorStreamCaptureImplicit, [] { return cudaStreamSynchronize(nullptr); });
  forbidden(cudaErrorStreamCaptureImplicit, [] { return cudaEventRecord(event, nullptr); });
  begin();
  FAILS(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(cudaStreamLegacy, &status));
  end(cudaSuccess);  // queries change nothing
  allowed([] { return cudaMemsetAsync(memory, 0, 4, cudaStreamPerThread); });
  cudaStream_t blocking = stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  allowed([&] { return cudaMemcpy(&value, memory, 4, cudaMemcpyDefault); });
  CUDA(cudaStreamDestroy(stream));
  stream = blocking;
}

void events() {
  forbidden(cudaErrorCapturedEvent, [] {
    CUDA(cudaEventRecord(event, stream));
    return cudaEventQuery(event);
  });
  forbidden(cudaErrorCapturedEvent, [] {
    CUDA(cudaEventRecord(event, stream));
    return cudaEventSynchronize(event);
  }, cudaStreamCaptureModeRelaxed);
  CUDA(cudaEventRecord(event, other));
  forbidden(cudaErrorStreamCaptureIsolation, [] { return cudaStreamWaitEvent(stream, event); });
  begin();
  CUDA(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(event, other));
  FAILS(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(stream, event));
  cudaGraph_t graph;
  FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(other, &graph));
  end(cudaErrorStreamCaptureInvalidated);
}

void forks() {
  const auto fork = [] {
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaStreamWaitEvent(other, event));
    CHECK(state(other) == cudaStreamCaptureStatusActive);
  };
  begin();
  fork();
  add<<<1, 1, 0, other>>>(memory, 1);
  end(cudaErrorStreamCaptureUnjoined);
  begin();
  fork();
  end(cudaSuccess);  // nothing is left behind
  forbidden(cudaErrorStreamCaptureUnmatched, [&] {
    fork();
    cudaGraph_t graph;
    return cudaStreamEndCapture(other, &graph);
  });

  // Nothing goes into an invalid capture, by any of its streams and events.
  begin();
  fork();
  FAILS(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(other));
  for (const cudaStream_t s : {stream, other}) {
    FAILS(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(memory, 0, 4, s));
    FAILS(cudaErrorStreamCaptureInvalidated, cudaEventRecord(event, s));
    FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamSynchronize(s));
  }
  end(cudaErrorStreamCaptureInvalidated);
  CUDA(cudaMemsetAsync(memory, 0, 4, stream));
  CUDA(cudaStreamSynchronize(stream));

  // A capture that is not relaxed ends where it began.
  cudaGraph_t graph = nullptr;
  const auto end_it = [&] { return cudaStreamEndCapture(stream, &graph); };
  begin();
  CHECK(in_thread(end_it) == cudaErrorStreamCaptureWrongThread);
  end(cudaSuccess);
  begin(cudaStreamCaptureModeRelaxed);
  CHECK(in_thread(end_it) == cudaSuccess && graph != nullptr);
  CUDA(cudaGraphDestroy(graph));

  begin();  // this capture ends with its stream
  fork();
  CUDA(cudaStreamDestroy(stream));
  CHECK(state(other) == cudaStreamCaptureStatusNone);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaStreamCreate(&stream));
}

}  // namespace

int main() {
  CUDA(cudaMalloc(&memory, 4));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&other));
  CUDA(cudaEventCreate(&event));
  waiting();
  unsafe_calls();
  legacy_stream();
  events();
  forks();

  // After all the refusals kernels still run.
  CUDA(cudaMemset(memory, 0, 4));
  add<<<1, 1, 0, stream>>>(memory, 3);
  int sum = 0;
  CUDA(cudaMemcpyAsync(&sum, memory, 4, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(sum == 3);
  return passed();
}
