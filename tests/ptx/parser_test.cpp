// Does the parser read declarations, initialisers, scopes, operands and debugging directives?
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "host/core/error.h"
#include "host/functional/ptx/module.h"

namespace nearwarp::ptx {
namespace {

using Kind = Operand::Kind;

const std::string kHead = ".version 9.0\n.target sm_75, debug\n.address_size 64\n";

const VariableDecl& variable(const Module& module, std::string_view name) {
  return module.variables.at(module.names.at(name));
}
const Function& function(const Module& module, std::string_view name) {
  return module.functions.at(module.names.at(name) & ~kFunctionBit);
}
template <typename T>
T value_at(const VariableDecl& var, size_t index) {
  T value;
  EXPECT_LE((index + 1) * sizeof(T), var.init.size());
  std::memcpy(&value, var.init.data() + index * sizeof(T), sizeof(T));
  return value;
}

TEST(Parser, Header) {
  const Module module = parse(kHead, "a.ptx");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_75");
  EXPECT_EQ(module.address_size, 64u);
}

TEST(Parser, Variables) {
  const std::string text = kHead + R"(
.visible .global .align 4 .u32 a = 7, b[2] = {1, -2};
.global .align 8 .b8 c[6] = {1, 2, 0xff, 0b11, 010};
.const .align 4 .f32 d[2][3] = {{0f3F800000, 1.5}, {2.5, 0d4008000000000000, 3}};
.weak .global .f64 e = 0d3FF0000000000000;
.global .s16 f[] = {1, 2, 3};
.global .v2 .f32 g[2] = {{0f3F800000, 0f40000000}, {0f40400000, 0f40800000}};
.global .u64 h = generic(b)+4, i[3] = {a, b+8, generic(c)};
.global .u8 j[(1 << 3) + 2] = {(2 + 3) * 4 % 7, ~0, 7 & 12 ^ 1};
.extern .shared .align 16 .b8 k[];
.shared .b32 l[4];
.extern .global .u32 m;
.global .attribute(.managed) .u32 n;
.global .texref t;
.global .align 1 .u8 p[9] = {5, 0xFF(generic(a)+4), 0xFF00(generic(a)+4), 0xFF0000(generic(a)+4),
  0xFF000000(generic(a)+4), 0xFF00000000(generic(a)+4), 0xFF0000000000(generic(a)+4),
  0xFF000000000000(generic(a)+4), 0xFF00000000000000(generic(a)+4)};
)";
  const Module module = parse(text, "a.ptx");
  EXPECT_EQ(value_at<uint32_t>(variable(module, "a"), 0), 7u);
  EXPECT_EQ(variable(module, "b").size, 8u);
  EXPECT_EQ(value_at<int32_t>(variable(module, "b"), 1), -2);
  const VariableDecl& c = variable(module, "c");
  EXPECT_EQ(c.align, 8u);
  EXPECT_EQ(c.init, (std::vector<uint8_t>{1, 2, 255, 3, 8, 0}));
  const VariableDecl& d = variable(module, "d");
  EXPECT_EQ(d.space, Space::kConst);
  const float floats[] = {1, 1.5f, 0, 2.5f, 3, 3};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(value_at<float>(d, i), floats[i]) << i;
  EXPECT_EQ(value_at<double>(variable(module, "e"), 0), 1.0);
  EXPECT_EQ(variable(module, "f").size, 6u);
  EXPECT_EQ(value_at<int16_t>(variable(module, "f"), 2), 3);
  EXPECT_EQ(variable(module, "g").align, 8u);
  EXPECT_EQ(value_at<float>(variable(module, "g"), 3), 4.0f);
  ASSERT_EQ(variable(module, "i").addresses.size(), 3u);
  EXPECT_EQ(variable(module, "i").addresses[1].offset, 8u);
  EXPECT_EQ(variable(module, "i").addresses[1].addend, 8);
  EXPECT_EQ(variable(module, "h").addresses[0].target, "b");
  EXPECT_EQ(variable(module, "j").size, 10u);
  EXPECT_EQ(value_at<uint8_t>(variable(module, "j"), 0), 6u);
  EXPECT_EQ(value_at<uint8_t>(variable(module, "j"), 1), 255u);
  EXPECT_EQ(value_at<uint8_t>(variable(module, "j"), 2), 5u);
  EXPECT_TRUE(variable(module, "k").is_extern);
  EXPECT_EQ(variable(module, "k").size, 0u);
  EXPECT_EQ(variable(module, "l").size, 16u);
  EXPECT_EQ(variable(module, "t").type, Type::kNone);
  const VariableDecl& p = variable(module, "p");
  ASSERT_EQ(p.addresses.size(), 1u);
  EXPECT_EQ(p.addresses[0].offset, 1u);
  EXPECT_EQ(p.addresses[0].addend, 4);
}

TEST(Parser, FunctionsAndParameters) {
  const std::string text = kHead + R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .align 8 .b8 out[24]) f (.param .align 8 .b8 in[24], .reg .b32 %x) .noreturn { ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 4 .b8 s[12], .param .u8 c)
.maxntid 256, 1, 1
.minnctapersm 2
{ ret; }
)";
  const Module module = parse(text, "a.ptx");
  EXPECT_FALSE(function(module, "vprintf").is_defined);
  const Function& f = function(module, "f");
  EXPECT_TRUE(f.is_defined);
  ASSERT_EQ(f.returns.size(), 1u);
  EXPECT_EQ(f.variables[f.returns[0].index].size, 24u);
  EXPECT_TRUE(f.params[1].is_register);
  const Function& k = function(module, "k");
  EXPECT_TRUE(k.is_entry);
  ASSERT_EQ(k.params.size(), 3u);
  EXPECT_EQ(k.variables[k.params[0].index].align, 8u);  // the pointee's alignment is not its own
  EXPECT_EQ(k.variables[k.params[1].index].size, 12u);
}

