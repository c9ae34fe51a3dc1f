// Which port an instruction uses, for how long, and when its result is ready.
//
// The classes and the port of each (divisions and transcendental functions on the SFU, everything
// else on the SPs) follow GPGPU-Sim 4.2; operations that it does not name count as additions.
#include "host/timing/program/instruction_class.h"

#include <algorithm>
#include <array>
#include <vector>

#include "device/sm/sm_state.h"
#include "host/functional/compiler/lane_bytes.h"
#include "host/functional/ptx/details.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::sim {

namespace {

using compiler::Instruction;
using config::ClassTiming;
using config::MachineConfig;
using ptx::Opcode;
using ptx::Space;
using sm::Action;
using sm::EnergyClass;
using sm::ImageInstr;
using sm::Unit;
using Classes = MachineConfig::Classes;

/// Latency and interval. The first five depend on the type.
enum class Time : uint8_t { kAdd, kMax, kMul, kMad, kDiv, kMatrix, kSpecial, kConvert, kShuffle };

/// Classes of energy. Type: integer, fp32 or fp64, as the operands are.
enum class Charge : uint8_t {
  kType,
  kBits,
  kMul,
  kDiv,
  kSpecial,
  kConvert,
  kShuffle,
  kMemory,
  kControl
};

struct Row {
  Opcode op = Opcode::kNop;
  Unit unit = Unit::kSp;
  Action action = Action::kCompute;
  Time time = Time::kAdd;
  Charge charge = Charge::kType;
  bool branch = false;
};

/// Everything that is not an addition of its type.
constexpr Row kRows[] = {
    {Opcode::kMin, Unit::kSp, Action::kCompute, Time::kMax},
    {Opcode::kMax, Unit::kSp, Action::kCompute, Time::kMax},
    {Opcode::kMul, Unit::kSp, Action::kCompute, Time::kMul, Charge::kMul},
    {Opcode::kMul24, Unit::kSp, Action::kCompute, Time::kMul, Charge::kMul},
    {Opcode::kMad, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kMadc, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kMad24, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kSad, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kDp4a, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kDp2a, Unit::kSp, Action::kCompute, Time::kMad, Charge::kMul},
    {Opcode::kFma, Unit::kSp, Action::kCompute, Time::kMad},
    {Opcode::kVideo, Unit::kSp, Action::kCompute, Time::kMad},
    {Opcode::kMma, Unit::kSp, Action::kCompute, Time::kMatrix, Charge::kMul},
    {Opcode::kDiv, Unit::kSfu, Action::kCompute, Time::kDiv, Charge::kDiv},
    {Opcode::kRem, Unit::kSfu, Action::kCompute, Time::kDiv, Charge::kDiv},
    {Opcode::kRcp, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kSqrt, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kRsqrt, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kSin, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kCos, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kLg2, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kEx2, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kTanh, Unit::kSfu, Action::kCompute, Time::kSpecial, Charge::kSpecial},
    {Opcode::kMov, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kBits},
    {Opcode::kCvta, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kBits},
    {Opcode::kSelp, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kBits},
    {Opcode::kSlct, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kBits},
    {Opcode::kCvt, Unit::kSp, Action::kCompute, Time::kConvert, Charge::kConvert},
    {Opcode::kShfl, Unit::kSp, Action::kCompute, Time::kShuffle, Charge::kShuffle},
    {Opcode::kVote, Unit::kSp, Action::kCompute, Time::kShuffle, Charge::kShuffle},
    {Opcode::kMatch, Unit::kSp, Action::kCompute, Time::kShuffle, Charge::kShuffle},
    {Opcode::kRedux, Unit::kSp, Action::kCompute, Time::kShuffle, Charge::kShuffle},
    {Opcode::kLd, Unit::kLsu, Action::kLoad, Time::kAdd, Charge::kMemory},
    {Opcode::kLdu, Unit::kLsu, Action::kLoad, Time::kAdd, Charge::kMemory},
    {Opcode::kTex, Unit::kLsu, Action::kLoad, Time::kAdd, Charge::kMemory},
    {Opcode::kSuld, Unit::kLsu, Action::kLoad, Time::kAdd, Charge::kMemory},
    {Opcode::kSt, Unit::kLsu, Action::kStore, Time::kAdd, Charge::kMemory},
    {Opcode::kSust, Unit::kLsu, Action::kStore, Time::kAdd, Charge::kMemory},
    {Opcode::kAtom, Unit::kLsu, Action::kAtomic, Time::kAdd, Charge::kMemory},
    {Opcode::kRed, Unit::kLsu, Action::kReduce, Time::kAdd, Charge::kMemory},
    {Opcode::kBra, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kControl, true},
    {Opcode::kBrx, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kControl, true},
    {Opcode::kCall, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kControl, true},
    {Opcode::kBar, Unit::kControl, Action::kBarrier, Time::kAdd, Charge::kControl},
    {Opcode::kBarRed, Unit::kControl, Action::kBarrier, Time::kAdd, Charge::kControl},
    {Opcode::kMembar, Unit::kControl, Action::kFence, Time::kAdd, Charge::kControl},
    {Opcode::kRet, Unit::kControl, Action::kExit, Time::kAdd, Charge::kControl},
    {Opcode::kExit, Unit::kControl, Action::kExit, Time::kAdd, Charge::kControl},
    {Opcode::kTrap, Unit::kControl, Action::kExit, Time::kAdd, Charge::kControl},
    {Opcode::kBarWarp, Unit::kControl, Action::kCompute, Time::kAdd, Charge::kControl},
    {Opcode::kNanosleep, Unit::kControl, Action::kCompute, Time::kAdd, Charge::kControl},
    // Calls of the runtime by a kernel cost one issue slot.
    {Opcode::kSystem, Unit::kControl, Action::kCompute, Time::kAdd, Charge::kControl},
    {Opcode::kTensorSize, Unit::kSp, Action::kCompute, Time::kAdd, Charge::kBits},
    {Opcode::kTensorLoad, Unit::kControl, Action::kCopyRead, Time::kAdd, Charge::kMemory},
    {Opcode::kTensorStore, Unit::kControl, Action::kCopyWrite, Time::kAdd, Charge::kMemory},
    {Opcode::kTensorReduce, Unit::kControl, Action::kCopyReduce, Time::kAdd, Charge::kMemory},
    {Opcode::kPhaseWait, Unit::kLsu, Action::kPhaseWait, Time::kAdd, Charge::kMemory},
    {Opcode::kWarpMma, Unit::kSp, Action::kCompute, Time::kMatrix, Charge::kMul},
    {Opcode::kWgmmaCommit, Unit::kSp, Action::kProductCommit, Time::kMad, Charge::kBits},
    {Opcode::kWgmmaWait, Unit::kControl, Action::kProductWait, Time::kAdd, Charge::kControl},
    {Opcode::kNop, Unit::kControl, Action::kCompute, Time::kAdd, Charge::kControl},
};

constexpr auto kByOpcode = [] {
  std::array<Row, static_cast<size_t>(Opcode::kCount)> rows{};
  for (const Row& row : kRows) rows[static_cast<size_t>(row.op)] = row;
  return rows;
}();

const Row& row_of(const Instruction& in) { return kByOpcode[static_cast<size_t>(in.op)]; }

/// A limit so that latencies fit ImageInstr; far beyond any instruction of a GPU.
constexpr uint32_t kMostMatrixCycles = 50'000;

/// By type (integer, fp32, fp64) and Time.
constexpr ClassTiming Classes::*kTimes[3][5] = {
    {&Classes::int_add, &Classes::int_max, &Classes::int_mul, &Classes::int_mad, &Classes::int_div},
    {&Classes::fp32_add, &Classes::fp32_max, &Classes::fp32_mul, &Classes::fp32_mad,
     &Classes::fp32_div},
    {&Classes::fp64_add, &Classes::fp64_max, &Classes::fp64_mul, &Classes::fp64_mad,
     &Classes::fp64_div},
};

const ClassTiming& timing(const Classes& c, Time time, ptx::Type type) {
  const int of_type = type == ptx::Type::kF64 ? 2 : ptx::is_float(type) ? 1 : 0;
  return c.*kTimes[of_type][static_cast<size_t>(time)];
}

bool is_double(const Instruction& in) {
  return in.mod.type == ptx::Type::kF64 || in.mod.src_type == ptx::Type::kF64;
}

/// The time of 16 products of factors of such a type in a matrix unit, in products of f16: by
/// width, but for doubles. NVIDIA's white papers of A100 (f16 312, tf32 156, f64 19.5 TFLOPS, 624
/// TOPS of bytes) and H100, dense.
uint32_t matrix_cost(const Instruction& in) {
  if (in.op == Opcode::kWarpMma) {
    using ptx::Factor;
    const ptx::WarpMatrixDetail d = ptx::WarpMatrixDetail::unpack(in.mod.detail);
    const uint32_t cost = d.a == Factor::kB1 ? 1 : ptx::bits_of(d.a);  // 16 for f16
    return d.a == Factor::kB1 || !d.sparse ? cost : (cost + 1) / 2;
  }
  switch (in.mod.src_type) {
    case ptx::Type::kF64:
      return 256;
    case ptx::Type::kB32:  // tf32
      return 32;
    case ptx::Type::kU8:
    case ptx::Type::kS8:
      return 8;
    default:
      return 16;
  }
}

/// The products that one warp's instruction forms.
uint64_t matrix_products(const Instruction& in) {
  if (in.op == Opcode::kWarpMma) {
    const ptx::WarpMatrixDetail d = ptx::WarpMatrixDetail::unpack(in.mod.detail);
    // Quads: four products.
    return uint64_t{d.warp_rows()} * d.n * d.k * (d.k == 4 ? 4 : 1);
  }
  const ptx::MatrixDetail d = ptx::MatrixDetail::unpack(in.mod.detail);
  return uint64_t{d.m} * d.n * d.k;
}

/// Cycles in which shared memory can give the factors of a warp group's product that lie there: a
/// by each of the four warps (of a sparse one what is there), b once for all.
uint64_t factor_cycles(const Instruction& in, const MachineConfig& m) {
  if (in.op != Opcode::kWarpMma) return 0;
  const ptx::WarpMatrixDetail d = ptx::WarpMatrixDetail::unpack(in.mod.detail);
  if (!d.of_group()) return 0;
  const uint64_t numbers = uint64_t{d.n} * d.k + (d.a_in_memory ? uint64_t{64} * d.stored_k() : 0);
  const uint64_t each = uint64_t{4} * m.lsu.shared_banks;
  return (numbers * ptx::bits_of(d.a) / 8 + each - 1) / each;
}

/// The unit's ports, or, where it has none, those of the SPs are taken for so long.
ClassTiming matrix_timing(const Instruction& in, const ClassTiming& multiply_add,
                          const MachineConfig& m) {
  const MachineConfig::Sm& sm = m.sm;
  const uint64_t products = matrix_products(in);
  ClassTiming t = multiply_add;
  if (sm.matrix_products_per_cycle == 0) {
    // Estimated: one multiply-add per element of k and 32 results.
    t.interval_cycles *= static_cast<uint32_t>(std::max<uint64_t>(1, products / 1024));
  } else {
    const uint32_t ports = sm.matrix_units != 0 ? sm.matrix_units : sm.sp_units;
    const uint64_t work = products * matrix_cost(in) * ports;
    const uint64_t rate = uint64_t{16} * sm.matrix_products_per_cycle;
    t.interval_cycles = static_cast<uint32_t>(
        std::max({uint64_t{1}, (work + rate - 1) / rate, factor_cycles(in, m)}));
    if (sm.matrix_latency_cycles != 0) t.latency_cycles = sm.matrix_latency_cycles;
  }
  t.interval_cycles = std::min(t.interval_cycles, kMostMatrixCycles);
  t.latency_cycles += t.interval_cycles;  // estimated
  return t;
}

/// Does it read constants or parameters? They come from a cache of their own.
bool is_constant(const Instruction& in) {
  return in.mod.space == Space::kConst || in.mod.space == Space::kParam;
}

ClassTiming timing(const Instruction& in, Time time, const MachineConfig& m) {
  const Classes& c = m.classes;
  const ptx::Type type = in.mod.type;
  switch (time) {
    case Time::kMatrix:
      return matrix_timing(in, timing(c, Time::kMad, type), m);
    case Time::kSpecial:
      return type == ptx::Type::kF64 ? c.fp64_div : c.sfu;
    case Time::kConvert:
      return in.mod.src_type == ptx::Type::kF64 ? c.fp64_add : timing(c, Time::kAdd, type);
    case Time::kShuffle:
      return c.shuffle;
    default:
      return timing(c, time, type);
  }
}

void set_timing(ImageInstr& out, const ClassTiming& t) {
  out.latency = static_cast<uint16_t>(t.latency_cycles);
  out.interval = static_cast<uint16_t>(t.interval_cycles);
}

/// Registers that operand collection reads: one that several operands name is read once.
uint32_t source_registers(const Instruction& in) {
  std::vector<compiler::RegId> seen;
  for (const compiler::Operand& o : in.srcs)
    if (o.kind == compiler::Operand::Kind::kRegister &&
        std::find(seen.begin(), seen.end(), o.reg) == seen.end())
      seen.push_back(o.reg);
  return static_cast<uint32_t>(seen.size());
}

/// Adds the pipeline's other stages to the time until the next instruction that needs the result.
void add_pipeline(ImageInstr& out, const Instruction& in, const MachineConfig::Sm& sm) {
  uint32_t more = sm.pipeline_cycles;
  if (sm.operands_per_cycle != 0)
    more += (source_registers(in) + sm.operands_per_cycle - 1) / sm.operands_per_cycle;
  if (out.interval > 1) more += sm.pipeline_extra_cycles;
  out.latency = static_cast<uint16_t>(out.latency + more);
}

Action on_shared_memory(Action action) {
  switch (action) {
    case Action::kLoad:
      return Action::kSharedLoad;
    case Action::kStore:
      return Action::kSharedStore;
    default:
      return Action::kSharedAtomic;
  }
}

void classify_memory(ImageInstr& out, const Instruction& in, const Classes& c) {
  if (is_constant(in)) {
    out.unit = Unit::kSp;
    out.action = Action::kConstant;
    set_timing(out, c.constant_load);
    if (runtime::leaves_record(in)) out.flags |= sm::kHasRecord;
    if (runtime::leaves_record(in) && in.guard != compiler::kNone) out.flags |= sm::kGuarded;
    return;
  }
  if (runtime::leaves_record(in)) out.flags |= sm::kHasRecord;
  if (runtime::has_mask_word(in)) out.flags |= sm::kGuarded;
  if (in.mod.space == Space::kLocal) out.flags |= sm::kLocal;
  out.lane_bytes = static_cast<uint8_t>(compiler::lane_bytes(in));
  if (in.op == Opcode::kAtom && in.mod.atomic == ptx::AtomicOp::kArrive) {
    // The bytes of a box are told of by the copy engine, arrivals of copies when these are done.
    out.action = in.mod.mode == 1   ? Action::kCopyEnd
                 : in.mod.mode == 2 ? Action::kLoadsArrive
                                    : Action::kPhaseEvents;
    if (in.mod.mode != 0) out.unit = Unit::kControl;
  } else if (in.op == Opcode::kLd && in.mod.async_copy) {
    out.action = Action::kAsyncLoad;
    if (static_cast<ptx::CopyCache>(in.mod.detail) == ptx::CopyCache::kPastL1) out.set_number(1);
  } else if (in.mod.space == Space::kShared && out.action < Action::kBarrier) {
    out.action = on_shared_memory(out.action);
  }
}

/// Groups of bulk copies, and their ends.
Action copy_action(const Instruction& in) {
  switch (static_cast<ptx::CopyGroup>(in.mod.detail)) {
    case ptx::CopyGroup::kCommit:
      return Action::kLoadCommit;
    case ptx::CopyGroup::kWaitGroup:
      return Action::kLoadWait;
    case ptx::CopyGroup::kWaitAll:
      return Action::kLoadWaitAll;
    case ptx::CopyGroup::kBulkCommit:
      return Action::kCopyCommit;
    case ptx::CopyGroup::kBulkWait:
      return Action::kCopyWait;
    case ptx::CopyGroup::kBulkWaitRead:
      return Action::kCopyWaitRead;
    case ptx::CopyGroup::kBulkEnd:
      return Action::kCopyEnd;
    default:
      return Action::kCompute;
  }
}

void classify_barrier(ImageInstr& out, const Instruction& in) {
  if (in.op == Opcode::kBar && in.mod.mode == 2) {
    // Estimated: a barrier of a cluster costs what one of the block does. Warps wait for those of
    // their own block, in a barrier apart from its others.
    if (in.mod.bar_arrive != 0) {
      out.action = Action::kCompute;
      return;
    }
    out.lane_bytes = sm::kMaxBarriers - 1;
    return;
  }
  if (in.mod.bar_arrive != 0) out.action = Action::kBarrierArrive;
  const auto immediate = [&](size_t i) -> uint64_t {
    return i < in.srcs.size() && in.srcs[i].kind == compiler::Operand::Kind::kImmediate
               ? in.srcs[i].bits
               : 0;
  };
  out.lane_bytes = static_cast<uint8_t>(immediate(0) % 16);
  if (in.op == Opcode::kBar)
    out.set_number(static_cast<uint32_t>(std::min<uint64_t>((immediate(1) + 31) / 32, 255)));
}

}  // namespace

