// Where does MPU's compiler have registers and instructions? Its paper's examples, every workload.
#include "host/mechanisms/mpu/pass/locations.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/workloads/workload.h"
#include "host/core/error.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::mpu {
namespace {

using compiler::InstrId;
using compiler::Kernel;
using compiler::RegId;

constexpr Readings kNearShared;

/// A kernel with this body; registers may be read before they are written.
Kernel kernel_of(const std::string& body) {
  const compiler::Program program = compiler::compile_ptx(R"(.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 a, .param .u32 n)
{
  .reg .b64 %rd<20>; .reg .b32 %r<30>; .reg .f32 %f<20>; .reg .pred %p<8>;
  .shared .align 4 .b8 sh[128];
)" + body + "  ret;\n}\n",
                                                          "test.ptx");
  const Kernel* k = program.find("k");
  if (k == nullptr || !k->unsupported.empty()) throw Error("no kernel");
  return *k;
}

/// The locations of the registers by name.
std::map<std::string, Location> places(const Kernel& k, const Locations& l) {
  std::map<std::string, Location> at;
  for (RegId r = 0; r < k.registers.size(); ++r) at[k.registers[r].name] = l.registers[r];
  return at;
}

/// The location of the first instruction with this opcode.
Location executed(const Kernel& k, const Locations& l, ptx::Opcode op) {
  for (InstrId i = 0; i < k.instructions.size(); ++i)
    if (k.instructions[i].op == op) return executed_at(k, l, i, kNearShared);
  ADD_FAILURE() << "no such instruction";
  return Location::kUnknown;
}

TEST(Locations, TheSnippetOfFigure7) {
  const Kernel k = kernel_of(
      "ld.global.f32 %f1, [%rd9]; ld.global.f32 %f2, [%rd8]; add.f32 %f3, %f2, %f1;"
      "add.s64 %rd10, %rd1, %rd7; st.global.f32 [%rd10], %f3;");
  const Locations l = annotate_locations(k, kNearShared);
  const auto at = places(k, l);
  for (const char* value : {"%f1", "%f2", "%f3"}) EXPECT_EQ(at.at(value), Location::kNear) << value;
  for (const char* address : {"%rd1", "%rd7", "%rd8", "%rd9", "%rd10"})
    EXPECT_EQ(at.at(address), Location::kFar) << address;
  ASSERT_EQ(k.instructions.size(), 6u);
  // The loads and the store begin in the load-store unit; of the sums that of values alone is near.
  const Location expected[] = {Location::kFar, Location::kFar, Location::kNear,
                               Location::kFar, Location::kFar, Location::kFar};
  for (InstrId i = 0; i < 6; ++i)
    EXPECT_EQ(executed_at(k, l, i, kNearShared), expected[i]) << "instruction " << i;
  EXPECT_EQ(l.instructions[0], Location::kNear);  // as the algorithm has it: its destination's
}

TEST(Locations, ResultsThatNobodyWantsAreWhereTheOthersAre) {
  // Half of a pair is dropped, as where f16 is unpacked.
  const Kernel k = kernel_of(
      ".reg .b16 %h<3>; ld.global.u32 %r1, [%rd1]; mov.b32 {%h1, %h2}, %r1;"
      "cvt.f32.f16 %f1, %h1; st.global.f32 [%rd2], %f1;");
  const auto at = places(k, annotate_locations(k, kNearShared));
  EXPECT_EQ(at.at("%h1"), Location::kNear);
  EXPECT_EQ(at.at("%h2"), Location::kNear);
}

TEST(Locations, ARegisterThatBothWantIsInBoth) {
  // A loaded index: a value, and a part of an address.
  const Kernel k = kernel_of(
      "ld.global.u32 %r1, [%rd1]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;"
      "ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd4], %f1;");
  const auto at = places(k, annotate_locations(k, kNearShared));
  EXPECT_EQ(at.at("%r1"), Location::kBoth);
  EXPECT_EQ(at.at("%rd2"), Location::kFar);
  EXPECT_EQ(at.at("%rd3"), Location::kFar);
  EXPECT_EQ(at.at("%f1"), Location::kNear);
}

