// A child process works on its parent's memory.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/cudart/apps/check.h"

constexpr int kN = 1000;

__global__ void add(int* p, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) p[i] += value;
}

struct Message {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

static void child(int from_parent, int to_parent) {
  Message m;
  CHECK(read(from_parent, &m, sizeof(m)) == sizeof(m));
  int *own, *p;
  void* none;
  CUDA(cudaMalloc(&own, 4096));  // at the address that the parent's memory has there
  FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&none, m.memory, 0));
  cudaIpcMemHandle_t damaged = m.memory;
  damaged.reserved[0] ^= 1;
  FAILS(cudaErrorInvalidValue,
        cudaIpcOpenMemHandle(&none, damaged, cudaIpcMemLazyEnablePeerAccess));
  for (size_t i = 24; i < 40; ++i) {  // the memory's place and size
    damaged = m.memory;
    damaged.reserved[i] ^= 0x80;
    if (cudaIpcOpenMemHandle(&none, damaged, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) {
      char first;  // which is there, if not the one that was meant
      CUDA(cudaMemcpy(&first, none, 1, cudaMemcpyDeviceToHost));
      CUDA(cudaIpcCloseMemHandle(none));
      CHECK(i % 8 < 5);
    } else {
      CHECK(cudaGetLastError() != cudaSuccess && i % 8 > 1);
    }
  }
  CUDA(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), m.memory, cudaIpcMemLazyEnablePeerAccess));
  cudaEvent_t event;
  CUDA(cudaIpcOpenEventHandle(&event, m.event));
  CUDA(cudaStreamWaitEvent(nullptr, event));
  add<<<(kN + 127) / 128, 128>>>(p, 5);
  std::vector<int> host(kN);
  CUDA(cudaMemcpy(host.data(), p, kN * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) CHECK(host[i] == i + 5);
  FAILS(cudaErrorInvalidValue, cudaFree(p));
  void* again;  // the same address, open until it has been closed as often as opened
  CUDA(cudaIpcOpenMemHandle(&again, m.memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(again == p);
  CUDA(cudaIpcCloseMemHandle(again));
  CUDA(cudaMemcpy(host.data(), p, sizeof(int), cudaMemcpyDeviceToHost));
  CUDA(cudaIpcCloseMemHandle(p));
  FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
  FAILS(cudaErrorInvalidValue, cudaMemset(p, 0, 4));
  CHECK(write(to_parent, "x", 1) == 1);
  std::exit(0);
}

int main() {
  int down[2], up[2];
  CHECK(pipe(down) == 0 && pipe(up) == 0);
  std::fflush(stdout);
  const pid_t pid = fork();  // before either process uses the GPU
  if (pid == 0) {
    close(up[0]);
    close(down[1]);
    child(down[0], up[1]);
  }
  close(up[1]);
  close(down[0]);
  cudaDeviceProp properties;
  int has_events = 0;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  CUDA(cudaDeviceGetAttribute(&has_events, cudaDevAttrIpcEventSupport, 0));
  CHECK(has_events == 1 && properties.ipcEventSupported == 1);
  int *other, *p;
  std::vector<int> host(kN);
  for (int i = 0; i < kN; ++i) host[i] = i;
  CUDA(cudaMalloc(&other, 700));  // so that the memory begins within a page
  CUDA(cudaMemset(other, 7, 700));
  CUDA(cudaMalloc(&p, kN * sizeof(int)));
  CUDA(cudaMemcpy(p, host.data(), kN * sizeof(int), cudaMemcpyHostToDevice));
  Message m;
  cudaEvent_t event, timed;
  CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  CUDA(cudaEventCreate(&timed));
  cudaEvent_t both;
  FAILS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&both, cudaEventInterprocess));
  CUDA(cudaEventRecord(event));
  FAILS(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&m.event, timed));
  CUDA(cudaIpcGetEventHandle(&m.event, event));
  FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&m.memory, host.data()));
  CUDA(cudaIpcGetMemHandle(&m.memory, p));
  void* none;
  FAILS(cudaErrorDeviceUninitialized,
        cudaIpcOpenMemHandle(&none, m.memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(write(down[1], &m, sizeof(m)) == sizeof(m));
  char done = 0;
  CHECK(read(up[0], &done, 1) == 1 && done == 'x');
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  add<<<(kN + 127) / 128, 128>>>(p, 10);
  CUDA(cudaMemcpy(host.data(), p, kN * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) CHECK(host[i] == i + 15);
  // Memory that comes back is empty again.
  CUDA(cudaMemcpy(host.data(), other, 700, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 0x07070707);
  CUDA(cudaFree(p));
  CUDA(cudaFree(other));
  return passed();
}
