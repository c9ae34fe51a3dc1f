// Replays a recorded program on a machine under a policy, on the CPU.
#include "host/timing/run/cpu_replay.h"

#include "host/timing/run/cpu_run.h"

namespace nearwarp::sim {

report::RunResult replay_on_cpu(const runtime::Recording& recording,
                                const config::MachineConfig& machine,
                                const config::PolicyConfig& policy, const SimOptions& options) {
  CpuRun run({&recording, &machine, &policy, options.checkpoint, options.shape, options.mechanisms,
              options.watcher, options.part, options.learnt},
             options);
  run.step();
  return run.end();
}

}  // namespace nearwarp::sim
