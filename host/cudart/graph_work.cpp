// The work of graphs' nodes.
#include "host/cudart/graph_work.h"

#include <cstring>

#include "host/cudart/copies.h"
#include "host/cudart/launch.h"
#include "host/cudart/runtime.h"

namespace nearwarp::cudart {

void FillWork::operator()(Runtime& r) const {
  for (size_t y = 0; y < p.height; ++y) {
    char* const row = static_cast<char*>(p.dst) + y * p.pitch;
    r.memory.check_device_range(r, row, p.width * p.element_bytes);
    for (size_t x = 0; x < p.width; ++x)
      std::memcpy(row + x * p.element_bytes, &p.value, p.element_bytes);
  }
}

void EventWork::operator()(Runtime& r) const {
  EventState& e = r.streams.event(event);
  if (!record) return;
  // Programs divide by elapsed times: no two events have the same, unless that is simulated.
  if (!r.recorder().event_times().active()) r.streams.pass(0.5);
  e.recorded = true;
  e.microseconds = r.streams.clock();
}

void FreeWork::operator()(Runtime& r) const {
  if (memory == nullptr) r.memory.free(r, pointer, false);
}

Work kernel_work(Runtime& r, const KernelNodeParams* p) {
  require(p != nullptr);
  require(p->extra == nullptr, kErrorNotSupported);
  KernelHandle& handle = r.modules.kernel(p->function);
  KernelWork work;
  work.launch = prepare_launch(
      r, handle, {p->grid, p->block, p->dynamic_shared_bytes, nullptr, nullptr, 0}, p->args, false);
  work.function = p->function;
  work.grid = p->grid;
  work.block = p->block;
  work.dynamic_shared_bytes = p->dynamic_shared_bytes;
  work.arguments = std::make_shared<KernelWork::Arguments>();
  const compiler::Kernel& kernel = r.modules.load(r, handle);
  work.arguments->bytes.resize(kernel.param_bytes);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    std::byte* const at = work.arguments->bytes.data() + kernel.params[i].offset;
    std::memcpy(at, p->args[i], kernel.params[i].size);
    work.arguments->pointers.push_back(at);
  }
  return work;
}

Work fill_work(const MemsetParams* p) {
  require(p != nullptr);
  require(p->element_bytes == 1 || p->element_bytes == 2 || p->element_bytes == 4);
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

Work allocate_work(Runtime& r, size_t bytes, const MemPoolProps& pool, void** pointer) {
  AllocateWork work{r.graphs.allocate(r, bytes), pool};
  *pointer = work.memory->pointer();
  return work;
}

Work free_work(Runtime& r, void* pointer) {
  require(pointer != nullptr);
  FreeWork work{pointer, r.graphs.memory(pointer)};
  if (work.memory != nullptr)
    work.memory->release();
  else
    require(r.memory.find(r, pointer) != nullptr);
  return work;
}

void refuse_parameters(const GraphNode& node) {
  say_once(node.type == NodeType::kKernel
               ? "the parameters of a captured launch cannot be asked for - add the node by hand"
               : "the parameters of this node of a graph were given in another form");
  throw Failure{node.type == NodeType::kKernel ? kErrorNotSupported : kErrorInvalidValue};
}

}  // namespace nearwarp::cudart
