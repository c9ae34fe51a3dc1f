#include "host/mechanisms/mpu/pass/locations.h"

#include "host/functional/compiler/liveness.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::mpu {

namespace {

using compiler::Instruction;
using compiler::Kernel;
using compiler::OperandKind;
using compiler::RegId;
using ptx::Opcode;
using ptx::Space;

/// Accesses data through an address.
bool accesses_memory(const Instruction& in) {
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kPrefetch:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kCpAsync:
    case Opcode::kMbarrier:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kWmmaLoad:
    case Opcode::kWmmaStore:
    case Opcode::kTensorLoad:
    case Opcode::kTensorStore:
    case Opcode::kTensorReduce:
      return true;
    default:
      return false;
  }
}

/// Does it access shared memory, by its statement? Others without a space are the LSU's to check.
bool accesses_shared(const Instruction& in) {
  return in.op == Opcode::kLdmatrix || in.op == Opcode::kStmatrix ||
         (accesses_memory(in) && in.mod.space == Space::kShared);
}

bool is_constant(const Instruction& in) {
  return in.op == Opcode::kLd && (in.mod.space == Space::kConst || in.mod.space == Space::kParam);
}

bool is_jump(const Instruction& in) {
  return in.op == Opcode::kBra || in.op == Opcode::kBrx || in.op == Opcode::kCall ||
         in.op == Opcode::kRet || in.op == Opcode::kExit;
}

class Annotator {
 public:
  Annotator(const Kernel& kernel, const Readings& readings) : kernel_(kernel), readings_(readings) {
    out_.registers.assign(kernel.registers.size(), Location::kUnknown);
    out_.instructions.assign(kernel.instructions.size(), Location::kUnknown);
  }

  Locations annotate() {
    for (const Instruction& in : kernel_.instructions) begin(in);
    while (propagate()) {
    }
    for (const Instruction& in : kernel_.instructions) place_unwanted(in);
    for (size_t i = 0; i < kernel_.instructions.size(); ++i)
      out_.instructions[i] = of_instruction(kernel_.instructions[i]);
    return std::move(out_);
  }

 private:
  void want(RegId r, Location where) {
    if (r != compiler::kNone) out_.registers[r] = join(out_.registers[r], where);
  }
  void want_sources(const Instruction& in, Location where) {
    for (const compiler::Operand& s : in.srcs)
      if (s.kind == OperandKind::kRegister) want(s.reg, where);
  }
  void want_results(const Instruction& in, Location where) {
    for (const RegId d : in.dsts) want(d, where);
  }

  /// Places those registers whose location follows from the instruction's kind.
  void begin(const Instruction& in) {
    want(in.guard, Location::kFar);
    if (is_jump(in)) want_sources(in, Location::kFar);
    if (!accesses_memory(in)) return;
    if (is_constant(in)) {
      want(in.address.base, Location::kFar);
      return;
    }
    if (accesses_shared(in)) {
      const Location where = of_shared();
      want(in.address.base, where);
      want_sources(in, where);
      want_results(in, where);
      return;
    }
    want(in.address.base, Location::kFar);
    want_sources(in, Location::kNear);
    want_results(in, Location::kNear);
  }

  Location of_shared() const {
    return readings_.shared == SharedMemory::kNear ? Location::kNear : Location::kFar;
  }

  Location of_results(const Instruction& in) const {
    Location where = Location::kUnknown;
    for (const RegId d : in.dsts)
      if (d != compiler::kNone) where = join(where, out_.registers[d]);
    return where;
  }

  /// Sources follow the destinations of their instructions. Was anything changed?
  bool propagate() {
    bool changed = false;
    for (const Instruction& in : kernel_.instructions) {
      if (accesses_memory(in) || is_jump(in)) continue;
      const Location where = of_results(in);
      if (where == Location::kUnknown) continue;
      if (where == Location::kBoth && !readings_.both_spreads) continue;
      for (const compiler::Operand& s : in.srcs) {
        if (s.kind != OperandKind::kRegister) continue;
        const Location before = out_.registers[s.reg];
        want(s.reg, where);
        changed |= out_.registers[s.reg] != before;
      }
    }
    return changed;
  }

  /// Places results that nobody wants where the others of an instruction are: it is
  /// executed in one place, and has its results there.
  void place_unwanted(const Instruction& in) {
    const Location where = of_results(in);
    for (const RegId d : in.dsts)
      if (d != compiler::kNone && out_.registers[d] == Location::kUnknown) want(d, where);
  }

  /// A store's destination is its address.
  Location of_instruction(const Instruction& in) const {
    if (accesses_shared(in)) return of_shared();
    if (accesses_memory(in) && in.dsts.empty()) return Location::kFar;
    return is_jump(in) ? Location::kFar : of_results(in);
  }

  const Kernel& kernel_;
  const Readings& readings_;
  Locations out_;
};

}  // namespace

bool is_far_operation(const Instruction& in, const Readings& readings) {
  if (accesses_shared(in))
    return readings.shared == SharedMemory::kFar || in.op == Opcode::kMbarrier;
  if (accesses_memory(in) || is_jump(in)) return true;
  for (const compiler::Operand& s : in.srcs)
    if (s.kind == OperandKind::kSpecial) return true;
  switch (in.op) {
    case Opcode::kActivemask:
    case Opcode::kBarWarp:
    case Opcode::kElect:
    case Opcode::kMapa:
    case Opcode::kCreatePolicy:
    case Opcode::kTrap:
    case Opcode::kBar:
    case Opcode::kBarRed:
    case Opcode::kMembar:
    case Opcode::kNanosleep:
    case Opcode::kSystem:
    case Opcode::kNop:
    case Opcode::kPhaseWait:
      return true;
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
    case Opcode::kMovmatrix:
    case Opcode::kMma:
    case Opcode::kWarpMma:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
      return !readings.all_operations;
    default:
      return false;
  }
}

Locations annotate_locations(const Kernel& kernel, const Readings& readings) {
  return Annotator(kernel, readings).annotate();
}

Location executed_at(const Kernel& kernel, const Locations& l, compiler::InstrId i,
                     const Readings& readings) {
  return is_far_operation(kernel.instructions[i], readings) ? Location::kFar : l.instructions[i];
}

Allocation allocate_by_location(const Kernel& kernel, const Locations& locations) {
  // Groups in the order in which their registers are numbered.
  constexpr uint8_t kNearGroup = 0, kBothGroup = 1, kFarGroup = 2;
  std::vector<uint8_t> group;
  for (const Location l : locations.registers)
    group.push_back(l == Location::kNear   ? kNearGroup
                    : l == Location::kBoth ? kBothGroup
                                           : kFarGroup);
  compiler::ApartAllocation apart = compiler::allocate_apart(kernel, group, 3);
  Allocation out;
  out.physical = std::move(apart.physical);
  const auto file = [](const std::vector<uint32_t>& n) {
    return RegisterFile{n[kNearGroup], n[kBothGroup], n[kFarGroup]};
  };
  out.registers = file(apart.registers);
  out.predicates = file(apart.predicates);
  return out;
}

Allocation allocate_for_both(const Kernel& kernel) {
  Locations all;
  all.registers.assign(kernel.registers.size(), Location::kBoth);
  return allocate_by_location(kernel, all);
}

}  // namespace nearwarp::mpu
