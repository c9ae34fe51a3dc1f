// Properties of the shapes of machines. Code tests a property instead of a shape's name.
#pragma once

#include <string>
#include <string_view>

#include "host/config/machine.h"

namespace nearwarp::config {

struct Shape {
  /// The kind of parts that memory consists of, over which addresses are spread.
  enum class Memory : unsigned char {
    kStacks,      ///< stacks of vaults, joined by links
    kPartitions,  ///< partitions of memory channels beside the L2 slices
    kBanks,       ///< the banks above each core
  };

  std::string_view name;  ///< value of machine.shape
  Memory memory;
  bool slices;   ///< it has an L2, in slices
  bool one_gpu;  ///< all SMs are on one GPU before the memory; else they lie in the parts of memory
  bool tiles;    ///< SMs and partitions are tiles of a mesh
  bool any_cache;  ///< all options of caches are available (sectors, allocation on fill, ...)

  bool in_stacks() const { return memory == Memory::kStacks; }
  bool in_partitions() const { return memory == Memory::kPartitions; }
  bool in_banks() const { return memory == Memory::kBanks; }
  /// Does one GPU have memory stacks behind links, which may have SMs of their own?
  bool stacks_behind_links() const { return in_stacks() && one_gpu; }
  /// Do all SMs lie in memory stacks?
  bool sms_in_stacks() const { return in_stacks() && !one_gpu; }
};

/// The machine's shape.
const Shape& shape_of(const MachineConfig& machine);

/// Quoted names of the shapes for which `has` holds, as in "\"mesh\" or \"discrete\"".
std::string shapes_with(bool (*has)(const Shape&));

/// Number of parts that addresses are spread over: stacks, partitions, or cores with banks.
uint32_t memory_parts(const MachineConfig& machine);

}  // namespace nearwarp::config