TEST(Parser, Operands) {
  const std::string text = kHead + R"(
.global .u32 g[4];
.entry k(.param .u64 arg)
{
  .reg .pred %p<3>; .reg .b32 %r<20>, x; .reg .b64 %rd<4>; .shared .b32 s[8];
  mov.u32 %r1, %tid.x;
  mov.b64 {%r2, _}, %rd1;
  ld.global.u32 %r3, [g+-8];
  ld.shared.u32 %r4, [s+4];
  ld.global.u32 %r5, [%rd1-8];
  ld.global.u32 %r6, [64];
  setp.eq.and.s32 %p1|%p2, x, -1, !%p1;
  add.u32 %r7, %r19, WARP_SZ;
  mov.u64 %rd2, g+8;
  @!%p1 bra DONE;
DONE:
  ret;
}
)";
  const Module module = parse(text, "a.ptx");
  const Function& k = function(module, "k");
  const auto op = [&](size_t instr, size_t operand) {
    return k.operands.at(k.instructions.at(instr).first_operand + operand);
  };
  EXPECT_EQ(op(0, 1).kind, Kind::kSpecial);
  ASSERT_EQ(op(1, 0).kind, Kind::kVector);
  EXPECT_EQ(k.operands[op(1, 0).index + 1].kind, Kind::kBlank);
  EXPECT_EQ(op(2, 1).base, Kind::kName);
  EXPECT_EQ(op(2, 1).value, -8);
  EXPECT_EQ(op(3, 1).base, Kind::kVariable);
  EXPECT_EQ(op(3, 1).value, 4);
  EXPECT_EQ(op(4, 1).base, Kind::kRegister);
  EXPECT_EQ(op(4, 1).value, -8);
  EXPECT_EQ(op(5, 1).base, Kind::kBlank);
  EXPECT_EQ(op(5, 1).value, 64);
  EXPECT_EQ(op(6, 0).kind, Kind::kPair);
  EXPECT_TRUE(op(6, 3).negated);
  EXPECT_EQ(op(7, 2).value, 32);
  EXPECT_EQ(op(8, 1).value, 8);
  EXPECT_TRUE(k.instructions[9].guard_negated);
  EXPECT_EQ(k.labels[op(9, 0).index].instruction, 10u);
}

