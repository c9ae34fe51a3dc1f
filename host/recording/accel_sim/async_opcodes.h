// Hopper's asynchronous instructions as the timing model knows them: mbarriers, bulk copies,
// products of warp groups, groups of copies, barriers with numbers, clusters.
#pragma once

#include "host/recording/accel_sim/machine_kernel.h"
#include "host/recording/accel_sim/modifiers.h"

namespace nearwarp::sass {

/// Registers that are no vector registers follow these.
inline constexpr compiler::RegId kOtherRegisters = 256;

/// Makes m.instruction and m.async of an instruction whose operands are known, if it is such a one;
/// false if it is not, and nothing has been changed.
bool translate_async(MachineInstruction& m, const Modifiers& mods);

/// How much arrives at an mbarrier, by the modifiers of SYNCS.ARRIVE: "A1T0" is an arrival and no
/// bytes; R stands for the last source, and X for bytes that have been copied.
struct ArrivalForm {
  char arrivals = '1', bytes = 'R';
  bool drops = false;  ///< what arrives is expected no more
};
ArrivalForm arrival_form(std::string_view opcode);

/// The instruction as it is with these immediates, and, of a wait for groups of copies, behind such
/// a commit.
enum class CopyGroups : uint8_t { kNone, kLoads, kBulk };
compiler::Instruction with_immediates(const MachineInstruction& m, uint32_t first, uint32_t second,
                                      CopyGroups groups);
/// The end of a bulk copy, and of a group of products, which are a part of their instruction.
compiler::Instruction end_of_bulk(const MachineInstruction& m);
compiler::Instruction commit_of_products();

}  // namespace nearwarp::sass
