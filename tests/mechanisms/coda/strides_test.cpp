// Does the analysis at compile time find what thread blocks use, in code as nvcc makes it?
#include "host/mechanisms/coda/pass/strides.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "bench/workloads/workload.h"
#include "host/mechanisms/coda/code_strides.h"

namespace nearwarp::compiler::strides_test {
namespace {

Kernel kernel_of(const Program& program, const std::string& name) { return *program.find(name); }

Program program_of(const std::string& workload) {
  const workloads::Workload* w = workloads::find(workload);
  return compile_ptx(w->ptx(), w->ptx_name());
}

/// A kernel with parameters p0 (a pointer), p1 (a pointer) and p2 (a number), of this body.
Kernel hand_made(const std::string& body) {
  const Program program = compile_ptx(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2) {\n"
      ".reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>;\n"
      "ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u32 %r0, [p2];\n"
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
      "mad.lo.s32 %r4, %r1, %r2, %r3;\n" +
          body + "ret;\n}\n",
      "test.ptx");
  return *program.find("k");
}

const ObjectStride& object(const std::vector<ObjectStride>& objects, uint32_t param) {
  for (const ObjectStride& o : objects)
    if (o.object == Factor{Factor::Kind::kParam, param}) return o;
  throw std::runtime_error("no such object");
}

/// The stride B (bytes) for blocks of `threads` threads and parameters with these values.
int64_t bytes(const ObjectStride& o, int64_t threads, std::map<uint32_t, int64_t> params) {
  return o.block_bytes.evaluate([&](Factor f) -> int64_t {
    if (f == Factor{Factor::Kind::kNtid, 0}) return threads;
    return params.at(f.index);
  });
}

/// B in bytes of the first parameter's object by code, in a launch whose p2 has this value; 0:
/// none.
uint64_t bytes_by_code(const std::string& body, uint32_t p2) {
  runtime::Recording recording;
  recording.kernels.push_back(std::make_shared<const Kernel>(hand_made(body)));
  runtime::LaunchRecord launch;
  launch.parameters.resize(20);
  const uint64_t pointer = 0x1000;
  std::memcpy(launch.parameters.data(), &pointer, sizeof pointer);
  std::memcpy(launch.parameters.data() + 16, &p2, sizeof p2);
  recording.launches.push_back(launch);
  const auto strides = coda::strides_by_code(recording, 0);
  const auto found = strides.find(pointer);
  return found == strides.end() ? 0 : found->second;
}

TEST(CodaStrides, TheCodeSaysWhetherAParameterHasASign) {
  const std::string access = "add.u64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f0;";
  const std::string with_zeros = "mul.wide.u32 %rd2, %r1, %r0;" + access;
  const std::string converted =
      "cvt.u64.u32 %rd4, %r0; cvt.u64.u32 %rd5, %r1; mul.lo.s64 %rd2, %rd4, %rd5;" + access;
  const std::string with_sign = "mul.wide.s32 %rd2, %r1, %r0;" + access;
  const std::string both = "mul.wide.s32 %rd6, %r3, %r0;" + with_zeros;
  const std::string in_four_bytes = "mul.lo.s32 %r5, %r1, %r0; cvt.u64.u32 %rd2, %r5;" + access;
  for (const std::string& body : {with_zeros, converted, with_sign, both, in_four_bytes})
    EXPECT_EQ(bytes_by_code(body, 4096), 4096u) << body;
  EXPECT_EQ(bytes_by_code(with_zeros, 0x80000000), 0x80000000);
  EXPECT_EQ(bytes_by_code(converted, 0xfffff000), 0xfffff000);
  EXPECT_EQ(bytes_by_code(with_sign, 0xfffff000), 0u);  // they go down
  EXPECT_EQ(bytes_by_code(both, 0xfffff000), 0u);
  EXPECT_EQ(bytes_by_code(in_four_bytes, 0xfffff000), 0u);  // every product but one would wrap
}

TEST(CodaStrides, OfTheKmeansExample) {
  // Section 4.3.2: in[pid * nfeatures + i]: B is blockDim.x * nfeatures * sizeof(float), through
  // nvcc's unrolled loop, its rest, and pointers in place of indices.
  const Program program = program_of("kmeans");
  const auto objects = strides_of_objects(analyze_strides(kernel_of(program, "kmeans_transpose")));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(object(objects, 0).pattern, AccessPattern::kRegular);
  EXPECT_EQ(bytes(object(objects, 0), 256, {{3, 34}}), 256 * 34 * 4);
  EXPECT_EQ(bytes(object(objects, 1), 256, {}), 256 * 4);
  const auto assign = strides_of_objects(analyze_strides(kernel_of(program, "kmeans_assign")));
  EXPECT_EQ(object(assign, 1).pattern, AccessPattern::kShared);  // centers
}

TEST(CodaStrides, OfOtherWorkloads) {
  const auto backprop =
      strides_of_objects(analyze_strides(kernel_of(program_of("backprop"), "backprop_forward")));
  EXPECT_EQ(bytes(object(backprop, 1), 256, {}), 17 * 16 * 4);  // 16 rows of 17 weights
  const auto product =
      strides_of_objects(analyze_strides(kernel_of(program_of("scalarprod"), "scalarprod")));
  EXPECT_EQ(bytes(object(product, 0), 256, {{4, 4096}}), 4096 * 4);
  const auto bfs =
      strides_of_objects(analyze_strides(kernel_of(program_of("bfs-rmat"), "bfs_expand")));
  EXPECT_EQ(object(bfs, 0).pattern, AccessPattern::kRegular);    // row_start
  EXPECT_EQ(object(bfs, 1).pattern, AccessPattern::kIrregular);  // edges, through row_start
}

TEST(CodaStrides, GridStrideLoops) {
  // i += gridDim.x * blockDim.x: the step is the same for all blocks.
  const auto objects = strides_of_objects(analyze_strides(hand_made(
      "mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r2; mov.u32 %r7, %r4;\n"
      "L: mul.wide.s32 %rd2, %r7, 8; add.s64 %rd3, %rd0, %rd2; ld.global.f32 %f0, [%rd3];\n"
      "add.s32 %r7, %r7, %r6; setp.lt.s32 %p0, %r7, %r0; @%p0 bra L;\n")));
  EXPECT_EQ(bytes(object(objects, 0), 128, {}), 128 * 8);
}

TEST(CodaStrides, WhatDependsOnMemoryIsIrregular) {
  const auto objects = strides_of_objects(analyze_strides(hand_made(
      "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd0, %rd2; ld.global.u32 %r5, [%rd3];\n"
      "mul.wide.s32 %rd4, %r5, 4; add.s64 %rd5, %rd1, %rd4; st.global.f32 [%rd5], %f0;\n")));
  EXPECT_EQ(object(objects, 0).pattern, AccessPattern::kRegular);
  EXPECT_EQ(object(objects, 1).pattern, AccessPattern::kIrregular);
}

TEST(CodaStrides, WhatTheBlockDoesNotChangeIsShared) {
  const auto objects = strides_of_objects(analyze_strides(
      hand_made("mul.wide.s32 %rd2, %r3, 4; add.s64 %rd3, %rd0, %rd2; ld.global.f32 %f0, [%rd3];\n"
                "ld.global.f32 %f1, [%rd1+64];\n")));
  EXPECT_EQ(object(objects, 0).pattern, AccessPattern::kShared);
  EXPECT_EQ(object(objects, 1).pattern, AccessPattern::kShared);
}

TEST(CodaStrides, WhatTheBlockChangesInOtherWaysIsUnknown) {
  for (const char* index : {"rem.s32 %r5, %r1, 7;", "mul.lo.s32 %r5, %r1, %r1;",
                            "mul.lo.s32 %r5, %r1, %r3;", "and.b32 %r5, %r1, 255;"}) {
    const auto objects = strides_of_objects(analyze_strides(
        hand_made(std::string(index) +
                  "mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; ld.global.f32 %f0, "
                  "[%rd3];\n")));
    EXPECT_EQ(object(objects, 0).pattern, AccessPattern::kUnknown) << index;
  }
}

TEST(CodaStrides, GridsOfTwoDimensions) {
  // Block y * nctaid.x + x: rows follow each other, so blocks do.
  const auto flat = strides_of_objects(analyze_strides(hand_made(
      "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x; mad.lo.s32 %r7, %r5, %r6, %r1;\n"
      "mad.lo.s32 %r8, %r7, %r2, %r3; mul.wide.s32 %rd2, %r8, 4; add.s64 %rd3, %rd0, %rd2;\n"
      "ld.global.f32 %f0, [%rd3];\n")));
  EXPECT_EQ(bytes(object(flat, 0), 64, {}), 64 * 4);
  // Tiles of a matrix of p2 columns: the distance of blocks in a column differs from that in a row.
  const auto accesses = analyze_strides(
      hand_made("mov.u32 %r5, %ctaid.y; mul.lo.s32 %r6, %r5, %r0; shl.b32 %r7, %r6, 4;\n"
                "add.s32 %r8, %r7, %r4; mul.wide.s32 %rd2, %r8, 4; add.s64 %rd3, %rd0, %rd2;\n"
                "ld.global.f32 %f0, [%rd3];\n"));
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].pattern, AccessPattern::kRegular);
  EXPECT_EQ(accesses[0].by_block[1].text([](Factor f) { return f.index == 2 ? "p2" : "?"; }),
            "64*p2");
  EXPECT_EQ(object(strides_of_objects(accesses), 0).pattern, AccessPattern::kUnknown);
}

