// Do the timing model's images of kernels have the right classes, scoreboard slots, occupancy and
// candidates?
#include "host/timing/program/image_builder.h"

#include <gtest/gtest.h>

#include <set>

#include "host/core/error.h"
#include "host/functional/instructions/decoded.h"
#include "host/recording/trace_replay.h"
#include "host/timing/program/instruction_class.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/offload_image.h"

namespace nearwarp::sim {
namespace {

using compiler::Kernel;
using sm::Action;
using sm::ImageInstr;
using sm::Unit;
using testing::PtxDevice;

constexpr const char* kMixed = R"(
.visible .entry mixed(.param .u64 p)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .f32 %f<6>;
  .reg .f64 %fd<6>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[128];
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  ld.global.u32 %r2, [%rd2];
  add.s32 %r3, %r1, %r2;
  mul.lo.s32 %r4, %r3, %r2;
  mad.lo.s32 %r5, %r4, %r3, %r2;
  max.s32 %r6, %r5, %r4;
  div.s32 %r7, %r6, 3;
  cvt.rn.f32.s32 %f1, %r7;
  fma.rn.f32 %f2, %f1, %f1, %f1;
  sqrt.rn.f32 %f3, %f2;
  div.rn.f32 %f4, %f3, %f1;
  cvt.f64.f32 %fd1, %f4;
  mul.f64 %fd2, %fd1, %fd1;
  fma.rn.f64 %fd3, %fd2, %fd1, %fd2;
  cvt.rn.f32.f64 %f5, %fd3;
  st.shared.f32 [s], %f5;
  bar.sync 2;
  shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;
  setp.eq.s32 %p1, %r8, %r7;
  @%p1 st.global.u32 [%rd2], %r8;
  red.global.add.u32 [%rd2], 1;
  membar.gl;
  @%p1 bra done;
  st.global.f32 [%rd2+4], %f5;
done:
  ret;
}
)";

struct Image {
  runtime::Recording recording;
  ImageTables tables;
  const Kernel* kernel;

  explicit Image(const std::vector<std::string>& overrides = {}) {
    PtxDevice d(kMixed);
    const runtime::DevicePtr p = d.device.allocate(64, "p");
    d.device.launch(d.module, "mixed", {2}, {64}, 0, runtime::KernelArgs(p));
    recording = d.record();
    tables = build_image(recording, config::load_machine("tom", overrides));
    kernel = recording.kernels.at(0).get();
  }
  /// The only instruction of that kind.
  ImageInstr find(ptx::Opcode op, ptx::Type type = ptx::Type::kNone) const {
    for (size_t i = 0; i < kernel->instructions.size(); ++i)
      if (kernel->instructions[i].op == op &&
          (type == ptx::Type::kNone || kernel->instructions[i].mod.type == type))
        return tables.instrs.at(i);
    ADD_FAILURE() << "no such instruction";
    return {};
  }
};

void expect(const ImageInstr& in, Unit unit, uint32_t latency, uint32_t interval) {
  EXPECT_EQ(in.unit, unit);
  EXPECT_EQ(in.latency, latency);
  EXPECT_EQ(in.interval, interval);
}

TEST(ImageBuilder, Classes) {
  const Image image;
  using ptx::Opcode;
  using ptx::Type;
  // Three cycles around the execute stage, one for each register that is read, two for a port that
  // is busy for several cycles.
  expect(image.find(Opcode::kAdd), Unit::kSp, 4 + 5, 1);
  expect(image.find(Opcode::kMul, Type::kS32), Unit::kSp, 4 + 7, 2);
  expect(image.find(Opcode::kMad), Unit::kSp, 5 + 6, 1);
  expect(image.find(Opcode::kMax), Unit::kSp, 13 + 7, 2);
  expect(image.find(Opcode::kDiv, Type::kS32), Unit::kSfu, 145 + 6, 8);
  expect(image.find(Opcode::kDiv, Type::kF32), Unit::kSfu, 39 + 7, 4);
  expect(image.find(Opcode::kSqrt), Unit::kSfu, 8 + 6, 8);
  expect(image.find(Opcode::kFma, Type::kF32), Unit::kSp, 5 + 4, 1);  // of one register
  expect(image.find(Opcode::kFma, Type::kF64), Unit::kSp, 8 + 7, 8);
  expect(image.find(Opcode::kMul, Type::kF64), Unit::kSp, 8 + 6, 8);
  expect(image.find(Opcode::kShfl), Unit::kSp, 32 + 6, 4);
  EXPECT_EQ(image.find(Opcode::kLd).action, Action::kConstant);  // the parameter comes first
  EXPECT_EQ(image.find(Opcode::kBar).action, Action::kBarrier);
  EXPECT_EQ(image.find(Opcode::kBar).lane_bytes, 2);
  EXPECT_EQ(image.find(Opcode::kBar).unit, Unit::kControl);
  EXPECT_EQ(image.find(Opcode::kMembar).action, Action::kFence);
  EXPECT_EQ(image.find(Opcode::kRed).action, Action::kReduce);
  EXPECT_EQ(image.find(Opcode::kBra).flags & sm::kBranch, sm::kBranch);
  EXPECT_EQ(image.find(Opcode::kRet).action, Action::kExit);
}

