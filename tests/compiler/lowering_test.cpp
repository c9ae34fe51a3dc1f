// Does lowering get operands, immediates, symbols, memory layout and blocks right, and do errors
// name their statement?
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/compiler/print.h"

namespace nearwarp::compiler::lowering_test {
namespace {

const std::string kHead = ".version 9.0\n.target sm_75\n.address_size 64\n";
const std::string kRegisters =
    ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; "
    ".reg .f64 %fd<9>;\n";

Program compile_body(const std::string& body, const std::string& before = "") {
  return compile_ptx(kHead + before + ".entry k(.param .u64 arg) {\n" + kRegisters + body + "\n}\n",
                     "a.ptx");
}

TEST(Lowering, ImmediatesTakeTheOperandsType) {
  const Program program = compile_body(R"(
    add.s32 %r1, %r2, -1;
    add.s64 %rd1, %rd2, -1;
    add.s16 %rs1, %rs2, -1;
    mul.f32 %f1, %f2, 0f3F800000;
    mul.f32 %f1, %f2, 0d3FF8000000000000;
    mul.f64 %fd1, %fd2, 0f3F800000;
    mul.f64 %fd1, %fd2, 1.5;
    mul.f32 %f1, %f2, -0f3F800000;
    mov.b32 %r1, 0f40000000;
    shl.b64 %rd1, %rd2, 3;
    mad.wide.s32 %rd1, %r1, -2, -3;
    mov.pred %p1, 1;
    mov.u64 %rd1, 0xffffffffffffffff;
    mov.u32 %r1, 4294967295U;
    st.global.u8 [16], 300;
    cvt.rn.f32.s32 %f1, -5;)");
  const Kernel& k = program.kernels.at(0);
  const auto bits = [&](size_t instr) { return k.instructions[instr].srcs.back().bits; };
  EXPECT_EQ(bits(0), 0xffffffffu);
  EXPECT_EQ(bits(1), ~uint64_t{0});
  EXPECT_EQ(bits(2), 0xffffu);
  EXPECT_EQ(bits(3), 0x3f800000u);
  EXPECT_EQ(bits(4), 0x3fc00000u);
  EXPECT_EQ(bits(5), 0x3ff0000000000000u);
  EXPECT_EQ(bits(6), 0x3ff8000000000000u);
  EXPECT_EQ(bits(7), 0xbf800000u);
  EXPECT_EQ(bits(8), 0x40000000u);
  EXPECT_EQ(bits(9), 3u);
  EXPECT_EQ(k.instructions[10].srcs[1].bits, 0xfffffffeu);
  EXPECT_EQ(bits(10), ~uint64_t{2});
  EXPECT_EQ(bits(11), 1u);
  EXPECT_EQ(bits(12), ~uint64_t{0});
  EXPECT_EQ(bits(13), 0xffffffffu);
  EXPECT_EQ(bits(14), 44u);
  EXPECT_EQ(bits(15), 0xfffffffbu);
}

TEST(Lowering, OperandsOfEveryShape) {
  const Program program = compile_body(R"(
    mov.b64 {%r1, %r2}, %rd1;
    mov.b64 %rd1, {%r1, 5};
    mov.b32 {%rs1, _}, %r1;
    ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16];
    st.shared.v2.u32 [%r1], {%r2, 7};
    setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;
    shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;
    shfl.sync.up.b32 %r1, %r2, 1, 0, -1;
    vote.sync.all.pred %p1, !%p2, -1;
    atom.global.cas.b32 %r1, [%rd1], %r2, 3;
    atom.global.add.u32 _, [%rd1], %r2;
    bar.red.or.pred %p1, 0, !%p2;
    bar.red.popc.u32 %r1, 1, 64, %p2;
    barrier.sync %r1, %r2;
    match.all.sync.b32 %r1|%p1, %r2, -1;
    mov.u64 %rd1, %clock64;
    ld.param.u64 %rd2, [arg];
    mov.b64 %rd3, arg;
    ld.u8 %r1, [%rd1];
    isspacep.shared %p1, %rd1;)");
  const Kernel& k = program.kernels.at(0);
  EXPECT_EQ(k.unsupported, "");
  const auto text = [&](size_t i) { return to_string(k, k.instructions[i]); };
  EXPECT_EQ(text(0), "mov.b64 {%r1, %r2}, %rd1");
  EXPECT_EQ(text(1), "mov.b64 %rd1, {%r1, 0x5}");
  EXPECT_EQ(text(2), "mov.b32 {%rs1, _}, %r1");
  EXPECT_EQ(text(3), "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16]");
  EXPECT_EQ(text(4), "st.shared.v2.u32 [%r1], {%r2, 0x7}");
  EXPECT_EQ(text(5), "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3");
  EXPECT_EQ(text(6), "shfl.sync.bfly.b32 %r1|%p1, %r2, 0x1, 0x1f, 0xffffffff");
  EXPECT_EQ(k.instructions[7].dsts.size(), 1u);
  EXPECT_TRUE(k.instructions[8].srcs[0].negated);
  EXPECT_EQ(text(9), "atom.global.cas.b32 %r1, [%rd1], %r2, 0x3");
  EXPECT_EQ(k.instructions[10].dsts, (std::vector<RegId>{kNone}));
  EXPECT_EQ(k.instructions[11].srcs.size(), 2u);
  EXPECT_TRUE(k.instructions[11].srcs[1].negated);
  EXPECT_EQ(k.instructions[12].srcs.size(), 3u);
  EXPECT_EQ(k.instructions[13].srcs.size(), 2u);
  EXPECT_EQ(k.instructions[15].srcs[0].special, ptx::SpecialReg::kClock64);
  EXPECT_EQ(k.symbols[k.instructions[16].address.symbol].space, ptx::Space::kParam);
  EXPECT_EQ(k.instructions[17].srcs[0].kind, OperandKind::kSymbol);
  EXPECT_EQ(k.instructions[18].mod.space, ptx::Space::kGeneric);
}

TEST(Lowering, SharedLocalAndParameterLayout) {
  const Program program = compile_ptx(kHead + R"(
.shared .align 8 .b8 used[12];
.shared .align 8 .b8 unused[4096];
.extern .shared .align 16 .b8 dynamic[];
.entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[6], .param .u16 d)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 own[5];
  .local .align 16 .b8 depot[20];
  .local .align 8 .b8 second[8];
  mov.u64 %rd1, depot;
  st.local.u32 [second+4], 1;
  mov.u32 %r1, dynamic;
  st.shared.u32 [own], %r1;
  st.shared.u32 [used+4], %r1;
  ret;
}
)",
                                      "a.ptx");
  const Kernel& k = program.kernels.at(0);
  ASSERT_EQ(k.params.size(), 4u);
  EXPECT_EQ(k.params[1].offset, 8u);
  EXPECT_EQ(k.params[2].offset, 16u);
  EXPECT_EQ(k.params[3].offset, 22u);
  EXPECT_EQ(k.param_bytes, 24u);
  std::map<std::string, Symbol> symbols;
  for (const Symbol& s : k.symbols) symbols[s.name] = s;
  EXPECT_EQ(symbols.count("unused"), 0u);
  EXPECT_EQ(symbols["own"].offset, 0u);
  EXPECT_EQ(symbols["used"].offset, 8u);
  EXPECT_EQ(symbols["dynamic"].offset, 32u);
  EXPECT_EQ(symbols["dynamic"].size, 0u);
  EXPECT_EQ(k.static_shared_bytes, 32u);
  EXPECT_EQ(symbols["depot"].offset, 0u);
  EXPECT_EQ(symbols["second"].offset, 24u);
  EXPECT_EQ(k.local_bytes, 32u);
}