TEST(Locations, BothGoesOnToSources) {
  // %r3 is wanted in both places, and so are those that it is made of.
  const Kernel k = kernel_of(
      "add.u32 %r3, %r1, %r2; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;"
      "st.global.u32 [%rd3], %r3;");
  const Locations l = annotate_locations(k, kNearShared);
  const auto at = places(k, l);
  for (const char* r : {"%r1", "%r2", "%r3"}) EXPECT_EQ(at.at(r), Location::kBoth) << r;
  EXPECT_EQ(executed(k, l, ptx::Opcode::kAdd), Location::kBoth);
}

TEST(Locations, WhatControlsIsFar) {
  const Kernel k = kernel_of(
      "setp.ge.u32 %p1, %r1, %r2; @%p1 bra END; ld.global.f32 %f1, [%rd1];"
      "setp.gt.f32 %p2, %f1, 0f00000000; selp.f32 %f2, %f1, %f3, %p2;"
      "st.global.f32 [%rd1], %f2; END:");
  const auto at = places(k, annotate_locations(k, kNearShared));
  EXPECT_EQ(at.at("%p1"), Location::kFar);
  EXPECT_EQ(at.at("%r1"), Location::kFar);
  EXPECT_EQ(at.at("%p2"), Location::kNear);  // it chooses a value, and controls nothing
  EXPECT_EQ(at.at("%f3"), Location::kNear);
}

TEST(Locations, SharedMemoryNearAndFar) {
  const Kernel k = kernel_of(
      "shl.b32 %r2, %r1, 2; st.shared.f32 [%r2], %f1; bar.sync 0; ld.shared.f32 %f2, [%r2];"
      "st.global.f32 [%rd1], %f2;");
  const Locations near = annotate_locations(k, {SharedMemory::kNear});
  EXPECT_EQ(places(k, near).at("%r1"), Location::kNear);
  EXPECT_EQ(places(k, near).at("%f2"), Location::kNear);
  const Locations far = annotate_locations(k, {SharedMemory::kFar});
  EXPECT_EQ(places(k, far).at("%r1"), Location::kFar);
  EXPECT_EQ(places(k, far).at("%f2"), Location::kBoth);  // loaded here, stored to the banks
  const InstrId load = 3;
  ASSERT_EQ(k.instructions[load].op, ptx::Opcode::kLd);
  EXPECT_EQ(executed_at(k, near, load, {SharedMemory::kNear}), Location::kNear);
  EXPECT_EQ(executed_at(k, far, load, {SharedMemory::kFar}), Location::kFar);
}

/// The paper's listing 1, in the manner of what nvcc makes of it, written by hand, its loop not
/// unrolled.
constexpr const char* kScalarVectorMultiply = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 input, .param .u64 output, .param .f32 alpha, .param .u32 len)
{
  .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b32 %r<11>; .reg .b64 %rd<8>;
  ld.param.u64 %rd3, [input];
  ld.param.u64 %rd4, [output];
  ld.param.f32 %f1, [alpha];
  ld.param.u32 %r6, [len];
  mov.u32 %r1, %ntid.x;
  mov.u32 %r7, %nctaid.x;
  mul.lo.s32 %r2, %r7, %r1;
  mov.u32 %r8, %ctaid.x;
  mov.u32 %r9, %tid.x;
  mad.lo.s32 %r10, %r8, %r1, %r9;
  setp.ge.s32 %p1, %r10, %r6;
  @%p1 bra END;
  cvta.to.global.u64 %rd1, %rd3;
  cvta.to.global.u64 %rd2, %rd4;
LOOP:
  mul.wide.s32 %rd5, %r10, 4;
  add.s64 %rd6, %rd1, %rd5;
  ld.global.f32 %f2, [%rd6];
  mul.f32 %f3, %f2, %f1;
  add.s64 %rd7, %rd2, %rd5;
  st.global.f32 [%rd7], %f3;
  add.s32 %r10, %r10, %r2;
  setp.lt.s32 %p2, %r10, %r6;
  @%p2 bra LOOP;
END:
  ret;
}
)";

