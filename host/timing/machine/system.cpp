// A simulated system: building it, and finding things in it.
#include "host/timing/machine/system.h"

#include "host/timing/machine/lay_out.h"
#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

System build_system(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                    const ImageTables& image, const DataPlan& data, Shape shape) {
  return lay_out((shape != nullptr ? shape : make_graph)({machine, policy, image, data}));
}

std::span<const uint16_t> System::members(std::string_view class_name) const {
  for (const ComponentClass& c : classes)
    if (c.name == class_name) return c.members;
  return {};
}

std::vector<uint16_t> System::of_kind(kernels::ComponentKind kind) {
  std::vector<uint16_t> found;
  for (uint32_t i = 0; i < table.count; ++i)
    if (component(i).kind == kind) found.push_back(static_cast<uint16_t>(i));
  return found;
}

uint64_t committed_instructions(System& system) {
  uint64_t n = 0;
  for (const kernels::Component& c : system.components())
    n += kernels::ProductFamily::committed(c, system.arena.base());
  return n;
}

}  // namespace nearwarp::sim
