// Builds the timing model's read-only tables of a recorded program on a machine.
#include "host/timing/program/image_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "host/timing/program/instruction_class.h"

namespace nearwarp::sim {

namespace {

using compiler::Instruction;
using compiler::Kernel;
using compiler::Operand;
using sm::ImageInstr;

/// Scoreboard slot of a register: physical registers first, predicates after them.
class SlotMap {
 public:
  explicit SlotMap(const Kernel& kernel) : kernel_(kernel) {}

  void add(ImageInstr& out, compiler::RegId reg) const {
    if (reg == compiler::kNone) return;
    const compiler::Register& r = kernel_.registers[reg];
    if (r.physical == compiler::kNone || out.num_slots == sm::kMaxSlots) return;
    const bool predicate = r.type == ptx::Type::kPred;
    const uint32_t slot = predicate ? kernel_.num_physical + r.physical : r.physical;
    for (uint32_t i = 0; i < out.num_slots; ++i)
      if (out.slots[i] == slot) return;
    out.slots[out.num_slots++] = static_cast<uint16_t>(slot);
  }

  void add_all(ImageInstr& out, const Instruction& in) const {
    for (const compiler::RegId d : in.dsts) add(out, d);
    out.num_dsts = out.num_slots;
    for (const Operand& s : in.srcs)
      if (s.kind == Operand::Kind::kRegister) add(out, s.reg);
    add(out, in.address.base);
    add(out, in.guard);
  }

  /// Registers that a lane reads and writes, for the energy account; predicates have no place in
  /// the register file.
  void count_registers(ImageInstr& out, const Instruction& in) const {
    uint32_t reads = words(in.address.base), writes = 0;
    for (const compiler::RegId d : in.dsts) writes += words(d);
    for (const Operand& s : in.srcs)
      if (s.kind == Operand::Kind::kRegister) reads += words(s.reg);
    out.register_reads = static_cast<uint8_t>(std::min(reads, 255u));
    out.register_writes = static_cast<uint8_t>(std::min(writes, 255u));
  }

 private:
  /// 32-bit registers that a register takes.
  uint32_t words(compiler::RegId reg) const {
    if (reg == compiler::kNone) return 0;
    const compiler::Register& r = kernel_.registers[reg];
    if (r.physical == compiler::kNone || r.type == ptx::Type::kPred) return 0;
    return ptx::size_of(r.type) > 4 ? 2 : 1;
  }

  const Kernel& kernel_;
};

class Builder {
 public:
  Builder(const config::MachineConfig& machine, ImageTables& out) : machine_(machine), out_(out) {}

  void add_kernel(const Kernel& kernel) {
    const auto first_block = static_cast<uint32_t>(out_.blocks.size());
    const uint32_t slots = std::max(1u, kernel.num_physical + kernel.num_predicates);
    out_.kernels.push_back({first_block, slots});
    out_.max_slots = std::max(out_.max_slots, slots);
    const SlotMap slot_map(kernel);
    std::vector<uint32_t> at(kernel.instructions.size(), ImageTables::kNotIssued);
    for (const compiler::Block& block : kernel.blocks) {
      sm::ImageBlock b;
      b.first = static_cast<uint32_t>(out_.instrs.size());
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        const Instruction& in = kernel.instructions[i];
        if (!machine_.sm.charge_moves && is_move(in)) continue;
        at[i] = static_cast<uint32_t>(out_.instrs.size());
        ImageInstr image = classify(in, machine_);
        image.set_energy_class(energy_class(in));
        slot_map.add_all(image, in);
        slot_map.count_registers(image, in);
        if ((image.flags & sm::kHasRecord) != 0) b.records += 1;
        out_.instrs.push_back(image);
      }
      b.count = static_cast<uint32_t>(out_.instrs.size()) - b.first;
      out_.blocks.push_back(b);
    }
    if (out_.blocks.size() > trace::kMaxBlocks)
      throw Error(fmt::format("program has more than {} basic blocks in its kernels - split it",
                              trace::kMaxBlocks));
    out_.index_of.push_back(std::move(at));
  }

 private:
  const config::MachineConfig& machine_;
  ImageTables& out_;
};

}  // namespace

sm::ProgramImage ImageTables::view() const {
  sm::ProgramImage v;
  v.instrs = instrs.data();
  v.blocks = blocks.data();
  v.kernels = kernels.data();
  v.launches = launches.data();
  v.num_launches = static_cast<uint32_t>(launches.size());
  return v;
}

uint32_t blocks_per_sm(const config::MachineConfig& machine, const Kernel& kernel,
                       const runtime::LaunchRecord& launch) {
  const auto threads = static_cast<uint32_t>(launch.block.count());
  const uint32_t warps = (threads + 31) / 32;
  const uint32_t unit = std::max(1u, machine.sm.register_unit);
  const uint32_t each = compiler::occupancy_registers(kernel, machine.sm.registers, threads);
  const uint32_t registers = warps * ((each * 32 + unit - 1) / unit * unit);
  struct Limit {
    const char* what;
    uint32_t have, need;
  };
  const Limit limits[] = {
      {"thread blocks", machine.sm.blocks, 1},
      {"warps", machine.sm.warps, warps},
      {"threads", machine.sm.threads, threads},
      {"registers", machine.sm.registers, registers},
      {"bytes of shared memory", machine.sm.shared_memory_bytes, launch.shared_bytes}};
  uint32_t blocks = machine.sm.blocks;
  for (const Limit& l : limits) {
    if (l.need == 0) continue;
    if (l.need > l.have)
      throw Error(
          fmt::format("a thread block of kernel {} needs {} {}, but an SM of machine {} has "
                      "{} - launch smaller blocks or change the machine's [sm] keys",
                      kernel.name, l.need, l.what, machine.name, l.have));
    blocks = std::min(blocks, l.have / l.need);
  }
  return blocks;
}

ImageTables build_image(const runtime::Recording& recording, const config::MachineConfig& machine) {
  ImageTables out;
  Builder builder(machine, out);
  for (const auto& kernel : recording.kernels) builder.add_kernel(*kernel);
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const runtime::LaunchRecord& l = recording.launches[i];
    if (l.blocks_recorded == 0) continue;
    sm::LaunchInfo info;
    info.kernel = l.kernel;
    info.num_blocks = static_cast<uint32_t>(l.blocks_recorded);
    info.warps_per_block = static_cast<uint16_t>((l.block.count() + 31) / 32);
    info.blocks_per_sm =
        static_cast<uint16_t>(blocks_per_sm(machine, *recording.kernels[l.kernel], l));
    info.first_block = blocks;
    blocks += info.num_blocks;
    out.launches.push_back(info);
    out.recorded_launch.push_back(i);
  }
  return out;
}

}  // namespace nearwarp::sim
