// Which shared arrays does the code prove to be accumulators or tables, and how much of them does a
// warp take along? Kernels as nvcc compiles them, and by hand.
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/mechanisms/tom/candidates_ptx.h"

namespace nearwarp::compiler {
namespace {

const Program& nvcc_kernels() {
  static const Program program =
      compile_ptx_file(std::string(NW_SOURCE_DIR) + "/tests/mechanisms/tuning/data/shared.ptx");
  return program;
}

OffloadModel model_of(const std::string& annotations = "", bool proves = true) {
  OffloadModel model;
  model.granularity = Granularity::kLoop;
  model.shared.on = true;
  model.shared.proves = proves;
  model.shared.capacity = 98304;
  model.shared.flat_blocks = true;
  model.shared.annotations = parse_annotations(annotations, "test");
  return model;
}

/// The use of shared memory by the kernel's loop that loads from global memory, whether or not it
/// pays to offload it.
SharedUse use_in_loop(const Kernel& kernel, const OffloadModel& model = model_of()) {
  const SharedArrays arrays(kernel, model.shared);
  SharedUse use;
  for (const Loop& loop : kernel.loops) {
    bool loads = false;
    for (const BlockId b : loop.blocks)
      for (uint32_t i = 0; i < kernel.blocks[b].count; ++i) {
        const Instruction& in = kernel.instructions[kernel.blocks[b].first + i];
        loads |= in.op == ptx::Opcode::kLd && in.mod.space == ptx::Space::kGlobal;
      }
    if (loads) use = arrays.use_of(loop.blocks, kNone, 0);
  }
  return use;
}
SharedUse use_in(const std::string& name, const OffloadModel& model = model_of()) {
  const Kernel* kernel = nvcc_kernels().find(name);
  EXPECT_NE(kernel, nullptr) << name;
  return use_in_loop(*kernel, model);
}

TEST(SharedUse, AccumulatorsAreProved) {
  const std::pair<const char*, uint32_t> some[] = {
      {"counts_of_warps", 1024},  // a warp's part of 4096
      {"counts_of_block", 512},   // of 1024, for the value has seven bits
      {"counts_of_threads", 15 * 512 + 31 * 4 + 4},
      {"bits_seen", 256},
  };
  for (const auto& [name, bytes] : some) {
    const SharedUse use = use_in(name);
    EXPECT_EQ(use.refusal, SharedRefusal::kFits) << name;
    EXPECT_EQ(use.kind, SharedKind::kAccumulator) << name;
    EXPECT_EQ(use.bytes, bytes) << name;
    EXPECT_FALSE(use.annotated);
  }
}

TEST(SharedUse, TablesAreProved) {
  const SharedUse use = use_in("looks_up");
  EXPECT_EQ(use.refusal, SharedRefusal::kFits);
  EXPECT_EQ(use.kind, SharedKind::kTable);
  EXPECT_EQ(use.bytes, 1024u);
}

TEST(SharedUse, NearMissesAreRefused) {
  const std::pair<const char*, SharedRefusal> some[] = {
      {"minima", SharedRefusal::kPattern},         {"tickets", SharedRefusal::kPattern},
      {"saturates", SharedRefusal::kPattern},      {"float_sums", SharedRefusal::kPattern},
      {"adds_and_flips", SharedRefusal::kPattern}, {"two_arrays", SharedRefusal::kSeveral},
      {"replaces", SharedRefusal::kPattern},       {"dynamic_counts", SharedRefusal::kUnknown},
  };
  for (const auto& [name, refusal] : some) {
    const SharedUse use = use_in(name);
    EXPECT_EQ(use.refusal, refusal) << name;
    EXPECT_NE(use.instruction, kNone) << name;
  }
}

TEST(SharedUse, VolatileAccessesStayAtHome) {
  const Kernel& kernel = *nvcc_kernels().find("volatile_table");
  const SelectionResult result = analyze_offloading(kernel, model_of());
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kSharedMemory));
}

TEST(SharedUse, LanesThatDoNotLieInARowTakeTheWholeArray) {
  OffloadModel model = model_of();
  model.shared.flat_blocks = false;
  EXPECT_EQ(use_in("counts_of_warps", model).bytes, 4096u);
  EXPECT_EQ(use_in("counts_of_block", model).bytes, 512u);  // says nothing of lanes
}

TEST(SharedUse, CandidatesTakeTheirArrayAlong) {
  const Kernel& kernel = *nvcc_kernels().find("counts_of_warps");
  EXPECT_TRUE(analyze(kernel, Granularity::kLoop).candidates.empty());
  const SelectionResult result = analyze_offloading(kernel, model_of());
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  EXPECT_EQ(c.shared.bytes, 1024u);
  EXPECT_EQ(c.trip, TripKind::kConditional);
  // 256 addresses come back; a load saves half an address there and 16 back.
  const auto registers =
      static_cast<int64_t>(c.live_ins.size() + c.special_live_ins.size() + c.live_outs.size());
  EXPECT_EQ(c.base.shared_rx, 1024);
  EXPECT_EQ(c.base.shared_tx, 0);
  EXPECT_EQ(c.condition.threshold_iterations, (registers * 32 + 256) * 2 / 33 + 1);
}