TEST(Lowering, BlocksEndWhereDocumented) {
  const Program program = compile_body(R"(
    mov.u32 %r1, 1;
    bar.sync 0;
    mov.u32 %r2, 2;
  UNUSED:
    setp.eq.u32 %p1, %r1, %r2;
    @%p1 exit;
    @%p1 bra SAME;
  SAME:
    bar.warp.sync -1;
    @!%p1 bra DEAD;
    ret;
    mov.u32 %r3, 3;
  DEAD:
    trap;
    mov.u32 %r3, 4;)");
  const Kernel& k = program.kernels.at(0);
  ASSERT_EQ(k.blocks.size(), 6u);
  EXPECT_EQ(k.blocks[0].count, 2u);  // up to the barrier
  EXPECT_EQ(k.blocks[1].count, 3u);  // a label that nobody branches to does not end a block
  EXPECT_EQ(k.blocks[1].successors, (std::vector<BlockId>{2}));
  EXPECT_EQ(k.blocks[2].successors, (std::vector<BlockId>{3, 3}));
  EXPECT_EQ(k.blocks[3].predecessors, (std::vector<BlockId>{2}));
  EXPECT_EQ(k.blocks[3].successors, (std::vector<BlockId>{5, 4}));
  EXPECT_EQ(k.blocks[3].ipdom, 4u);  // the way to the trap does not count
  EXPECT_TRUE(k.blocks[5].successors.empty());
  EXPECT_EQ(k.blocks[5].ipdom, kNone);
  EXPECT_EQ(k.instructions.size(), 10u);  // what follows ret and trap is gone
}

