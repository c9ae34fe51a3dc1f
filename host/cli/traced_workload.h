// The workload that an analysis of traces is of.
#pragma once

#include <string>

#include "bench/workloads/workload.h"

namespace nearwarp::cli {

/// Workload `name`. Throws UsageError, which says what --`option` needs, if there is none.
const workloads::Workload& traced_workload(const std::string& name, const std::string& option);

}  // namespace nearwarp::cli
