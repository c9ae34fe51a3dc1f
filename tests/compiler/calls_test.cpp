// Are device functions inlined rightly: control flow, parameters in registers and in local memory?
#include <gtest/gtest.h>

#include <algorithm>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/compiler/print.h"

namespace nearwarp::compiler {
namespace {

const std::string kHead = ".version 9.0\n.target sm_75\n.address_size 64\n";

Kernel compile_kernel(const std::string& text) {
  const Program program = compile_ptx(kHead + text, "a.ptx");
  const Kernel* k = program.find("k");
  if (!k) throw Error("no kernel");
  return *k;
}

std::vector<std::string> texts(const Kernel& kernel) {
  std::vector<std::string> list;
  for (const Instruction& instr : kernel.instructions) list.push_back(to_string(kernel, instr));
  return list;
}

size_t count_op(const Kernel& kernel, ptx::Opcode op) {
  return static_cast<size_t>(
      std::count_if(kernel.instructions.begin(), kernel.instructions.end(),
                    [&](const Instruction& instr) { return instr.op == op; }));
}

const std::string kTwice = R"(
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %r<3>; .reg .pred %p<2>;
  ld.param.b32 %r1, [x];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra ZERO;
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
ZERO:
  st.param.b32 [r], 7;
  ret;
}
)";

TEST(Calls, ParametersBecomeMoves) {
  const Kernel k = compile_kernel(kTwice + R"(
.entry k(.param .u32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  { .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r1;
    call (out), twice, (in);
    ld.param.b32 %r2, [out]; }
  st.global.u32 [64], %r2;
  ret;
}
)");
  EXPECT_EQ(texts(k), (std::vector<std::string>{
                          "ld.param.u32 %r1, [n]", "mov.b32 %param0_0, %r1", "bra B1",
                          "mov.b32 %r1.1, %param0_0", "setp.eq.u32 %p1.1, %r1.1, 0x0",
                          "@%p1.1 bra B3", "add.u32 %r2.1, %r1.1, %r1.1",
                          "mov.b32 %param1_0, %r2.1", "bra B4", "mov.b32 %param1_0, 0x7", "bra B4",
                          "mov.b32 %r2, %param1_0", "st.global.u32 [0x40], %r2", "ret"}));
  for (const size_t i : {2, 8, 10}) EXPECT_TRUE(k.instructions[i].inlined_call) << i;
  EXPECT_FALSE(k.instructions[5].inlined_call);
  EXPECT_EQ(k.blocks[1].ipdom, 4u);  // both ways of the callee meet after the call
  EXPECT_EQ(k.local_bytes, 0u);
}

TEST(Calls, GuardedCallsBranchAround) {
  const Kernel k = compile_kernel(R"(
.func f() { .reg .b32 %r<2>; st.global.u32 [0], 1; ret; }
.entry k()
{
  .reg .pred %p<2>;
  setp.eq.u32 %p1, %laneid, 3;
  @%p1 call f;
  @!%p1 call f;
  ret;
}
)");
  EXPECT_EQ(texts(k), (std::vector<std::string>{"setp.eq.u32 %p1, %laneid, 0x3", "@!%p1 bra B2",
                                                "st.global.u32 [0x0], 0x1", "bra B2", "@%p1 bra B4",
                                                "st.global.u32 [0x0], 0x1", "bra B4", "ret"}));
}

TEST(Calls, RegisterParametersAndConstants) {
  const Kernel k = compile_kernel(R"(
.func (.reg .b32 %out) add3(.reg .b32 %a, .param .b32 b) {
  .reg .b32 %t;
  ld.param.b32 %t, [b];
  add.u32 %out, %a, %t;
  ret;
}
.entry k()
{
  .reg .b32 %r<3>;
  mov.u32 %r1, 5;
  call (%r2), add3, (%r1, 9);
  st.global.u32 [0], %r2;
  ret;
}
)");
  EXPECT_EQ(texts(k), (std::vector<std::string>{
                          "mov.u32 %r1, 0x5", "mov.b32 %a.1, %r1", "mov.b32 %param0_0, 0x9",
                          "bra B1", "mov.b32 %t.1, %param0_0", "add.u32 %out.1, %a.1, %t.1",
                          "bra B2", "mov.b32 %r2, %out.1", "st.global.u32 [0x0], %r2", "ret"}));
}

TEST(Calls, SmallTypesAreExtended) {
  const Kernel k = compile_kernel(R"(
.func (.param .b32 r) f(.param .b8 a, .param .b16 b) {
  .reg .b16 %rs<3>; .reg .b32 %r<3>;
  ld.param.s8 %rs1, [a];
  ld.param.u16 %r1, [b];
  st.param.b32 [r], %r1;
  ret;
}
.entry k()
{
  .reg .b16 %rs<3>; .reg .b32 %r<3>;
  .param .b8 a; .param .b16 b; .param .b32 r;
  mov.u16 %rs1, 1;
  mov.u32 %r1, 2;
  st.param.b8 [a], %rs1;
  st.param.b16 [b], %r1;
  call (r), f, (a, b);
  ret;
}
)");
  const std::vector<std::string> list = texts(k);
  EXPECT_EQ(list[2], "cvt.u16.u8 %param0_0, %rs1");
  EXPECT_EQ(list[3], "cvt.u16.u32 %param1_0, %r1");
  EXPECT_EQ(list[5], "cvt.s16.s8 %rs1.1, %param0_0");
  EXPECT_EQ(list[6], "cvt.u32.u16 %r1.1, %param1_0");
}