TEST(Locations, TheScalarVectorKernelOfListing1) {
  const compiler::Program program = compiler::compile_ptx(kScalarVectorMultiply, "listing1.ptx");
  const Kernel& k = program.kernels.at(0);
  const Locations l = annotate_locations(k, kNearShared);
  for (const auto& [name, where] : places(k, l)) {
    if (name == "%p0" || name == "%f0" || name == "%r0" || name == "%rd0") continue;  // not used
    const bool value = name == "%f1" || name == "%f2" || name == "%f3";
    if (name == "%r3" || name == "%r4" || name == "%r5") continue;
    EXPECT_EQ(where, value ? Location::kNear : Location::kFar) << name;
  }
  // One of 24 instructions is executed near the banks: the product. No register has to move besides
  // alpha, once.
  size_t near = 0, both = 0;
  for (InstrId i = 0; i < k.instructions.size(); ++i) {
    near += executed_at(k, l, i, kNearShared) == Location::kNear;
    both += executed_at(k, l, i, kNearShared) == Location::kBoth;
  }
  EXPECT_EQ(k.instructions.size(), 24u);
  EXPECT_EQ(near, 1u);
  EXPECT_EQ(both, 0u);
  EXPECT_EQ(executed(k, l, ptx::Opcode::kMul), Location::kFar);  // the first one, of integers
  const Allocation a = allocate_by_location(k, l);
  EXPECT_EQ(a.registers.near, 2u);  // alpha, and one for what is loaded and the product
  EXPECT_EQ(a.registers.both, 0u);
  EXPECT_EQ(a.predicates.near + a.predicates.both, 0u);
  EXPECT_EQ(a.predicates.far, 1u);
}

/// No two registers that are live at once share, none of different locations do, and each file is
/// as large as it has to be.
void check_allocation(const Kernel& k, const Locations& l) {
  const Allocation a = allocate_by_location(k, l);
  std::map<uint32_t, std::set<Location>> registers, predicates;
  for (RegId r = 0; r < k.registers.size(); ++r) {
    ASSERT_EQ(a.physical[r] == compiler::kNone, k.registers[r].physical == compiler::kNone);
    if (a.physical[r] == compiler::kNone) continue;
    const bool predicate = compiler::is_predicate(k.registers[r]);
    const RegisterFile& file = predicate ? a.predicates : a.registers;
    const Location where = l.registers[r] == Location::kUnknown ? Location::kFar : l.registers[r];
    for (uint32_t u = 0; u < compiler::units_of(k.registers[r]); ++u) {
      const uint32_t p = a.physical[r] + u;
      (predicate ? predicates : registers)[p].insert(where);
      const Location by_number = p < file.near               ? Location::kNear
                                 : p < file.near + file.both ? Location::kBoth
                                                             : Location::kFar;
      ASSERT_EQ(by_number, where) << k.registers[r].name;
      ASSERT_LT(p, file.all());
    }
  }
  for (const auto* kind : {&registers, &predicates})
    for (const auto& [p, who] : *kind) EXPECT_EQ(who.size(), 1u) << "register " << p;
  for (size_t b = 0; b < k.blocks.size(); ++b) {
    std::set<std::pair<bool, uint32_t>> taken;
    for (const RegId r : k.live_in[b])
      for (uint32_t u = 0; u < compiler::units_of(k.registers[r]); ++u)
        EXPECT_TRUE(taken.emplace(compiler::is_predicate(k.registers[r]), a.physical[r] + u).second)
            << k.name << ", block " << b << ": " << k.registers[r].name;
  }
}

TEST(Locations, OfEveryWorkload) {
  size_t near = 0, kernels = 0;
  for (const auto& w : workloads::all()) {
    SCOPED_TRACE(w->name());
    for (const Kernel& k : compiler::compile_ptx(w->ptx(), w->ptx_name()).kernels) {
      if (!k.unsupported.empty()) continue;
      const Locations l = annotate_locations(k, kNearShared);
      check_allocation(k, l);
      kernels += 1;
      for (InstrId i = 0; i < k.instructions.size(); ++i) {
        near += executed_at(k, l, i, kNearShared) == Location::kNear;
        // An instruction near the banks writes there; others may want a value from shared memory.
        if (executed_at(k, l, i, kNearShared) == Location::kNear)
          compiler::for_each_def(k.instructions[i], [&](RegId r) {
            const bool load = k.instructions[i].mod.space == ptx::Space::kShared;
            EXPECT_TRUE(l.registers[r] == Location::kNear ||
                        (load && l.registers[r] == Location::kBoth))
                << k.name;
          });
      }
      EXPECT_NE(format_locations(k).find("physical registers of a thread"), std::string::npos);
    }
  }
  EXPECT_GT(kernels, 30u);
  EXPECT_GT(near, 1000u);
}

}  // namespace
}  // namespace nearwarp::mpu
