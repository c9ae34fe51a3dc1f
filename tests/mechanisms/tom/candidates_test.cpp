// Which pieces of code become offloading candidates, and with which registers? Each test is one
// rule of the selection on a few lines of PTX.
#include <gtest/gtest.h>

#include "host/mechanisms/tom/pass/print.h"
#include "host/mechanisms/tom/pass/regions.h"
#include "tests/mechanisms/tom/candidates_ptx.h"

namespace nearwarp::compiler {
namespace {

TEST(OffloadCandidates, BlockThatSaves) {
  const Kernel kernel = kernel_of(R"(
  mov.b32 %f1, %r1;
  st.global.f32 [%rd1], %f1;
  st.global.f32 [%rd1+4], %f1;
  st.global.f32 [%rd1+8], %f1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  EXPECT_EQ(c.kind, CandidateKind::kBlock);
  EXPECT_EQ(c.trip, TripKind::kNoLoop);
  // Parameters can be read near memory, too, so the candidate includes their loads, and has no
  // live-ins.
  EXPECT_TRUE(c.live_ins.empty());
  EXPECT_TRUE(c.live_outs.empty());
  EXPECT_EQ(c.terms.n_ld, 0);
  EXPECT_EQ(c.terms.n_st, 3);
  EXPECT_EQ(c.tx.value(), -99);
  EXPECT_EQ(c.rx.value(), -0.75);
  EXPECT_TRUE(c.saves_tx);
  EXPECT_TRUE(c.saves_rx);
  const Instruction& resume = kernel.instructions[c.resume_instruction];
  EXPECT_EQ(resume.op, ptx::Opcode::kRet);  // the main GPU ends the thread
  EXPECT_EQ(kernel.instructions[c.first_memory_instruction].op, ptx::Opcode::kSt);
}

// A barrier in front keeps the parameters' loads out, so that live-ins can be told.
constexpr const char* kFence = "  bar.sync 0;\n";

TEST(OffloadCandidates, LiveInsAndOuts) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  ld.global.f32 %f1, [%rd1];
  ld.global.f32 %f2, [%rd1+4];
  ld.global.f32 %f3, [%rd1+8];
  ld.global.f32 %f4, [%rd1+12];
  ld.global.f32 %f5, [%rd1+16];
  add.f32 %f6, %f1, %f2;
  add.f32 %f6, %f6, %f3;
  add.f32 %f6, %f6, %f4;
  add.f32 %f6, %f6, %f5;
  bar.sync 0;
  st.shared.f32 [tile], %f6;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  EXPECT_EQ(names(kernel, c.live_ins), Names{"%rd1"});
  EXPECT_EQ(names(kernel, c.live_outs), Names{"%f6"});
  EXPECT_EQ(c.live_in_bytes, 8u);
  EXPECT_EQ(c.live_out_bytes, 4u);
  EXPECT_EQ((c.tx + c.rx).value(), 64 - 5 * 16.5);
  EXPECT_FALSE(c.saves_tx);  // 32 - 2.5
  EXPECT_TRUE(c.saves_rx);   // 32 - 80
}

TEST(OffloadCandidates, SpecialRegistersAreLiveIns) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %laneid;
  mov.u32 %r6, %tid.x;
  add.s32 %r4, %r4, %r5;
  add.s32 %r4, %r4, %r6;
  st.global.u32 [%rd1], %r4;
  st.global.u32 [%rd1+4], %r4;
  st.global.u32 [%rd1+8], %r4;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  // %r4 alone would do as well: the shorter piece wins at equal cost.
  EXPECT_EQ(names(kernel, c.live_ins), (Names{"%r4", "%rd1"}));
  EXPECT_TRUE(c.special_live_ins.empty());