sm::EnergyClass energy_class(const Instruction& in) {
  using E = EnergyClass;
  const bool f64 = is_double(in);
  const bool real = ptx::is_float(in.mod.type);
  const E by_type = f64 ? E::kFp64 : real ? E::kFp32 : E::kInteger;
  switch (row_of(in).charge) {
    case Charge::kType:
      break;
    case Charge::kBits:
      return E::kInteger;  // whatever the type, bits are moved
    case Charge::kMul:
      return real ? by_type : E::kIntegerMultiply;
    case Charge::kDiv:
      return !real ? E::kIntegerDivide : f64 ? E::kFp64Divide : E::kFp32Divide;
    case Charge::kSpecial:
      return f64 ? E::kFp64Divide : E::kSpecial;
    case Charge::kConvert:
      return by_type == E::kInteger && ptx::is_float(in.mod.src_type) ? E::kFp32 : by_type;
    case Charge::kShuffle:
      return E::kShuffle;
    case Charge::kMemory:
      return is_constant(in) ? E::kConstant : E::kMemory;
    case Charge::kControl:
      return E::kControl;
  }
  return by_type;
}

bool is_move(const Instruction& instruction) {
  return instruction.op == Opcode::kMov || instruction.op == Opcode::kCvta;
}

ImageInstr classify(const Instruction& in, const MachineConfig& m) {
  const Row& row = row_of(in);
  ImageInstr out;
  out.unit = row.unit;
  out.action = row.action;
  if (row.branch) out.flags |= sm::kBranch;
  set_timing(out, timing(in, row.time, m));
  // Whatever the type, its rate is that of the SP ports.
  const bool commits = out.action == Action::kProductCommit;
  const bool in_matrix_unit =
      (row.time == Time::kMatrix || commits) && m.sm.matrix_products_per_cycle != 0;
  if (in_matrix_unit && m.sm.matrix_units != 0) {
    out.unit = Unit::kMatrix;
    // Behind the last product, which it takes no time from.
    const uint32_t latency = m.sm.matrix_latency_cycles != 0
                                 ? m.sm.matrix_latency_cycles
                                 : timing(m.classes, Time::kMad, ptx::Type::kF32).latency_cycles;
    if (commits) set_timing(out, {latency, 0});
  }
  if (in.op == Opcode::kNop) {
    out.action = copy_action(in);
  } else if (row.unit == Unit::kLsu || runtime::names_pieces(in)) {
    classify_memory(out, in, m.classes);
  } else if (row.action == Action::kBarrier) {
    classify_barrier(out, in);
  } else if (out.unit == Unit::kSp && !in_matrix_unit) {
    // Ports of their own only where the machine says so.
    if (!row.branch && m.sm.dp_units != 0 && is_double(in)) {
      out.unit = Unit::kDp;
    } else if (m.sm.int_units != 0 && energy_class(in) != EnergyClass::kFp32) {
      out.unit = Unit::kInt;
    }
  }
  if (out.action == Action::kCopyWait || out.action == Action::kCopyWaitRead ||
      out.action == Action::kProductWait || out.action == Action::kLoadWait) {
    const bool known = !in.srcs.empty() && in.srcs[0].kind == compiler::Operand::Kind::kImmediate;
    out.set_number(known ? static_cast<uint32_t>(std::min<uint64_t>(in.srcs[0].bits, 255)) : 0);
  }
  if ((out.action == Action::kCompute || out.action == Action::kConstant || commits) &&
      out.unit != Unit::kControl && !row.branch)
    add_pipeline(out, in, m.sm);
  return out;
}

}  // namespace nearwarp::sim