TEST(ImageBuilder, DoublePrecisionPortsWhereTheMachineHasThem) {
  const Image image({"sm.dp_units=1"});
  EXPECT_EQ(image.find(ptx::Opcode::kFma, ptx::Type::kF64).unit, Unit::kDp);
  EXPECT_EQ(image.find(ptx::Opcode::kFma, ptx::Type::kF32).unit, Unit::kSp);
}

TEST(ImageBuilder, IntegerPortsWhereTheMachineHasThem) {
  const Image image({"sm.int_units=2"});
  for (const ptx::Opcode op : {ptx::Opcode::kAdd, ptx::Opcode::kMad, ptx::Opcode::kShfl,
                               ptx::Opcode::kBra, ptx::Opcode::kMov})
    EXPECT_EQ(image.find(op).unit, Unit::kInt);
  EXPECT_EQ(image.find(ptx::Opcode::kFma, ptx::Type::kF32).unit, Unit::kSp);
  EXPECT_EQ(image.find(ptx::Opcode::kDiv, ptx::Type::kS32).unit, Unit::kSfu);
}

TEST(ImageBuilder, OperandsThatAreReadTogether) {
  const Image image({"sm.operands_per_cycle=2"});
  EXPECT_EQ(image.find(ptx::Opcode::kAdd).latency, 4 + 3 + 1);
  EXPECT_EQ(image.find(ptx::Opcode::kMad).latency, 5 + 3 + 2);
  EXPECT_EQ(Image({"sm.operands_per_cycle=0"}).find(ptx::Opcode::kMad).latency, 5 + 3);
}

TEST(ImageBuilder, RecordsOfMemoryInstructions) {
  const Image image;
  uint32_t records = 0, guarded = 0, shared = 0;
  for (const ImageInstr& in : image.tables.instrs) {
    records += (in.flags & sm::kHasRecord) != 0;
    guarded += (in.flags & sm::kGuarded) != 0;
    shared += in.action == Action::kSharedStore;
  }
  EXPECT_EQ(records, 5u);  // ld, st.shared, st, red, st; not the parameter
  EXPECT_EQ(guarded, 1u);
  EXPECT_EQ(shared, 1u);
  uint32_t of_blocks = 0;
  for (const sm::ImageBlock& b : image.tables.blocks) of_blocks += b.records;
  EXPECT_EQ(of_blocks, records);
}

TEST(ImageBuilder, PlacesOfParametersAndConstants) {
  PtxDevice d(R"(.const .align 4 .b8 table[256];
.visible .entry k(.param .u64 a, .param .u32 b, .param .align 4 .b8 c[64])
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u32 %r1, [b];
  ld.param.u32 %r2, [c+32];
  mov.u64 %rd1, c;
  ld.param.u32 %r3, [%rd1+4];
  mov.u64 %rd2, table;
  ld.const.u32 %r4, [%rd2+8];
  ld.const.u32 %r5, [table+128];
  ret;
}
)");
  struct Block {
    uint32_t words[16] = {};
  };
  d.device.launch(d.module, "k", {1}, {32}, 0,
                  runtime::KernelArgs(uint64_t{0}, uint32_t{1}, Block{}));
  const runtime::Recording recording = d.record();
  const ImageTables tables = build_image(recording, config::load_machine("tom"));
  std::vector<const ImageInstr*> loads;
  for (const ImageInstr& in : tables.instrs)
    if (in.action == Action::kConstant) loads.push_back(&in);
  ASSERT_EQ(loads.size(), 5u);
  EXPECT_EQ(loads[0]->number(), 8u);
  EXPECT_EQ(loads[1]->number(), 12u + 32u);
  for (uint32_t i = 0; i < 5; ++i) {  // those of a fixed parameter leave no record
    EXPECT_EQ((loads[i]->flags & sm::kHasRecord) != 0, i >= 2) << i;
    EXPECT_FALSE(loads[i]->accesses_data()) << i;
    EXPECT_EQ(loads[i]->unit, Unit::kSp) << i;
  }
  std::vector<uint64_t> accessed;
  runtime::TraceVisitor visitor;
  visitor.access = [&](const runtime::MemoryAccess& a) { accessed.push_back(a.address[0]); };
  runtime::replay(recording, 0, visitor);
  ASSERT_EQ(accessed.size(), 3u);
  EXPECT_EQ(accessed[0], exec::kDeviceBase + 12 + 4);
  EXPECT_EQ(accessed[2] - accessed[1], 120u);
}

