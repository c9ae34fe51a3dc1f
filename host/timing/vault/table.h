// A standard's constraints in the form that vaults step with.
#pragma once

#include <string>
#include <vector>

#include "device/dram/vault_state.h"
#include "host/config/constraints.h"

namespace nearwarp::sim {

/// Sets what `p` has of distances between commands, of refreshes, and of the parts of a channel.
/// Pairs that VaultParams has fields for go there, where they cost nothing more; the others become
/// rows. `p` has tCL and tCWL. Throws nearwarp::Error about `where` if there are more of them than
/// a vault takes.
void set_constraints(VaultParams& p, const std::vector<config::Constraint>& constraints,
                     const config::DramParts& parts, const std::string& where);

}  // namespace nearwarp::sim
