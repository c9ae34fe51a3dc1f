// Names of the machine instructions that stand for a recording's instructions in written traces.
#pragma once

#include <string>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::sass {

/// The nearest machine opcode with its modifiers, in the spelling that the trace reader
/// understands. If there is none (for divisions), one of the same port stands for the instruction.
std::string machine_opcode(const compiler::Instruction& in);
/// True for instructions that machine code lacks: moves, and those that are a part of others there.
bool has_no_machine_instruction(const compiler::Instruction& in);
/// The registers in a line.
struct LineOperands {
  std::string text;  ///< their number and names, as in "2 R4 R5"
  uint32_t count = 0;
};
LineOperands machine_destinations(const compiler::Kernel& kernel, const compiler::Instruction& in);
LineOperands machine_sources(const compiler::Kernel& kernel, const compiler::Instruction& in);

}  // namespace nearwarp::sass
