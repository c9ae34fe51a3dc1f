// Entry points that add nodes to graphs, and that ask for and change what they do.
#include <cstring>

#include "host/functional/cudart/runtime/copies.h"
#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

/// Adds a node whose work `make(Runtime&)` gives.
template <class Make>
Status add(GraphNode** node, Graph* graph, GraphNode* const* dependencies, size_t count,
           NodeType type, Make&& make, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(node != nullptr);
    Graph& g = r.graphs.graph(graph);
    *node = r.graphs.add(g, type, make(r), dependencies, count);
    return kSuccess;
  });
}

/// A node does something else from now on.
template <class Make>
Status set(const GraphNode* node, NodeType type, Make&& make, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    GraphNode& n = r.graphs.node(node, type);
    n.work = make(r);
    return kSuccess;
  });
}

/// A node of an instantiated graph does something else from now on.
template <class Make>
Status set(GraphExec* exec, const GraphNode* node, NodeType type, Make&& make, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    GraphExec::Step& step = r.graphs.exec(exec).step(r.graphs.node(node, type));
    step.work = make(r);
    return kSuccess;
  });
}

/// Calls `read(parameters)` of a node's work.
template <class T, class Read>
Status get(const GraphNode* node, NodeType type, const void* to, Read&& read, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(to != nullptr);
    read(work_of<T>(r.graphs.node(node, type)));
    return kSuccess;
  });
}

auto of_kernel(const KernelNodeParams* p) {
  return [p](Runtime& r) { return kernel_work(r, p); };
}
auto of_box(const Copy3D* p) {
  return [p](Runtime&) { return box_work(p); };
}
auto of_line(void* dst, const void* src, size_t bytes, int kind) {
  return [=](Runtime&) { return copy_work(dst, src, bytes, kind); };
}
auto to_symbol(const void* symbol, const void* src, size_t bytes, size_t offset, int kind) {
  return [=](Runtime& r) {
    return symbol_work(r, symbol, offset, const_cast<void*>(src), bytes, kind, true);
  };
}
auto from_symbol(void* dst, const void* symbol, size_t bytes, size_t offset, int kind) {
  return [=](Runtime& r) { return symbol_work(r, symbol, offset, dst, bytes, kind, false); };
}
auto of_fill(const MemsetParams* p) {
  return [p](Runtime&) { return fill_work(p); };
}
auto of_host(const HostNodeParams* p) {
  return [p](Runtime&) { return host_work(p); };
}
auto of_event(void* event, bool record) {
  return [=](Runtime& r) { return event_work(r, event, record); };
}
Work nothing(Runtime&) {
  return [](Runtime&) {};
}

}  // namespace

// --- Kernels -------------------------------------------------------------------------------------

NW_API cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const KernelNodeParams* p) {
  return add(node, graph, dependencies, count, NodeType::kKernel, of_kernel(p));
}
NW_API cudaGraphKernelNodeGetParams(const GraphNode* node, KernelNodeParams* p) {
  return api([&](Runtime& r) {
    require(p != nullptr);
    *p = parameters_of(r.graphs.node(node, NodeType::kKernel));
    return kSuccess;
  });
}
NW_API cudaGraphKernelNodeSetParams(const GraphNode* node, const KernelNodeParams* p) {
  return set(node, NodeType::kKernel, of_kernel(p));
}
NW_API cudaGraphExecKernelNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const KernelNodeParams* p) {
  return set(exec, node, NodeType::kKernel, of_kernel(p));
}
NW_API cudaGraphKernelNodeSetAttribute(const GraphNode* node, int attribute, const void* value) {
  return api([&](Runtime& r) {
    require(value != nullptr);
    LaunchAttribute& kept = r.graphs.node(node, NodeType::kKernel).attributes[attribute];
    kept.id = attribute;
    std::memcpy(&kept.value, value, sizeof(kept.value));
    return kSuccess;
  });
}
NW_API cudaGraphKernelNodeGetAttribute(const GraphNode* node, int attribute, void* value) {
  return api([&](Runtime& r) {
    require(value != nullptr);
    const auto& attributes = r.graphs.node(node, NodeType::kKernel).attributes;
    const auto it = attributes.find(attribute);
    std::memset(value, 0, sizeof(LaunchAttribute::value));
    if (it != attributes.end()) std::memcpy(value, &it->second.value, sizeof(it->second.value));
    return kSuccess;
  });
}
NW_API cudaGraphKernelNodeCopyAttributes(const GraphNode* to, const GraphNode* from) {
  return api([&](Runtime& r) {
    r.graphs.node(to, NodeType::kKernel).attributes =
        r.graphs.node(from, NodeType::kKernel).attributes;
    return kSuccess;
  });
}