TEST(Calls, StructuresWithMatchingShapesStayInRegisters) {
  const Program program =
      compile_ptx_file(std::string(NW_SOURCE_DIR) + "/tests/ptx/data/calls.ptx");
  const Kernel* k = program.find("items");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->unsupported, "");
  EXPECT_EQ(count_op(*k, ptx::Opcode::kCall), 0u);
  EXPECT_EQ(count_op(*k, ptx::Opcode::kRet), 1u);
  const auto calls = std::count_if(k->instructions.begin(), k->instructions.end(),
                                   [](const Instruction& i) { return i.inlined_call; });
  EXPECT_GE(calls, 8);  // four calls, each with a return
}

TEST(Calls, MismatchedShapesGoThroughLocalMemory) {
  const Kernel k = compile_kernel(R"(
.func (.param .b32 r) f(.param .align 8 .b8 s[16]) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [s+4];
  mov.b64 %rd1, s;
  ld.param.u32 %r2, [%rd1+8];
  st.param.b32 [r], %r2;
  ret;
}
.entry k()
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  .param .align 8 .b8 s[16]; .param .b32 r;
  ld.global.u64 %rd1, [0];
  st.param.b64 [s], %rd1;
  st.param.b64 [s+8], %rd1;
  call (r), f, (s);
  ld.param.b32 %r1, [r];
  ret;
}
)");
  const std::vector<std::string> list = texts(k);
  EXPECT_EQ(k.local_bytes, 16u);
  EXPECT_EQ(list[1], "st.local.b64 [__call_depot], %rd1");
  EXPECT_EQ(list[2], "st.local.b64 [__call_depot+8], %rd1");
  EXPECT_EQ(list[4], "ld.local.u32 %r1.1, [__call_depot+4]");
  EXPECT_EQ(list[5], "mov.b64 %rd1.1, __call_depot");
  EXPECT_EQ(list[6], "ld.local.u32 %r2.1, [%rd1.1+8]");
}

TEST(Calls, StackFramesOfSiblingsOverlap) {
  const Kernel k = compile_kernel(R"(
.func leaf() { .local .align 4 .b8 l[12]; .shared .b32 once; st.local.u32 [l], 1; st.shared.u32 [once], 1; ret; }
.func middle() { .local .align 16 .b8 m[16]; st.local.u32 [m], 1; call leaf; ret; }
.entry k() { .local .b8 e[4]; st.local.u32 [e], 1; call middle; call leaf; call leaf; ret; }
)");
  std::vector<uint64_t> leaves;
  uint64_t middle = 0;
  size_t shared = 0;
  for (const Symbol& s : k.symbols) {
    if (s.name == "l") leaves.push_back(s.offset);
    if (s.name == "m") middle = s.offset;
    shared += s.name == "once";
  }
  EXPECT_EQ(middle, 16u);
  EXPECT_EQ(leaves, (std::vector<uint64_t>{32, 4, 4}));
  EXPECT_EQ(k.local_bytes, 48u);
  EXPECT_EQ(shared, 1u);  // static shared memory exists once
  EXPECT_EQ(k.static_shared_bytes, 4u);
}

TEST(Calls, CallsThatDoNotFitAreErrors) {
  EXPECT_THROW(compile_kernel(kTwice + ".entry k() { call twice; ret; }"), Error);
  EXPECT_THROW(compile_kernel(kTwice + R"(.entry k() { .param .b8 a; .param .b32 r;
      call (r), twice, (a); ret; })"),
               Error);
  EXPECT_THROW(compile_kernel(kTwice + R"(.entry k() { .param .b32 a; .param .b32 r; .reg .b32 x;
      ld.param.u32 x, [a+4]; call (r), twice, (a); ret; })"),
               Error);
}

TEST(Calls, MutualRecursionIsALoopOverFrames) {
  const Kernel k = compile_kernel(R"(
.func b();
.func a() { call b; ret; }
.func b() { call a; ret; }
.entry k() { call a; ret; }
)");
  EXPECT_EQ(k.unsupported, "");
  EXPECT_GE(k.local_bytes, 1024u);  // the stack
  size_t returns = 0;
  for (const Instruction& in : k.instructions) returns += in.op == ptx::Opcode::kBrx;
  EXPECT_LE(returns, 2u);  // each function is there once
}

}  // namespace
}  // namespace nearwarp::compiler