TEST(Lowering, BranchTables) {
  const Program program = compile_body(R"(
    TABLE: .branchtargets A, B, A;
    @%p1 brx.idx %r1, TABLE;
    mov.u32 %r1, 1;
  A:
    mov.u32 %r2, 1;
  B:
    ret;)");
  const Kernel& k = program.kernels.at(0);
  ASSERT_EQ(k.blocks.size(), 4u);
  EXPECT_EQ(k.instructions[0].targets, (std::vector<BlockId>{2, 3, 2}));
  EXPECT_EQ(k.blocks[0].successors, (std::vector<BlockId>{2, 3, 1}));
  EXPECT_EQ(k.blocks[0].ipdom, 3u);
}

TEST(Lowering, VariablesAndTheirAddresses) {
  const Program program = compile_body("mov.u64 %rd1, table+8; ld.const.u32 %r1, [c];", R"(
.global .align 8 .u64 table[2] = {generic(c)+4, table};
.const .align 4 .u32 c = 9;
.global .b8 zero[100];
)");
  ASSERT_EQ(program.variables.size(), 3u);
  EXPECT_EQ(program.variables[0].relocations.size(), 2u);
  EXPECT_EQ(program.variables[0].relocations[0].target, "c");
  EXPECT_EQ(program.variables[0].relocations[0].addend, 4);
  EXPECT_EQ(program.variables[1].space, ptx::Space::kConst);
  EXPECT_TRUE(program.variables[2].init.empty());
  EXPECT_EQ(program.variables[2].size, 100u);
  EXPECT_EQ(program.kernels[0].instructions[0].srcs[0].bits, 8u);
}

struct Case {
  const char* body;
  const char* message;
};

