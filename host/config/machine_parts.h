// The keys of a machine file by the parts of the machine; machine_keys.cpp joins them.
#pragma once

#include <vector>

#include "host/config/schema.h"

namespace nearwarp::config {

using MachineKeys = std::vector<Key<MachineConfig>>;

/// Keys of SMs, of their instruction and constant caches, and of the times of instructions.
MachineKeys sm_keys();
/// Keys of links, of memory stacks or partitions, and of their DRAM.
MachineKeys stack_keys();

// Values of Key::power_of_two and Key::optional, for lists of keys.
inline constexpr bool kPowerOfTwo = true, kOptional = true;

}  // namespace nearwarp::config

// Key::path and Key::member of a key whose path is that of the member.
#define NW_KEY(member_path) #member_path, [](MachineConfig & m) -> Member { return &m.member_path; }