// --- Copies --------------------------------------------------------------------------------------

NW_API cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const Copy3D* p) {
  return add(node, graph, dependencies, count, NodeType::kCopy, of_box(p));
}
NW_API cudaGraphMemcpyNodeGetParams(const GraphNode* node, Copy3D* p) {
  return get<BoxCopy>(node, NodeType::kCopy, p, [&](const BoxCopy& w) { *p = w.copy; });
}
NW_API cudaGraphMemcpyNodeSetParams(const GraphNode* node, const Copy3D* p) {
  return set(node, NodeType::kCopy, of_box(p));
}
NW_API cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, const GraphNode* node, const Copy3D* p) {
  return set(exec, node, NodeType::kCopy, of_box(p));
}
NW_API cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                size_t count, void* dst, const void* src, size_t bytes, int kind) {
  return add(node, graph, dependencies, count, NodeType::kCopy, of_line(dst, src, bytes, kind));
}
NW_API cudaGraphMemcpyNodeSetParams1D(const GraphNode* node, void* dst, const void* src,
                                      size_t bytes, int kind) {
  return set(node, NodeType::kCopy, of_line(dst, src, bytes, kind));
}
NW_API cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, const GraphNode* node, void* dst,
                                          const void* src, size_t bytes, int kind) {
  return set(exec, node, NodeType::kCopy, of_line(dst, src, bytes, kind));
}
NW_API cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph,
                                      GraphNode* const* dependencies, size_t count,
                                      const void* symbol, const void* src, size_t bytes,
                                      size_t offset, int kind) {
  return add(node, graph, dependencies, count, NodeType::kCopy,
             to_symbol(symbol, src, bytes, offset, kind));
}
NW_API cudaGraphMemcpyNodeSetParamsToSymbol(const GraphNode* node, const void* symbol,
                                            const void* src, size_t bytes, size_t offset,
                                            int kind) {
  return set(node, NodeType::kCopy, to_symbol(symbol, src, bytes, offset, kind));
}
NW_API cudaGraphExecMemcpyNodeSetParamsToSymbol(GraphExec* exec, const GraphNode* node,
                                                const void* symbol, const void* src, size_t bytes,
                                                size_t offset, int kind) {
  return set(exec, node, NodeType::kCopy, to_symbol(symbol, src, bytes, offset, kind));
}
NW_API cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph,
                                        GraphNode* const* dependencies, size_t count, void* dst,
                                        const void* symbol, size_t bytes, size_t offset, int kind) {
  return add(node, graph, dependencies, count, NodeType::kCopy,
             from_symbol(dst, symbol, bytes, offset, kind));
}
NW_API cudaGraphMemcpyNodeSetParamsFromSymbol(const GraphNode* node, void* dst, const void* symbol,
                                              size_t bytes, size_t offset, int kind) {
  return set(node, NodeType::kCopy, from_symbol(dst, symbol, bytes, offset, kind));
}
NW_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(GraphExec* exec, const GraphNode* node, void* dst,
                                                  const void* symbol, size_t bytes, size_t offset,
                                                  int kind) {
  return set(exec, node, NodeType::kCopy, from_symbol(dst, symbol, bytes, offset, kind));
}

// --- Fills, host functions, events ---------------------------------------------------------------

