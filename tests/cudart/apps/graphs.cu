// Graphs: captured from streams, and made by hand.
#include "tests/cudart/apps/check.h"

__global__ void add(int* p, int value) { p[threadIdx.x] += value; }
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }

void on_host(void* data) { ++*static_cast<int*>(data); }

int main() {
  int *device, host[32];
  CUDA(cudaMalloc(&device, sizeof(host)));
  CUDA(cudaMemset(device, 0, sizeof(host)));
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&other));
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  int calls = 0;

  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, stream>>>(device, 3);
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(other, fork));
  twice<<<1, 32, 0, other>>>(device);
  CUDA(cudaEventRecord(join, other));
  CUDA(cudaStreamWaitEvent(stream, join));
  CUDA(cudaLaunchHostFunc(stream, on_host, &calls));
  CUDA(cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, stream));
  cudaStreamCaptureStatus status;
  CUDA(cudaStreamIsCapturing(other, &status));
  CHECK(status == cudaStreamCaptureStatusActive && calls == 0);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);  // events in a capture are edges
  CUDA(cudaStreamIsCapturing(other, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(calls == 3 && host[0] == ((3 * 2 + 3) * 2 + 3) * 2);
  CUDA(cudaGraphExecDestroy(exec));

  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second, last;
  int value = 5;
  void* args[] = {&device, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = args;
  cudaMemsetParams fill = {};
  fill.dst = device;
  fill.elementSize = 4;
  fill.value = 100;
  fill.width = 32;
  fill.height = 1;
  CUDA(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
  CUDA(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
  CUDA(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  CUDA(cudaGraphAddMemcpyNode1D(&last, graph, &second, 1, host, device, sizeof(host),
                                cudaMemcpyDeviceToHost));
  nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 3);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(host[31] == 105);
  value = 7;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(host[31] == 107);
  CUDA(cudaGraphAddDependencies(graph, &last, &first, nullptr, 1));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  return passed();
}
