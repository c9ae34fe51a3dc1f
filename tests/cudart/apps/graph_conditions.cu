// Graphs with conditional nodes, whose values kernels set: if, else, while, switch, loops in loops.
#include "tests/cudart/apps/check.h"

__global__ void set(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void halve(cudaGraphConditionalHandle handle, int* value, int* rounds) {
  *value /= 2;
  ++*rounds;
  cudaGraphSetConditional(handle, *value > 1);
}
__global__ void add(int* to, int value) { *to += value; }

template <class... Parameters, class... Arguments>
static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*function)(Parameters...),
                              Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(function);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = pointers;
  cudaGraphNode_t node;
  CUDA(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &p));
  return node;
}

/// Adds a conditional node with this handle; returns its body graphs in `bodies`.
static cudaGraphNode_t condition(cudaGraph_t graph, cudaGraphNode_t after,
                                 cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                 unsigned size, cudaGraph_t* bodies) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  cudaGraphNode_t node;
  CUDA(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
  for (unsigned i = 0; i < size; ++i) bodies[i] = p.conditional.phGraph_out[i];
  return node;
}

static void launch(cudaGraphExec_t exec) {
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
}

static void if_else_and_switch(int* value, int* count) {
  for (const bool by_switch : {false, true}) {
    cudaGraph_t graph, bodies[3];
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    const unsigned size = by_switch ? 3 : 2;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph));
    const cudaGraphNode_t first = kernel(graph, nullptr, set, handle, (const int*)value);
    const cudaGraphNode_t node =
        condition(graph, first, handle, by_switch ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf,
                  size, bodies);
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(node, &type));
    CHECK(type == cudaGraphNodeTypeConditional);
    for (unsigned i = 0; i < size; ++i) kernel(bodies[i], nullptr, add, count + i, 1);
    kernel(graph, node, add, count + 3, 1);  // whatever was chosen
    cudaGraph_t clone;
    FAILS(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (int i = 0; i < 4; ++i) count[i] = 0;
    for (const int v : {0, 1, 2, 2, 7}) {
      *value = v;
      launch(exec);
    }
    if (by_switch)
      CHECK(count[0] == 1 && count[1] == 1 && count[2] == 2 && count[3] == 5);
    else
      CHECK(count[0] == 4 && count[1] == 1 && count[2] == 0 && count[3] == 5);
    CUDA(cudaGraphExecDestroy(exec));
  }
}

/// A loop inside of a loop: the outer one repeats the inner one.
static void loops(int* value, int* rounds, int* outer) {
  cudaGraph_t graph, body, inner;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle handle, inner_handle;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  condition(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  CUDA(cudaGraphConditionalHandleCreate(&inner_handle, body));
  const cudaGraphNode_t again = kernel(body, nullptr, set, inner_handle, (const int*)value);
  const cudaGraphNode_t loop = condition(body, again, inner_handle, cudaGraphCondTypeWhile, 1, &inner);
  cudaStream_t stream;  // the rest is captured
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCaptureToGraph(stream, inner, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  halve<<<1, 1, 0, stream>>>(inner_handle, value, rounds);
  cudaGraph_t same;
  CUDA(cudaStreamEndCapture(stream, &same));
  CHECK(same == inner);
  CUDA(cudaStreamBeginCaptureToGraph(stream, body, &loop, nullptr, 1, cudaStreamCaptureModeGlobal));
  halve<<<1, 1, 0, stream>>>(handle, outer, rounds + 1);
  CUDA(cudaStreamEndCapture(stream, nullptr));  // the caller has the graph already
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  FAILS(cudaErrorInvalidValue, cudaStreamEndCapture(stream, nullptr));
  cudaGraph_t empty;
  CUDA(cudaStreamEndCapture(stream, &empty));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int launched = 1; launched <= 2; ++launched) {
    *value = 1000;  // 9 halvings, then one more
    *outer = 8;     // 3
    rounds[0] = rounds[1] = 0;
    launch(exec);
    CHECK(rounds[0] == 9 + 1 && rounds[1] == 3 && *value == 0 && *outer == 1);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

/// A graph that was moved into another one: its handles begin anew with each launch, too.
static void moved_child(int* value, int* rounds) {
  cudaGraph_t graph, child, body;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle handle;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&child, 0));
  CUDA(cudaGraphConditionalHandleCreate(&handle, child, 1, cudaGraphCondAssignDefault));
  condition(child, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  kernel(body, nullptr, halve, handle, value, rounds);
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeGraph;
  p.graph.graph = child;
  p.graph.ownership = cudaGraphChildGraphOwnershipMove;
  CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int launched = 1; launched <= 2; ++launched) {
    *value = 8;
    *rounds = 0;
    launch(exec);
    CHECK(*rounds == 3 && *value == 1);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

static void mistakes() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphConditionalHandle handle;
  CUDA(cudaGraphCreate(&graph, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, graph, 0, 2));
  CUDA(cudaGraphConditionalHandleCreate(&handle, graph));
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 2;
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  p.conditional.size = 1;
  p.conditional.handle = handle + 1000;
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  cudaGraph_t body, inner;
  p.conditional.handle = handle;  // belongs to one node of any graph, as long as that exists
  const cudaGraphNode_t first = condition(graph, nullptr, handle, cudaGraphCondTypeIf, 1, &body);
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &p));
  CUDA(cudaGraphDestroyNode(first));
  cudaGraphConditionalHandle around;
  CUDA(cudaGraphConditionalHandleCreate(&around, graph));
  const cudaGraphNode_t second = condition(graph, nullptr, around, cudaGraphCondTypeIf, 1, &body);
  condition(body, nullptr, handle, cudaGraphCondTypeWhile, 1, &inner);  // of the graph around
  FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  CUDA(cudaGraphDestroyNode(second));
  cudaGraphExec_t exec;  // no node goes by the handle
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
}

