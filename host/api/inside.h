// The way from objects of the public interface to what they are made of, for each other.
#pragma once

#include <vector>

#include "host/api/nearwarp.h"
#include "host/timing/report/result.h"

namespace nearwarp::sweep {
struct Plan;
}

namespace nearwarp {

/// The run that has made the result; there is one.
const report::RunResult& run_of(const Result& result);
const sweep::Plan& plan_of(const Sweep& sweep);
/// Run one after the other; a point that several have is the first one's.
std::vector<const sweep::Plan*> plans_of(const Experiment& experiment);

}  // namespace nearwarp