TEST(CodaStrides, TextOfAKernel) {
  const std::string text = format_strides(hand_made(
      "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd0, %rd2; st.global.f32 [%rd3+8], %f0;\n"));
  EXPECT_NE(text.find("write  regular    8 + p0 + 4*ntid.x*ctaid.x + 4*tid.x"), std::string::npos)
      << text;
  EXPECT_NE(text.find("object p0: regular, B = 4*ntid.x bytes"), std::string::npos) << text;
  EXPECT_NE(format_strides(hand_made("")).find("no access to global memory"), std::string::npos);
}

TEST(CodaStrides, LongChainsAndTangledLoopsHaveAnEnd) {
  std::string chain = "mov.u32 %r5, %r4;\n", tangle = "L:\n";
  for (int i = 0; i < 5000; ++i) chain += "mad.lo.s32 %r5, %r5, %r0, %r3;\n";
  for (int i = 0; i < 300; ++i)
    tangle += "add.s32 %r" + std::to_string(5 + i % 12) + ", %r" + std::to_string(5 + i * 7 % 12) +
              ", %r" + std::to_string(5 + i * 5 % 12) + ";\n";
  const std::string load =
      "mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; ld.global.f32 %f0, [%rd3];\n";
  for (const std::string& body :
       {chain + load, tangle + load + "setp.lt.s32 %p0, %r5, %r0; @%p0 bra L;\n"})
    EXPECT_EQ(analyze_strides(hand_made(body)).size(), 1u);
}

TEST(CodaStrides, EveryKernelOfTheWorkloadsHasAnEnd) {
  for (const auto& w : workloads::all()) {
    const Program program = compile_ptx(w->ptx(), w->ptx_name());
    for (const Kernel& k : program.kernels)
      for (const ObjectStride& o : strides_of_objects(analyze_strides(k)))
        EXPECT_EQ(o.pattern != AccessPattern::kRegular, o.block_bytes.is_zero()) << k.name;
  }
}

}  // namespace
}  // namespace nearwarp::compiler::strides_test
