// Does linking PTX give one module that means the same?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler::link_test {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_75\n.address_size 64\n";
const std::string kFirst = std::string(kHead) + R"(
.extern .global .align 4 .u32 shared_one;
.global .align 4 .u32 own = 5; // a comment; with a semicolon {
.weak .global .align 4 .u32 common_one = 7;
.extern .func (.param .b32 r) twice (.param .b32 a);
.visible .entry first(.param .u64 first_p) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  { .param .b32 a0; .param .b32 r0;
    ld.global.u32 %r1, [own];
    st.param.b32 [a0+0], %r1;
    call.uni (r0), twice, (a0);
    ld.param.b32 %r2, [r0+0]; }
  ld.param.u64 %rd1, [first_p];
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
const std::string kSecond = std::string(kHead) + R"(
.visible .global .align 4 .u32 shared_one = 1;
.global .align 4 .u32 own = 6;
.weak .global .align 4 .u32 common_one = 7;
.visible .func (.param .b32 r) twice (.param .b32 a) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  ld.global.u32 %r2, [own];
  add.s32 %r3, %r1, %r2;
  st.param.b32 [r+0], %r3;
  ret;
}
)";

TEST(PtxLink, DefinitionsServeDeclarationsAndLocalNamesStayApart) {
  for (const bool second_first : {false, true}) {
    const PtxSource first{kFirst, "first.ptx"}, second{kSecond, "second.ptx"};
    const Program program =
        link_ptx(second_first ? std::vector{second, first} : std::vector{first, second});
    ASSERT_EQ(program.kernels.size(), 1u);
    EXPECT_EQ(program.kernels[0].unsupported, "");
    size_t own = 0, others = 0;
    for (const Variable& v : program.variables) ++(v.name.starts_with("own") ? own : others);
    EXPECT_EQ(own, 2u);
    EXPECT_EQ(others, 2u);
  }
}

TEST(PtxLink, ALocalNameIsNotThatOfAnotherModulesDefinition) {
  const auto text = [](const char* linkage, const char* value, const char* kernel) {
    return kHead + std::string(linkage) + ".global .align 4 .u32 x = " + value + ";\n" + linkage +
           ".func f() { ret; }\n.visible .entry " + kernel +
           "() { .reg .b32 %r<2>; ld.global.u32 %r1, [x]; call f; ret; }\n";
  };
  const PtxSource local{text("", "5", "first"), "first.ptx"},
      visible{text(".visible ", "6", "second"), "second.ptx"};
  for (const auto& sources : {std::vector{local, visible}, std::vector{visible, local}}) {
    const Program program = link_ptx(sources);
    const auto value_of = [&](const char* kernel) -> int {
      const Kernel* k = program.find(kernel);
      if (k == nullptr || k->symbols.empty()) return -1;
      for (const Variable& v : program.variables)
        if (v.name == k->symbols[0].name) return v.init.at(0);
      return -1;
    };
    EXPECT_EQ(value_of("first"), 5);
    EXPECT_EQ(value_of("second"), 6);
  }
}

TEST(PtxLink, AnAliasIsTheFunctionThatItNames) {
  const PtxSource definition{std::string(kHead) +
                                 ".visible .func foo() { ret; }\n.visible .func bar();\n"
                                 ".alias bar, foo;\n.visible .entry first() { call bar; ret; }\n",
                             "first.ptx"};
  const PtxSource use{
      std::string(kHead) + ".extern .func bar();\n.visible .entry second() { call bar; ret; }\n",
      "second.ptx"};
  for (const auto& sources : {std::vector{definition, use}, std::vector{use, definition}})
    for (const Kernel& k : link_ptx(sources).kernels) EXPECT_EQ(k.unsupported, "") << k.name;
}

TEST(PtxLink, TwoDefinitionsOfOneNameAreAnError) {
  EXPECT_THROW(link_ptx({{kSecond, "a.ptx"}, {kSecond, "b.ptx"}}), Error);
}

TEST(PtxLink, TextThatEndsEarlyIsAnError) {
  const std::string cut = kSecond.substr(0, kSecond.size() - 10);
  EXPECT_THROW(link_ptx({{kFirst, "a.ptx"}, {cut, "b.ptx"}}), Error);
  EXPECT_THROW(link_ptx({{".visible .global .u32 x", "a.ptx"}, {kFirst, "b.ptx"}}), Error);
}

}  // namespace
}  // namespace nearwarp::compiler::link_test
