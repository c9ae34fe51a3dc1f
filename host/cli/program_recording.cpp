// Gets a workload's recording: executed now, or from the trace cache.
#include "host/cli/program_recording.h"

#include <utility>

#include "host/cli/observer.h"
#include "host/cli/unknown_workload.h"

namespace nearwarp::cli {
runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options) {
  Terminal terminal;
  return programs::execute_workload(workload, size, std::move(options), terminal);
}

runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache) {
  Terminal terminal;
  return programs::recording_of(workload, size, cache, terminal);
}

const workloads::Workload& workload_named(const std::string& name, const std::string& command) {
  check_workload(name, command);
  return *workloads::find(name);
}

}  // namespace nearwarp::cli
