// Entry points of CUDA graphs and stream capture.
#include <algorithm>
#include <cstring>

#include "host/cudart/copies.h"
#include "host/cudart/launch.h"
#include "host/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kCaptureNone = 0, kCaptureActive = 1;

/// Adds a node whose work `make(Runtime&)` gives.
template <class Make>
Status add(GraphNode** node, Graph* graph, const GraphNode* const* dependencies, size_t count,
           NodeType type, Make&& make) {
  return api([&](Runtime& r) {
    require(node != nullptr);
    Graph& g = r.graphs.graph(graph);
    *node = g.add(type, make(r), dependencies, count);
    return kSuccess;
  });
}

Work kernel_work(Runtime& r, const KernelNodeParams* p) {
  require(p != nullptr);
  require(p->extra == nullptr, kErrorNotSupported);
  return prepare_launch(r, r.modules.kernel(p->function),
                        {p->grid, p->block, p->dynamic_shared_bytes, nullptr, nullptr, 0}, p->args,
                        {});
}

Work fill_work(const MemsetParams* p) {
  require(p != nullptr);
  const MemsetParams m = *p;
  require(m.element_bytes == 1 || m.element_bytes == 2 || m.element_bytes == 4);
  return [m](Runtime& r) {
    for (size_t y = 0; y < m.height; ++y) {
      char* const row = static_cast<char*>(m.dst) + y * m.pitch;
      r.memory.check_device_range(r, row, m.width * m.element_bytes);
      for (size_t x = 0; x < m.width; ++x)
        std::memcpy(row + x * m.element_bytes, &m.value, m.element_bytes);
    }
  };
}

Work host_work(const HostNodeParams* p) {
  require(p != nullptr && p->function != nullptr);
  return [h = *p](Runtime&) { h.function(h.data); };
}

/// The work of a node of an instantiated graph is another one from now on.
template <class Make>
Status replace(GraphExec* exec, const GraphNode* node, NodeType type, Make&& make) {
  return api([&](Runtime& r) {
    GraphExec& e = r.graphs.exec(exec);
    r.graphs.graph_of(node);
    require(node->type == type);
    for (GraphExec::Step& step : e.steps) {
      if (step.node != node->number) continue;
      step.work = make(r);
      return kSuccess;
    }
    return kErrorInvalidValue;
  });
}

}  // namespace

// --- Graphs by hand ------------------------------------------------------------------------------

NW_API cudaGraphCreate(Graph** graph, unsigned flags) {
  return api([&](Runtime& r) {
    require(graph != nullptr && flags == 0);
    *graph = r.graphs.create();
    return kSuccess;
  });
}
NW_API cudaGraphDestroy(Graph* graph) {
  return api([&](Runtime& r) {
    r.graphs.destroy(graph);
    return kSuccess;
  });
}
NW_API cudaGraphAddKernelNode(GraphNode** node, Graph* graph, const GraphNode* const* dependencies,
                              size_t count, const KernelNodeParams* p) {
  return add(node, graph, dependencies, count, NodeType::kKernel,
             [&](Runtime& r) { return kernel_work(r, p); });
}
NW_API cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, const GraphNode* const* dependencies,
                              size_t count, const Copy3D* p) {
  return add(node, graph, dependencies, count, NodeType::kCopy, [&](Runtime&) {
    require(p != nullptr);
    return copy_3d_work(*p);
  });
}
NW_API cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph,
                                const GraphNode* const* dependencies, size_t count, void* dst,
                                const void* src, size_t bytes, int kind) {
  return add(node, graph, dependencies, count, NodeType::kCopy,
             [&](Runtime&) { return copy_work(dst, src, bytes, kind); });
}
NW_API cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, const GraphNode* const* dependencies,
                              size_t count, const MemsetParams* p) {
  return add(node, graph, dependencies, count, NodeType::kFill,
             [&](Runtime&) { return fill_work(p); });
}
NW_API cudaGraphAddHostNode(GraphNode** node, Graph* graph, const GraphNode* const* dependencies,
                            size_t count, const HostNodeParams* p) {
  return add(node, graph, dependencies, count, NodeType::kHost,
             [&](Runtime&) { return host_work(p); });
}
NW_API cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, const GraphNode* const* dependencies,
                             size_t count) {
  return add(node, graph, dependencies, count, NodeType::kEmpty,
             [](Runtime&) { return Work([](Runtime&) {}); });
}
NW_API cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph,
                                  const GraphNode* const* dependencies, size_t count,
                                  Graph* child) {
  return add(node, graph, dependencies, count, NodeType::kGraph, [&](Runtime& r) {
    std::vector<Work> works;  // as the child is now
    for (const GraphNode* n : r.graphs.graph(child).ordered()) works.push_back(n->work);
    return Work([works](Runtime& q) {
      for (const Work& work : works) work(q);
    });
  });
}
NW_API cudaGraphAddDependencies(Graph* graph, const GraphNode* const* from,
                                const GraphNode* const* to, const void*, size_t count) {
  return api([&](Runtime& r) {
    Graph& g = r.graphs.graph(graph);
    require(count == 0 || (from != nullptr && to != nullptr));
    for (size_t i = 0; i < count; ++i) {
      require(&r.graphs.graph_of(from[i]) == &g && &r.graphs.graph_of(to[i]) == &g);
      g.nodes[to[i]->number]->dependencies.push_back(from[i]);
    }
    return kSuccess;
  });
}
NW_API cudaGraphGetNodes(Graph* graph, const GraphNode** nodes, size_t* count) {
  return api([&](Runtime& r) {
    const Graph& g = r.graphs.graph(graph);
    require(count != nullptr);
    for (size_t i = 0; nodes != nullptr && i < *count; ++i)
      nodes[i] = i < g.nodes.size() ? g.nodes[i].get() : nullptr;
    *count = nodes == nullptr ? g.nodes.size() : std::min(*count, g.nodes.size());
    return kSuccess;
  });
}
NW_API cudaGraphNodeGetType(const GraphNode* node, int* type) {
  return api([&](Runtime& r) {
    require(type != nullptr);
    r.graphs.graph_of(node);
    *type = static_cast<int>(node->type);
    return kSuccess;
  });
}

