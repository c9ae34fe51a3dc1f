// The work of graphs' nodes. It holds the nodes' parameters, which calls can query and change.
#pragma once

#include <memory>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/streams/graphs.h"

namespace nearwarp::cudart {

struct FillWork {
  MemsetParams p;
  void operator()(Runtime& r) const;
};
struct HostWork {
  HostNodeParams p;
  void operator()(Runtime&) const { p.function(p.data); }
};
struct EventWork {
  void* event = nullptr;
  bool record = false;  ///< false: later launches of the stream wait for the event
  void operator()(Runtime& r) const;
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
  size_t bytes = 0;
  MemPoolProps pool;
  void operator()(Runtime& r) const { r.graphs.allocate(r, memory, bytes); }
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;  ///< allocated by a node of some graph
  void operator()(Runtime& r) const { r.graphs.free(*memory); }
};

/// The parameters of a kernel node. Its pointers to arguments are valid as long as the node's work.
KernelNodeParams parameters_of(GraphNode& node);

// These functions make work from the parameters of calls. They throw Failure for wrong parameters.
Work kernel_work(Runtime& r, const KernelNodeParams* p);
Work fill_work(const MemsetParams* p);
Work host_work(const HostNodeParams* p);
Work event_work(Runtime& r, void* event, bool record);
Work box_work(const Copy3D* p);
Work symbol_work(Runtime& r, const void* symbol, size_t offset, void* other, size_t bytes, int kind,
                 bool to_symbol);
/// The work of an allocation node in `graph` with these dependencies. `pointer` receives the
/// address, which is known before the graph is launched.
Work allocate_work(Runtime& r, Graph& graph, GraphNode* const* dependencies, size_t count,
                   size_t bytes, const MemPoolProps& pool, void** pointer);
/// The work of a free node in `graph`. Throws Failure if no node allocates the memory, or if
/// another node frees it.
Work free_work(Runtime& r, const Graph& graph, void* pointer);

/// The parameters of a node's work. Throws Failure if the work is of another type.
template <class T>
const T& work_of(const GraphNode& node) {
  const T* work = node.work.target<T>();
  if (work == nullptr) throw Failure{kErrorInvalidValue};  // a copy of another form
  return *work;
}
}  // namespace nearwarp::cudart
