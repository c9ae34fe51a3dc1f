// Where a kernel's registers and instructions are: in the near-bank units of an MPU core, or in its
// subcores on the base logic die, which are far from the banks.
//
// Source: X. Xie et al., "MPU: Towards Bandwidth-abundant SIMT Processor via Near-bank Computing"
// (MPU), section V-B and algorithm 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::mpu {

enum class Location : uint8_t {
  kUnknown,  ///< nothing says where
  kNear,
  kFar,
  kBoth,  ///< wanted in both places by different instructions
};

/// The location that meets two demands on one register or instruction.
constexpr Location join(Location a, Location b) {
  if (a == Location::kUnknown) return b;
  return b == Location::kUnknown || a == b ? a : Location::kBoth;
}

struct Locations {
  std::vector<Location> registers;     ///< by register of the kernel
  std::vector<Location> instructions;  ///< by instruction: that of its destinations
};

/// The place where data of shared memory is wanted.
enum class SharedMemory : uint8_t { kNear, kFar };

/// How the paper is read.
struct Readings {
  SharedMemory shared = SharedMemory::kNear;
  /// Near-bank units have divisions, special functions and operations across lanes, too.
  bool all_operations = false;
  bool both_spreads = true;  ///< Location::kBoth goes on to sources
};

/// Is the instruction one of the far-bank operation set (MPU, section IV-B1)? The subcore's parts
/// alone can execute it, whatever has been annotated: accesses to memory besides the shared one
/// begin in the load-store unit; control flow, barriers and special registers belong to the front
/// of the pipeline; constants and parameters have a cache there. Operations across lanes, and those
/// of special functions, are taken for some too, if not `all_operations`: near-bank units have
/// "simple parts" alone.
bool is_far_operation(const compiler::Instruction& in, const Readings& readings);

/// Algorithm 1 to its fixed point, which does not depend on the order of the instructions, if
/// `both_spreads`.
///
/// The algorithm does not mention: addresses without a stated space, and of local memory, are
/// checked by the load-store unit as global ones; atomics are both loads and stores; guards are
/// registers that control, as those of jumps. Memory accesses and jumps do not propagate.
Locations annotate_locations(const compiler::Kernel& kernel, const Readings& readings);

/// Where an instruction is executed by opcode and annotation; kBoth, kUnknown: the hardware
/// decides.
Location executed_at(const compiler::Kernel& kernel, const Locations& l, compiler::InstrId i,
                     const Readings& readings);

/// Physical registers of one kind: those of locations in a row, from `near` on.
struct RegisterFile {
  uint32_t near = 0;
  uint32_t both = 0;  ///< a place in either register file
  uint32_t far = 0;   ///< those of unknown location too: the far-bank subcore is the fall-back
  uint32_t all() const { return near + both + far; }
};

/// An allocation by graph colouring in which registers of different locations never share.
struct Allocation {
  std::vector<uint32_t> physical;  ///< by register; kNone if it is never used
  RegisterFile registers, predicates;
};
Allocation allocate_by_location(const compiler::Kernel& kernel, const Locations& locations);

/// The allocation where nothing has been annotated: every register has a place in both files.
Allocation allocate_for_both(const compiler::Kernel& kernel);

/// The kernel's registers and instructions with their locations as text, and the branches with the
/// places where their threads meet again; ends with a line feed. Lines that are wider than `width`
/// have no more than an instruction, or the places of one.
std::string format_locations(const compiler::Kernel& kernel, const Readings& readings = {},
                             size_t width = 80);

}  // namespace nearwarp::mpu