  const Kernel two = kernel_of(std::string(kFence) + R"(
  mov.u32 %r4, %tid.x;
  add.s32 %r5, %r4, 1;
  st.global.u32 [%rd1], %r4;
  st.global.u32 [%rd1+4], %r5;
  st.global.u32 [%rd1+8], %r4;
  bar.sync 0;
  ret;)");
  const SelectionResult other = analyze(two);
  ASSERT_EQ(other.candidates.size(), 1u);
  EXPECT_EQ(other.candidates[0].terms.reg_tx, 2);
  EXPECT_EQ(other.candidates[0].live_in_bytes, 12u);
}

TEST(OffloadCandidates, PredicatesArePackedAndGuardsKeepOldValues) {
  const Kernel kernel = kernel_of(R"(
  setp.lt.s32 %p1, %r1, %r2;
  setp.lt.s32 %p2, %r2, %r3;
  mov.f32 %f1, 0f00000000;
  bar.sync 0;
  @%p1 ld.global.f32 %f1, [%rd1];
  @%p1 ld.global.f32 %f1, [%rd1+4];
  @%p1 ld.global.f32 %f1, [%rd1+8];
  @%p2 st.global.f32 [%rd1], %f1;
  @%p2 st.global.f32 [%rd1+4], %f1;
  @%p2 st.global.f32 [%rd1+8], %f1;
  @%p2 st.global.f32 [%rd1+12], %f1;
  @%p2 st.global.f32 [%rd1+16], %f1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  // %f1 goes in although it is loaded: lanes without %p1 keep the old value.
  EXPECT_EQ(names(kernel, c.live_ins), (Names{"%f1", "%p1", "%p2", "%rd1"}));
  EXPECT_EQ(c.terms.n_ld, 3);
  EXPECT_EQ(c.terms.n_st, 5);
  EXPECT_EQ(c.live_in_bytes, 16u);  // 8 for %rd1, 4 for %f1, 4 for both predicates
}

TEST(OffloadCandidates, ParameterAndConstantLoadsDoNotCount) {
  const Kernel kernel = kernel_of(R"(
  bra.uni LOADS;
LOADS:
  ld.param.u32 %r4, [p2];
  ld.const.u32 %r5, [table];
  ld.const.u32 %r6, [table+4];
  add.s32 %r4, %r4, %r5;
  add.s32 %r4, %r4, %r6;
  bra.uni STORE;
STORE:
  bar.sync 0;
  st.shared.u32 [tile], %r4;
  ret;)");
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kBlock, RefusalReason::kNoMemoryAccess));
  for (const Refusal& r : result.refusals) EXPECT_EQ(r.terms.n_ld + r.terms.n_st, 0);
}

TEST(OffloadCandidates, LocalAccessesCount) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  st.local.u32 [%rd1], %r1;
  st.local.u32 [%rd1+4], %r1;
  st.local.u32 [%rd1+8], %r1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  EXPECT_EQ(result.candidates[0].terms.n_st, 3);
}

TEST(OffloadCandidates, SavesNothing) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  ld.global.u32 %r4, [%rd1];
  add.s32 %r4, %r4, %r1;
  st.global.u32 [%rd2], %r4;
  bar.sync 0;
  ret;)");
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(result.candidates.empty());
  // One store with an address and a value: 2 x 32 - 33.25, better than the whole block.
  const auto refusal = std::find_if(result.refusals.begin(), result.refusals.end(),
                                    [](const Refusal& r) { return r.terms.n_st > 0; });
  ASSERT_NE(refusal, result.refusals.end());
  EXPECT_EQ((refusal->tx + refusal->rx).value(), 2 * 32 - 33.25);
}

// ---- limitations (section 3.1.4) ----

std::string stores(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "  st.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r1;\n";
  return text;
}

TEST(OffloadLimitations, SharedMemorySplitsABlock) {
  const Kernel kernel = kernel_of(std::string(kFence) + stores(4) +
                                  "  st.shared.u32 [tile], %r1;\n" + stores(5) + "  ret;");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 2u);
  EXPECT_EQ(result.candidates[0].terms.n_st, 4);
  EXPECT_EQ(result.candidates[1].terms.n_st, 5);
  EXPECT_LT(result.candidates[0].last_instruction, result.candidates[1].first_instruction);
}

