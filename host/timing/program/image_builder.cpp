// Builds the program image: the timing model's read-only tables for a recorded program on a
// machine.
#include "host/timing/program/image_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/core/translation.h"
#include "device/trace/format.h"
#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/ptx/details.h"
#include "host/recording/bind.h"
#include "host/recording/combine.h"
#include "host/timing/program/gpcs.h"
#include "host/timing/program/instruction_class.h"
#include "host/timing/program/launch_waits.h"

namespace nearwarp::sim {

static_assert(runtime::kMaxPrograms <= kMaxSpaces);

namespace {

using compiler::Instruction;
using compiler::Kernel;
using compiler::Operand;
using sm::ImageInstr;

/// Maps a kernel's registers to scoreboard slots: physical registers first, then predicates.
class SlotMap {
 public:
  explicit SlotMap(const Kernel& kernel) : kernel_(kernel) {}

  void add(ImageInstr& out, compiler::RegId reg) const {
    if (reg == compiler::kNone) return;
    const compiler::Register& r = kernel_.registers[reg];
    if (r.physical == compiler::kNone || out.num_slots == out.most_slots()) return;
    const bool predicate = r.type == ptx::Type::kPred;
    const uint32_t slot = predicate ? kernel_.num_physical + r.physical : r.physical;
    for (uint32_t i = 0; i < out.num_slots; ++i)
      if (out.slots[i] == slot) return;
    out.slots[out.num_slots++] = static_cast<uint16_t>(slot);
  }

  void add_all(ImageInstr& out, const Instruction& in, bool results) const {
    for (const compiler::RegId d : in.dsts)
      if (results) add(out, d);
    out.num_dsts = out.num_slots;
    for (const Operand& s : in.srcs)
      if (s.kind == Operand::Kind::kRegister) add(out, s.reg);
    add(out, in.address.base);
    add(out, in.guard);
  }

  /// Count the registers that a lane reads and writes, for the energy model. Predicates are left
  /// out, as they are not in the register file.
  void count_registers(ImageInstr& out, const Instruction& in) const {
    uint32_t reads = words(in.address.base), writes = 0;
    for (const compiler::RegId d : in.dsts) writes += words(d);
    for (const Operand& s : in.srcs)
      if (s.kind == Operand::Kind::kRegister) reads += words(s.reg);
    out.register_reads = static_cast<uint8_t>(std::min(reads, 255u));
    out.register_writes = static_cast<uint8_t>(std::min(writes, 255u));
  }

 private:
  /// The number of 32-bit registers that `reg` occupies.
  uint32_t words(compiler::RegId reg) const {
    if (reg == compiler::kNone) return 0;
    const compiler::Register& r = kernel_.registers[reg];
    if (r.physical == compiler::kNone || r.type == ptx::Type::kPred) return 0;
    return ptx::size_of(r.type) > 4 ? 2 : 1;
  }