// --- Instantiated graphs -------------------------------------------------------------------------

NW_API cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long) {
  return api([&](Runtime& r) {
    require(exec != nullptr);
    *exec = r.graphs.instantiate(r.graphs.graph(graph));
    return kSuccess;
  });
}
NW_API cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
NW_API cudaGraphExecDestroy(GraphExec* exec) {
  return api([&](Runtime& r) {
    r.graphs.destroy(exec);
    return kSuccess;
  });
}
NW_API cudaGraphUpload(GraphExec* exec, Stream stream) {
  return api([&](Runtime& r) {
    r.graphs.exec(exec);
    r.streams.find(stream);
    return kSuccess;
  });
}
NW_API cudaGraphLaunch(GraphExec* exec, Stream stream) {
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kGraph, [steps = r.graphs.exec(exec).steps](Runtime& q) {
      for (const GraphExec::Step& step : steps) {
        if (q.sticky != kSuccess) return;
        step.work(q);
      }
    });
    return kSuccess;
  });
}
/// The executable graph does what `graph` says from now on, if both have the same kinds of nodes.
NW_API cudaGraphExecUpdate(GraphExec* exec, Graph* graph, ExecUpdateResult* result) {
  return api([&](Runtime& r) {
    GraphExec& e = r.graphs.exec(exec);
    const Graph& g = r.graphs.graph(graph);
    const bool is_same = e.steps.size() == g.nodes.size();
    if (result != nullptr) *result = {is_same ? 0 : 2, nullptr, nullptr};
    require(is_same, kErrorGraphExecUpdateFailure);
    e.steps.clear();
    for (const GraphNode* node : g.ordered()) e.steps.push_back({node->number, node->work});
    return kSuccess;
  });
}
NW_API cudaGraphExecKernelNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const KernelNodeParams* p) {
  return replace(exec, node, NodeType::kKernel, [&](Runtime& r) { return kernel_work(r, p); });
}
NW_API cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, const GraphNode* node, void* dst,
                                          const void* src, size_t bytes, int kind) {
  return replace(exec, node, NodeType::kCopy,
                 [&](Runtime&) { return copy_work(dst, src, bytes, kind); });
}
NW_API cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, const GraphNode* node, const Copy3D* p) {
  return replace(exec, node, NodeType::kCopy, [&](Runtime&) {
    require(p != nullptr);
    return copy_3d_work(*p);
  });
}
NW_API cudaGraphExecMemsetNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const MemsetParams* p) {
  return replace(exec, node, NodeType::kFill, [&](Runtime&) { return fill_work(p); });
}
NW_API cudaGraphExecHostNodeSetParams(GraphExec* exec, const GraphNode* node,
                                      const HostNodeParams* p) {
  return replace(exec, node, NodeType::kHost, [&](Runtime&) { return host_work(p); });
}

// --- Capturing streams ---------------------------------------------------------------------------
//
// Captured work is kept in the order of the calls, which respects all dependencies between streams.

NW_API cudaStreamBeginCapture(Stream stream, int mode) {
  return api([&](Runtime& r) {
    require(mode >= 0 && mode <= 2);
    StreamState* s = r.streams.find(stream);
    require(s != nullptr, kErrorStreamCaptureUnsupported);  // a default stream
    require(s->capture == nullptr);
    s->capture = r.graphs.create();
    s->captures = true;
    return kSuccess;
  });
}
NW_API cudaStreamEndCapture(Stream stream, Graph** graph) {
  return api([&](Runtime& r) {
    require(graph != nullptr);
    *graph = nullptr;
    StreamState* s = r.streams.find(stream);
    require(s != nullptr && s->capture != nullptr);
    require(s->captures, kErrorStreamCaptureUnmatched);
    *graph = s->capture;
    r.streams.end_capture(*graph);
    return kSuccess;
  });
}
NW_API cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                const GraphNode*** dependencies, const void** edges,
                                size_t* count) {
  return api([&](Runtime& r) {
    require(status != nullptr);
    const StreamState* s = r.streams.find(stream);
    Graph* const capture = s == nullptr ? nullptr : s->capture;
    *status = capture == nullptr ? kCaptureNone : kCaptureActive;
    if (id != nullptr) *id = capture == nullptr ? 0 : reinterpret_cast<uintptr_t>(capture);
    if (graph != nullptr) *graph = capture;
    if (dependencies != nullptr) *dependencies = nullptr;
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = 0;
    return kSuccess;
  });
}
NW_API cudaStreamIsCapturing(Stream stream, int* status) {
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
