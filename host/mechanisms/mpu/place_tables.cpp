// Builds the tables of locations, kernel by kernel.
#include "host/mechanisms/mpu/place_tables.h"

#include <algorithm>

#include "device/sm/coalescer.h"
#include "host/functional/compiler/visit.h"
#include "host/mechanisms/mpu/pass/scalars.h"
#include "host/mechanisms/mpu/readings.h"
#include "host/mechanisms/mpu/settings.h"

namespace nearwarp::mpu {

namespace {

using compiler::Instruction;
using compiler::Kernel;
using compiler::RegId;
using sim::ImageTables;
using sm::Action;
using sm::ImageInstr;

class Builder {
 public:
  Builder(const config::MachineConfig& machine, const config::PolicyConfig& policy,
          ImageTables& image, PlaceTables& out)
      : machine_(machine),
        mpu_(policy.table<Settings>()),
        readings_(readings_of(policy)),
        image_(image),
        out_(out) {}

  /// Add kernel number `k` to the tables, and rename its registers in the image.
  void add(uint32_t k, const Kernel& kernel) {
    const Locations l = annotate_locations(kernel, readings_);
    scalars_ =
        mpu_.scalar_moves ? find_scalars(kernel) : std::vector<bool>(kernel.registers.size());
    const Allocation a =
        mpu_.locations == "annotated" ? allocate_by_location(kernel, l) : allocate_for_both(kernel);
    for (compiler::InstrId i = 0; i < kernel.instructions.size(); ++i) {
      const uint32_t at = image_.index_of[k][i];
      if (at == ImageTables::kNotIssued) continue;
      InstrPlace place = rename(kernel, a, kernel.instructions[i], image_.instrs[at]);
      place.kind = kind_of(kernel.instructions[i], image_.instrs[at]);
      place.hint = hint_of(executed_at(kernel, l, i, readings_));
      place.guarded = kernel.instructions[i].guard != compiler::kNone;
      count(place);
      out_.places[at] = place;
    }
    const uint32_t slots = std::max(1u, a.registers.all() + a.predicates.all());
    image_.kernels[k].num_slots = slots;
    image_.max_slots = std::max(image_.max_slots, slots);
    for (size_t n = 0; n < image_.launches.size(); ++n)
      if (image_.launches[n].kernel == k) set_registers(n, a.registers);
  }

 private:
  /// Give an instruction of the image the scoreboard slots of its physical registers, in the order
  /// of build_image(). Returns the properties of its operands.
  InstrPlace rename(const Kernel& kernel, const Allocation& a, const Instruction& in,
                    ImageInstr& image) const {
    InstrPlace place;
    image.num_slots = 0;
    const auto add = [&](RegId r) -> uint16_t {
      if (r == compiler::kNone || a.physical[r] == compiler::kNone) return 0;
      const compiler::Register& reg = kernel.registers[r];
      const bool predicate = compiler::is_predicate(reg);
      const auto slot =
          static_cast<uint16_t>(predicate ? a.registers.all() + a.physical[r] : a.physical[r]);
      uint32_t k = 0;
      while (k < image.num_slots && image.slots[k] != slot) ++k;
      if (k == image.num_slots) {
        if (k == image.most_slots()) return 0;
        image.slots[image.num_slots++] = slot;
      }
      const auto bit = static_cast<uint16_t>(1u << k);
      if (predicate) place.predicates |= bit;
      if (!predicate && compiler::units_of(reg) == 2) place.wide |= bit;
      if (scalars_[r]) place.scalars |= bit;
      return bit;
    };
    for (const RegId d : in.dsts) add(d);
    image.num_dsts = image.num_slots;
    for (const compiler::Operand& s : in.srcs)
      if (s.kind == compiler::OperandKind::kRegister)
        place.stored = static_cast<uint16_t>(place.stored | add(s.reg));
    place.reads = place.stored;
    place.reads = static_cast<uint16_t>(place.reads | add(in.address.base));
    place.reads = static_cast<uint16_t>(place.reads | add(in.guard));
    return place;
  }

  Kind kind_of(const Instruction& in, const ImageInstr& image) const {
    if (image.accesses_shared())
      return is_far_operation(in, readings_) ? Kind::kFar : Kind::kShared;
    switch (image.action) {
      case Action::kLoad:
        return Kind::kLoad;
      case Action::kStore:
        return Kind::kStore;
      case Action::kAtomic:
      case Action::kReduce:
        return Kind::kAtomic;
      case Action::kCompute:
        break;
      default:
        return Kind::kFar;
    }
    const bool has_port = static_cast<uint32_t>(image.unit) < sm::kNumPortUnits;
    const bool plain = has_port && (image.flags & (sm::kBranch | sm::kHasRecord)) == 0;
    return plain && !is_far_operation(in, readings_) ? Kind::kAny : Kind::kFar;
  }

  Hint hint_of(Location annotated) const {
    if (mpu_.locations == "near") return Hint::kNear;
    if (mpu_.locations == "far") return Hint::kFar;
    if (mpu_.locations == "hardware") return Hint::kNone;
    return annotated == Location::kNear  ? Hint::kNear
           : annotated == Location::kFar ? Hint::kFar
                                         : Hint::kNone;
  }

  void count(const InstrPlace& place) {
    if (place.kind == Kind::kShared || (place.kind == Kind::kAny && place.hint == Hint::kNear)) {
      out_.near += 1;
    } else if (place.kind != Kind::kAny) {
      out_.fixed += 1;
    } else {
      (place.hint == Hint::kFar ? out_.far : out_.open) += 1;
    }
  }

  /// Set the registers that a launch's thread blocks need. The register files near the banks may be
  /// smaller than the others: their registers are scaled to the size of those. As in
  /// compiler::occupancy_registers(), one thread block always fits.
  void set_registers(size_t launch, const RegisterFile& file) {
    const uint64_t far = file.far + file.both;
    const uint64_t near = (uint64_t{file.near} + file.both) * machine_.sm.registers /
                          std::max(1u, mpu_.near_registers);
    const auto each = static_cast<uint32_t>(std::max<uint64_t>({far, near, 1}));
    sm::SmResources& needs = image_.launches[launch].needs;
    const uint32_t unit = std::max(1u, machine_.sm.register_unit);
    const uint32_t warp = (each * sm::kWarpSize + unit - 1) / unit * unit;
    needs.registers = std::min(needs.warps * warp, machine_.sm.registers);
    image_.registers[launch] = each;
    image_.registers_source = "own allocation, by location";
  }

  const config::MachineConfig& machine_;
  const Settings& mpu_;
  Readings readings_;
  ImageTables& image_;
  PlaceTables& out_;
  std::vector<bool> scalars_;  ///< by register of the present kernel: all lanes have the same value
};

}  // namespace

PlaceTables build_place_tables(const runtime::Recording& recording,
                               const config::MachineConfig& machine,
                               const config::PolicyConfig& policy, ImageTables& image) {
  PlaceTables tables;
  tables.places.resize(image.instrs.size());
  Builder builder(machine, policy, image, tables);
  for (uint32_t k = 0; k < recording.kernels.size(); ++k) builder.add(k, *recording.kernels[k]);
  return tables;
}

}  // namespace nearwarp::mpu
