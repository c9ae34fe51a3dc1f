// What objects of the public interface are made of, for each other.
#pragma once

#include <vector>

#include "host/api/nearwarp.h"
#include "host/timing/report/result.h"

namespace nearwarp::sweep {
struct Plan;
}

namespace nearwarp {

/// Of one that a run has made.
const report::RunResult& run_of(const Result& result);
const sweep::Plan& plan_of(const Sweep& sweep);
/// Run one after the other; a point that several have is the first one's.
std::vector<const sweep::Plan*> plans_of(const Experiment& experiment);

}  // namespace nearwarp
