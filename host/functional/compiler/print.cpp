// Listings of compiled kernels.
#include "host/functional/compiler/print.h"

#include <fmt/format.h>

#include "host/functional/ptx/mnemonic.h"

namespace nearwarp::compiler {
namespace {

std::string register_name(const Kernel& kernel, RegId r) {
  return r == kNone ? "_" : kernel.registers[r].name;
}

std::string block_list(const std::vector<BlockId>& blocks) {
  std::string text;
  for (const BlockId b : blocks) text += fmt::format(" B{}", b);
  return text.empty() ? " -" : text;
}

std::string braces(const std::vector<std::string>& parts, size_t begin, size_t end) {
  if (end - begin == 1) return parts[begin];
  std::string text = "{";
  for (size_t i = begin; i < end; ++i) text += (i > begin ? ", " : "") + parts[i];
  return text + "}";
}

std::string address_text(const Kernel& kernel, const Address& address) {
  std::string text;
  if (address.base != kNone) {
    text = register_name(kernel, address.base);
  } else if (address.symbol != kNone) {
    text = kernel.symbols[address.symbol].name;
  } else {
    return fmt::format("[{:#x}]", static_cast<uint64_t>(address.offset));
  }
  if (address.offset != 0) text += fmt::format("{:+}", address.offset);
  return "[" + text + "]";
}

bool has_address(ptx::Opcode op) {
  return op == ptx::Opcode::kLd || op == ptx::Opcode::kLdu || op == ptx::Opcode::kSt ||
         op == ptx::Opcode::kAtom || op == ptx::Opcode::kRed || op == ptx::Opcode::kPrefetch;
}

}  // namespace

std::string to_string(const Kernel& kernel, const Operand& operand) {
  const std::string sign = operand.negated ? "!" : "";
  switch (operand.kind) {
    case OperandKind::kRegister:
      return sign + register_name(kernel, operand.reg);
    case OperandKind::kImmediate:
      return fmt::format("{:#x}", operand.bits);
    case OperandKind::kSpecial:
      return std::string(ptx::name_of(operand.special));
    case OperandKind::kSymbol: {
      const auto addend = static_cast<int64_t>(operand.bits);
      return kernel.symbols[operand.symbol].name +
             (addend != 0 ? fmt::format("{:+}", addend) : std::string());
    }
    case OperandKind::kNone:
      break;
  }
  return "_";
}

std::string to_string(const Kernel& kernel, const Instruction& instr) {
  std::string text;
  if (instr.guard != kNone) {
    text =
        fmt::format("@{}{} ", instr.guard_negated ? "!" : "", register_name(kernel, instr.guard));
  }
  text += ptx::spell(instr.op, instr.mod);
  std::vector<std::string> dsts, srcs, operands;
  for (const RegId r : instr.dsts) dsts.push_back(register_name(kernel, r));
  for (const Operand& src : instr.srcs) srcs.push_back(to_string(kernel, src));
  const bool is_vector = instr.op == ptx::Opcode::kMov || instr.op == ptx::Opcode::kLd ||
                         instr.op == ptx::Opcode::kLdu;
  if (!dsts.empty()) {
    operands.push_back(is_vector          ? braces(dsts, 0, dsts.size())
                       : dsts.size() == 2 ? dsts[0] + "|" + dsts[1]
                                          : dsts[0]);
  }
  if (has_address(instr.op)) operands.push_back(address_text(kernel, instr.address));
  if (instr.op == ptx::Opcode::kSt || instr.op == ptx::Opcode::kMov) {
    if (!srcs.empty()) operands.push_back(braces(srcs, 0, srcs.size()));
  } else {
    operands.insert(operands.end(), srcs.begin(), srcs.end());
  }
  for (const BlockId target : instr.targets) operands.push_back(fmt::format("B{}", target));
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
  return text;
}

namespace {

std::string location(const Kernel& kernel, uint32_t file, uint32_t line) {
  if (line == 0 || file >= kernel.source_files.size()) return {};
  return fmt::format("{}:{}", kernel.source_files[file], line);
}

}  // namespace

std::string source_location(const Kernel& kernel, const Instruction& instr) {
  return location(kernel, instr.source_file, instr.source_line);
}

std::string caller_location(const Kernel& kernel, const Instruction& instr) {
  return location(kernel, instr.caller_file, instr.caller_line);
}

std::string listing(const Kernel& kernel) {
  std::string text = fmt::format(
      "kernel {}: {} instructions, {} blocks, {} registers, {} predicates, {} bytes shared, "
      "{} bytes local\n",
      kernel.name, kernel.instructions.size(), kernel.blocks.size(), kernel.num_physical,
      kernel.num_predicates, kernel.static_shared_bytes, kernel.local_bytes);
  if (!kernel.unsupported.empty()) return text + "  unsupported: " + kernel.unsupported + "\n";
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    text += fmt::format("B{}: from{} to{}", b, block_list(block.predecessors),
                        block_list(block.successors));
    if (block.ipdom != kNone) text += fmt::format(" ipdom B{}", block.ipdom);
    if (block.loop != kNone) {
      text += fmt::format(" loop B{} depth {}", kernel.loops[block.loop].header,
                          kernel.loops[block.loop].depth);
    }
    text += "\n";
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instr = kernel.instructions[i];
      text += fmt::format("{:6}  {}\n", instr.ptx_line, to_string(kernel, instr));
    }
  }
  return text;
}

}  // namespace nearwarp::compiler
