// Listings of compiled kernels, for messages and `analyze`.
#pragma once

#include <string>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// One instruction in PTX syntax (modifiers in a canonical order), e.g. "@!%p1 bra B4".
std::string to_string(const Kernel& kernel, const Instruction& instr);
/// A source operand; floating-point immediates are written in hexadecimal digits, as PTX does.
std::string to_string(const Kernel& kernel, const Operand& operand);
/// "file:line" of the CUDA source, or "" without line information.
std::string source_location(const Kernel& kernel, const Instruction& instr);
/// The place of the call through which it came into the kernel; empty if it was always there.
std::string caller_location(const Kernel& kernel, const Instruction& instr);
/// The whole kernel: registers, blocks with their neighbours, loops, instructions.
std::string listing(const Kernel& kernel);

}  // namespace nearwarp::compiler