TEST(SharedUse, ATableCostsOnTheWayThere) {
  const SelectionResult result = analyze_offloading(*nvcc_kernels().find("looks_up"), model_of());
  ASSERT_EQ(result.candidates.size(), 1u);
  EXPECT_EQ(result.candidates[0].base.shared_tx, 1024);
  EXPECT_EQ(result.candidates[0].base.shared_rx, 0);
}

TEST(SharedUse, AnArrayThatCostsMoreThanIsSavedIsRefused) {
  // Two rounds of one load save 33 addresses; the array alone is 256.
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
LOOP:
  ld.global.u32 %r5, [%rd1];
  and.b32 %r6, %r5, 252;
  mov.u32 %r7, tile;
  add.u32 %r8, %r7, %r6;
  ld.shared.u32 %r9, [%r8+768];
  ld.shared.u32 %r11, [%r8];
  add.u32 %r10, %r9, %r11;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 2;
  @%p1 bra LOOP;
  st.global.u32 [%rd2], %r10;
  ret;
)");
  const SelectionResult result = analyze_offloading(kernel, model_of());
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kSavesNothing));
  EXPECT_EQ(use_in_loop(kernel).bytes, 1024u);
}

TEST(SharedUse, AnnotationsAreBelievedWhereTheCodeDoesNotTell) {
  const SharedUse floats = use_in("float_sums", model_of("sums:accumulator:512", false));
  EXPECT_EQ(floats.refusal, SharedRefusal::kFits);
  EXPECT_EQ(floats.kind, SharedKind::kAccumulator);
  EXPECT_EQ(floats.bytes, 512u);
  EXPECT_TRUE(floats.annotated);
  const SharedUse dynamic = use_in("dynamic_counts", model_of("counts:accumulator:512"));
  EXPECT_EQ(dynamic.refusal, SharedRefusal::kFits);
  EXPECT_EQ(dynamic.bytes, 512u);
}

TEST(SharedUse, AnnotationsNameArraysAsPtxOrTheSourceDo) {
  for (const char* name : {"_ZZ10float_sumsE4sums", "float_sums::sums", "sums"}) {
    EXPECT_EQ(use_in("float_sums", model_of(std::string(name) + ":accumulator:512", false)).refusal,
              SharedRefusal::kFits)
        << name;
  }
  EXPECT_EQ(use_in("float_sums", model_of("ums:accumulator:512", false)).refusal,
            SharedRefusal::kPattern);
}

TEST(SharedUse, AnnotationsOfTablesThatAreWrittenAreNotBelieved) {
  EXPECT_EQ(use_in("replaces", model_of("last:table:8192")).refusal, SharedRefusal::kPattern);
}

TEST(SharedUse, WithoutProofsOnlyAnnotatedArraysGoAlong) {
  EXPECT_EQ(use_in("looks_up", model_of("", false)).refusal, SharedRefusal::kPattern);
  EXPECT_EQ(use_in("looks_up", model_of("table:table:64", false)).bytes, 64u);
}

TEST(SharedUse, AnArrayMustFitIntoAStackSm) {
  OffloadModel model = model_of();
  model.shared.capacity = 1023;
  EXPECT_EQ(use_in("looks_up", model).refusal, SharedRefusal::kFull);
  const SelectionResult result = analyze_offloading(*nvcc_kernels().find("looks_up"), model);
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kSharedFull));
  model.shared.capacity = 1024;
  EXPECT_EQ(use_in("looks_up", model).refusal, SharedRefusal::kFits);
}

