// Does the analysis at compile time see through quotients, remainders and masks of indices, as nvcc
// makes them?
#include <gtest/gtest.h>

#include <map>

#include "host/mechanisms/coda/pass/strides.h"

namespace nearwarp::compiler {
namespace {

// nvcc 13.0 -ptx -arch=compute_80 of
//
//   __global__ void quotients(float* a, float* b, float* c, float* d) {
//     int i = blockIdx.x * 256 + threadIdx.x;
//     unsigned u = blockIdx.x * 512u + threadIdx.x;
//     a[i / 32] = 1.0f;
//     b[u >> 3] = 2.0f;
//     c[u / 8 / 4] = 3.0f;
//     d[(i * 6) >> 2] = 4.0f;
//   }
//   __global__ void masks(float* a, float* b, float* c, float* d) {
//     int i = blockIdx.x * 256 + threadIdx.x;
//     a[i & ~31] = 1.0f;
//     b[i & 255] = 2.0f;
//     c[i % 64] = 3.0f;
//     d[(i & 255) + blockIdx.x * 128] = 4.0f;
//   }
//   __global__ void of_blocks(float* a, float* b, float* c, float* d, int n) {
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     int j = blockIdx.x * 256 + threadIdx.x;
//     a[i / 32] = 1.0f;
//     b[j & 511] = 2.0f;
//     c[(j + n) / 32] = 3.0f;
//     d[blockIdx.x / 2 * 256 + threadIdx.x] = 4.0f;
//   }
constexpr const char* kPtx = R"(
.version 9.0
.target sm_80
.address_size 64
.visible .entry quotients(
.param .u64 quotients_param_0,
.param .u64 quotients_param_1,
.param .u64 quotients_param_2,
.param .u64 quotients_param_3
)
{
.reg .b32 %r<18>;
.reg .b64 %rd<17>;
ld.param.u64 %rd1, [quotients_param_0];
ld.param.u64 %rd2, [quotients_param_1];
ld.param.u64 %rd3, [quotients_param_2];
ld.param.u64 %rd4, [quotients_param_3];
cvta.to.global.u64 %rd5, %rd4;
cvta.to.global.u64 %rd6, %rd3;
cvta.to.global.u64 %rd7, %rd2;
cvta.to.global.u64 %rd8, %rd1;
mov.u32 %r1, %ctaid.x;
shl.b32 %r2, %r1, 8;
mov.u32 %r3, %tid.x;
add.s32 %r4, %r2, %r3;
add.s32 %r5, %r4, %r2;
shr.s32 %r6, %r4, 31;
shr.u32 %r7, %r6, 27;
add.s32 %r8, %r4, %r7;
shr.s32 %r9, %r8, 5;
mul.wide.s32 %rd9, %r9, 4;
add.s64 %rd10, %rd8, %rd9;
mov.u32 %r10, 1065353216;
st.global.u32 [%rd10], %r10;
shr.u32 %r11, %r5, 3;
mul.wide.u32 %rd11, %r11, 4;
add.s64 %rd12, %rd7, %rd11;
mov.u32 %r12, 1073741824;
st.global.u32 [%rd12], %r12;
shr.u32 %r13, %r5, 5;
mul.wide.u32 %rd13, %r13, 4;
add.s64 %rd14, %rd6, %rd13;
mov.u32 %r14, 1077936128;
st.global.u32 [%rd14], %r14;
mul.lo.s32 %r15, %r4, 6;
shr.s32 %r16, %r15, 2;
mul.wide.s32 %rd15, %r16, 4;
add.s64 %rd16, %rd5, %rd15;
mov.u32 %r17, 1082130432;
st.global.u32 [%rd16], %r17;
ret;
}
.visible .entry masks(
.param .u64 masks_param_0,
.param .u64 masks_param_1,
.param .u64 masks_param_2,
.param .u64 masks_param_3
)
{
.reg .b32 %r<18>;
.reg .b64 %rd<19>;
ld.param.u64 %rd1, [masks_param_0];
ld.param.u64 %rd2, [masks_param_1];
ld.param.u64 %rd3, [masks_param_2];
ld.param.u64 %rd4, [masks_param_3];
cvta.to.global.u64 %rd5, %rd4;
cvta.to.global.u64 %rd6, %rd3;
cvta.to.global.u64 %rd7, %rd2;
cvta.to.global.u64 %rd8, %rd1;
mov.u32 %r1, %ctaid.x;
shl.b32 %r2, %r1, 8;
mov.u32 %r3, %tid.x;
add.s32 %r4, %r2, %r3;
mul.wide.s32 %rd9, %r4, 4;
and.b64 %rd10, %rd9, -128;
add.s64 %rd11, %rd8, %rd10;
mov.u32 %r5, 1065353216;
st.global.u32 [%rd11], %r5;
and.b32 %r6, %r4, 255;
shl.b32 %r7, %r4, 2;
cvt.u64.u32 %rd12, %r7;
and.b64 %rd13, %rd12, 1020;
add.s64 %rd14, %rd7, %rd13;
mov.u32 %r8, 1073741824;
st.global.u32 [%rd14], %r8;
shr.s32 %r9, %r4, 31;
shr.u32 %r10, %r9, 26;
add.s32 %r11, %r4, %r10;
and.b32 %r12, %r11, -64;
sub.s32 %r13, %r4, %r12;
mul.wide.s32 %rd15, %r13, 4;
add.s64 %rd16, %rd6, %rd15;
mov.u32 %r14, 1077936128;
st.global.u32 [%rd16], %r14;
shl.b32 %r15, %r1, 7;
add.s32 %r16, %r6, %r15;
mul.wide.u32 %rd17, %r16, 4;
add.s64 %rd18, %rd5, %rd17;
mov.u32 %r17, 1082130432;
st.global.u32 [%rd18], %r17;
ret;
}
.visible .entry of_blocks(
.param .u64 of_blocks_param_0,
.param .u64 of_blocks_param_1,
.param .u64 of_blocks_param_2,
.param .u64 of_blocks_param_3,
.param .u32 of_blocks_param_4
)
{
.reg .b32 %r<25>;
.reg .b64 %rd<18>;
ld.param.u64 %rd1, [of_blocks_param_0];
ld.param.u64 %rd2, [of_blocks_param_1];
ld.param.u64 %rd3, [of_blocks_param_2];
ld.param.u64 %rd4, [of_blocks_param_3];
ld.param.u32 %r1, [of_blocks_param_4];
cvta.to.global.u64 %rd5, %rd4;
cvta.to.global.u64 %rd6, %rd3;
cvta.to.global.u64 %rd7, %rd2;
cvta.to.global.u64 %rd8, %rd1;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
shl.b32 %r6, %r2, 8;
add.s32 %r7, %r6, %r4;
shr.s32 %r8, %r5, 31;
shr.u32 %r9, %r8, 27;
add.s32 %r10, %r5, %r9;
shr.s32 %r11, %r10, 5;
mul.wide.s32 %rd9, %r11, 4;
add.s64 %rd10, %rd8, %rd9;
mov.u32 %r12, 1065353216;
st.global.u32 [%rd10], %r12;
shl.b32 %r13, %r7, 2;
cvt.u64.u32 %rd11, %r13;
and.b64 %rd12, %rd11, 2044;
add.s64 %rd13, %rd7, %rd12;
mov.u32 %r14, 1073741824;
st.global.u32 [%rd13], %r14;
add.s32 %r15, %r7, %r1;
shr.s32 %r16, %r15, 31;
shr.u32 %r17, %r16, 27;
add.s32 %r18, %r15, %r17;
shr.s32 %r19, %r18, 5;
mul.wide.s32 %rd14, %r19, 4;
add.s64 %rd15, %rd6, %rd14;
mov.u32 %r20, 1077936128;
st.global.u32 [%rd15], %r20;
shl.b32 %r21, %r2, 7;
and.b32 %r22, %r21, -256;
add.s32 %r23, %r22, %r4;
mul.wide.u32 %rd16, %r23, 4;
add.s64 %rd17, %rd5, %rd16;
mov.u32 %r24, 1082130432;
st.global.u32 [%rd17], %r24;
ret;
}
)";

/// The strides of a kernel's objects a, b, c, d.
std::vector<ObjectStride> objects_of(const std::string& kernel) {
  static const Program program = compile_ptx(kPtx, "test.ptx");
  std::vector<ObjectStride> objects = strides_of_objects(analyze_strides(*program.find(kernel)));
  EXPECT_EQ(objects.size(), 4u);
  return objects;
}

int64_t bytes(const ObjectStride& o) {
  EXPECT_EQ(o.pattern, AccessPattern::kRegular);
  int64_t b = 0;
  EXPECT_TRUE(o.block_bytes.is_constant(b));
  return b;
}

TEST(CodaDividedIndices, QuotientsWhoseRemainderTheBlockDoesNotChange) {
  const auto o = objects_of("quotients");
  EXPECT_EQ(bytes(o[0]), 256 / 32 * 4);
  EXPECT_EQ(bytes(o[1]), 512 / 8 * 4);
  EXPECT_EQ(bytes(o[2]), 512 / 8 / 4 * 4);
  EXPECT_EQ(bytes(o[3]), 256 * 6 / 4 * 4);
}

TEST(CodaDividedIndices, MasksAndRemainders) {
  const auto o = objects_of("masks");
  EXPECT_EQ(bytes(o[0]), 256 * 4);
  EXPECT_EQ(o[1].pattern, AccessPattern::kShared);  // the same 256 elements for every block
  EXPECT_EQ(o[2].pattern, AccessPattern::kShared);
  EXPECT_EQ(bytes(o[3]), 128 * 4);
}

TEST(CodaDividedIndices, WhatCannotBeProvedIsUnknown) {
  const auto o = objects_of("of_blocks");
  EXPECT_EQ(o[0].pattern, AccessPattern::kUnknown);  // blocks of any size
  EXPECT_EQ(o[1].pattern, AccessPattern::kUnknown);  // every second block comes back
  EXPECT_EQ(o[2].pattern, AccessPattern::kUnknown);  // n may be negative
  EXPECT_EQ(o[3].pattern, AccessPattern::kUnknown);  // two blocks share
}

Kernel hand_made(const std::string& body) {
  const Program program = compile_ptx(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p0, .param .u32 p1) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n"
      "ld.param.u64 %rd0, [p0]; ld.param.u32 %r0, [p1]; mov.u32 %r1, %ctaid.x; mov.u32 %r3, "
      "%tid.x;\n" +
          body + "ret;\n}\n",
      "test.ptx");
  return *program.find("k");
}

