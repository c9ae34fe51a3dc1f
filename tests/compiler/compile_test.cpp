// Are the right kernels compiled from PTX, both hand-written and made by nvcc?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/compiler/print.h"

namespace nearwarp::compiler {
namespace {

std::string module_with(const std::string& text) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n" + text;
}

TEST(Compile, LoopHasBlocksDominatorsAndRegisters) {
  const Program program = compile_ptx(module_with(R"(
.visible .entry sum(.param .u64 data, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
LOOP:
  ld.global.u32 %r3, [%rd1];
  add.s32 %r2, %r2, %r3;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra LOOP;
  st.global.u32 [%rd1], %r2;
  ret;
}
)"),
                                      "sum.ptx");
  const Kernel* kernel = program.find("sum");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->unsupported, "");
  ASSERT_EQ(kernel->blocks.size(), 3u);
  EXPECT_EQ(kernel->blocks[1].successors, (std::vector<BlockId>{1, 2}));
  EXPECT_EQ(kernel->blocks[1].predecessors, (std::vector<BlockId>{0, 1}));
  EXPECT_EQ(kernel->blocks[1].idom, 0u);
  EXPECT_EQ(kernel->blocks[1].ipdom, 2u);
  EXPECT_EQ(kernel->blocks[2].ipdom, kNone);
  ASSERT_EQ(kernel->loops.size(), 1u);
  EXPECT_EQ(kernel->loops[0].blocks, (std::vector<BlockId>{1}));
  EXPECT_EQ(kernel->live_in[1].size(), 3u);
  EXPECT_EQ(kernel->num_physical, 5u);  // %rd1 (2), %r1, %r2, %r3
  EXPECT_EQ(kernel->num_predicates, 1u);
  EXPECT_EQ(kernel->param_bytes, 12u);
  EXPECT_EQ(to_string(*kernel, kernel->instructions[6]), "add.s32 %r1, %r1, 0xffffffff");
}

}  // namespace
}  // namespace nearwarp::compiler
