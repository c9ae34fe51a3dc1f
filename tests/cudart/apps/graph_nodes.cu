// Graphs that are looked into and changed: nodes of every type, edges, clones, memory, objects.
#include <cstring>
#include <string>
#include <vector>

#include "tests/cudart/apps/check.h"

__constant__ int factor;
__device__ int seen;

__global__ void add(int* p, int value) { p[threadIdx.x] += value; }
__global__ void scale(int* p) {
  p[threadIdx.x] *= factor;
  if (threadIdx.x == 0) seen = p[0];
}

constexpr size_t kBytes = 32 * sizeof(int);

cudaKernelNodeParams launch_of(void (*kernel)(int*, int), void** args) {
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(kernel);
  p.gridDim = dim3(1);
  p.blockDim = dim3(32);
  p.kernelParams = args;
  return p;
}

void count_call(void* calls) { ++*static_cast<int*>(calls); }

/// A graph made by hand does what its edges say, and tells its parameters.
void by_hand(int* device) {
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  int value = 5, three = 3, result = 0, calls = 0, host[32];
  void* args[] = {&device, &value};
  cudaEvent_t event;
  CUDA(cudaEventCreate(&event));

  cudaGraphNode_t fill, plus, to_symbol, times, from_symbol, copy, call, record, wait, empty;
  const cudaMemsetParams zero = {device, kBytes, 100, 4, 32, 1};
  CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  const cudaKernelNodeParams kernel = launch_of(add, args);
  CUDA(cudaGraphAddKernelNode(&plus, graph, &fill, 1, &kernel));
  CUDA(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, factor, &three, sizeof(int), 0,
                                      cudaMemcpyHostToDevice));
  const cudaGraphNode_t both[] = {plus, to_symbol};
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeKernel;
  void* scale_args[] = {&device};
  any.kernel.func = reinterpret_cast<void*>(scale);
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(32);
  any.kernel.kernelParams = scale_args;
  CUDA(cudaGraphAddNode(&times, graph, both, nullptr, 2, &any));
  CUDA(cudaGraphAddMemcpyNodeFromSymbol(&from_symbol, graph, &times, 1, &result, seen, sizeof(int),
                                        0, cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(device, kBytes, kBytes, 1);
  box.dstPtr = make_cudaPitchedPtr(host, kBytes, kBytes, 1);
  box.extent = make_cudaExtent(kBytes, 1, 1);
  box.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaGraphAddMemcpyNode(&copy, graph, &times, 1, &box));
  const cudaHostNodeParams on_host = {count_call, &calls};
  CUDA(cudaGraphAddHostNode(&call, graph, &copy, 1, &on_host));
  CUDA(cudaGraphAddEventRecordNode(&record, graph, &call, 1, event));
  CUDA(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
  CUDA(cudaGraphAddEmptyNode(&empty, graph, &wait, 1));

  size_t count = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 10);
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &count));
  CHECK(count == 2);
  CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  CHECK(count == 9);
  std::vector<cudaGraphNode_t> from(9), to(9);
  CUDA(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
  CHECK(count == 9 && from[0] == fill && to[0] == plus);
  CUDA(cudaGraphNodeGetDependencies(times, nullptr, nullptr, &count));
  CHECK(count == 2);
  CUDA(cudaGraphNodeGetDependentNodes(times, nullptr, nullptr, &count));
  CHECK(count == 2);

  cudaKernelNodeParams told;
  CUDA(cudaGraphKernelNodeGetParams(plus, &told));
  CHECK(told.func == reinterpret_cast<void*>(add) && told.blockDim.x == 32);
  CHECK(*static_cast<int**>(told.kernelParams[0]) == device);
  CHECK(*static_cast<int*>(told.kernelParams[1]) == 5);
  cudaMemsetParams told_fill;
  CUDA(cudaGraphMemsetNodeGetParams(fill, &told_fill));
  CHECK(told_fill.dst == device && told_fill.value == 100);
  cudaMemcpy3DParms told_box;
  CUDA(cudaGraphMemcpyNodeGetParams(copy, &told_box));
  CHECK(told_box.dstPtr.ptr == host);
  cudaHostNodeParams told_host;
  CUDA(cudaGraphHostNodeGetParams(call, &told_host));
  CHECK(told_host.fn == count_call && told_host.userData == &calls);
  cudaEvent_t told_event;
  CUDA(cudaGraphEventRecordNodeGetEvent(record, &told_event));
  CHECK(told_event == event);
  FAILS(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(plus, &told_fill));

  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(result == 315 && host[31] == 315 && calls == 1);

  // Changed in the instance alone, then in the graph.
  value = 6;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, plus, &kernel));
  CUDA(cudaGraphNodeSetEnabled(exec, to_symbol, 0));
  three = 4;
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(result == 318);
  unsigned enabled = 1;
  CUDA(cudaGraphNodeGetEnabled(exec, to_symbol, &enabled));
  CHECK(enabled == 0);
  value = 7;
  CUDA(cudaGraphKernelNodeSetParams(plus, &kernel));
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecUpdate(exec, graph, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  CUDA(cudaGraphNodeSetEnabled(exec, to_symbol, 1));
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(result == 4 * 107);
  CUDA(cudaGraphExecDestroy(exec));

  // A clone goes its own way.
  cudaGraph_t clone;
  CUDA(cudaGraphClone(&clone, graph));
  cudaGraphNode_t same;
  CUDA(cudaGraphNodeFindInClone(&same, fill, clone));
  CHECK(same != fill);
  cudaMemsetParams other = zero;
  other.value = 1;
  CUDA(cudaGraphMemsetNodeSetParams(same, &other));
  CUDA(cudaGraphNodeFindInClone(&same, call, clone));
  CUDA(cudaGraphDestroyNode(same));
  CUDA(cudaGraphGetNodes(clone, nullptr, &count));
  CHECK(count == 9);
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphInstantiate(&exec, clone, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CHECK(result == 4 * 8 && calls == 3);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(clone));
  FAILS(cudaErrorInvalidValue, cudaGraphDestroy(clone));
}

