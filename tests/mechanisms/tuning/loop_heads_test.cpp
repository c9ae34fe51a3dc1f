// Which registers are live at a loop's head, and which of them does the candidate change?
#include "host/mechanisms/tom/pass/loop_heads.h"

#include <gtest/gtest.h>

#include "tests/mechanisms/tom/candidates_ptx.h"

namespace nearwarp::compiler {
namespace {

std::vector<CandidateLoop> loops(const Kernel& kernel, LoopChoice choice) {
  const SelectionResult result = analyze(kernel, Granularity::kLoop);
  EXPECT_EQ(result.candidates.size(), 1u);
  if (result.candidates.empty()) return {};
  return loops_of(kernel, BlockRegisters(kernel), result.candidates[0], choice);
}

// The barriers keep what is around the loop out of it.
constexpr const char* kSum = R"(
  mov.u32 %r5, 0;
  mov.f32 %f1, 0f00000000;
  bar.sync 0;
LOOP:
  ld.global.f32 %f2, [%rd1];
  add.f32 %f1, %f1, %f2;
  add.u64 %rd1, %rd1, 4;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, %r1;
  @%p1 bra LOOP;
  bar.sync 0;
  st.global.f32 [%rd2], %f1;
  ret;)";

TEST(LoopHeads, ASumTravelsBothWays) {
  const Kernel kernel = kernel_of(kSum);
  const auto found = loops(kernel, LoopChoice::kOutermost);
  ASSERT_EQ(found.size(), 1u);
  // Live-ins are %rd1 (8 bytes), %f1, %r5, and the bound %r1, which does not change.
  EXPECT_EQ(found[0].live_in_bytes, 8u + 4 + 4 + 4);
  EXPECT_EQ(found[0].changed_bytes, 8u + 4 + 4);
  EXPECT_EQ(kernel.loops[found[0].loop].header, found[0].header);
}

constexpr const char* kNest = R"(
  mov.u32 %r5, 0;
  mov.f32 %f1, 0f00000000;
  bar.sync 0;
OUTER:
  mov.u32 %r6, 0;
INNER:
  ld.global.f32 %f2, [%rd1];
  add.f32 %f1, %f1, %f2;
  add.u64 %rd1, %rd1, 4;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, %r2;
  @%p1 bra INNER;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, %r1;
  @%p1 bra OUTER;
  bar.sync 0;
  st.global.f32 [%rd2], %f1;
  ret;)";

TEST(LoopHeads, OfANestTheOuterOrTheInner) {
  const Kernel kernel = kernel_of(kNest);
  const auto outer = loops(kernel, LoopChoice::kOutermost);
  const auto inner = loops(kernel, LoopChoice::kInnermost);
  ASSERT_EQ(outer.size(), 1u);
  ASSERT_EQ(inner.size(), 1u);
  EXPECT_EQ(kernel.loops[outer[0].loop].depth, 1u);
  EXPECT_EQ(kernel.loops[inner[0].loop].depth, 2u);
  // At the inner head its counter is live too.
  EXPECT_EQ(outer[0].live_in_bytes, 8u + 4 + 4 + 2 * 4);
  EXPECT_EQ(inner[0].live_in_bytes, 8u + 4 + 4 + 2 * 4 + 4);
  EXPECT_EQ(outer[0].changed_bytes, 8u + 4 + 4);
  EXPECT_EQ(inner[0].changed_bytes, 8u + 4 + 4 + 4);
}

TEST(LoopHeads, CodeWithoutALoopHasNone) {
  const Kernel kernel = kernel_of(R"(
  mov.b32 %f1, %r1;
  st.global.f32 [%rd1], %f1;
  st.global.f32 [%rd1+4], %f1;
  st.global.f32 [%rd1+8], %f1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  EXPECT_TRUE(loops_of(kernel, BlockRegisters(kernel), result.candidates[0], LoopChoice::kOutermost)
                  .empty());
}

}  // namespace
}  // namespace nearwarp::compiler
