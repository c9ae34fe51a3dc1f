// Collects the instructions and basic blocks of a kernel from its traces, and numbers its
// registers.
#include "host/recording/accel_sim/machine_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "host/recording/accel_sim/async_opcodes.h"

namespace nearwarp::sass {
namespace {

constexpr uint32_t kMostInstructions = 1u << 24;
/// Most static instructions of all blocks together; the tables take some 300 bytes for each.
constexpr uint64_t kMostInBlocks = uint64_t{1} << 22;

}  // namespace

MachineKernel::MachineKernel(std::string name, uint32_t registers)
    : name_(std::move(name)), registers_(registers) {}

size_t MachineKernel::RunHash::operator()(const std::vector<uint32_t>& run) const {
  uint64_t h = 0x9e3779b97f4a7c15;
  for (const uint32_t id : run) h = (h ^ id) * 0xff51afd7ed558ccd, h ^= h >> 32;
  return h;
}

LineProblem MachineKernel::instruction(uint64_t pc, std::string_view rest, uint32_t version,
                                       uint32_t* id, size_t* length) {
  std::vector<AtPc>& known = at_pc_[pc];
  for (const AtPc& k : known) {
    if (!rest.starts_with(k.text) || (rest.size() > k.text.size() && rest[k.text.size()] != ' '))
      continue;
    *id = k.id;
    *length = k.text.size();
    return {};
  }
  StaticPart line;
  const LineProblem problem = parse_static(rest, version, &line, length);
  if (problem.what != nullptr) return problem;
  *id = static_cast<uint32_t>(instructions_.size());
  if (*id == kMostInstructions)
    return {"the kernel has more different instructions than any program has",
            "check that the file is not damaged"};
  instructions_.push_back(translate(std::move(line), version >= kAsyncVersion));
  known.push_back({std::string(rest.substr(0, *length)), *id});
  return {};
}

uint32_t MachineKernel::derived(uint32_t of, uint64_t key,
                                const std::function<void(MachineInstruction& like)>& make) {
  const auto [it, is_new] =
      derived_.emplace(std::pair{of, key}, static_cast<uint32_t>(instructions_.size()));
  if (!is_new) return it->second;
  if (it->second == kMostInstructions)
    throw Error(
        fmt::format("kernel {} has more different instructions than any program has - "
                    "check that its trace is not damaged",
                    name_));
  MachineInstruction like = instructions_[of];
  like.derived = true;
  like.issued = like.threads = 0;
  make(like);
  like.predicated_off.srcs = like.instruction.srcs;
  instructions_.push_back(std::move(like));
  return it->second;
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

namespace {

/// Registers of a kernel for the timing model: vector registers keep their numbers, uniform
/// registers follow them, and predicates are numbered separately. The last register is the
/// predicate that guards accesses.
class Registers {
 public:
  explicit Registers(uint32_t announced) : vectors_(std::max(1u, announced)) {}

  void use(compiler::RegId r) {
    if (r < kOtherRegisters) {
      vectors_ = std::max(vectors_, r + 1);
    } else if (r < kOtherRegisters + kUniformRegisters) {
      uniforms_ = std::max(uniforms_, r + 1 - kOtherRegisters);
    } else {
      has_predicates_ = true;
    }
  }
  uint32_t vectors() const { return vectors_; }
  void finish(compiler::Kernel& k) const {
    const bool others = uniforms_ != 0 || has_predicates_;
    const uint32_t first = others ? kOtherRegisters : vectors_;
    for (uint32_t r = 0; r < first; ++r) add(k, ptx::Type::kB32, r);
    for (uint32_t r = 0; others && r < kUniformRegisters; ++r)
      add(k, ptx::Type::kB32, vectors_ + r);
    for (uint32_t p = 0; others && p < 2 * kPredicates; ++p) add(k, ptx::Type::kPred, p + 1);
    const auto guard = static_cast<compiler::RegId>(k.registers.size());
    add(k, ptx::Type::kPred, 0);
    k.num_physical = vectors_ + uniforms_;
    k.num_predicates = has_predicates_ ? 1 + 2 * kPredicates : 1;
    for (compiler::Instruction& in : k.instructions)
      if (in.guard != compiler::kNone) in.guard = guard;
  }

 private:
  static void add(compiler::Kernel& k, ptx::Type type, uint32_t physical) {
    compiler::Register& reg = k.registers.emplace_back();
    reg.type = type;
    reg.physical = physical;
  }

  uint32_t vectors_, uniforms_ = 0;
  bool has_predicates_ = false;
};

}  // namespace

compiler::Kernel MachineKernel::finish() const {
  compiler::Kernel k;
  k.name = name_;
  Registers registers(registers_);
  for (const std::vector<uint32_t>* run : block_order_) {
    compiler::Block& block = k.blocks.emplace_back();
    block.first = static_cast<compiler::InstrId>(k.instructions.size());
    block.count = static_cast<uint32_t>(run->size());
    for (const uint32_t id : *run) {
      const MachineInstruction& m = instructions_[id / 2];
      const compiler::Instruction& in = id % 2 != 0 ? m.predicated_off : m.instruction;
      for (const compiler::RegId r : in.dsts) registers.use(r);
      for (const compiler::Operand& o : in.srcs)
        if (o.kind == compiler::Operand::Kind::kRegister) registers.use(o.reg);
      k.instructions.push_back(in);
    }
  }
  registers.finish(k);
  k.machine_code = {compiler::RegisterSource::kTrace, 0, registers.vectors()};
  return k;
}

}  // namespace nearwarp::sass
