// A kernel as its traces show it: the instructions that were executed, and runs of them.
#include "host/recording/accel_sim/machine_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/trace/format.h"
#include "host/core/error.h"

namespace nearwarp::sass {
namespace {

constexpr uint32_t kMostInstructions = 1u << 24;
/// Static instructions of all blocks together; a block's tables take some 300 bytes for each.
constexpr uint64_t kMostInBlocks = uint64_t{1} << 22;

}  // namespace

MachineKernel::MachineKernel(std::string name, uint32_t registers)
    : name_(std::move(name)), registers_(registers) {}

size_t MachineKernel::RunHash::operator()(const std::vector<uint32_t>& run) const {
  uint64_t h = 0x9e3779b97f4a7c15;
  for (const uint32_t id : run) h = (h ^ id) * 0xff51afd7ed558ccd, h ^= h >> 32;
  return h;
}

LineProblem MachineKernel::instruction(uint64_t pc, std::string_view rest, uint32_t* id,
                                       size_t* length) {
  std::vector<AtPc>& known = at_pc_[pc];
  for (const AtPc& k : known) {
    if (!rest.starts_with(k.text) || (rest.size() > k.text.size() && rest[k.text.size()] != ' '))
      continue;
    *id = k.id;
    *length = k.text.size();
    return {};
  }
  StaticPart line;
  const LineProblem problem = parse_static(rest, &line, length);
  if (problem.what != nullptr) return problem;
  *id = static_cast<uint32_t>(instructions_.size());
  if (*id == kMostInstructions)
    return {"the kernel has more different instructions than any program has",
            "check that the file is not damaged"};
  instructions_.push_back(translate(std::move(line)));
  known.push_back({std::string(rest.substr(0, *length)), *id});
  return {};
}

uint32_t MachineKernel::block(const std::vector<uint32_t>& run) {
  const auto [it, is_new] = blocks_.emplace(run, static_cast<uint32_t>(blocks_.size()));
  if (!is_new) return it->second;
  in_blocks_ += run.size();
  if (blocks_.size() > trace::kMaxBlocks || in_blocks_ > kMostInBlocks)
    throw Error(
        fmt::format("kernel {} runs through its instructions in more different ways than "
                    "a simulation has room for ({} blocks of {} instructions together) - "
                    "check that its trace is not damaged",
                    name_, blocks_.size(), in_blocks_));
  block_order_.push_back(&it->first);
  return it->second;
}

compiler::Kernel MachineKernel::finish() const {
  compiler::Kernel k;
  k.name = name_;
  uint32_t registers = std::max(1u, registers_);
  for (const std::vector<uint32_t>* run : block_order_) {
    compiler::Block& block = k.blocks.emplace_back();
    block.first = static_cast<compiler::InstrId>(k.instructions.size());
    block.count = static_cast<uint32_t>(run->size());
    for (const uint32_t id : *run) {
      const MachineInstruction& m = instructions_[id / 2];
      const compiler::Instruction& in = id % 2 != 0 ? m.predicated_off : m.instruction;
      for (const compiler::RegId r : in.dsts) registers = std::max(registers, r + 1);
      for (const compiler::Operand& o : in.srcs) registers = std::max(registers, o.reg + 1);
      k.instructions.push_back(in);
    }
  }
  k.num_physical = registers;
  k.machine_code = {compiler::RegisterSource::kTrace, 0, registers};
  k.num_predicates = 1;
  // Vector registers have their own numbers; the last one is the predicate of guarded accesses.
  for (uint32_t r = 0; r <= registers; ++r) {
    compiler::Register& reg = k.registers.emplace_back();
    reg.type = r == registers ? ptx::Type::kPred : ptx::Type::kB32;
    reg.physical = r == registers ? 0 : r;
  }
  for (compiler::Instruction& in : k.instructions)
    if (in.guard != compiler::kNone) in.guard = registers;
  return k;
}

}  // namespace nearwarp::sass