TEST(ImageBuilder, EnergyClasses) {
  const Image image;
  using ptx::Opcode;
  using ptx::Type;
  using E = sm::EnergyClass;
  const auto of = [&](Opcode op, Type type = Type::kNone) {
    return image.find(op, type).energy_class();
  };
  EXPECT_EQ(of(Opcode::kLd), E::kConstant);  // the parameter comes first
  EXPECT_EQ(of(Opcode::kMov), E::kInteger);
  EXPECT_EQ(of(Opcode::kAdd), E::kInteger);
  EXPECT_EQ(of(Opcode::kMax), E::kInteger);
  EXPECT_EQ(of(Opcode::kMul, Type::kS32), E::kIntegerMultiply);
  EXPECT_EQ(of(Opcode::kMad), E::kIntegerMultiply);
  EXPECT_EQ(of(Opcode::kDiv, Type::kS32), E::kIntegerDivide);
  EXPECT_EQ(of(Opcode::kFma, Type::kF32), E::kFp32);
  EXPECT_EQ(of(Opcode::kDiv, Type::kF32), E::kFp32Divide);
  EXPECT_EQ(of(Opcode::kSqrt), E::kSpecial);
  EXPECT_EQ(of(Opcode::kCvt, Type::kF64), E::kFp64);
  EXPECT_EQ(of(Opcode::kFma, Type::kF64), E::kFp64);
  EXPECT_EQ(of(Opcode::kShfl), E::kShuffle);
  EXPECT_EQ(of(Opcode::kSt), E::kMemory);
  EXPECT_EQ(of(Opcode::kRed), E::kMemory);
  EXPECT_EQ(of(Opcode::kBar), E::kControl);
  EXPECT_EQ(of(Opcode::kBra), E::kControl);
  EXPECT_EQ(of(Opcode::kMembar), E::kControl);
}

TEST(ImageBuilder, RegistersReadAndWritten) {
  const Image image;
  using ptx::Opcode;
  using ptx::Type;
  const auto of = [&](Opcode op, Type type = Type::kNone) {
    const ImageInstr in = image.find(op, type);
    return std::pair<int, int>(in.register_reads, in.register_writes);
  };
  EXPECT_EQ(of(Opcode::kAdd), std::pair(2, 1));
  EXPECT_EQ(of(Opcode::kMad), std::pair(3, 1));
  EXPECT_EQ(of(Opcode::kFma, Type::kF32), std::pair(3, 1));  // one register, read three times
  EXPECT_EQ(of(Opcode::kFma, Type::kF64), std::pair(6, 2));
  EXPECT_EQ(of(Opcode::kDiv, Type::kS32), std::pair(1, 1));  // by a constant
  EXPECT_EQ(of(Opcode::kSetp), std::pair(2, 0));             // a predicate is no register
  EXPECT_EQ(of(Opcode::kSt, Type::kU32), std::pair(3, 0));   // 64-bit address, guarded
  EXPECT_EQ(of(Opcode::kLd, Type::kU32), std::pair(2, 1));
  EXPECT_EQ(of(Opcode::kLd, Type::kU64), std::pair(0, 2));
  EXPECT_EQ(of(Opcode::kBra), std::pair(0, 0));
}