NW_API cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const MemsetParams* p) {
  return add(node, graph, dependencies, count, NodeType::kFill, of_fill(p));
}
NW_API cudaGraphMemsetNodeGetParams(const GraphNode* node, MemsetParams* p) {
  return get<FillWork>(node, NodeType::kFill, p, [&](const FillWork& w) { *p = w.p; });
}
NW_API cudaGraphMemsetNodeSetParams(const GraphNode* node, const MemsetParams* p) {
  return set(node, NodeType::kFill, of_fill(p));
}
NW_API cudaGraphExecMemsetNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const MemsetParams* p) {
  return set(exec, node, NodeType::kFill, of_fill(p));
}
NW_API cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                            size_t count, const HostNodeParams* p) {
  return add(node, graph, dependencies, count, NodeType::kHost, of_host(p));
}
NW_API cudaGraphHostNodeGetParams(const GraphNode* node, HostNodeParams* p) {
  return get<HostWork>(node, NodeType::kHost, p, [&](const HostWork& w) { *p = w.p; });
}
NW_API cudaGraphHostNodeSetParams(const GraphNode* node, const HostNodeParams* p) {
  return set(node, NodeType::kHost, of_host(p));
}
NW_API cudaGraphExecHostNodeSetParams(GraphExec* exec, const GraphNode* node,
                                      const HostNodeParams* p) {
  return set(exec, node, NodeType::kHost, of_host(p));
}
NW_API cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                   size_t count, void* event) {
  return add(node, graph, dependencies, count, NodeType::kRecordEvent, of_event(event, true));
}
NW_API cudaGraphEventRecordNodeGetEvent(const GraphNode* node, void** event) {
  return get<EventWork>(node, NodeType::kRecordEvent, event,
                        [&](const EventWork& w) { *event = w.event; });
}
NW_API cudaGraphEventRecordNodeSetEvent(const GraphNode* node, void* event) {
  return set(node, NodeType::kRecordEvent, of_event(event, true));
}
NW_API cudaGraphExecEventRecordNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event) {
  return set(exec, node, NodeType::kRecordEvent, of_event(event, true));
}
NW_API cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                 size_t count, void* event) {
  return add(node, graph, dependencies, count, NodeType::kWaitEvent, of_event(event, false));
}
NW_API cudaGraphEventWaitNodeGetEvent(const GraphNode* node, void** event) {
  return get<EventWork>(node, NodeType::kWaitEvent, event,
                        [&](const EventWork& w) { *event = w.event; });
}
NW_API cudaGraphEventWaitNodeSetEvent(const GraphNode* node, void* event) {
  return set(node, NodeType::kWaitEvent, of_event(event, false));
}
NW_API cudaGraphExecEventWaitNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event) {
  return set(exec, node, NodeType::kWaitEvent, of_event(event, false));
}
NW_API cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                             size_t count) {
  return add(node, graph, dependencies, count, NodeType::kEmpty, nothing);
}

// --- Graphs in graphs ----------------------------------------------------------------------------

namespace {

Status add_child(GraphNode** node, Graph* graph, GraphNode* const* dependencies, size_t count,
                 Graph* child, int ownership, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    constexpr int kClone = 0, kMove = 1;
    require(node != nullptr && (ownership == kClone || ownership == kMove));
    Graph &g = r.graphs.graph(graph), &original = r.graphs.graph(child);
    r.graphs.check_child(g, original, ownership == kMove);
    *node = r.graphs.add(g, NodeType::kGraph, nothing(r), dependencies, count);
    r.graphs.add_child(**node, original, ownership == kMove);
    return kSuccess;
  });
}

}  // namespace

NW_API cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  size_t count, Graph* child) {
  return add_child(node, graph, dependencies, count, child, 0);
}
NW_API cudaGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** graph) {
  return api([&](Runtime& r) {
    require(graph != nullptr);
    *graph = r.graphs.node(node, NodeType::kGraph).child;
    return kSuccess;
  });
}
NW_API cudaGraphExecChildGraphNodeSetParams(GraphExec* exec, const GraphNode* node, Graph* child) {
  return set(exec, node, NodeType::kGraph, [&](Runtime& r) {
    return Work([steps = steps_of(r.graphs.graph(child))](Runtime& q) { run_steps(q, steps); });
  });
}

// --- Memory --------------------------------------------------------------------------------------

NW_API cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                size_t count, AllocateNodeParams* p) {
  return add(node, graph, dependencies, count, NodeType::kAllocate, [&](Runtime& r) {
    require(p != nullptr && p->bytes != 0);
    return allocate_work(r, r.graphs.graph(graph), dependencies, count, p->bytes, p->pool,
                         &p->pointer);
  });
}
NW_API cudaGraphMemAllocNodeGetParams(const GraphNode* node, AllocateNodeParams* p) {
  return get<AllocateWork>(node, NodeType::kAllocate, p, [&](const AllocateWork& w) {
    *p = {w.pool, nullptr, 0, w.bytes, w.memory->pointer()};
  });
}
NW_API cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                               size_t count, void* pointer) {
  return add(node, graph, dependencies, count, NodeType::kFree,
             [&](Runtime& r) { return free_work(r, r.graphs.graph(graph), pointer); });
}
NW_API cudaGraphMemFreeNodeGetParams(const GraphNode* node, void* pointer) {
  return get<FreeWork>(node, NodeType::kFree, pointer, [&](const FreeWork& w) {
    *static_cast<void**>(pointer) = w.memory->pointer();
  });
}

// --- Conditions ----------------------------------------------------------------------------------

NW_API cudaGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, unsigned initial,
                                        unsigned flags) {
  return api([&](Runtime& r) {
    constexpr unsigned kAssignDefault = 1;
    require(handle != nullptr && (flags & ~kAssignDefault) == 0);
    *handle = r.graphs.create_condition(r.graphs.graph(graph), initial, flags == kAssignDefault);
    return kSuccess;
  });
}