TEST(OffloadLimitations, EachForbiddenInstruction) {
  const std::vector<std::pair<std::string, RefusalReason>> cases{
      {"ld.shared.u32 %r5, [tile];", RefusalReason::kSharedMemory},
      {"ld.u32 %r5, [%rd2];", RefusalReason::kSharedMemory},  // generic: may be shared here
      {"atom.global.add.u32 %r5, [%rd2], 1;", RefusalReason::kAtomic},
      {"red.global.add.u32 [%rd2], 1;", RefusalReason::kAtomic},
      {"membar.gl;", RefusalReason::kBarrier},
      {"bar.warp.sync 0xffffffff;", RefusalReason::kBarrier},
      {"bar.sync 0;", RefusalReason::kBarrier},
  };
  for (const auto& [instruction, reason] : cases) {
    const Kernel kernel = kernel_of(R"(
  st.shared.u32 [tile], %r1;
  mov.u32 %r4, 0;
LOOP:
  ld.global.u32 %r6, [%rd1];
  )" + instruction + R"(
  st.global.u32 [%rd1], %r6;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p1, %r4, %r2;
  @%p1 bra LOOP;
  ret;)");
    const SelectionResult result = analyze(kernel);
    EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, reason)) << instruction;
    for (const OffloadCandidate& c : result.candidates)
      EXPECT_EQ(c.kind, CandidateKind::kBlock) << instruction;
  }
}

TEST(OffloadLimitations, GenericAccessIsFineWithoutSharedMemory) {
  std::string text = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p0)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p0];
  st.u32 [%rd1], 1;
  st.u32 [%rd1+4], 1;
  ret;
})";
  const Kernel kernel = *compile_ptx(text, "test.ptx").find("k");
  ASSERT_EQ(analyze(kernel).candidates.size(), 1u);
}

TEST(OffloadLimitations, TwoExitsAreRefused) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  mov.u32 %r4, 0;
LOOP:
  ld.global.u32 %r5, [%rd1];
  setp.eq.s32 %p1, %r5, %r3;
  @%p1 bra FOUND;
  st.global.u32 [%rd1+4], %r5;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, %r2;
  @%p2 bra LOOP;
  st.shared.u32 [tile], %r4;
  ret;
FOUND:
  st.shared.u32 [tile+4], %r4;
  ret;)");
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kDivergentExit));
  for (const OffloadCandidate& c : result.candidates) EXPECT_EQ(c.kind, CandidateKind::kBlock);
}

TEST(OffloadLimitations, ThreadsThatEndInsideAreRefused) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  mov.u32 %r4, 0;
LOOP:
  ld.global.u32 %r5, [%rd1];
  setp.eq.s32 %p1, %r5, %r3;
  @%p1 exit;
  st.global.u32 [%rd1+4], %r5;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, %r2;
  @%p2 bra LOOP;
  ret;)");
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kDivergentExit));
}

// ---- regions ----

TEST(OffloadRegions, IfThenElse) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra THEN;
  ld.global.u32 %r4, [%rd1];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r1;
  bra.uni JOIN;
THEN:
  ld.global.u32 %r4, [%rd1+8];
  st.global.u32 [%rd1+8], %r1;
  st.global.u32 [%rd1+12], %r1;
JOIN:
  bar.sync 0;
  st.shared.u32 [tile], %r4;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  EXPECT_EQ(c.kind, CandidateKind::kRegion);
  EXPECT_EQ(c.blocks.size(), 3u);
  EXPECT_EQ(names(kernel, c.live_outs), Names{"%r4"});
  EXPECT_EQ(c.terms.n_ld, 2);  // both sides count
  EXPECT_EQ(c.terms.n_st, 4);
  EXPECT_EQ(kernel.blocks[c.resume_block].first, c.resume_instruction);
  EXPECT_EQ(c.terms.reg_tx, 3);  // %rd1, %r1, and the predicate or %r2
}