TEST(ImageBuilder, SlotsAreRegistersThenPredicates) {
  const Image image;
  const Kernel& k = *image.kernel;
  const sm::KernelInfo& info = image.tables.kernels.at(0);
  EXPECT_EQ(info.num_slots, k.num_physical + k.num_predicates);
  EXPECT_EQ(image.tables.max_slots, info.num_slots);
  for (size_t i = 0; i < k.instructions.size(); ++i) {
    const compiler::Instruction& in = k.instructions[i];
    const ImageInstr& image_in = image.tables.instrs[i];
    std::vector<uint32_t> expected;
    const auto add = [&](compiler::RegId reg) {
      if (reg == compiler::kNone || k.registers[reg].physical == compiler::kNone) return;
      const bool predicate = k.registers[reg].type == ptx::Type::kPred;
      const uint32_t slot = k.registers[reg].physical + (predicate ? k.num_physical : 0);
      if (std::find(expected.begin(), expected.end(), slot) == expected.end())
        expected.push_back(slot);
    };
    for (const auto d : in.dsts) add(d);
    EXPECT_EQ(image_in.num_dsts, expected.size());
    for (const auto& s : in.srcs)
      if (s.kind == compiler::OperandKind::kRegister) add(s.reg);
    add(in.address.base);
    add(in.guard);
    EXPECT_EQ(std::vector<uint32_t>(image_in.slots, image_in.slots + image_in.num_slots), expected);
    for (const uint32_t slot : expected) EXPECT_LT(slot, info.num_slots);
  }
}

TEST(ImageBuilder, MovesAreChargedOrNot) {
  const Image charged, free({"sm.charge_moves=false"});
  EXPECT_EQ(charged.tables.instrs.size(), charged.kernel->instructions.size());
  EXPECT_EQ(charged.tables.instrs.size() - free.tables.instrs.size(), 2u);  // mov and cvta
  EXPECT_EQ(charged.tables.blocks.size(), free.tables.blocks.size());
  const report::RunResult with = testing::simulate(charged.recording, "baseline");
  const report::RunResult without =
      testing::simulate(free.recording, "baseline", {"sm.charge_moves=false"});
  EXPECT_EQ(with.warp_instructions, charged.recording.warp_instructions);
  EXPECT_EQ(with.warp_instructions - without.warp_instructions, 2 * 4u);  // by each of 4 warps
  EXPECT_FALSE(without.partial);
}

TEST(ImageBuilder, Occupancy) {
  Kernel k;
  k.name = "k";
  k.num_physical = 20;
  runtime::LaunchRecord l;
  const auto blocks = [&](uint32_t threads, uint32_t registers, uint32_t shared,
                          const std::vector<std::string>& overrides = {}) {
    k.num_physical = registers;
    l.block = {threads, 1, 1};
    l.shared_bytes = shared;
    const config::MachineConfig machine = config::load_machine("tom", overrides);
    return blocks_per_sm(sm_capacity(machine), block_needs(machine, k, l));
  };
  EXPECT_EQ(blocks(32, 8, 0), 8u);      // thread blocks
  EXPECT_EQ(blocks(256, 8, 0), 6u);     // 48 warps
  EXPECT_EQ(blocks(33 * 8, 8, 0), 5u);  // nine warps each
  EXPECT_EQ(blocks(256, 32, 0), 4u);    // 32768 registers, 8192 a block
  EXPECT_EQ(blocks(256, 33, 0), 3u);
  EXPECT_EQ(blocks(1024, 255, 0), 1u);  // as many registers as let one block fit
  EXPECT_EQ(blocks(96, 255, 0), 1u);
  EXPECT_EQ(blocks(512, 63, 0), 1u);
  EXPECT_EQ(blocks(32, 8, 49152), 1u);  // shared memory
  EXPECT_EQ(blocks(32, 8, 16385), 2u);
  EXPECT_EQ(blocks(32, 8, 16384), 3u);
  // 33 registers of 32 threads are 1056, rounded up to 2048: two blocks of eight warps.
  EXPECT_EQ(blocks(256, 33, 0, {"sm.register_unit=1024"}), 2u);
  // Registers by machine code go before the allocation, up to the same limits.
  k.machine_code = {compiler::RegisterSource::kCubin, 75, 33};
  EXPECT_EQ(blocks(256, 8, 0), 3u);
  k.machine_code.per_thread = 32;
  EXPECT_EQ(blocks(256, 200, 0), 4u);
  k.machine_code.per_thread = 255;
  EXPECT_EQ(blocks(1024, 8, 0), 1u);
}