/// Captured work depends on what came before it in its stream, or what that has waited for.
void captured(int* device) {
  cudaStream_t stream, side;
  cudaEvent_t fork, join;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&side));
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CUDA(cudaMemsetAsync(device, 0, kBytes, stream));
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, side>>>(device, 1);
  add<<<1, 32, 0, stream>>>(device, 2);
  CUDA(cudaEventRecord(join, side));
  CUDA(cudaStreamWaitEvent(stream, join, 0));
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* tail;
  size_t count = 0;
  CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &tail, nullptr, &count));
  CHECK(status == cudaStreamCaptureStatusActive && count == 2);
  add<<<1, 32, 0, stream>>>(device, 4);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 4);
  CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  CHECK(count == 4);  // a diamond
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &count));
  CHECK(count == 1);

  // The last launch gets another argument.
  cudaGraphNode_t nodes[4];
  count = 4;
  CUDA(cudaGraphGetNodes(graph, nodes, &count));
  cudaKernelNodeParams last;
  CUDA(cudaGraphKernelNodeGetParams(nodes[3], &last));
  CHECK(*static_cast<int*>(last.kernelParams[1]) == 4 && last.gridDim.x == 1);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  int eight = 8;
  void* args[] = {last.kernelParams[0], &eight};
  last.kernelParams = args;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, nodes[3], &last));
  CUDA(cudaGraphLaunch(exec, stream));
  int host[32];
  CUDA(cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 11);

  // A graph in a graph.
  cudaGraph_t outer, inner;
  CUDA(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t child, child_node;
  CUDA(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  CUDA(cudaGraphChildGraphNodeGetGraph(child, &inner));
  CHECK(inner != graph);
  CUDA(cudaGraphNodeFindInClone(&child_node, nodes[3], inner));
  CUDA(cudaGraphKernelNodeSetParams(child_node, &last));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphInstantiate(&exec, outer, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost));
  CHECK(host[31] == 11);
  CUDA(cudaGraphDestroy(outer));
}

