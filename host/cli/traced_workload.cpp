// The workload that an analysis of traces is of.
#include "host/cli/traced_workload.h"

#include <fmt/format.h>

#include "host/cli/unknown_workload.h"
#include "host/core/error.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_list.h"

namespace nearwarp::cli {

const workloads::Workload& traced_workload(const std::string& name, const std::string& option) {
  if (const workloads::Workload* workload = workloads::find(name)) return *workload;
  if (sass::names_trace(name)) {
    throw UsageError(fmt::format("--{} analyzes the accesses of a program's code, but {}", option,
                                 sass::kNoOffloading));
  }
  if (name.find('/') != std::string::npos || name.ends_with(".ptx")) {
    throw UsageError(
        fmt::format("--{} cannot analyze '{}': it needs the traces of a program that runs - "
                    "name a workload (nearwarp list workloads)",
                    option, name));
  }
  throw unknown_workload(name);
}

}  // namespace nearwarp::cli