TEST(ImageBuilder, LocalMemoryOfAsManyWarpsAsThereAreAtATime) {
  Image image;
  runtime::LaunchRecord& l = image.recording.launches.at(0);
  l.local_bytes = 20;
  const auto launch = [&](uint64_t blocks) {
    l.blocks_recorded = blocks;
    return build_image(image.recording, config::load_machine("gtx480")).launches.at(0);
  };
  // Blocks of two warps on 15 SMs, of which each has room for 8.
  EXPECT_EQ(launch(1).local_warps, 2 * 15u);
  EXPECT_EQ(launch(30).local_warps, 2 * 2 * 15u);
  EXPECT_EQ(launch(31).local_warps, 3 * 2 * 15u);
  EXPECT_EQ(launch(1000).local_warps, 8 * 2 * 15u);
  EXPECT_EQ(launch(1).local_lines, 5u);
  EXPECT_EQ(launch(1).local_line, (l.local_base - nearwarp::exec::kDeviceBase) / 128);
  EXPECT_GE(l.local_base - nearwarp::exec::kDeviceBase, 64u);  // behind the program's memory
  l.local_base = 0;                                            // of a trace that does not say it
  EXPECT_EQ(launch(1).local_lines, 0u);
}

std::string why_not(uint32_t threads, uint32_t registers, uint32_t shared,
                    const std::vector<std::string>& overrides = {}) {
  Kernel k;
  k.name = "big";
  k.num_physical = registers;
  runtime::LaunchRecord l;
  l.block = {threads, 1, 1};
  l.shared_bytes = shared;
  try {
    block_needs(config::load_machine("tom", overrides), k, l);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ImageBuilder, BlocksThatDoNotFitAreErrors) {
  EXPECT_NE(why_not(1024, 33, 0, {"sm.registers=8192"}).find("kernel big needs 16384 registers"),
            std::string::npos);
  EXPECT_NE(why_not(1600, 8, 0).find("needs 50 warps"), std::string::npos);
  EXPECT_NE(why_not(32, 8, 49153).find("49153 bytes of shared memory"), std::string::npos);
  EXPECT_NE(why_not(32, 8, 49153).find("machine tom has 49152"), std::string::npos);
}

TEST(ImageBuilder, MarksAreTheMechanisms) {
  const runtime::Recording& recording = testing::workload("libor", 50'000);
  const config::MachineConfig machine = config::load_machine("tom");
  for (const ImageInstr& in : build_image(recording, machine).instrs) EXPECT_EQ(in.marks, 0u);
  const std::vector<std::string> entry = {"offload.decide=entry"};
  const testing::OffloadImage image(recording, machine,
                                    config::load_policy("ndp-controlled-bmap", entry));
  ASSERT_FALSE(image.offload.candidates.empty());
  std::set<uint32_t> first;
  for (uint32_t i = 0; i < image.offload.candidates.size(); ++i) {
    const tom::Candidate& c = image.offload.candidates[i];
    const bool inner = c.outer != tom::kNoCandidate;
    EXPECT_EQ((inner ? image.offload.inner_of : image.offload.candidate_of).at(c.begin), i);
    if (inner) {
      EXPECT_EQ(image.offload.candidate_of.at(c.begin), c.outer);
    }
    first.insert(c.begin);
    EXPECT_NE(image.instrs.at(c.begin).marks, 0u);
    EXPECT_GT(c.live_in_bytes, 0u);
  }
  uint32_t begins = 0;
  for (const ImageInstr& in : image.instrs) begins += in.marks;
  EXPECT_EQ(begins, first.size());
  // Where decisions are made in every round, those of loops at the first instruction of each.
  const testing::OffloadImage rounds(recording, machine,
                                     config::load_policy("ndp-controlled-bmap"));
  ASSERT_EQ(rounds.offload.begins_round.size(), rounds.instrs.size());
  uint32_t heads = 0;
  for (uint32_t pc = 0; pc < rounds.instrs.size(); ++pc) {
    if (rounds.offload.begins_round[pc] == 0) continue;
    heads += 1;
    EXPECT_NE(rounds.instrs[pc].marks, 0u);
    EXPECT_TRUE(rounds.offload.candidates.at(rounds.offload.candidate_of[pc]).has_heads);
  }
  EXPECT_GT(heads, 0u);
}

}  // namespace
}  // namespace nearwarp::sim
