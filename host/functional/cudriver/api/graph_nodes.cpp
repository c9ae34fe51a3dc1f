// Entry points that add nodes to graphs, and that ask for and change what they do. Of most kinds
// both interfaces have the same parameters; those of kernels and copies are converted.
#include <bit>

#include "host/functional/cudriver/copies.h"

namespace nearwarp::cudriver {

namespace {

using Dependencies = GraphNode* const*;

/// The kernel may be named in one of two places.
cudart::KernelNodeParams of_runtime(const KernelNodeParams* p) {
  require(p != nullptr);
  cudart::KernelNodeParams params = p->of_runtime;
  if (params.function == nullptr) params.function = p->kernel;
  return params;
}
cudart::Copy3D of_runtime(const Copy3D* p) {
  require(p != nullptr);
  return runtime_copy(*p);
}

/// Kernels and copies in the runtime's terms, all else as it is.
cudart::NodeParams of_runtime(const NodeParams* p) {
  require(p != nullptr);
  auto params = std::bit_cast<cudart::NodeParams>(*p);
  if (p->type == kKernelNode) params.kernel = of_runtime(&p->kernel);
  if (p->type == kCopyNode) params.copy = {0, {}, of_runtime(&p->copy.copy)};
  return params;
}
/// Tells what adding a node has made: the address of memory, the graph of a child.
void tell(NodeParams* p, const cudart::NodeParams& params) {
  if (p->type != kKernelNode && p->type != kCopyNode) *p = std::bit_cast<NodeParams>(params);
}

}  // namespace

NW_CU cuGraphAddNode_v2(GraphNode** node, Graph* graph, Dependencies dependencies,
                        const EdgeData* edges, size_t count, NodeParams* p) {
  return call([&] {
    cudart::NodeParams params = of_runtime(p);
    const Status status = cudaGraphAddNode(node, graph, dependencies, edges, count, &params);
    if (status == kSuccess) tell(p, params);
    return status;
  });
}
NW_CU cuGraphAddNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                     NodeParams* p) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, p);
}
NW_CU cuGraphNodeSetParams(const GraphNode* node, const NodeParams* p) {
  return call([&] {
    auto params = of_runtime(p);
    return cudaGraphNodeSetParams(node, &params);
  });
}
NW_CU cuGraphExecNodeSetParams(GraphExec* exec, const GraphNode* node, const NodeParams* p) {
  return call([&] {
    auto params = of_runtime(p);
    return cudaGraphExecNodeSetParams(exec, node, &params);
  });
}

NW_CU cuGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, void*,
                                     unsigned initial, unsigned flags) {
  return forward(cudaGraphConditionalHandleCreate, handle, graph, initial, flags);
}

// --- Kernels -------------------------------------------------------------------------------------

NW_CU cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph, Dependencies dependencies,
                              size_t count, const KernelNodeParams* p) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphAddKernelNode(node, graph, dependencies, count, &params);
  });
}
NW_CU cuGraphKernelNodeGetParams_v2(const GraphNode* node, KernelNodeParams* p) {
  return call([&] {
    require(p != nullptr);
    cudart::KernelNodeParams params;
    check(cudaGraphKernelNodeGetParams(node, &params));
    void* kernel = nullptr;
    check(cudaGetKernel(&kernel, params.function));
    params.function = kernel;
    *p = {params, nullptr, current_context()};
    return kSuccess;
  });
}
NW_CU cuGraphKernelNodeSetParams_v2(const GraphNode* node, const KernelNodeParams* p) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphKernelNodeSetParams(node, &params);
  });
}
NW_CU cuGraphExecKernelNodeSetParams_v2(GraphExec* exec, const GraphNode* node,
                                        const KernelNodeParams* p) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
  });
}
// Before CUDA 12 without the second place for a kernel: as the runtime has them.
NW_CU cuGraphAddKernelNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                           const cudart::KernelNodeParams* p) {
  return forward(cudaGraphAddKernelNode, node, graph, dependencies, count, p);
}
NW_CU cuGraphKernelNodeGetParams(const GraphNode* node, cudart::KernelNodeParams* p) {
  KernelNodeParams params{};
  const Status status = cuGraphKernelNodeGetParams_v2(node, &params);
  if (status == kSuccess && p != nullptr) *p = params.of_runtime;
  return p == nullptr ? kErrorInvalidValue : status;
}
NW_CU cuGraphKernelNodeSetParams(const GraphNode* node, const cudart::KernelNodeParams* p) {
  return forward(cudaGraphKernelNodeSetParams, node, p);
}
NW_CU cuGraphExecKernelNodeSetParams(GraphExec* exec, const GraphNode* node,
                                     const cudart::KernelNodeParams* p) {
  return forward(cudaGraphExecKernelNodeSetParams, exec, node, p);
}
NW_CU cuGraphKernelNodeSetAttribute(const GraphNode* node, int attribute, const void* value) {
  return forward(cudaGraphKernelNodeSetAttribute, node, attribute, value);
}
NW_CU cuGraphKernelNodeGetAttribute(const GraphNode* node, int attribute, void* value) {
  return forward(cudaGraphKernelNodeGetAttribute, node, attribute, value);
}
NW_CU cuGraphKernelNodeCopyAttributes(const GraphNode* to, const GraphNode* from) {
  return forward(cudaGraphKernelNodeCopyAttributes, to, from);
}

// --- Copies and fills ----------------------------------------------------------------------------

NW_CU cuGraphAddMemcpyNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                           const Copy3D* p, void*) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params);
  });
}
NW_CU cuGraphMemcpyNodeGetParams(const GraphNode* node, Copy3D* p) {
  return call([&] {
    require(p != nullptr);
    cudart::Copy3D params;
    check(cudaGraphMemcpyNodeGetParams(node, &params));
    *p = driver_copy(params);
    return kSuccess;
  });
}
NW_CU cuGraphMemcpyNodeSetParams(const GraphNode* node, const Copy3D* p) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphMemcpyNodeSetParams(node, &params);
  });
}
NW_CU cuGraphExecMemcpyNodeSetParams(GraphExec* exec, const GraphNode* node, const Copy3D* p,
                                     void*) {
  return call([&] {
    const auto params = of_runtime(p);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &params);
  });
}
NW_CU cuGraphAddMemsetNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                           const MemsetParams* p, void*) {
  return forward(cudaGraphAddMemsetNode, node, graph, dependencies, count, p);
}
NW_CU cuGraphMemsetNodeGetParams(const GraphNode* node, MemsetParams* p) {
  return forward(cudaGraphMemsetNodeGetParams, node, p);
}
NW_CU cuGraphMemsetNodeSetParams(const GraphNode* node, const MemsetParams* p) {
  return forward(cudaGraphMemsetNodeSetParams, node, p);
}
NW_CU cuGraphExecMemsetNodeSetParams(GraphExec* exec, const GraphNode* node, const MemsetParams* p,
                                     void*) {
  return forward(cudaGraphExecMemsetNodeSetParams, exec, node, p);
}

// --- Others --------------------------------------------------------------------------------------

NW_CU cuGraphAddHostNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                         const HostNodeParams* p) {
  return forward(cudaGraphAddHostNode, node, graph, dependencies, count, p);
}
NW_CU cuGraphHostNodeGetParams(const GraphNode* node, HostNodeParams* p) {
  return forward(cudaGraphHostNodeGetParams, node, p);
}
NW_CU cuGraphHostNodeSetParams(const GraphNode* node, const HostNodeParams* p) {
  return forward(cudaGraphHostNodeSetParams, node, p);
}
NW_CU cuGraphExecHostNodeSetParams(GraphExec* exec, const GraphNode* node,
                                   const HostNodeParams* p) {
  return forward(cudaGraphExecHostNodeSetParams, exec, node, p);
}
NW_CU cuGraphAddEventRecordNode(GraphNode** node, Graph* graph, Dependencies dependencies,
                                size_t count, void* event) {
  return forward(cudaGraphAddEventRecordNode, node, graph, dependencies, count, event);
}
NW_CU cuGraphEventRecordNodeGetEvent(const GraphNode* node, void** event) {
  return forward(cudaGraphEventRecordNodeGetEvent, node, event);
}
NW_CU cuGraphEventRecordNodeSetEvent(const GraphNode* node, void* event) {
  return forward(cudaGraphEventRecordNodeSetEvent, node, event);
}
NW_CU cuGraphExecEventRecordNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event) {
  return forward(cudaGraphExecEventRecordNodeSetEvent, exec, node, event);
}
NW_CU cuGraphAddEventWaitNode(GraphNode** node, Graph* graph, Dependencies dependencies,
                              size_t count, void* event) {
  return forward(cudaGraphAddEventWaitNode, node, graph, dependencies, count, event);
}
NW_CU cuGraphEventWaitNodeGetEvent(const GraphNode* node, void** event) {
  return forward(cudaGraphEventWaitNodeGetEvent, node, event);
}
NW_CU cuGraphEventWaitNodeSetEvent(const GraphNode* node, void* event) {
  return forward(cudaGraphEventWaitNodeSetEvent, node, event);
}
NW_CU cuGraphExecEventWaitNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event) {
  return forward(cudaGraphExecEventWaitNodeSetEvent, exec, node, event);
}
NW_CU cuGraphAddEmptyNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count) {
  return forward(cudaGraphAddEmptyNode, node, graph, dependencies, count);
}
NW_CU cuGraphAddChildGraphNode(GraphNode** node, Graph* graph, Dependencies dependencies,
                               size_t count, Graph* child) {
  return forward(cudaGraphAddChildGraphNode, node, graph, dependencies, count, child);
}
NW_CU cuGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** graph) {
  return forward(cudaGraphChildGraphNodeGetGraph, node, graph);
}
NW_CU cuGraphExecChildGraphNodeSetParams(GraphExec* exec, const GraphNode* node, Graph* child) {
  return forward(cudaGraphExecChildGraphNodeSetParams, exec, node, child);
}
NW_CU cuGraphAddMemAllocNode(GraphNode** node, Graph* graph, Dependencies dependencies,
                             size_t count, AllocateNodeParams* p) {
  return forward(cudaGraphAddMemAllocNode, node, graph, dependencies, count, p);
}
NW_CU cuGraphMemAllocNodeGetParams(const GraphNode* node, AllocateNodeParams* p) {
  return forward(cudaGraphMemAllocNodeGetParams, node, p);
}
NW_CU cuGraphAddMemFreeNode(GraphNode** node, Graph* graph, Dependencies dependencies, size_t count,
                            DevicePtr start) {
  return forward(cudaGraphAddMemFreeNode, node, graph, dependencies, count, pointer(start));
}
NW_CU cuGraphMemFreeNodeGetParams(const GraphNode* node, DevicePtr* start) {
  return forward(cudaGraphMemFreeNodeGetParams, node, static_cast<void*>(start));
}

}  // namespace nearwarp::cudriver
