// Instructions of recordings as machine instructions, for traces.
#pragma once

#include <string>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::sass {

/// The opcode with its modifiers that comes nearest, as our reader understands it. Where machine
/// code has no such instruction (divisions), another one of the same port stands for it.
std::string machine_opcode(const compiler::Instruction& in);
/// True for those that machine code does not have: what other instructions do with it, and moves.
bool has_no_machine_instruction(const compiler::Instruction& in);
/// The registers that a line names.
struct LineOperands {
  std::string text;  ///< how many, and their names
  uint32_t count = 0;
};
LineOperands machine_destinations(const compiler::Kernel& kernel, const compiler::Instruction& in);
LineOperands machine_sources(const compiler::Kernel& kernel, const compiler::Instruction& in);

}  // namespace nearwarp::sass