TEST(Parser, ScopesHaveTheirOwnRegistersAndLabels) {
  const std::string text = kHead + R"(
.entry k()
{
  .reg .b32 %r<2>;
  { .reg .b32 t; .reg .pred p; AGAIN: mov.u32 t, 1; @p bra AGAIN; @p bra OUT; }
  { .reg .b64 t; .reg .pred p; AGAIN: mov.u64 t, 1; @p bra AGAIN; }
OUT:
  mov.u32 %r1, 2;
  ret;
}
)";
  const Module module = parse(text, "a.ptx");
  const Function& k = function(module, "k");
  const auto label_of = [&](size_t instr) {
    return k.labels[k.operands[k.instructions[instr].first_operand].index].instruction;
  };
  EXPECT_EQ(label_of(1), 0u);
  EXPECT_EQ(label_of(2), 5u);
  EXPECT_EQ(label_of(4), 3u);
}

TEST(Parser, RegisterRanges) {
  const std::string text = kHead + R"(
.entry k() { .reg .b32 %r<10>, %r1<3>, %s; mov.u32 %r9, %r12; mov.u32 %s, %r1; ret; }
)";
  const Module module = parse(text, "a.ptx");
  EXPECT_EQ(function(module, "k").registers.size(), 4u);
  for (const char* bad : {"%r10<0>", "%r07", "%r10"}) {
    const std::string wrong =
        kHead + ".entry k() { .reg .b32 %r<10>; mov.u32 %r1, " + std::string(bad) + "; ret; }";
    EXPECT_THROW(parse(wrong, "a.ptx"), Error) << bad;
  }
}

TEST(Parser, SourceLinesAndSections) {
  const std::string text = kHead + R"(
.entry k()
{
  .loc 1 10 5
  mov.u32 %clock_is_no_register, 1;
}
)";
  EXPECT_THROW(parse(text, "a.ptx"), Error);
  const std::string good = kHead + R"(
.entry k()
{
  .reg .b32 %r<2>;
  .loc 1 10 5
  mov.u32 %r1, 1;
  .loc 2 20 3, function_name $L__info_string0, inlined_at 1 11 7
  .pragma "nounroll";
  mov.u32 %r1, 2;
  .loc 2 40 9, function_name $L__info_string0, inlined_at 2 20 3
  mov.u32 %r1, 3;
  .loc 1 12 1
  ret;
}
.file 1 "a.cu", 1700000000, 123
.file 2 "b.h"
.section .debug_str
{
$L__info_string0:
.b8 95,90,0
}
)";
  const Module module = parse(good, "a.ptx");
  const Function& k = function(module, "k");
  EXPECT_EQ(k.instructions[0].source_file, 1u);
  EXPECT_EQ(k.instructions[0].source_line, 10u);
  EXPECT_EQ(k.instructions[1].source_file, 2u);
  EXPECT_EQ(k.instructions[1].source_line, 20u);
  EXPECT_EQ(k.instructions[0].line, 9u);
  // Where the outermost function calls what has been inlined, through however many others.
  const auto caller = [&](size_t i) {
    return std::pair(k.instructions[i].caller_file, k.instructions[i].caller_line);
  };
  EXPECT_EQ(caller(0), std::pair(0u, 0u));
  EXPECT_EQ(caller(1), std::pair(1u, 11u));
  EXPECT_EQ(k.instructions[2].source_line, 40u);
  EXPECT_EQ(caller(2), std::pair(1u, 11u));
  EXPECT_EQ(caller(3), std::pair(0u, 0u));
  EXPECT_EQ(module.source_files.at(2), "b.h");
}

TEST(Parser, UnsupportedStatementsAreKeptWithTheirReason) {
  const std::string text = kHead + R"(
.entry k()
{
  .reg .f32 %f<5>; .reg .b32 %r<3>;
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1, %r2}];
  mov.u32 %r1, %pm0;
  ret;
}
)";
  const Module module = parse(text, "a.ptx");
  const Function& k = function(module, "k");
  ASSERT_EQ(k.problems.size(), 2u);
  EXPECT_EQ(k.instructions[0].problem, 0u);
  EXPECT_EQ(k.instructions[0].text.substr(0, 17), "tex.2d.v4.f32.s32");
  EXPECT_NE(k.problems[1].find("%pm0"), std::string::npos);
}

