// Rules between the keys of a configuration.
#pragma once

#include "host/config/dram.h"
#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// Throw nearwarp::Error for the first broken rule. The values must be in their keys' own ranges.
void check_rules(const MachineConfig& machine, const PlaceOf& place_of);
void check_rules(const PolicyConfig& policy, const PlaceOf& place_of);
inline void check_rules(const EnergyConfig&, const PlaceOf&) {}  // no rules between keys
void check_rules(const DramConfig& dram, const PlaceOf& place_of);

}  // namespace nearwarp::config