/// Memory that graphs allocate.
void memory() {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  int *captured, host[32];
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync(&captured, kBytes, stream));
  CUDA(cudaMemsetAsync(captured, 0, kBytes, stream));
  add<<<1, 32, 0, stream>>>(captured, 9);
  CUDA(cudaMemcpyAsync(host, captured, kBytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaFreeAsync(captured, stream));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) {
    std::memset(host, 0, kBytes);
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(host[5] == 9);
  }
  CUDA(cudaGraphExecDestroy(exec));

  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = kBytes;
  cudaGraphNode_t get, fill, give;
  CUDA(cudaGraphAddMemAllocNode(&get, graph, nullptr, 0, &alloc));
  CHECK(alloc.dptr != nullptr);
  const cudaMemsetParams sevens = {alloc.dptr, kBytes, 7, 4, 32, 1};
  CUDA(cudaGraphAddMemsetNode(&fill, graph, &get, 1, &sevens));
  unsigned long long used = 0;
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  CHECK(used == 0);  // until it is launched
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  CHECK(used == kBytes);
  FAILS(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));  // what it has is in use
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  // Without a node that frees it, it outlives the graph.
  CUDA(cudaMemcpy(host, alloc.dptr, kBytes, cudaMemcpyDeviceToHost));
  CHECK(host[31] == 7);
  CUDA(cudaFree(alloc.dptr));
  FAILS(cudaErrorInvalidValue, cudaFree(alloc.dptr));

  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddMemAllocNode(&get, graph, nullptr, 0, &alloc));
  CUDA(cudaGraphAddMemFreeNode(&give, graph, &get, 1, alloc.dptr));
  void* freed = nullptr;
  CUDA(cudaGraphMemFreeNodeGetParams(give, &freed));
  CHECK(freed == alloc.dptr);
  CUDA(cudaGraphDestroy(graph));
  FAILS(cudaErrorInvalidValue, cudaFree(freed));
}

unsigned long long memory_attribute(cudaGraphMemAttributeType attribute) {
  unsigned long long value = 0;
  CUDA(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
  return value;
}

/// Lifetimes that do not overlap share addresses; memory is taken by launches alone.
void shared_memory() {
  constexpr size_t kMuch = size_t{1} << 30;
  unsigned long long none = 0;
  CUDA(cudaDeviceGraphMemTrim(0));
  for (const auto high : {cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemHigh})
    CUDA(cudaDeviceSetGraphMemAttribute(0, high, &none));
  size_t free_before, free_now, total;
  CUDA(cudaMemGetInfo(&free_before, &total));
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = kMuch;
  cudaGraphNode_t last = nullptr;
  void* first = nullptr;
  for (int i = 0; i < 40; ++i) {  // more than the device has
    cudaGraphNode_t get;
    CUDA(cudaGraphAddMemAllocNode(&get, graph, last == nullptr ? nullptr : &last,
                                  last == nullptr ? 0 : 1, &alloc));
    if (first == nullptr) first = alloc.dptr;
    CHECK(alloc.dptr == first);
    CUDA(cudaGraphAddMemFreeNode(&last, graph, &get, 1, alloc.dptr));
  }
  cudaGraphNode_t beside;  // of which nothing tells that the others have come to their end
  CUDA(cudaGraphAddMemAllocNode(&beside, graph, nullptr, 0, &alloc));
  CHECK(alloc.dptr != first);
  CUDA(cudaMemGetInfo(&free_now, &total));
  CHECK(free_now == free_before);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK(memory_attribute(cudaGraphMemAttrUsedMemCurrent) == kMuch);
    CHECK(memory_attribute(cudaGraphMemAttrReservedMemCurrent) == 2 * kMuch);
  }
  CHECK(memory_attribute(cudaGraphMemAttrUsedMemHigh) == kMuch);  // one after the other
  CUDA(cudaMemGetInfo(&free_now, &total));
  CHECK(free_now == free_before - 2 * kMuch);
  CUDA(cudaDeviceGraphMemTrim(0));
  CHECK(memory_attribute(cudaGraphMemAttrReservedMemCurrent) == kMuch);
  CHECK(memory_attribute(cudaGraphMemAttrReservedMemHigh) == 2 * kMuch);
  CUDA(cudaFree(alloc.dptr));
  CHECK(memory_attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaMemGetInfo(&free_now, &total));
  CHECK(free_now == free_before);
}