  const Kernel& kernel_;
};

/// Set the offset of the parameter that the instruction loads from the constant cache. If the
/// offset is not known, the load always hits: it becomes a plain computation.
void place_parameter(const Kernel& kernel, const Instruction& in, ImageInstr& out) {
  if (in.address.symbol == compiler::kNone) {
    out.action = sm::Action::kCompute;
    return;
  }
  const uint64_t at =
      kernel.symbols.at(in.address.symbol).offset + static_cast<uint64_t>(in.address.offset);
  out.set_number(static_cast<uint32_t>(at));
}

bool is_barrier(const Instruction& in) {
  return in.op == ptx::Opcode::kBar || in.op == ptx::Opcode::kBarRed;
}

/// The barrier with numbers in place of registers that a single move sets, since compilers put
/// operands of `asm("bar.sync %0, %1;" :: "r"(1), "r"(64))` into registers.
Instruction with_numbers(const Kernel& kernel, Instruction barrier) {
  for (Operand& s : barrier.srcs) {
    if (s.kind != Operand::Kind::kRegister) continue;
    const Instruction* setter = nullptr;
    uint32_t setters = 0;
    for (const Instruction& in : kernel.instructions) {
      if (std::find(in.dsts.begin(), in.dsts.end(), s.reg) == in.dsts.end()) continue;
      setter = &in;
      setters += 1;
    }
    if (setters == 1 && setter->op == ptx::Opcode::kMov && setter->guard == compiler::kNone &&
        setter->srcs.size() == 1 && setter->srcs[0].kind == Operand::Kind::kImmediate)
      s = setter->srcs[0];
  }
  return barrier;
}

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
        if (in.implied || (!machine_.sm.charge_moves && is_move(in))) continue;
        at[i] = static_cast<uint32_t>(out_.instrs.size());
        ImageInstr image = classify(is_barrier(in) ? with_numbers(kernel, in) : in, machine_);
        image.set_energy_class(energy_class(in));
        out_.has_copies = out_.has_copies || image.meets_mbarriers() ||
                          image.action == sm::Action::kProductCommit ||
                          image.action == sm::Action::kAsyncLoad ||
                          image.action > sm::Action::kExit;
        if (image.action == sm::Action::kConstant && (image.flags & sm::kHasRecord) == 0)
          place_parameter(kernel, in, image);
        // The results of wgmma are not in the scoreboard: code waits for their group instead.
        if (in.op != ptx::Opcode::kWarpMma ||
            !ptx::WarpMatrixDetail::unpack(in.mod.detail).of_group())
          slot_map.add_all(image, in, image.action != sm::Action::kAsyncLoad);
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
  v.waiting = waiting.data();
  v.num_launches = static_cast<uint32_t>(launches.size());
  return v;
}

sm::SmResources sm_capacity(const config::MachineConfig& machine) {
  const auto& sm = machine.sm;
  return {sm.blocks, sm.warps, sm.threads, sm.registers, sm.shared_memory_bytes};
}

sm::SmResources block_needs(const config::MachineConfig& machine, const Kernel& kernel,
                            const runtime::LaunchRecord& launch) {
  sm::SmResources needs;
  needs.blocks = 1;
  needs.threads = static_cast<uint32_t>(launch.block.count());
  needs.warps = (needs.threads + 31) / 32;
  const uint32_t unit = std::max(1u, machine.sm.register_unit);
  const uint32_t each = compiler::occupancy_registers(kernel, machine.sm.registers, needs.threads);
  needs.registers = needs.warps * ((each * 32 + unit - 1) / unit * unit);
  needs.shared_bytes = launch.shared_bytes;
  const sm::SmResources have = sm_capacity(machine);
  const auto check = [&](const char* what, uint32_t available, uint32_t needed) {
    if (needed > available)
      throw Error(
          fmt::format("a thread block of kernel {} needs {} {}, but an SM of machine {} has "
                      "{} - launch smaller blocks or change the machine's [sm] keys",
                      kernel.name, needed, what, machine.name, available));
  };
  check("warps", have.warps, needs.warps);
  check("threads", have.threads, needs.threads);
  check("registers", have.registers, needs.registers);
  check("bytes of shared memory", have.shared_bytes, needs.shared_bytes);
  return needs;
}

uint32_t blocks_per_sm(const sm::SmResources& capacity, const sm::SmResources& needs) {
  uint32_t blocks = capacity.blocks;
  const auto limit = [&](uint32_t have, uint32_t need) {
    if (need != 0) blocks = std::min(blocks, have / need);
  };
  limit(capacity.warps, needs.warps);
  limit(capacity.threads, needs.threads);
  limit(capacity.registers, needs.registers);
  limit(capacity.shared_bytes, needs.shared_bytes);
  return blocks;
}

/// Throws nearwarp::Error if even an empty GPC has no room for a cluster of the launch.
void check_cluster(const config::MachineConfig& machine, const Kernel& kernel,
                   const runtime::LaunchRecord& launch, const sm::SmResources& needs) {
  std::vector<uint32_t> sms(machine.gpu.gpcs);
  for (uint32_t i = 0; i < machine.gpu.sms; ++i) ++sms[gpc_of(machine, i)];
  const uint32_t most = *std::max_element(sms.begin(), sms.end());
  const uint64_t room = uint64_t{most} * blocks_per_sm(sm_capacity(machine), needs);
  if (room >= launch.cluster.count()) return;
  throw Error(fmt::format(
      "kernel {}, launched with a grid of ({},{},{}), has clusters of {} thread blocks of {} "
      "threads, {} registers and {} bytes of shared memory each, but a GPC of machine {} has room "
      "for {} such blocks on its {} SMs - launch smaller clusters or blocks, or change gpu.gpcs or "
      "the [sm] keys",
      kernel.name, launch.grid.x, launch.grid.y, launch.grid.z, launch.cluster.count(),
      needs.threads, needs.registers, needs.shared_bytes, machine.name, room, most));
}

/// Describe the launch's local memory: where it begins, and for how many warps it has room. A line
/// holds one word of each thread of a warp, since lines have 128 bytes where local memory is
/// modelled.
void add_local_memory(const config::MachineConfig& machine, const runtime::LaunchRecord& launch,
                      sm::LaunchInfo& info) {
  if (launch.local_base == 0) return;
  info.local_line =
      static_cast<uint32_t>((launch.local_base - exec::kDeviceBase) / machine.l1.line_bytes);
  info.local_lines = launch.local_bytes / 4;
  const uint32_t sms = machine.gpu.sms;
  const uint32_t used = info.stacks == 0 ? sms
                                         : sms / machine.stack.count *
                                               static_cast<uint32_t>(std::popcount(info.stacks));
  const uint32_t blocks = std::min(blocks_per_sm(sm_capacity(machine), info.needs),
                                   (info.num_blocks + used - 1) / used);
  info.local_warps = blocks * info.warps_per_block * sms;
}

/// Throws nearwarp::Error if a program is bound to `stacks` (bits; 0: not bound) that the machine
/// does not have.
void check_binding(const std::string& program, uint32_t stacks,
                   const config::MachineConfig& machine) {
  if (stacks == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: the program is bound to memory stacks, and {}", program, why));
  };
  if (!config::shape_of(machine).sms_in_stacks())
    refuse(
        fmt::format("machine '{}' runs kernels elsewhere (machine.shape = \"{}\") - leave out "
                    "what follows @, or take a machine with SMs in its stacks alone, as 'coda'",
                    machine.name, machine.shape));
  const auto last = static_cast<uint32_t>(31 - std::countl_zero(stacks));
  if (last >= machine.stack.count)
    refuse(fmt::format("machine '{}' has no stack {} - its stacks are 0 to {}", machine.name, last,
                       machine.stack.count - 1));
}

ImageTables build_image(const runtime::Recording& recording, const config::MachineConfig& machine) {
  for (uint32_t i = 0; i < recording.bound_stacks.size(); ++i)
    check_binding(recording.applications.empty() ? recording.name : recording.applications.at(i),
                  recording.bound_stacks[i], machine);
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
    info.needs = block_needs(machine, *recording.kernels[l.kernel], l);
    info.warps_per_block = static_cast<uint16_t>(info.needs.warps);
    info.first_block = blocks;
    info.space = static_cast<uint16_t>(l.application);
    info.cut = recording.truncated;
    // If the recording was cut short, a cluster may lack blocks.
    const bool whole = !info.cut && l.blocks_recorded % l.cluster.count() == 0;
    if (machine.gpu.gpcs != 0 && whole) info.cluster = static_cast<uint32_t>(l.cluster.count());
    if (info.cluster > 1) check_cluster(machine, *recording.kernels[l.kernel], l, info.needs);
    out.has_clusters = out.has_clusters || info.cluster > 1;
    info.stacks = runtime::stacks_of(recording, l.application);
    add_local_memory(machine, l, info);
    blocks += info.num_blocks;
    out.launches.push_back(info);
    out.recorded_launch.push_back(i);
    out.registers.push_back(compiler::occupancy_registers(
        *recording.kernels[l.kernel], machine.sm.registers, info.needs.threads));
  }
  add_launch_waits(recording, out);
  out.programs = std::max(1u, static_cast<uint32_t>(recording.applications.size()));
  for (const runtime::Allocation& a : recording.allocations)
    out.memory_bytes = std::max(out.memory_bytes, a.address + a.bytes - exec::kDeviceBase);
  return out;
}

}  // namespace nearwarp::sim