ObjectStride of_index(const std::string& code) {
  return strides_of_objects(analyze_strides(
      hand_made(code + "mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; st.global.f32 "
                       "[%rd3], %f0;\n")))[0];
}

TEST(CodaDividedIndices, DivisionByAnyConstant) {
  EXPECT_EQ(bytes(of_index("mad.lo.u32 %r4, %r1, 21, %r3; div.u32 %r5, %r4, 7;")), 12);
  EXPECT_EQ(of_index("mad.lo.u32 %r4, %r1, 21, %r3; rem.u32 %r5, %r4, 7;").pattern,
            AccessPattern::kShared);
  EXPECT_EQ(of_index("mad.lo.u32 %r4, %r1, 20, %r3; div.u32 %r5, %r4, 7;").pattern,
            AccessPattern::kUnknown);
  EXPECT_EQ(of_index("mad.lo.u32 %r4, %r1, 20, %r3; rem.u32 %r5, %r4, 7;").pattern,
            AccessPattern::kUnknown);
  // Below zero division does not round to where shifts do.
  EXPECT_EQ(of_index("mad.lo.s32 %r4, %r1, 21, %r0; div.s32 %r5, %r4, 7;").pattern,
            AccessPattern::kUnknown);
  EXPECT_EQ(bytes(of_index("mad.lo.s32 %r4, %r1, 24, %r0; shr.s32 %r5, %r4, 3;")), 12);
  EXPECT_EQ(of_index("mad.lo.s32 %r4, %r1, 24, %r0; shr.u32 %r5, %r4, 3;").pattern,
            AccessPattern::kUnknown);
}