TEST(Lowering, MalformedStatementsAreErrorsWithTheirLine) {
  for (const Case& c : std::initializer_list<Case>{
           {"add.u32 %r1, %r2;", "2 operands (a.ptx:6: add.u32 %r1, %r2;) - 3 operands"},
           {"ret %r1;", "1 operands (a.ptx:6: ret %r1;) - 0 operands"},
           {"add.u32 %r1, %r2, %rd1;", "the register %rd1 of type .b64 does not fit (a.ptx:6"},
           {"add.u64 %r1, %rd2, %rd1;", "the register %r1 of type .b32 does not fit"},
           {"setp.eq.u32 %r1, %r2, %r3;", "the register %r1 of type .b32 does not fit"},
           {"selp.u32 %r1, %r2, %r3, %r4;", "the register %r4 of type .b32 does not fit"},
           {"ld.global.u64 %r1, [%rd1];", "the register %r1 of type .b32 does not fit"},
           {"add.u32 1, %r2, %r3;", "a destination that is no register"},
           {"add.u32 %r1, !%p1, %r3;", "'!' before something that is no predicate"},
           {"add.f32 %f1, %f2, 1;", "the integer constant 1 where .f32 is wanted"},
           {"add.u32 %r1, %r2, 0f3F800000;", "a floating-point constant where .u32 is wanted"},
           {"mov.u32 %r1, nothing;", "undeclared name 'nothing'"},
           {"ld.global.u32 %r1, [nothing];", "undeclared name 'nothing'"},
           {"ld.global.u32 %r1, %rd1;", "an operand without brackets"},
           {"ld.global.u32 %r1, [%f1];", "an address in a register of type .f32"},
           {"ld.shared.u32 %r1, [arg];", "a variable of another state space"},
           {"ld.global.v2.u32 %r1, [%rd1];", "a single destination"},
           {"ld.global.u32 {%r1, %r2}, [%rd1];", "a vector of 2 destinations does not fit"},
           {"st.global.v2.u32 [%rd1], {%r1, %r2, %r3};", "a vector of 3 sources does not fit"},
           {"add.u32 %r1|%p1, %r2, %r3;", "two destinations"},
           {"add.u32 %r1, {%r2, %r3}, 1;", "a vector of 2 sources does not fit"},
           {"createpolicy.fractional.L2::evict_last.b64;", "too few operands (a.ptx:6: "},
           {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128;",
            "too many or too few operands (a.ptx:6: "},
           {"clusterlaunchcontrol.try_cancel.async.b128 [%r1];",
            "too many or too few operands (a.ptx:6: "},
           {"mbarrier.test_wait.shared.b64 %p1, [%r1];", "too few operands (a.ptx:6: "},
           {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1];", "too few operands (a.ptx:6: "},
           {"setp.lt.and.s32 %p1, %r1, %r2;",
            "3 operands (a.ptx:6: setp.lt.and.s32 %p1, %r1, %r2;) - 4 operands"},
           {"set.lt.or.u32.s32 %r3, %r1, %r2;", "3 operands (a.ptx:6: "},
           {"call nobody;", "undeclared function 'nobody'"},
           {"mov.u16 %rs1, %tid.x;", "a special register where .u16 is wanted"}}) {
    try {
      compile_body(c.body);
      ADD_FAILURE() << "accepted: " << c.body;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, std::strlen(c.message)), c.message);
      EXPECT_NE(std::string(error.what()).find("a.ptx:6: "), std::string::npos) << error.what();
    }
  }
}

TEST(Lowering, UnsupportedThingsRefuseTheirKernelOnly) {
  const std::string before = R"(
.global .texref t;
.extern .global .u32 elsewhere;
.func f() { ret; }
.global .u64 pointers[1] = {f};
.func endless() { call endless; ret; }
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.entry fine() { ret; }
)";
  for (const Case& c : std::initializer_list<Case>{
           {"div.f16x2 %r1, %r2, %r3;", "the type .f16x2 is not supported here (a.ptx:14: "},
           {"min.s32 %r1, %r2, %r3, %r4;", "three values of this type (a.ptx:14: "},
           {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", "textures by name"},
           {"wmma.load.c.sync.aligned.col.m16n16k16.global.f16 {_, _, _, _}, [%rd1], %r1;",
            "wmma with '_' in place of a register (a.ptx:14: "},
           {"setp.lt.s32 %p1, %r1, %r2, %p2;", "4 operands (a.ptx:14: "},
           {"red.global.cas.b32 [%rd1], %r1;", "red has no .cas and no .exch (a.ptx:14: "},
           {"mov.u64 %rd1, t;", "textures and surfaces are not supported"},
           {"mov.u64 %rd1, elsewhere;", "the variable 'elsewhere' is not defined in this module"},
           {"ld.global.u32 %r1, [f];", "the address of the function 'f'"},
           {"mov.u32 %r1, %pm0;", "the special register %pm0 is not supported"}}) {
    const Program program = compile_body(c.body, before);
    const Kernel* k = program.find("k");
    ASSERT_NE(k, nullptr);
    EXPECT_EQ(k->unsupported.substr(0, std::strlen(c.message)), c.message);
    EXPECT_NE(k->unsupported.find("(a.ptx:"), std::string::npos);
    EXPECT_EQ(k->params.size(), 1u);
    EXPECT_TRUE(k->instructions.empty());
    EXPECT_EQ(program.find("fine")->unsupported, "");
  }
}

TEST(Lowering, FilesThatCannotBeRead) {
  EXPECT_THROW(compile_ptx_file("/nonexistent/kernel.ptx"), Error);
  EXPECT_THROW(compile_ptx_file("/"), Error);
}

}  // namespace
}  // namespace nearwarp::compiler::lowering_test