TEST(OffloadRegions, ValueWrittenOnOneSideComesBackFromTheOther) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 7;
  setp.lt.s32 %p1, %r1, %r2;
  bar.sync 0;
  @%p1 bra JOIN;
  ld.global.u32 %r4, [%rd1];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r1;
  st.global.u32 [%rd1+8], %r1;
  st.global.u32 [%rd1+12], %r1;
  st.global.u32 [%rd1+16], %r1;
JOIN:
  st.shared.u32 [tile], %r4;
  ret;)");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  const Names ins = names(kernel, c.live_ins);
  if (c.kind == CandidateKind::kRegion) {
    EXPECT_NE(std::find(ins.begin(), ins.end(), "%r4"), ins.end());
  } else {
    EXPECT_EQ(ins, (Names{"%r1", "%rd1"}));  // inside the side it is always written
  }
}

// ---- what is considered ----

TEST(OffloadGranularity, RegionsWithoutLoopsAreOneKindOnly) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra THEN;
  st.global.u32 [%rd1], %r1;
  bra.uni JOIN;
THEN:
  st.global.u32 [%rd1+8], %r1;
JOIN:
  bar.sync 0;
  ret;)");
  for (const Granularity g : {Granularity::kLoop, Granularity::kInnermost, Granularity::kBlock})
    for (const OffloadCandidate& c : analyze(kernel, g).candidates)
      EXPECT_EQ(c.kind, CandidateKind::kBlock);
}

/// A guard, a loop of %r1 rounds in each of %r2 rounds, a barrier.
const std::string kNest = std::string(kFence) + R"(
  setp.lt.s32 %p1, %r1, 1;
  mov.u32 %r6, 0;
  @%p1 bra DONE;
OUTER:
  mov.u32 %r5, 0;
INNER:
  ld.global.u32 %r4, [%rd1];
  st.global.u32 [%rd1+4], %r4;
  st.global.u32 [%rd1+8], %r4;
  st.global.u32 [%rd1+12], %r4;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra INNER;
  add.s32 %r6, %r6, 1;
  setp.lt.s32 %p3, %r6, %r2;
  @%p3 bra OUTER;
DONE:
  bar.sync 0;
  ret;)";

/// Loops of a kernel that a candidate contains.
size_t loops_in(const Kernel& kernel, const OffloadCandidate& c) {
  return static_cast<size_t>(
      std::count_if(kernel.loops.begin(), kernel.loops.end(), [&](const Loop& loop) {
        return std::includes(c.blocks.begin(), c.blocks.end(), loop.blocks.begin(),
                             loop.blocks.end());
      }));
}

TEST(OffloadGranularity, NestsOrInnermostLoopsOrBlocks) {
  const Kernel kernel = kernel_of(kNest);
  for (const Granularity g : {Granularity::kRegion, Granularity::kLoop}) {
    const SelectionResult r = analyze(kernel, g);
    ASSERT_EQ(r.candidates.size(), 1u);
    EXPECT_EQ(loops_in(kernel, r.candidates[0]), 2u);
  }
  const SelectionResult innermost = analyze(kernel, Granularity::kInnermost);
  ASSERT_EQ(innermost.candidates.size(), 1u);
  EXPECT_EQ(loops_in(kernel, innermost.candidates[0]), 1u);
  EXPECT_TRUE(refused_for(innermost, CandidateKind::kLoop, RefusalReason::kGranularity));
  const SelectionResult blocks = analyze(kernel, Granularity::kBlock);
  for (const OffloadCandidate& c : blocks.candidates) EXPECT_EQ(c.kind, CandidateKind::kBlock);
  EXPECT_TRUE(refused_for(blocks, CandidateKind::kLoop, RefusalReason::kGranularity));
}

