// The keys of a machine file by the parts of the machine; machine_keys.cpp joins them.
#pragma once

#include <vector>

#include "host/config/schema.h"

namespace nearwarp::config {

using MachineKeys = std::vector<Key<MachineConfig>>;

/// SMs, with the caches that they fetch instructions and constants through, and what their
/// instructions take.
MachineKeys sm_keys();
/// Links, memory stacks or partitions, and their DRAM.
MachineKeys stack_keys();

// For lists of keys: whether a number is a power of two, and whether a file may leave the key out.
inline constexpr bool kPowerOfTwo = true, kOptional = true;

}  // namespace nearwarp::config

// Path and place of a key whose path in the file is that of the member.
#define NW_KEY(member_path) #member_path, [](MachineConfig & m) -> Member { return &m.member_path; }