/// CUDA's rules for graphs whose nodes allocate or free memory.
void memory_rules() {
  cudaGraph_t graph, other, outer, clone;
  cudaGraphExec_t exec, second;
  cudaGraphNode_t get, give, empty, child;
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = kBytes;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&other, 0));
  CUDA(cudaGraphAddMemAllocNode(&get, graph, nullptr, 0, &alloc));
  CUDA(cudaGraphAddEmptyNode(&empty, graph, &get, 1));
  int* plain;
  CUDA(cudaMalloc(&plain, kBytes));
  char* const inside = static_cast<char*>(alloc.dptr) + 4;
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, graph, &get, 1, plain));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, graph, &get, 1, inside));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, graph, &get, 1, nullptr));
  CUDA(cudaGraphAddMemFreeNode(&give, graph, &get, 1, alloc.dptr));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, graph, &get, 1, alloc.dptr));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, other, nullptr, 0, alloc.dptr));

  FAILS(cudaErrorInvalidValue, cudaGraphClone(&clone, graph));
  FAILS(cudaErrorInvalidValue, cudaGraphDestroyNode(empty));
  FAILS(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &get, &empty, nullptr, 1));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&second, graph, 0));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));  // one after the other
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaGraphExecDestroy(exec));

  // It may go into another graph, where it stays.
  CUDA(cudaGraphCreate(&outer, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  cudaGraphNodeParams moved = {};
  moved.type = cudaGraphNodeTypeGraph;
  moved.graph.graph = graph;
  moved.graph.ownership = cudaGraphChildGraphOwnershipMove;
  CUDA(cudaGraphAddNode(&child, outer, nullptr, nullptr, 0, &moved));
  cudaGraph_t inner;
  CUDA(cudaGraphChildGraphNodeGetGraph(child, &inner));
  CHECK(inner == graph);
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphDestroy(graph));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&get, graph, nullptr, 0, &alloc));
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&child, other, nullptr, nullptr, 0, &moved));
  moved.graph.graph = outer;  // which the graph itself is part of
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&child, graph, nullptr, nullptr, 0, &moved));
  CUDA(cudaGraphInstantiate(&exec, outer, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&second, outer, 0));
  CUDA(cudaGraphDestroy(outer));
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaGraphExecDestroy(exec));

  // Another graph may free what one allocates, instead of the first.
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddMemAllocNode(&get, graph, nullptr, 0, &alloc));
  CUDA(cudaGraphAddMemFreeNode(&give, other, nullptr, 0, alloc.dptr));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, other, nullptr, 0, alloc.dptr));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&give, graph, &get, 1, alloc.dptr));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphInstantiate(&second, other, 0));
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaGraphLaunch(exec, nullptr));
    CUDA(cudaGraphLaunch(second, nullptr));
  }
  for (const cudaGraphExec_t e : {exec, second}) CUDA(cudaGraphExecDestroy(e));
  for (const cudaGraph_t g : {graph, other}) CUDA(cudaGraphDestroy(g));
  CUDA(cudaFree(plain));
}

/// Objects live until the last graph that holds them is gone.
void objects() {
  int destroyed = 0;
  cudaUserObject_t object;
  CUDA(cudaUserObjectCreate(&object, &destroyed, count_call, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph, clone;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphDestroy(graph));
  CHECK(destroyed == 0);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, clone, 0));
  CUDA(cudaGraphDestroy(clone));
  CHECK(destroyed == 0);
  CUDA(cudaGraphExecDestroy(exec));
  CHECK(destroyed == 1);

  // Copies of a graph and instances have references of their own. An update replaces an instance's.
  CUDA(cudaUserObjectCreate(&object, &destroyed, count_call, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t outer[2];
  cudaGraphNode_t child;
  CUDA(cudaGraphCreate(&graph, 0));
  for (cudaGraph_t& g : outer) CUDA(cudaGraphCreate(&g, 0));
  CUDA(cudaGraphAddChildGraphNode(&child, outer[1], nullptr, 0, graph));
  CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CUDA(cudaGraphRetainUserObject(graph, object, 1, 0));
  CUDA(cudaGraphAddChildGraphNode(&child, outer[0], nullptr, 0, graph));
  CUDA(cudaGraphReleaseUserObject(graph, object, 2));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphInstantiate(&exec, outer[0], 0));
  CUDA(cudaGraphDestroy(outer[0]));
  CHECK(destroyed == 1);
  CUDA(cudaGraphExecUpdate(exec, outer[1], nullptr));
  CHECK(destroyed == 2);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(outer[1]));
}

int main() {
  int* device;
  CUDA(cudaMalloc(&device, kBytes));
  by_hand(device);
  captured(device);
  memory();
  shared_memory();
  memory_rules();
  objects();
  return passed();
}