/// Bodies may have nodes of some kinds only. A graph with conditional nodes can have one
/// instance only.
static void kinds(int* memory) {
  cudaGraph_t graph, bodies[2], free_graph, child_graph, inner;
  cudaGraphNode_t node;
  cudaGraphExec_t exec, second;
  cudaGraphConditionalHandle handle;
  cudaEvent_t event;
  CUDA(cudaEventCreate(&event));
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&free_graph, 0));
  CUDA(cudaGraphCreate(&child_graph, 0));
  CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  condition(graph, nullptr, handle, cudaGraphCondTypeIf, 2, bodies);
  const cudaGraph_t body = bodies[0];
  cudaHostNodeParams call = {};
  call.fn = [](void*) {};
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = 4;
  const cudaMemsetParams fill = {memory, 4, 7, 4, 1, 1};
  CUDA(cudaGraphAddEmptyNode(&node, child_graph, nullptr, 0));
  CUDA(cudaGraphAddChildGraphNode(&node, body, nullptr, 0, child_graph));
  CUDA(cudaGraphChildGraphNodeGetGraph(node, &inner));
  for (const cudaGraph_t g : {body, bodies[1], inner}) {
    FAILS(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, g, nullptr, 0, &call));
    FAILS(cudaErrorInvalidValue, cudaGraphAddEventRecordNode(&node, g, nullptr, 0, event));
    FAILS(cudaErrorInvalidValue, cudaGraphAddEventWaitNode(&node, g, nullptr, 0, event));
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&node, g, nullptr, 0, &alloc));
    CUDA(cudaGraphAddMemsetNode(&node, g, nullptr, 0, &fill));
    CUDA(cudaGraphAddMemcpyNode1D(&node, g, nullptr, 0, memory + 1, memory, 4, cudaMemcpyDefault));
  }
  CUDA(cudaGraphAddHostNode(&node, free_graph, nullptr, 0, &call));
  FAILS(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&node, body, nullptr, 0, free_graph));
  // A child that cannot be cloned leaves no node behind.
  size_t nodes = 0;
  FAILS(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, child_graph, nullptr, 0, graph));
  CUDA(cudaGraphGetNodes(child_graph, nullptr, &nodes));
  CHECK(nodes == 1);

  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&second, graph, 0));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphInstantiate(&exec, free_graph, 0));
  CUDA(cudaGraphInstantiate(&second, free_graph, 0));  // any other graph has many
  for (const cudaGraphExec_t e : {exec, second}) CUDA(cudaGraphExecDestroy(e));
  for (const cudaGraph_t g : {graph, free_graph, child_graph}) CUDA(cudaGraphDestroy(g));
}

int main() {
  int* memory;
  CUDA(cudaMallocManaged(&memory, 64 * sizeof(int)));
  if_else_and_switch(memory, memory + 1);
  loops(memory, memory + 8, memory + 16);
  moved_child(memory, memory + 8);
  mistakes();
  kinds(memory);
  return passed();
}