TEST(OffloadGranularity, CodeAroundALoopThatAccessesMemoryDoesNotBelongToIt) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  ld.global.u32 %r7, [%rd2];
  setp.lt.s32 %p1, %r1, 1;
  mov.u32 %r5, 0;
  @%p1 bra DONE;
LOOP:
  st.global.u32 [%rd1+4], %r5;
  st.global.u32 [%rd1+8], %r5;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
  st.global.u32 [%rd1+12], %r7;
DONE:
  bar.sync 0;
  ret;)");
  const SelectionResult region = analyze(kernel), loop = analyze(kernel, Granularity::kLoop);
  ASSERT_EQ(region.candidates.size(), 1u);
  ASSERT_EQ(loop.candidates.size(), 1u);
  const auto stores = [&](const OffloadCandidate& c) {
    int n = 0;
    for (InstrId i = c.first_instruction; i <= c.last_instruction; ++i)
      n += is_counted_store(kernel.instructions[i]) ? 1 : 0;
    return n;
  };
  EXPECT_EQ(stores(region.candidates[0]), 3);
  EXPECT_EQ(stores(loop.candidates[0]), 2);
}

TEST(OffloadGranularity, NoPieceIsTheWholeKernel) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r5, 0;
LOOP:
  st.global.u32 [%rd1+4], %r5;
  st.global.u32 [%rd1+8], %r5;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
  ret;)");
  const SelectionResult whole = analyze(kernel, Granularity::kLoop);
  for (const OffloadCandidate& c : whole.candidates)
    EXPECT_GT(c.first_instruction, 5u);  // behind the parameters: the loop, without its counter
}

// ---- overlaps and the table ----

TEST(OffloadSelection, CandidatesAreDisjointAndInOrder) {
  std::string body = kFence;
  for (int i = 0; i < 5; ++i) body += stores(3) + kFence;
  const Kernel kernel = kernel_of(body + "  ret;");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 5u);
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    EXPECT_EQ(result.candidates[i].id, i);
    if (i > 0) {
      EXPECT_LT(result.candidates[i - 1].last_instruction, result.candidates[i].first_instruction);
    }
  }
}

TEST(OffloadSelection, BlocksOfConditionalLoopsFollowThem) {
  // Eight loads in a round: they save by themselves, and in a loop that needs two rounds.
  std::string loads;
  for (int i = 0; i < 8; ++i)
    loads +=
        "  ld.global.f32 %f2, [%rd1+" + std::to_string(128 * i) + "];\n  add.f32 %f1, %f1, %f2;\n";
  const Kernel kernel = kernel_of(R"(
  mov.f32 %f1, 0f00000000;
  mov.u32 %r4, 0;
  bar.sync 0;
LOOP:
)" + loads + R"(  add.s64 %rd1, %rd1, %rd2;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p1, %r4, %r1;
  @%p1 bra LOOP;
  bar.sync 0;
  st.shared.f32 [tile], %f1;
  ret;)");
  OffloadModel model;
  EXPECT_EQ(analyze_offloading(kernel, model).candidates.size(), 1u);
  model.inner_blocks = true;
  const std::vector<OffloadCandidate> both = select_candidates(kernel, model);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].trip, TripKind::kConditional);
  EXPECT_EQ(both[0].within, kNone);
  EXPECT_EQ(both[1].kind, CandidateKind::kBlock);
  EXPECT_EQ(both[1].within, 0u);
  EXPECT_EQ(both[1].first_memory_instruction, both[0].first_memory_instruction);
  EXPECT_LT(both[1].live_in_bytes, both[0].live_in_bytes);  // without the loop's bound and counter
  EXPECT_NE(format_analysis(kernel, analyze_offloading(kernel, model))
                .find("offload if     the condition of candidate 0 does not hold"),
            std::string::npos);
  model.max_candidates = 1;
  EXPECT_EQ(select_candidates(kernel, model).size(), 1u);
}

