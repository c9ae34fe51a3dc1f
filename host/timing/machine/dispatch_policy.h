// A policy's choices of which thread blocks go where.
#pragma once

#include "host/config/policy.h"
#include "host/timing/machine/graph.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Groups of the SMs that the graph's front end feeds, and which thread blocks go to which
/// (LaunchInfo::row). Throws nearwarp::Error if the machine has fewer SMs than groups.
void apply_dispatch_policy(const config::PolicyConfig::Dispatch& policy, Graph& graph,
                           ImageTables& image);

}  // namespace nearwarp::sim
