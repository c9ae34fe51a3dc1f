// The work of graphs' nodes, with the parameters that can be asked for and changed.
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
  bool record = false;  ///< else wait: all work is done in order, but launches are to wait
  void operator()(Runtime& r) const;
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
  size_t bytes = 0;
  MemPoolProps pool;
  void operator()(Runtime& r) const { r.graphs.allocate(r, memory, bytes); }
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;  ///< what a node of a graph has allocated
  void operator()(Runtime& r) const { r.graphs.free(*memory); }
};

/// The parameters of a node's launch; the arguments stay where they are as long as its work does.
KernelNodeParams parameters_of(GraphNode& node);

// Makes work of the parameters that calls have. All throw Failure for what cannot be.
Work kernel_work(Runtime& r, const KernelNodeParams* p);
Work fill_work(const MemsetParams* p);
Work host_work(const HostNodeParams* p);
Work event_work(Runtime& r, void* event, bool record);
Work box_work(const Copy3D* p);
Work symbol_work(Runtime& r, const void* symbol, size_t offset, void* other, size_t bytes, int kind,
                 bool to_symbol);
/// Memory for a node of `graph` behind those that it depends on; its address is known at once.
Work allocate_work(Runtime& r, Graph& graph, GraphNode* const* dependencies, size_t count,
                   size_t bytes, const MemPoolProps& pool, void** pointer);
/// For a node of `graph`. Throws Failure for what no node has allocated, or another one frees.
Work free_work(Runtime& r, const Graph& graph, void* pointer);

/// The parameters of a node's work. Throws Failure if it has others.
template <class T>
const T& work_of(const GraphNode& node) {
  const T* work = node.work.target<T>();
  if (work == nullptr) throw Failure{kErrorInvalidValue};  // a copy of another form
  return *work;
}
}  // namespace nearwarp::cudart