TEST(OffloadSelection, FullTableKeepsTheBest) {
  std::string body = kFence;
  for (int i = 3; i < 8; ++i) body += stores(i) + kFence;
  const Kernel kernel = kernel_of(body + "  ret;");
  OffloadModel model;
  model.max_candidates = 2;
  const SelectionResult result = analyze_offloading(kernel, model);
  ASSERT_EQ(result.candidates.size(), 2u);
  EXPECT_EQ(result.candidates[0].terms.n_st, 6);
  EXPECT_EQ(result.candidates[1].terms.n_st, 7);
  EXPECT_TRUE(refused_for(result, CandidateKind::kBlock, RefusalReason::kTableFull));
}

TEST(OffloadSelection, AssumptionsDecide) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  ld.global.u32 %r4, [%rd1];
  ld.global.u32 %r5, [%rd1+4];
  ld.global.u32 %r6, [%rd1+8];
  add.s32 %r4, %r4, %r5;
  add.s32 %r4, %r4, %r6;
  bar.sync 0;
  st.shared.u32 [tile], %r4;
  ret;)");
  EXPECT_TRUE(analyze(kernel).candidates.empty());  // 64 - 3 x 16.5
  OffloadModel model;
  model.miss_ld_percent = 100;
  EXPECT_EQ(select_candidates(kernel, model).size(), 1u);  // 64 - 3 x 33
}

TEST(OffloadReport, FitsAndNamesEverything) {
  const Kernel kernel = kernel_of(std::string(kFence) + R"(
  mov.u32 %r4, 0;
LOOP:
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%rd1], %r5;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p1, %r4, %r2;
  @%p1 bra LOOP;
  st.shared.u32 [tile], %r1;
  atom.global.add.u32 %r6, [%rd2], 1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  const AnalysisReport report = report_analysis(kernel, result);
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_EQ(report.candidates[0].trip, "conditional");
  EXPECT_EQ(report.candidates[0].condition, "%r2 >= 2");
  Names live_ins = report.candidates[0].live_ins;
  std::sort(live_ins.begin(), live_ins.end());
  EXPECT_EQ(live_ins, (Names{"%r2", "%rd1"}));
  const std::string text = format_analysis(kernel, result);
  EXPECT_NE(text.find("kernel k: 1 candidate\n"), std::string::npos) << text;
  EXPECT_NE(text.find("offload if     %r2 >= 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("accesses shared memory"), std::string::npos) << text;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - at, 100u);
    at = end + 1;
  }
}

// Straight code with a branch in every division has more regions than there is time to evaluate.
TEST(OffloadCandidates, KernelsOfManyBlocksHaveSmallerRegions) {
  const auto largest = [](int branches) {
    std::string body;
    for (int i = 0; i < branches; ++i)
      body += "  ld.global.f32 %f1, [%rd1+" + std::to_string(4 * i) +
              "];\n  setp.lt.f32 %p1, %f1, %f2;\n  @%p1 bra L" + std::to_string(i) +
              ";\n  fma.rn.f32 %f2, %f1, %f1, %f2;\nL" + std::to_string(i) + ":\n";
    const Kernel kernel =
        kernel_of("  mov.b32 %f2, %r1;\n" + body + "  st.global.f32 [%rd2], %f2;\n  ret;");
    size_t most = 0;
    for (const Region& region : find_regions(kernel)) most = std::max(most, region.blocks.size());
    EXPECT_FALSE(analyze(kernel).candidates.empty());
    return most;
  };
  EXPECT_EQ(largest(20), 40u);  // the whole kernel but its last block
  EXPECT_EQ(largest(100), 200u);
  EXPECT_EQ(largest(300), 108u);  // 256 * 256 blocks over 601
  EXPECT_EQ(largest(1500), 32u);
}

}  // namespace
}  // namespace nearwarp::compiler
