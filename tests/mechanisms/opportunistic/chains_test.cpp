// Are offload chains found in PTX (the nine patterns), others refused, and chains made contiguous?
#include "host/mechanisms/opportunistic/pass/chains.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/workloads/workload.h"
#include "host/core/error.h"

namespace nearwarp::opportunistic {
namespace {

using compiler::InstrId;
using compiler::Kernel;

/// A kernel with pointers a, b, c in %rd1, %rd2, %rd3 (each thread's own element), parameter i in
/// %r9, and this body.
Kernel kernel_of(const std::string& body) {
  const compiler::Program program = compiler::compile_ptx(R"(.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 i)
{
  .reg .b64 %rd<20>; .reg .b32 %r<30>; .reg .f32 %f<20>; .reg .f64 %d<4>; .reg .pred %p<8>;
  .shared .align 4 .b8 sh[128];
  ld.param.u64 %rd11, [a];
  ld.param.u64 %rd12, [b];
  ld.param.u64 %rd13, [c];
  ld.param.u32 %r9, [i];
  mov.u32 %r20, %tid.x;
  mul.wide.u32 %rd10, %r20, 4;
  add.u64 %rd1, %rd11, %rd10;
  add.u64 %rd2, %rd12, %rd10;
  add.u64 %rd3, %rd13, %rd10;
)" + body + "  ret;\n}\n",
                                                          "test.ptx");
  const Kernel* k = program.find("k");
  if (k == nullptr || !k->unsupported.empty()) throw Error("no kernel");
  return *k;
}

Chain only(const std::string& body) {
  const Chains found = find_chains(kernel_of(body));
  EXPECT_EQ(found.chains.size(), 1u) << body;
  return found.chains.empty() ? Chain{} : found.chains[0];
}
std::string refusal(const std::string& body) {
  const Chains found = find_chains(kernel_of(body));
  EXPECT_EQ(found.chains.size(), 0u) << body;
  return found.refused.empty() ? "" : found.refused[0].reason;
}

TEST(Chains, TheNinePatterns) {
  struct Case {
    uint8_t pattern;
    size_t instructions, loads, alu;
    Response response;
    const char* body;
  };
  const Case cases[] = {
      {1, 4, 2, 1, Response::kAck,
       "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; add.f32 %f3, %f1, %f2;"
       "st.global.f32 [%rd3], %f3;"},
      {2, 3, 2, 1, Response::kData,
       "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; mul.f32 %f3, %f1, %f2;"
       "add.f32 %f4, %f3, %f3; add.f32 %f5, %f3, %f4; st.shared.f32 [sh], %f5;"},
      {3, 2, 1, 0, Response::kAck, "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd3], %r1;"},
      {4, 3, 1, 1, Response::kAck,
       "ld.global.f32 %f1, [%rd1]; mul.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2;"},
      {5, 3, 2, 1, Response::kBitmap,
       "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; setp.ne.u32 %p1, %r1, %r2;"
       "selp.u32 %r3, 1, 0, %p1; st.shared.u32 [sh], %r3;"},
      {6, 2, 1, 1, Response::kBitmap,
       "ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, %r9; selp.u32 %r3, 1, 0, %p1;"
       "st.shared.u32 [sh], %r3;"},
      {7, 3, 1, 1, Response::kAck,
       "ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 7; st.global.u32 [%rd3], %r2;"},
      {8, 4, 2, 2, Response::kData,
       "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; mul.lo.u32 %r3, %r2, %r9;"
       "add.u32 %r4, %r1, %r3; st.shared.u32 [sh], %r4;"},
      {9, 5, 2, 2, Response::kAck,
       "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; mul.lo.u32 %r3, %r2, 5;"
       "sub.u32 %r4, %r1, %r3; st.global.u32 [%rd3], %r4;"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(int(c.pattern));
    const Chain found = only(c.body);
    EXPECT_EQ(found.pattern, c.pattern);
    EXPECT_EQ(found.instructions.size(), c.instructions);
    EXPECT_EQ(found.loads.size(), c.loads);
    EXPECT_EQ(found.alu.size(), c.alu);
    EXPECT_EQ(found.response, c.response);
    EXPECT_EQ(found.store != compiler::kNone, c.response == Response::kAck);
    EXPECT_TRUE(found.hoisted.empty() && found.sunk.empty());
    EXPECT_FALSE(found.splits_fma);
  }
}

TEST(Chains, OfAMultiplyAddTheProductAlone) {
  const Chain split = only(
      "ld.shared.f32 %f7, [sh]; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];"
      "fma.rn.f32 %f3, %f1, %f2, %f7; st.global.f32 [%rd3], %f3;");
  EXPECT_EQ(split.pattern, 2);
  EXPECT_TRUE(split.splits_fma);
  EXPECT_EQ(split.store, compiler::kNone);  // the sum is stored by the SM
  // a * i + b has two loads, so the whole chain is offloaded.
  const Chain whole = only(
      "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];"
      "fma.rn.f32 %f3, %f1, 0f40000000, %f2; st.global.f32 [%rd3], %f3;");
  EXPECT_EQ(whole.pattern, 9);
  EXPECT_FALSE(whole.splits_fma);
}

TEST(Chains, AddressesAreComputedBefore) {
  const Chain c = only(
      "ld.global.f32 %f1, [%rd1]; add.u64 %rd4, %rd2, 128; ld.global.f32 %f2, [%rd4];"
      "add.u32 %r5, %r20, 1; add.f32 %f3, %f1, %f2; add.u64 %rd5, %rd3, 256;"
      "st.global.f32 [%rd5], %f3; st.shared.u32 [sh], %r5;");
  EXPECT_EQ(c.pattern, 1);
  EXPECT_EQ(c.hoisted.size(), 3u);
  EXPECT_TRUE(c.sunk.empty());
  EXPECT_EQ(c.instructions.back() - c.instructions.front() + 1, 7u);
}

TEST(Chains, WhatMustNotComeBeforeComesAfter) {
  // %rd2 is the address of the second load, and changes after it.
  const Chain c = only(
      "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; add.u64 %rd2, %rd2, 4;"
      "xor.b32 %r3, %r1, %r2; st.global.u32 [%rd3], %r3; st.shared.u64 [sh], %rd2;");
  EXPECT_TRUE(c.hoisted.empty());
  ASSERT_EQ(c.sunk.size(), 1u);
  EXPECT_EQ(c.sunk[0], c.instructions[1] + 1);
}

TEST(Chains, Refusals) {
  EXPECT_EQ(refusal("ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2;"
                    "st.shared.f32 [sh], %f1;"),
            "its value is used again");
  EXPECT_EQ(refusal("ld.global.f64 %d1, [%rd1]; st.global.f64 [%rd3], %d1;"),
            "more than 4 bytes per thread");
  EXPECT_EQ(refusal("ld.global.v2.u32 {%r1, %r2}, [%rd1]; add.u32 %r3, %r1, %r2;"
                    "st.global.u32 [%rd3], %r3;"),
            "more than 4 bytes per thread");
  EXPECT_EQ(refusal("ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd3], %r1;"),
            "volatile, or ordered");
  EXPECT_EQ(refusal("setp.eq.u32 %p1, %r20, 3; @%p1 ld.global.u32 %r1, [%rd1];"
                    "st.global.u32 [%rd3], %r1;"),
            "guarded");
  EXPECT_EQ(refusal("ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 7; st.shared.u32 [sh], %r2;"),
            "what uses its value is none of the patterns");
  // A register of each thread does not fit into the packet.
  EXPECT_EQ(
      refusal("ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, %r20; st.global.u32 [%rd3], %r2;"),
      "what uses its value is none of the patterns");
  EXPECT_EQ(refusal("ld.global.f32 %f1, [%rd1]; sin.approx.f32 %f2, %f1;"
                    "st.global.f32 [%rd3], %f2;"),
            "what uses its value is none of the patterns");
  EXPECT_NE(refusal("ld.global.u32 %r1, [%rd1]; st.shared.u32 [sh], %r20;"
                    "st.global.u32 [%rd3], %r1;")
                .find("a memory access lies in between (line"),
            std::string::npos);
  EXPECT_NE(refusal("ld.global.u32 %r1, [%rd1]; bar.sync 0; ld.global.u32 %r2, [%rd2];"
                    "st.shared.u32 [sh], %r2; st.global.u32 [%rd3], %r1;"),
            "");
  // The address of the store depends on another load between the load and the store.
  EXPECT_NE(
      refusal("ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; mul.wide.u32 %rd4, %r2, 4;"
              "add.u64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], %r1;"),
      "");
}

TEST(Chains, NoTwoShareAnInstruction) {
  // After unrolling, nvcc puts loads first, so that one chain lies inside of another.
  const Chains found = find_chains(
      kernel_of("ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd3], %r2;"
                "st.global.u32 [%rd3+4096], %r1;"));
  ASSERT_EQ(found.chains.size(), 1u);
  EXPECT_EQ(found.chains[0].pattern, 3);
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_EQ(found.refused[0].reason, "a part of another chain lies in between");
}

/// Chains of a workload's PTX by pattern.
std::vector<uint32_t> patterns_of(const std::string& name) {
  const workloads::Workload* w = workloads::find(name);
  std::vector<uint32_t> n(10, 0);
  for (const Kernel& k : compiler::compile_ptx(w->ptx(), w->ptx_name()).kernels)
    for (const Chain& c : find_chains(k).chains) n[c.pattern] += 1;
  return n;
}

TEST(Chains, OfNvccsCode) {
  EXPECT_EQ(patterns_of("vector-add"), (std::vector<uint32_t>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  // Each of the micro-benchmarks has the pattern of the paper's table 3; TRIAD has pattern 9.
  EXPECT_EQ(patterns_of("copy-aligned"), (std::vector<uint32_t>{0, 1, 0, 1, 0, 1, 1, 1, 0, 1}));
}

}  // namespace
}  // namespace nearwarp::opportunistic