TEST(CodaDividedIndices, ShiftsOfConstants) {
  // 64 blocks' elements begin at -3: the quotient by 4 of 64 * block - 3 is 16 * block - 1.
  const auto accesses = analyze_strides(
      hand_made("shl.b32 %r4, %r1, 6; add.s32 %r6, %r4, -3; shr.s32 %r5, %r6, 2; mul.wide.s32 "
                "%rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f0;\n"));
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].address.text(
                [](Factor f) { return f.kind == Factor::Kind::kCtaid ? "block" : "p0"; }),
            "-4 + p0 + 64*block");
}

TEST(CodaDividedIndices, WhatALoopMakesOfTheBlockIsOfTheBlock) {
  for (const char* loop :
       {// Doubled in every round.
        "mov.u32 %r5, %r1; L: mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; st.global.f32 "
        "[%rd3], %f0; shl.b32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, %r0; @%p0 bra L;\n",
        // Halved, by way of another register.
        "mov.u32 %r5, %r1; L: shr.u32 %r6, %r5, 1; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd3, %rd0, "
        "%rd2; st.global.f32 [%rd3], %f0; mov.u32 %r5, %r6; setp.lt.u32 %p0, %r5, %r0; @%p0 bra "
        "L;\n"}) {
    const auto objects = strides_of_objects(analyze_strides(hand_made(loop)));
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].pattern, AccessPattern::kUnknown) << loop;
  }
}

}  // namespace
}  // namespace nearwarp::compiler
