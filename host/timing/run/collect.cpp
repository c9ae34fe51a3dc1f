// From the components' counters to a run's result.
#include "host/timing/run/collect.h"

#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

/// Room for the counters that most machines have.
constexpr size_t kUsualCounters = 256;

void collect(const runtime::Recording& recording, const ImageTables& image,
             const MechanismRuns& mechanisms, System& system, uint64_t now_cycle,
             report::RunResult& result) {
  result.parts.stack_sms = !system.members("stack_sm").empty();
  for (uint32_t i = 0; i < system.table.count; ++i)
    if (kernels::is_sm(system.component(i).kind) && system.nodes[i].stack != kNoStack)
      result.parts.cross_links = true;
  collect_launches(recording, image, system, now_cycle, result);
  result.counters.reserve(kUsualCounters);
  result.counters.push_back({"run.cycles", result.cycles, "core cycles", "Simulated time"});
  for (const ComponentClass& c : system.classes)
    if (is_sm_class(system, c)) collect_sms(system, c.name + ".", c.members, result);
  collect_cycles(recording, system, result);
  for (const auto& m : mechanisms) m->collect(system, result);
  collect_memory(system, result);
  collect_channels(system, result);
  collect_networks(system, result);
  collect_time(system, result);
  collect_committed(system, result);
  collect_utilisation(system, result);
  collect_way(system, result);
  collect_router_wires(system, result);
}

}  // namespace nearwarp::sim