struct Bad {
  const char* text;     // after the three lines of the header
  const char* message;  // what the error begins with
};

TEST(Parser, ErrorsNameFileAndLine) {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"garbage", "unexpected 'garbage' (a.ptx:4)"},
           {".global .u32 a\n.global .u32 b;", "unexpected '.global' (a.ptx:5)"},
           {".global a;", "a declaration without a type (a.ptx:4)"},
           {".u32 a;", "a declaration without a state space (a.ptx:4)"},
           {".global .align 3 .u32 a;", "the alignment 3 is no power of two (a.ptx:4)"},
           {".global .u32 a[];", "the array 'a' has no size (a.ptx:4)"},
           {".global .b8 a[1099511627776][16777217];", "the variable 'a' is too large (a.ptx:4)"},
           {".global .b8 a[][0] = {1};", "the elements of 'a' have no size (a.ptx:4)"},
           {".global .u32 a[2] = {1, 2, 3};", "too many values in the initialiser of 'a'"},
           {".global .u32 a[2] = {{1}};", "too many braces in the initialiser of 'a' (a.ptx:4)"},
           {".global .u32 a = 0f3F800000; .global .u32 a;", "'a' is declared twice (a.ptx:4)"},
           {".global .u16 a = 1.5;", "a floating-point value in an initialiser"},
           {".global .u32 a = b;", "an address in an initialiser of type .u32 (a.ptx:4)"},
           {".global .u8 a[8] = {0xFF00(a)};", "a masked address (a.ptx:4)"},
           {".shared .u32 a = 1;", "an initialiser outside of .global and .const (a.ptx:4)"},
           {".reg .u32 a;", "a register outside of a function (a.ptx:4)"},
           {".global .u32 a[1/0];", "division by zero in a constant (a.ptx:4)"},
           {".entry k() {\nret;\n", "the file ends inside the function 'k'"},
           {".entry k() { ret; }\n.entry k() { ret; }", "'k' is defined twice (a.ptx:5)"},
           {".entry k() {\nbra NOWHERE; }", "undefined label 'NOWHERE' (a.ptx:5)"},
           {".entry k() {\nA:\nA: ret; }", "the label 'A' is defined twice (a.ptx:6)"},
           {".entry k() {\n.reg .b32 a, a; }", "'a' is declared twice (a.ptx:5)"},
           {".entry k() {\n.reg .b32 %a<2>, %a<3>; }", "'%a' is declared twice (a.ptx:5)"},
           {".entry k() {\nmov.u32 %r1, 1; }", "undeclared register '%r1' (a.ptx:5)"},
           {".entry k() {\n.reg .b32 r;\n@r ret; }", "the guard 'r' is no predicate register"},
           {".entry k() {\n.reg .b32 r;\nmov.u32 r 1; }", "unexpected '1' (a.ptx:6)"},
           {".entry k() {\n.reg .b32 r;\nld.u32 r, [r; }", "unexpected ';' (a.ptx:6)"},
           {".entry k() {\n.reg .b32 r;\nmov.u32 r, ; }", "unexpected ';' (a.ptx:6)"},
           {".entry k() {\n.reg .b64 r;\nld.u64 r, [r, [r, {r}]]; }", "unexpected '[' (a.ptx:6)"},
           {".entry k() {\n.reg .b32 %r<99999999>; }", "a number of registers 99999999 is too"},
           {".entry k(.u32 a) { }", "a declaration without a state space (a.ptx:4)"},
           {".entry k() .foo { }", "unexpected '.foo' (a.ptx:4)"},
           {".alias a, b;", "'b' is no function (a.ptx:4)"},
           {".address_size 32", "32-bit PTX is not supported (a.ptx:4)"}}) {
    const std::string text = kHead + bad.text;
    try {
      parse(text, "a.ptx");
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, std::strlen(bad.message)), bad.message);
      EXPECT_NE(std::string(error.what()).find("(a.ptx:"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(parse("", "a.ptx"), Error);
  EXPECT_THROW(parse(".target sm_75", "a.ptx"), Error);
  EXPECT_THROW(parse(".version banana", "a.ptx"), Error);
}

}  // namespace
}  // namespace nearwarp::ptx
