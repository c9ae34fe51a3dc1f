// Entry points of instantiated graphs.
#include <vector>

#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr unsigned long long kAutoFreeOnLaunch = 1;  // cudaGraphInstantiateFlagAutoFreeOnLaunch

/// Frees memory that the launch before has allocated and that has not been freed since.
void free_allocated(Runtime& r, const std::vector<GraphExec::Step>& steps) {
  for (const GraphExec::Step& step : steps)
    if (const auto* work = step.work.target<AllocateWork>();
        work != nullptr && work->memory->live_bytes != 0)
      r.graphs.free(*work->memory);
}

}  // namespace

NW_API cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return api([&](Runtime& r) {
    require(exec != nullptr);
    *exec = r.graphs.instantiate(r.graphs.graph(graph));
    (*exec)->flags = flags;
    return kSuccess;
  });
}
NW_API cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long flags) {
  const OuterCall outer;
  return cudaGraphInstantiate(exec, graph, flags);
}
NW_API cudaGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParams* p) {
  const OuterCall outer;
  if (p == nullptr) return failed(kErrorInvalidValue);
  const Status status = cudaGraphInstantiate(exec, graph, p->flags);
  p->node = nullptr;
  p->result = status == kSuccess ? 0 : 2;
  return status;
}
NW_API cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
  return api([&](Runtime& r) {
    require(flags != nullptr);
    *flags = r.graphs.exec(exec).flags;
    return kSuccess;
  });
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
    r.touch(stream);
    return kSuccess;
  });
}
NW_API cudaGraphLaunch(GraphExec* exec, Stream stream) {
  return api([&](Runtime& r) {
    const GraphExec& e = r.graphs.exec(exec);
    r.enqueue(stream, NodeType::kGraph,
              [steps = e.steps, before = e.before, conditions = e.conditions,
               flags = e.flags](Runtime& q) {
                q.graphs.begin_conditions(conditions);
                if ((flags & kAutoFreeOnLaunch) != 0) free_allocated(q, steps);
                q.order.now().join(*before);
                run_steps(q, steps);
                *before = q.order.now();
              });
    return kSuccess;
  });
}

/// The executable graph does what `graph` says from now on, if both have the same kinds of nodes.
NW_API cudaGraphExecUpdate(GraphExec* exec, Graph* graph, ExecUpdateResult* result) {
  return api([&](Runtime& r) {
    GraphExec& e = r.graphs.exec(exec);
    std::vector<GraphExec::Step> steps = steps_of(r.graphs.graph(graph));
    bool is_same = e.steps.size() == steps.size();
    for (size_t i = 0; is_same && i < steps.size(); ++i) {
      is_same = e.steps[i].type == steps[i].type;
      steps[i].enabled = e.steps[i].enabled;
    }
    if (result != nullptr) *result = {is_same ? 0 : 2, nullptr, nullptr};
    require(is_same, kErrorGraphExecUpdateFailure);
    e.steps = std::move(steps);
    e.holds = holds_of(r.graphs.graph(graph));
    return kSuccess;
  });
}

NW_API cudaGraphNodeSetEnabled(GraphExec* exec, const GraphNode* node, unsigned enabled) {
  return api([&](Runtime& r) {
    const GraphNode& n = r.graphs.node(node);
    require(n.type == NodeType::kKernel || n.type == NodeType::kCopy || n.type == NodeType::kFill);
    r.graphs.exec(exec).step(n).enabled = enabled != 0;
    return kSuccess;
  });
}
NW_API cudaGraphNodeGetEnabled(GraphExec* exec, const GraphNode* node, unsigned* enabled) {
  return api([&](Runtime& r) {
    require(enabled != nullptr);
    *enabled = r.graphs.exec(exec).step(r.graphs.node(node)).enabled ? 1 : 0;
    return kSuccess;
  });
}
