// Several devices: their number, the device of each address, copies between them, peer access.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/cudart/apps/check.h"

__global__ void add(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// Streams, events, pools and flags belong to a device.
void owners() {
  int device = -1, *p;
  cudaStream_t stream;
  cudaEvent_t event, own;
  CUDA(cudaSetDevice(1));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaEventCreate(&event));
  CUDA(cudaStreamGetDevice(nullptr, &device));
  CHECK(device == 1);
  CUDA(cudaMalloc(&p, 3 * sizeof(int)));
  CUDA(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  CUDA(cudaSetDevice(0));
  CUDA(cudaEventCreate(&own));
  CUDA(cudaStreamGetDevice(stream, &device));
  CHECK(device == 1);
  unsigned flags = 0;
  CUDA(cudaGetDeviceFlags(&flags));
  CHECK((flags & cudaDeviceScheduleYield) == 0);
  add<<<1, 1, 0, stream>>>(p, p + 1, p + 2, 1);
  FAILS(cudaErrorInvalidResourceHandle, cudaPeekAtLastError());
  FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(event, nullptr));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(own, stream));
  // Copies, fills and waiting may go across.
  CUDA(cudaMemsetAsync(p, 0, sizeof(int), stream));
  CUDA(cudaEventRecord(event, stream));
  CUDA(cudaStreamWaitEvent(nullptr, event));
  CUDA(cudaEventSynchronize(event));
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaEventRecord(own, nullptr));
  float milliseconds;
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, own, event));

  // Memory lies on its pool's device, whichever device is current.
  CUDA(cudaSetDevice(1));
  CUDA(cudaGetDeviceFlags(&flags));
  CHECK((flags & cudaDeviceScheduleYield) != 0);
  cudaMemPool_t pool;
  cudaPointerAttributes about;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA(cudaMallocFromPoolAsync(&p, 64, pool, stream));
  CUDA(cudaPointerGetAttributes(&about, p));
  CHECK(about.device == 0);
  CUDA(cudaFreeAsync(p, stream));

  // The legacy stream of a device waits for the captures of its own streams.
  cudaGraph_t graph;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamQuery(nullptr));
  CUDA(cudaSetDevice(1));
  FAILS(cudaErrorStreamCaptureImplicit, cudaStreamQuery(nullptr));
  FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  CUDA(cudaSetDevice(0));
}

int main(int, char** argv) {
  constexpr int n = 1000;
  const int expected = std::atoi(argv[1]);
  int count = 0, device = -1, can = -1;
  CUDA(cudaGetDeviceCount(&count));
  CHECK(count == expected && count >= 2);
  std::vector<int*> memory(count);
  std::vector<int> host(n);
  for (int d = 0; d < count; ++d) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaGetDevice(&device));
    CHECK(device == d);
    CUDA(cudaMalloc(&memory[d], n * sizeof(int)));
    for (int i = 0; i < n; ++i) host[i] = 1000 * d + i;
    CUDA(cudaMemcpy(memory[d], host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    cudaPointerAttributes about;
    CUDA(cudaPointerGetAttributes(&about, memory[d]));
    CHECK(about.device == d);
    cudaDeviceProp p, first;
    CUDA(cudaGetDeviceProperties(&first, 0));
    CUDA(cudaGetDeviceProperties(&p, d));
    CHECK(d == 0 || std::memcmp(&p.uuid, &first.uuid, sizeof(p.uuid)) != 0);
    CHECK(p.multiProcessorCount == first.multiProcessorCount);
    char bus[32];
    int found = -1;
    CUDA(cudaDeviceGetPCIBusId(bus, sizeof(bus), d));
    CUDA(cudaDeviceGetByPCIBusId(&found, bus));
    CHECK(found == d);
    cudaMemPool_t pool, other;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, d));
    CUDA(cudaDeviceGetDefaultMemPool(&other, (d + 1) % count));
    CHECK(pool != other);
    FAILS(cudaErrorInvalidValue, cudaDeviceSetMemPool(d, other));
  }
  owners();
  std::thread([] {  // threads begin with the first device
    int own = -1;
    CUDA(cudaGetDevice(&own));
    CHECK(own == 0);
  }).join();

  CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  CUDA(cudaDeviceCanAccessPeer(&can, 1, 1));
  CHECK(can == 0);
  CUDA(cudaSetDevice(0));
  FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  FAILS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  FAILS(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
  CUDA(cudaDeviceEnablePeerAccess(1, 0));
  FAILS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  int* result;
  CUDA(cudaMalloc(&result, n * sizeof(int)));
  add<<<(n + 127) / 128, 128>>>(memory[0], memory[1], result, n);
  CUDA(cudaMemcpy(host.data(), result, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(host[i] == 1000 + 2 * i);
  CUDA(cudaDeviceDisablePeerAccess(1));

  CUDA(cudaMemcpyPeer(memory[0], 0, memory[1], 1, n * sizeof(int)));
  CUDA(cudaMemcpy(host.data(), memory[0], n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(host[7] == 1007);
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(count));
  FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(memory[0], 0, memory[1], count, 4));

  CUDA(cudaSetDevice(1));  // a reset takes what the device has, and no other's
  CUDA(cudaDeviceReset());
  CUDA(cudaMemset(memory[0], 0, 4));
  FAILS(cudaErrorInvalidValue, cudaMemset(memory[1], 0, 4));
  return passed();
}