namespace {

/// Adds a conditional node. Its graphs are empty, for the application to fill.
Status add_conditional(GraphNode** node, Graph* graph, GraphNode* const* dependencies, size_t count,
                       ConditionalNodeParams* p) {
  return api([&](Runtime& r) {
    using Kind = Condition::Kind;
    const auto kind = static_cast<Kind>(p->kind);
    require(node != nullptr && p->kind >= 0 && p->kind <= static_cast<int>(Kind::kSwitch));
    require(p->size != 0 && (kind == Kind::kSwitch || p->size <= (kind == Kind::kIf ? 2 : 1)));
    Graph& g = r.graphs.graph(graph);
    r.graphs.check_condition(g, p->handle);
    *node = r.graphs.add(g, NodeType::kConditional, nothing(r), dependencies, count);
    r.graphs.add_bodies(**node, kind, p->handle, p->size);
    p->graphs = reinterpret_cast<void**>((*node)->condition.bodies.data());
    return kSuccess;
  });
}

}  // namespace

// --- Nodes of any type ---------------------------------------------------------------------------

NW_API cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                        const EdgeData*, size_t count, NodeParams* p) {
  const OuterCall outer;
  if (p == nullptr) return failed(kErrorInvalidValue);
  switch (static_cast<NodeType>(p->type)) {
    case NodeType::kKernel:
      return cudaGraphAddKernelNode(node, graph, dependencies, count, &p->kernel);
    case NodeType::kCopy:
      return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p->copy.copy);
    case NodeType::kFill:
      return cudaGraphAddMemsetNode(node, graph, dependencies, count, &p->fill);
    case NodeType::kHost:
      return cudaGraphAddHostNode(node, graph, dependencies, count, &p->host);
    case NodeType::kGraph:
      return add_child(node, graph, dependencies, count, static_cast<Graph*>(p->child.graph),
                       p->child.ownership);
    case NodeType::kEmpty:
      return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case NodeType::kWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, dependencies, count, p->event);
    case NodeType::kRecordEvent:
      return cudaGraphAddEventRecordNode(node, graph, dependencies, count, p->event);
    case NodeType::kAllocate:
      return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &p->allocate);
    case NodeType::kFree:
      return cudaGraphAddMemFreeNode(node, graph, dependencies, count, p->free);
    case NodeType::kConditional:
      return add_conditional(node, graph, dependencies, count, &p->conditional);
  }
  say_once("nodes of graphs for semaphores are not supported");
  return failed(kErrorNotSupported);
}
NW_API cudaGraphNodeSetParams(const GraphNode* node, NodeParams* p) {
  const OuterCall outer;
  if (p == nullptr) return failed(kErrorInvalidValue);
  switch (static_cast<NodeType>(p->type)) {
    case NodeType::kKernel:
      return cudaGraphKernelNodeSetParams(node, &p->kernel);
    case NodeType::kCopy:
      return cudaGraphMemcpyNodeSetParams(node, &p->copy.copy);
    case NodeType::kFill:
      return cudaGraphMemsetNodeSetParams(node, &p->fill);
    case NodeType::kHost:
      return cudaGraphHostNodeSetParams(node, &p->host);
    case NodeType::kWaitEvent:
      return cudaGraphEventWaitNodeSetEvent(node, p->event);
    case NodeType::kRecordEvent:
      return cudaGraphEventRecordNodeSetEvent(node, p->event);
    default:
      return failed(kErrorInvalidValue);
  }
}
NW_API cudaGraphExecNodeSetParams(GraphExec* exec, const GraphNode* node, NodeParams* p) {
  const OuterCall outer;
  if (p == nullptr) return failed(kErrorInvalidValue);
  switch (static_cast<NodeType>(p->type)) {
    case NodeType::kKernel:
      return cudaGraphExecKernelNodeSetParams(exec, node, &p->kernel);
    case NodeType::kCopy:
      return cudaGraphExecMemcpyNodeSetParams(exec, node, &p->copy.copy);
    case NodeType::kFill:
      return cudaGraphExecMemsetNodeSetParams(exec, node, &p->fill);
    case NodeType::kHost:
      return cudaGraphExecHostNodeSetParams(exec, node, &p->host);
    case NodeType::kGraph:
      return cudaGraphExecChildGraphNodeSetParams(exec, node, static_cast<Graph*>(p->child.graph));
    case NodeType::kWaitEvent:
      return cudaGraphExecEventWaitNodeSetEvent(exec, node, p->event);
    case NodeType::kRecordEvent:
      return cudaGraphExecEventRecordNodeSetEvent(exec, node, p->event);
    default:
      return failed(kErrorInvalidValue);
  }
}
