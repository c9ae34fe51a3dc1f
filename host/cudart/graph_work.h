// The work of graphs' nodes, with the parameters that can be asked for and changed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "host/cudart/abi.h"
#include "host/cudart/graphs.h"

namespace nearwarp::cudart {

/// A launch of a node that was made by hand.
struct KernelWork {
  const void* function = nullptr;
  Dim grid, block;
  unsigned dynamic_shared_bytes = 0;
  struct Arguments {
    std::vector<std::byte> bytes;
    std::vector<void*> pointers;  ///< into `bytes`, by parameter
  };
  std::shared_ptr<Arguments> arguments;
  Work launch;
  void operator()(Runtime& r) const { launch(r); }
};
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
  bool record = false;  ///< else wait: all work is done in order
  void operator()(Runtime& r) const;
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
  MemPoolProps pool;
  void operator()(Runtime&) const {}
};
/// `memory` is what a node of the graph has allocated, or null.
struct FreeWork {
  void* pointer = nullptr;
  std::shared_ptr<GraphMemory> memory;
  void operator()(Runtime& r) const;
};

// From the parameters that calls have. All throw Failure for what cannot be.
Work kernel_work(Runtime& r, const KernelNodeParams* p);
Work fill_work(const MemsetParams* p);
Work host_work(const HostNodeParams* p);
Work event_work(Runtime& r, void* event, bool record);
Work box_work(const Copy3D* p);
Work symbol_work(Runtime& r, const void* symbol, size_t offset, void* other, size_t bytes, int kind,
                 bool to_symbol);
/// Memory for a node; its address is known at once.
Work allocate_work(Runtime& r, size_t bytes, const MemPoolProps& pool, void** pointer);
Work free_work(Runtime& r, void* pointer);

[[noreturn]] void refuse_parameters(const GraphNode& node);
/// The parameters of a node's work. Throws Failure if it has others.
template <class T>
const T& work_of(const GraphNode& node) {
  const T* work = node.work.target<T>();
  if (work == nullptr) refuse_parameters(node);
  return *work;
}
}  // namespace nearwarp::cudart
