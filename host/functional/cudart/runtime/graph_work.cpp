// Makes and executes the work of graphs' nodes, and chooses the addresses of allocation nodes.
#include "host/functional/cudart/runtime/graph_work.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/functional/cudart/runtime/copies.h"
#include "host/functional/cudart/runtime/launch.h"
#include "host/functional/cudart/runtime/runtime.h"

namespace nearwarp::cudart {

void FillWork::operator()(Runtime& r) const {
  if (p.width == 0) return;
  for (size_t y = 0; y < p.height; ++y) {
    char* const row = static_cast<char*>(p.dst) + y * p.pitch;
    r.memory.check_device_range(r, row, p.width * p.element_bytes);
    for (size_t x = 0; x < p.width; ++x)
      std::memcpy(row + x * p.element_bytes, &p.value, p.element_bytes);
    r.device().note_written(reinterpret_cast<uint64_t>(row), p.width * p.element_bytes);
  }
}

void EventWork::operator()(Runtime& r) const {
  EventState& e = r.streams.event(event);
  if (!record) return r.order.now().join(e.before);
  e.before = r.order.now();
  // Estimated times of two events always differ, since programs divide by elapsed times.
  if (!r.recorder().event_times().active()) r.streams.pass(0.5);
  e.recorded = true;
  e.microseconds = r.streams.clock();
}

Work kernel_work(Runtime& r, const KernelNodeParams* p) {
  require(p != nullptr);
  return prepare_launch(r, r.modules.kernel(p->function),
                        {p->grid, p->block, p->dynamic_shared_bytes, nullptr, nullptr, 0}, p->args,
                        {}, p->extra);
}

KernelNodeParams parameters_of(GraphNode& node) {
  const auto& work = work_of<KernelWork>(node);
  const auto& bytes = work.args.bytes();
  node.arguments.clear();
  for (const compiler::Param& p : work.handle->kernel->params)
    node.arguments.push_back(const_cast<std::byte*>(bytes.data()) + p.offset);
  const void* const host = work.handle->host_function;
  return {host != nullptr ? host : work.handle,
          work.config.grid,
          work.config.block,
          static_cast<unsigned>(work.config.dynamic_shared_bytes),
          node.arguments.data(),
          nullptr};
}

Work fill_work(const MemsetParams* p) {
  require(p != nullptr);
  require(p->element_bytes == 1 || p->element_bytes == 2 || p->element_bytes == 4);
  require(p->width <= SIZE_MAX / p->element_bytes);
  require(p->height <= 1 || p->pitch >= p->width * p->element_bytes);
  return FillWork{*p};
}

Work host_work(const HostNodeParams* p) {
  require(p != nullptr && p->function != nullptr);
  return HostWork{*p};
}

Work event_work(Runtime& r, void* event, bool record) {
  r.streams.event(event);
  return EventWork{event, record};
}

Work box_work(const Copy3D* p) {
  require(p != nullptr);
  return copy_3d_work(*p);
}

Work symbol_work(Runtime& r, const void* symbol, size_t offset, void* other, size_t bytes, int kind,
                 bool to_symbol) {
  const VariableHandle& v = r.modules.variable(symbol);
  require(offset <= v.bytes && bytes <= v.bytes - offset);
  char* const variable = reinterpret_cast<char*>(r.modules.address(r, v)) + offset;
  return to_symbol ? copy_work(variable, other, bytes, kind)
                   : copy_work(other, variable, bytes, kind);
}

namespace {

/// All nodes that precede a node with these dependencies.
std::unordered_set<const GraphNode*> nodes_before(const Graphs& graphs,
                                                  GraphNode* const* dependencies, size_t count) {
  require(count == 0 || dependencies != nullptr);
  std::unordered_set<const GraphNode*> before;
  std::vector<const GraphNode*> open;
  for (size_t i = 0; i < count; ++i) open.push_back(&graphs.node(dependencies[i]));
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    if (!before.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return before;
}

/// The smallest memory of the graph with at least `bytes` bytes that is free after the nodes
/// `before`; nullptr if there is none.
std::shared_ptr<GraphMemory> freed_before(const Graph& graph,
                                          const std::unordered_set<const GraphNode*>& before,
                                          size_t bytes) {
  std::unordered_map<std::shared_ptr<GraphMemory>, int> in_use;
  for (const auto& node : graph.nodes) {
    if (const auto* allocate = node->work.target<AllocateWork>(); allocate != nullptr)
      ++in_use[allocate->memory];
    const auto* free = node->work.target<FreeWork>();
    if (free != nullptr && before.contains(node.get())) --in_use[free->memory];
  }
  std::shared_ptr<GraphMemory> best;
  for (const auto& [memory, users] : in_use)
    if (users == 0 && memory->bytes() >= bytes &&
        (best == nullptr ||
         std::pair(memory->bytes(), memory->pointer()) < std::pair(best->bytes(), best->pointer())))
      best = memory;
  return best;
}

}  // namespace

Work allocate_work(Runtime& r, Graph& graph, GraphNode* const* dependencies, size_t count,
                   size_t bytes, const MemPoolProps& pool, void** pointer) {
  std::shared_ptr<GraphMemory> memory =
      freed_before(graph, nodes_before(r.graphs, dependencies, count), bytes);
  if (memory == nullptr) memory = r.graphs.reserve(r, bytes, graph);
  *pointer = memory->pointer();
  return AllocateWork{std::move(memory), bytes, pool};
}

namespace {

/// Number of the graph's nodes with work of type T on this memory.
template <class T>
size_t nodes_with(const Graph& graph, const GraphMemory& memory) {
  size_t count = 0;
  for (const auto& node : graph.nodes) {
    const T* const work = node->work.target<T>();
    count += work != nullptr && work->memory.get() == &memory ? 1 : 0;
  }
  return count;
}

}  // namespace

Work free_work(Runtime& r, const Graph& graph, void* pointer) {
  std::shared_ptr<GraphMemory> memory = r.graphs.memory(pointer);
  require(memory != nullptr);
  // Allocation nodes of a graph may share memory; each needs a free node of its own.
  if (const Graph* const own = memory->graph; own != nullptr)
    require(nodes_with<FreeWork>(*own, *memory) < nodes_with<AllocateWork>(*own, *memory));
  if (memory->graph == &graph)
    require(!memory->is_freed_elsewhere);
  else
    require(nodes_with<FreeWork>(graph, *memory) == 0);
  memory->is_freed_elsewhere = memory->graph != &graph;
  return FreeWork{std::move(memory)};
}

}  // namespace nearwarp::cudart
