// A policy's choices of which thread blocks go where.
#pragma once

#include "host/config/policy.h"
#include "host/timing/machine/graph.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Thread blocks of a launch in a row that go to the same one of `groups` groups, of `sms` SMs
/// each.
uint32_t blocks_in_row(const config::PolicyConfig::Dispatch& policy, uint32_t groups, uint32_t sms,
                       const sm::SmResources& capacity, const sm::LaunchInfo& launch);

/// Groups of the SMs that the graph's front end feeds, and which thread blocks go to which
/// (LaunchInfo::row). Throws nearwarp::Error if the machine has fewer SMs than groups.
void apply_dispatch_policy(const config::PolicyConfig::Dispatch& policy, Graph& graph,
                           ImageTables& image);

}  // namespace nearwarp::sim
