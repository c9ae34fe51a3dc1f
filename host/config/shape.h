// The shapes of machines, by what they have: who asks for something asks here, and for no name.
#pragma once

#include <string>
#include <string_view>

#include "host/config/machine.h"

namespace nearwarp::config {

struct Shape {
  /// The parts that memory is divided into, which addresses are spread over.
  enum class Memory : unsigned char {
    kStacks,      ///< stacks of vaults, which links join
    kPartitions,  ///< partitions of channels beside the L2 slices
    kBanks,       ///< banks of each core's own
  };

  std::string_view name;  ///< as in machine.shape
  Memory memory;
  bool slices;   ///< it has an L2, in slices
  bool one_gpu;  ///< crossbars join all SMs with the memory before them; else SMs lie in its parts
  bool tiles;    ///< SMs and partitions have tiles in the networks
  bool any_cache;  ///< its caches may have sectors, allocate upon fills, and so on

  bool in_stacks() const { return memory == Memory::kStacks; }
  bool in_partitions() const { return memory == Memory::kPartitions; }
  bool in_banks() const { return memory == Memory::kBanks; }
  /// Stacks behind links of one GPU, which may compute beside it.
  bool stacks_behind_links() const { return in_stacks() && one_gpu; }
  /// Stacks with all of the SMs in them.
  bool sms_in_stacks() const { return in_stacks() && !one_gpu; }
};

/// The machine's shape.
const Shape& shape_of(const MachineConfig& machine);

/// Names of those for which `has` holds, quoted: "\"mesh\"", "\"mesh\" or \"discrete\"".
std::string shapes_with(bool (*has)(const Shape&));

/// Parts of the memory that addresses are spread over: stacks, partitions, cores with banks.
uint32_t memory_parts(const MachineConfig& machine);

}  // namespace nearwarp::config
