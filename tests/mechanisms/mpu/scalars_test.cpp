// Which registers does MPU's back end take for the same in all lanes?
#include "host/mechanisms/mpu/pass/scalars.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "host/core/error.h"

namespace nearwarp::mpu {
namespace {

std::set<std::string> scalars(const std::string& body) {
  const compiler::Program program = compiler::compile_ptx(R"(.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 a, .param .u32 n)
{
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<9>;
)" + body + "  ret;\n}\n",
                                                          "test.ptx");
  const compiler::Kernel* k = program.find("k");
  if (k == nullptr || !k->unsupported.empty()) throw Error("no kernel");
  std::set<std::string> names;
  const std::vector<bool> scalar = find_scalars(*k);
  for (size_t r = 0; r < scalar.size(); ++r)
    if (scalar[r]) names.insert(k->registers[r].name);
  return names;
}

using Names = std::set<std::string>;

TEST(Scalars, ParametersAndWhatIsComputedFromThem) {
  EXPECT_EQ(scalars("ld.param.u32 %r1, [n]; add.s32 %r2, %r1, 5; mul.lo.s32 %r3, %r2, %r1;"
                    "mov.u32 %r4, %ctaid.x; mad.lo.s32 %r5, %r4, %r3, %r1;"
                    "st.global.u32 [%rd1], %r5;"),
            (Names{"%r1", "%r2", "%r3", "%r4", "%r5"}));
}

TEST(Scalars, NotWhatLanesDifferIn) {
  EXPECT_EQ(scalars("mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; add.s32 %r3, %r1, %r2;"
                    "ld.param.u64 %rd1, [a]; ld.global.u32 %r4, [%rd1]; add.s32 %r5, %r4, %r2;"
                    "st.global.u32 [%rd1], %r5; st.global.u32 [%rd1], %r3;"),
            (Names{"%r2", "%rd1"}));
}

TEST(Scalars, NotWhatIsWrittenTwiceOrByAGuard) {
  // Lanes that leave a loop at different rounds keep different values of its counter.
  EXPECT_EQ(scalars("mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; mov.u32 %r2, %tid.x;"
                    "setp.lt.s32 %p1, %r1, %r2; @%p1 bra L; add.s32 %r3, %r1, 1;"
                    "@%p1 mov.u32 %r4, 7; mov.u32 %r5, 7; st.global.u32 [%rd1], %r3;"
                    "st.global.u32 [%rd1], %r4; st.global.u32 [%rd1], %r5;"),
            (Names{"%r5"}));
}

}  // namespace
}  // namespace nearwarp::mpu
