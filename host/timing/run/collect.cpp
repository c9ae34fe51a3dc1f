// From the components' counters to a run's result.
#include "host/timing/run/collect.h"

#include "host/mechanisms/tom/counters.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

void collect(const runtime::Recording& recording, const ImageTables& image, System& system,
             uint64_t now_cycle, report::RunResult& result) {
  const Endpoints& e = system.ends;
  result.parts.stack_sms = e.offloading;
  collect_launches(recording, image, system, now_cycle, result);
  result.counters.push_back({"run.cycles", result.cycles, "core cycles", "Simulated time"});
  collect_sms(system, "sm.", e.first_sm, e.num_sms, result);
  if (e.offloading) {
    collect_sms(system, "stack_sm.", e.first_stack_sm, e.num_stacks, result);
    collect_offloading(recording, image, system, result);
  }
  collect_memory(system, result);
  collect_channels(system, result);
  collect_networks(system, result);
  collect_time(system, result);
  collect_committed(system, result);
}

}  // namespace nearwarp::sim