/// A loop that updates tile[r6] in the way of `update`.
SharedUse use_by_hand(const std::string& update) {
  return use_in_loop(kernel_of(R"(
  mov.u32 %r4, 0;
  mov.u32 %r7, tile;
LOOP:
  ld.global.u32 %r5, [%rd1];
  and.b32 %r6, %r5, 252;
  add.u32 %r8, %r7, %r6;
  setp.gt.u32 %p2, %r5, 9;
)" + update + R"(
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r1;
  @%p1 bra LOOP;
  ret;
)"));
}
SharedRefusal by_hand(const std::string& update) { return use_by_hand(update).refusal; }

TEST(SharedUse, UpdatesWithoutAtomics) {
  constexpr SharedRefusal kFits = SharedRefusal::kFits, kPattern = SharedRefusal::kPattern;
  const std::string load = "ld.shared.u32 %r9, [%r8+4];", store = "st.shared.u32 [%r8+4], %r10;";
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r9, %r5;" + store), kFits);
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r5, %r9;" + store), kFits);
  EXPECT_EQ(by_hand(load + "sub.u32 %r10, %r9, %r5;" + store), kFits);
  EXPECT_EQ(by_hand(load + "sub.u32 %r10, %r5, %r9;" + store), kPattern);  // changes its sign
  EXPECT_EQ(by_hand(load + "mad.lo.u32 %r10, %r5, %r5, %r9;" + store), kFits);
  EXPECT_EQ(by_hand(load + "mad.lo.u32 %r10, %r9, %r5, %r5;" + store), kPattern);
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r9, %r9;" + store), kPattern);  // doubles it
  EXPECT_EQ(by_hand(load + "or.b32 %r10, %r9, %r5;" + store), kFits);
  EXPECT_EQ(by_hand(load + "and.b32 %r10, %r9, %r5;" + store), kPattern);
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r9, 1;" + "st.shared.u32 [%r8+8], %r10;"), kPattern);
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r9, 1; add.u32 %r8, %r8, 4;" + store), kPattern);
  EXPECT_EQ(by_hand(load + "add.u32 %r10, %r9, 1;" + store + "st.global.u32 [%rd2], %r10;"),
            kPattern);
  EXPECT_EQ(by_hand("@%p2 " + load + "@%p2 add.u32 %r10, %r9, 1; @%p2 " + store), kFits);
  EXPECT_EQ(by_hand("@%p2 " + load + "add.u32 %r10, %r9, 1; @%p2 " + store), kPattern);
  EXPECT_EQ(by_hand("ld.shared.f32 %f1, [%r8]; add.f32 %f2, %f1, %f3; st.shared.f32 [%r8], %f2;"),
            kPattern);
  EXPECT_EQ(by_hand(store), kPattern);  // forgets what was there
}

TEST(SharedUse, Atomics) {
  constexpr SharedRefusal kFits = SharedRefusal::kFits, kPattern = SharedRefusal::kPattern;
  EXPECT_EQ(by_hand("red.shared.add.u32 [%r8], 1;"), kFits);
  EXPECT_EQ(by_hand("red.shared.add.u64 [%r8], %rd2;"), kFits);
  EXPECT_EQ(by_hand("red.shared.max.u32 [%r8], %r5;"), kFits);     // zero is the least
  EXPECT_EQ(by_hand("red.shared.max.s32 [%r8], %r5;"), kPattern);  // here it is not
  EXPECT_EQ(by_hand("red.shared.and.b32 [%r8], %r5;"), kPattern);
  EXPECT_EQ(by_hand("red.shared.inc.u32 [%r8], %r5;"), kPattern);
  EXPECT_EQ(by_hand("atom.shared.exch.b32 %r9, [%r8], %r5;"), kPattern);
  EXPECT_EQ(by_hand("red.shared.add.u32 [%r8], 1; ld.shared.u32 %r9, [%r8];"), kPattern);
  EXPECT_EQ(by_hand("red.shared.add.u32 [%r8], 1; red.shared.add.u64 [%r8], %rd2;"), kPattern);
  EXPECT_EQ(by_hand("red.shared.add.u32 [%r5], 1;"), SharedRefusal::kUnknown);
}

TEST(SharedUse, WhatAWarpTouchesOfAnArray) {
  EXPECT_EQ(use_by_hand("ld.shared.u32 %r9, [%r8];").bytes, 256u);
  EXPECT_EQ(use_by_hand("ld.shared.u32 %r9, [%r8+64];").bytes, 256u);
  EXPECT_EQ(use_by_hand("ld.shared.u32 %r9, [%r8]; ld.shared.u8 %r10, [%r8+300];").bytes, 553u);
  EXPECT_EQ(use_by_hand("ld.shared.u32 %r9, [%r7+8];").bytes, 4u);
  EXPECT_EQ(use_by_hand("ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [tile+16];").bytes, 16u);
  EXPECT_EQ(use_by_hand("shl.b32 %r9, %r5, 2; add.u32 %r10, %r7, %r9;"
                        "ld.shared.u32 %r11, [%r10];")
                .bytes,
            1024u);  // any place
  // A place that all lanes agree on, and lanes side by side.
  EXPECT_EQ(use_by_hand("mov.u32 %r9, %tid.x; shl.b32 %r10, %r9, 2; add.u32 %r11, %r7, %r10;"
                        "ld.shared.u32 %r12, [%r11];")
                .bytes,
            128u);
  EXPECT_EQ(use_by_hand("add.u32 %r11, %r7, %r2; ld.shared.u32 %r12, [%r11];").bytes, 4u);
  // An address that an iteration computes anew is elsewhere in every one.
  EXPECT_EQ(use_by_hand("shl.b32 %r10, %r4, 2; add.u32 %r11, %r7, %r10;"
                        "ld.shared.u32 %r12, [%r11];")
                .bytes,
            1024u);
}

TEST(SharedUse, AnnotationsThatAreNoneAreErrors) {
  for (const char* text : {"a", "a:table", "a:table:0", "a:table:x", "a:array:4", ":table:4",
                           "a:table:4+", "+a:table:4", "a:table:-4"}) {
    EXPECT_THROW(parse_annotations(text, "key"), Error) << text;
  }
  const auto two = parse_annotations("k::a:table:4+b:accumulator:128", "key");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].array, "k::a");
  EXPECT_EQ(two[1].bytes, 128u);
  EXPECT_TRUE(parse_annotations("", "key").empty());
}

}  // namespace
}  // namespace nearwarp::compiler
