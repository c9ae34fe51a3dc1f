// Are trip counts computed from registers at the candidate's entry, and are the parts of an
// unrolled loop recognised as one loop (TOM, section 3.1.3)?
#include <gtest/gtest.h>

#include <limits>

#include "host/mechanisms/tom/pass/trips.h"
#include "tests/mechanisms/tom/candidates_ptx.h"

namespace nearwarp::compiler {
namespace {

/// A kernel whose loop has one load and one store per iteration: `before` stands before the loop,
/// `after` in it, behind the store; LOOP is the header. The loop's counter comes from parameters:
/// %r1 is the start, %r2 the bound, %r3 the step.
Kernel loop_of(const std::string& before, const std::string& after) {
  return kernel_of("  bar.sync 0;\n" + before + R"(
LOOP:
  ld.global.f32 %f1, [%rd1];
  mul.f32 %f1, %f1, %f1;
  st.global.f32 [%rd1], %f1;
  add.s64 %rd1, %rd1, 4;
)" + after + R"(
  @%p1 bra LOOP;
  bar.sync 0;
  ret;)");
}

OffloadCandidate only_candidate(const Kernel& kernel) {
  const SelectionResult result = analyze(kernel);
  EXPECT_EQ(result.candidates.size(), 1u);
  return result.candidates.empty() ? OffloadCandidate{} : result.candidates[0];
}

TEST(OffloadTrips, Static) {
  const Kernel kernel = loop_of("  mov.u32 %r4, 3;", R"(
  add.s32 %r4, %r4, 2;
  setp.lt.s32 %p1, %r4, 20;)");
  const OffloadCandidate c = only_candidate(kernel);
  EXPECT_EQ(c.trip, TripKind::kStatic);
  EXPECT_EQ(c.iterations, 9);  // 3, 5, .. 19
  EXPECT_EQ(c.terms.n_ld, 9);
  EXPECT_EQ(c.terms.n_st, 9);
  EXPECT_EQ(names(kernel, c.live_ins), Names{"%rd1"});  // the counter starts inside
}

TEST(OffloadTrips, StaticTripsUpToTheLargestBound) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  TripCount count;
  count.constant = kMost;
  count.step = 8;
  EXPECT_EQ(static_trips(count), kMost / 8 + 1);
  count.constant = 16;
  EXPECT_EQ(static_trips(count), 2);
  count.constant = 0;
  EXPECT_EQ(static_trips(count), 1);
}

/// The static trip count of a loop_of(); 0 if it has none.
int64_t static_count(const std::string& before, const std::string& after) {
  const OffloadCandidate c = only_candidate(loop_of(before, after));
  return c.trip == TripKind::kStatic ? c.iterations : 0;
}

TEST(OffloadTrips, TheComparisonsTypeReadsConstants) {
  // Without a sign, from 0 and beyond 2^31.
  EXPECT_EQ(
      static_count("mov.u32 %r4, 0;", "add.s32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 0xfffffff0;"),
      0xfffffff0);
  EXPECT_EQ(static_count("mov.u32 %r4, 0;",
                         "add.s32 %r4, %r4, 0x10000000; setp.lo.u32 %p1, %r4, 0xf0000000;"),
            15);
  EXPECT_EQ(static_count("mov.u32 %r4, 0xfffffff0;",
                         "add.s32 %r4, %r4, 1; setp.le.u32 %p1, %r4, 0xfffffffe;"),
            15);
  EXPECT_EQ(static_count("mov.u32 %r4, 0xf0000000;",
                         "add.s32 %r4, %r4, -0x10000000; setp.gt.u32 %p1, %r4, 0;"),
            15);
  EXPECT_EQ(static_count("mov.u64 %rd4, 0;",
                         "add.s64 %rd4, %rd4, 1; setp.lt.u64 %p1, %rd4, 0xfffffffffffffff0;"),
            std::numeric_limits<int64_t>::max());  // the most that a count holds
  // With a sign.
  EXPECT_EQ(static_count("mov.u32 %r4, 0xffffffe0;",
                         "add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, 0xfffffff0;"),
            16);
  EXPECT_EQ(
      static_count("mov.u32 %r4, 0xfffffff0;", "add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, 8;"),
      24);
  // Up to an equal value, wherever the counter starts.
  EXPECT_EQ(
      static_count("mov.u32 %r4, 0xfffffff0;", "add.s32 %r4, %r4, 1; setp.ne.s32 %p1, %r4, 0;"),
      16);
  EXPECT_EQ(static_count("mov.u32 %r4, 0xf0000000;",
                         "add.s32 %r4, %r4, -0x10000000; setp.ne.s32 %p1, %r4, 0;"),
            15);
}

TEST(OffloadTrips, AConstantBoundBeyondARegisterHasNoSign) {
  const Kernel kernel =
      loop_of("mov.u32 %r4, %r1;", "add.s32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 0xfffffff0;");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r1", 0xffffffe0}, {"%r4", 0xffffffe0}}), 16);
}

TEST(OffloadTrips, WideProductsExtendTheirFactorsByTheirType) {
  const auto factor = [](const std::string& statement) {
    const Kernel kernel = kernel_of(statement + " ret;");
    for (const Instruction& i : kernel.instructions) {
      if (i.op != ptx::Opcode::kMul && i.op != ptx::Opcode::kMad) continue;
      const auto sum = linear_definition(i);
      return std::pair(sum->terms.begin()->second, sum->constant);
    }
    return std::pair<int64_t, int64_t>();
  };
  EXPECT_EQ(factor("mul.wide.u32 %rd3, %r1, 0xfffffff0;"), std::pair(0xfffffff0L, 0L));
  EXPECT_EQ(factor("mul.wide.s32 %rd3, %r1, 0xfffffff0;"), std::pair(-16L, 0L));
  EXPECT_EQ(factor("mad.wide.u32 %rd3, %r1, 4, 0x180000000;"), std::pair(4L, 0x180000000L));
}

TEST(OffloadTrips, TextOfTheLeastNumber) {
  const Kernel kernel = kernel_of("ret;");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  TripCount count;
  count.terms = {{0, kLeast}};
  count.constant = kLeast;
  OffloadCondition condition;
  condition.factors = {count};
  condition.threshold_iterations = 2;
  EXPECT_EQ(condition_text(kernel, condition),
            "(-9223372036854775808*" + kernel.registers[0].name + " - 9223372036854775808) >= 2");
}

TEST(OffloadTrips, SumsWrapLikeRegisters) {
  LinearSum sum;
  sum.terms[7] = int64_t{1} << 62;
  sum.constant = std::numeric_limits<int64_t>::max();
  LinearSum result;
  result.add(sum, 4);
  EXPECT_TRUE(result.terms.empty());  // 2^64
  EXPECT_EQ(result.constant, -4);
}

TEST(OffloadTrips, TooFewStaticTripsAreRefused) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  mul.wide.s32 %rd3, %r1, 4;
  bar.sync 0;
LOOP:
  ld.global.f32 %f1, [%rd1];
  add.s64 %rd1, %rd1, %rd2;
  add.s64 %rd2, %rd2, %rd3;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p1, %r4, 5;
  @%p1 bra LOOP;
  bar.sync 0;
  st.shared.f32 [tile], %f1;
  ret;)");
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kSavesNothing));
  for (const Refusal& r : result.refusals) {
    if (r.kind == CandidateKind::kLoop) {
      EXPECT_EQ(r.terms.n_ld, 5);  // the static count multiplies
    }
  }
}

struct Case {
  const char* name;
  const char* before;
  const char* after;
  std::map<std::string, int64_t> values;
  int64_t iterations;  ///< iterations that the loop executes
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class OffloadConditions : public testing::TestWithParam<Case> {};

TEST_P(OffloadConditions, TripCountFromRegisters) {
  const Case& c = GetParam();
  const Kernel kernel = loop_of(c.before, c.after);
  const OffloadCandidate candidate = only_candidate(kernel);
  ASSERT_EQ(candidate.trip, TripKind::kConditional);
  EXPECT_EQ(iterations_of(kernel, candidate.condition, c.values), c.iterations)
      << condition_text(kernel, candidate.condition);
  EXPECT_EQ(candidate.per_iteration.n_ld, 1);
  EXPECT_EQ(candidate.per_iteration.n_st, 1);
  ASSERT_EQ(candidate.condition.count_blocks.size(), 1u);
  EXPECT_EQ(candidate.condition.count_blocks[0].iterations_per_execution, 1u);
  // The threshold is the smallest number of iterations that pays off; tx and rx are those of it.
  const OffloadModel model;
  const auto total = [&](int64_t n) {
    const OffloadTerms t = with_iterations(candidate.base, candidate.per_iteration, n);
    return (bw_tx(model, t) + bw_rx(model, t)).value();
  };
  const int64_t threshold = candidate.condition.threshold_iterations;
  EXPECT_LT(total(threshold), 0);
  EXPECT_GE(total(threshold - 1), 0);
  EXPECT_EQ((candidate.tx + candidate.rx).value(), total(threshold));
}

const Case kCases[] = {
    {"less",
     "mov.u32 %r4, %r1;",
     "add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, %r2;",
     {{"%r1", 3}, {"%r2", 10}, {"%r4", 3}},
     7},
    {"less_in_steps",
     "mov.u32 %r4, %r1;",
     "add.s32 %r4, %r4, 3; setp.lt.s32 %p1, %r4, %r2;",
     {{"%r1", 3}, {"%r2", 10}, {"%r4", 3}},
     3},
    {"less_or_equal",
     "mov.u32 %r4, %r1;",
     "add.s32 %r4, %r4, 1; setp.le.s32 %p1, %r4, %r2;",
     {{"%r1", 3}, {"%r2", 10}, {"%r4", 3}},
     8},
    {"unsigned",
     "mov.u32 %r4, 0;",
     "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2;",
     {{"%r2", 10}},
     10},
    {"bound_first",
     "mov.u32 %r4, 0;",
     "add.u32 %r4, %r4, 1; setp.gt.s32 %p1, %r2, %r4;",
     {{"%r2", 10}},
     10},
    {"down_to_zero",
     "mov.u32 %r4, %r1;",
     "add.s32 %r4, %r4, -1; setp.ne.s32 %p1, %r4, 0;",
     {{"%r1", 6}, {"%r4", 6}},
     6},
    {"down_by_sub",
     "mov.u32 %r4, %r1;",
     "sub.s32 %r4, %r4, 2; setp.gt.s32 %p1, %r4, 0;",
     {{"%r1", 7}, {"%r4", 7}},
     4},
    {"down_to_bound",
     "mov.u32 %r4, %r2;",
     "add.s32 %r4, %r4, -1; setp.ge.s32 %p1, %r4, %r1;",
     {{"%r1", 3}, {"%r2", 10}, {"%r4", 10}},
     8},
    {"tested_before_the_step",
     "mov.u32 %r4, 0;",
     "setp.lt.s32 %p1, %r4, %r2; add.s32 %r4, %r4, 1;",
     {{"%r2", 10}},
     11},
    {"through_a_copy",
     "mov.u32 %r4, 0;",
     "add.s32 %r5, %r4, 1; setp.lt.s32 %p1, %r5, %r2; mov.u32 %r4, %r5;",
     {{"%r2", 10}},
     10},
    {"step_in_a_register",
     "mov.u32 %r4, %r1;",
     "add.s32 %r4, %r4, %r3; setp.lt.s32 %p1, %r4, %r2;",
     {{"%r1", 0}, {"%r2", 10}, {"%r3", 4}, {"%r4", 0}},
     3},
    {"bound_computed_inside",
     "mov.u32 %r4, 0; sub.s32 %r6, %r2, %r1; add.s32 %r6, %r6, 2;",
     "add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, %r6;",
     {{"%r1", 3}, {"%r2", 10}, {"%r6", 9}},
     9},
};

INSTANTIATE_TEST_SUITE_P(Shapes, OffloadConditions, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST(OffloadTrips, NegatedBranch) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  bar.sync 0;
LOOP:
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd1], %f1;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r4, %r4, 1;
  setp.ge.s32 %p1, %r4, %r2;
  @!%p1 bra LOOP;
  bar.sync 0;
  ret;)");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r2", 5}}), 5);
}

TEST(OffloadTrips, TestedAtTheTop) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  bar.sync 0;
LOOP:
  setp.ge.s32 %p1, %r4, %r2;
  @%p1 bra DONE;
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd1], %f1;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r4, %r4, 1;
  bra.uni LOOP;
DONE:
  bar.sync 0;
  ret;)");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r2", 5}, {"%r4", 0}}), 5);
  // The header runs once more than the body, so the iterations are counted in the body's block.
  const BlockId counted = c.condition.count_blocks.at(0).block;
  EXPECT_GT(kernel.blocks[counted].count, 3u);
}

TEST(OffloadTrips, UnknownCountIsOne) {
  // The bound is loaded inside the loop. With one trip assumed, sending four registers does not pay
  // off.
  const std::string loop = R"(
LOOP:
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%rd1+4], %r1;
  add.s64 %rd1, %rd1, %rd2;
  setp.ne.s32 %p1, %r5, %r3;
  @%p1 bra LOOP;
  bar.sync 0;
  ret;)";
  const Kernel kernel = kernel_of("  bar.sync 0;\n" + loop);
  const SelectionResult result = analyze(kernel);
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_TRUE(refused_for(result, CandidateKind::kLoop, RefusalReason::kSavesNothing));

  // With more stores one trip already pays off, so the loop is offloaded unconditionally.
  std::string more = loop;
  more.insert(more.find("  add.s64"), R"(
  st.global.u32 [%rd1+8], %r1;
  st.global.u32 [%rd1+12], %r1;
  st.global.u32 [%rd1+16], %r1;
  st.global.u32 [%rd1+20], %r1;
)");
  const Kernel heavy = kernel_of("  bar.sync 0;\n" + more);
  const OffloadCandidate c = only_candidate(heavy);
  EXPECT_EQ(c.kind, CandidateKind::kLoop);
  EXPECT_EQ(c.trip, TripKind::kUnknown);
  EXPECT_EQ(c.terms.n_st, 5);
  EXPECT_TRUE(c.condition.factors.empty());
}

TEST(OffloadTrips, NestMultiplies) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  bar.sync 0;
OUTER:
  mov.u32 %r5, 0;
INNER:
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd1], %f1;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p1, %r5, %r2;
  @%p1 bra INNER;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, %r3;
  @%p2 bra OUTER;
  bar.sync 0;
  ret;)");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(c.blocks.size(), 3u);  // the nest, not the inner loop: registers travel once
  ASSERT_EQ(c.condition.factors.size(), 2u);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r2", 6}, {"%r3", 7}, {"%r4", 0}}), 42);
  EXPECT_EQ(c.condition.count_blocks.size(), 1u);
}

TEST(OffloadTrips, StaticInnerLoopMultiplies) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  bar.sync 0;
OUTER:
  mov.u32 %r5, 0;
INNER:
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f2, %f1;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p1, %r5, 3;
  @%p1 bra INNER;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, %r3;
  @%p2 bra OUTER;
  bar.sync 0;
  st.shared.f32 [tile], %f2;
  ret;)");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(c.per_iteration.n_ld, 3);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r3", 7}, {"%r4", 0}}), 7);
}

TEST(OffloadTrips, InnerCountThatChangesIsAssumedOne) {
  const Kernel kernel = kernel_of(R"(
  mov.u32 %r4, 0;
  bar.sync 0;
OUTER:
  mov.u32 %r5, %r4;
INNER:
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd1], %f1;
  add.s64 %rd1, %rd1, 4;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p1, %r5, %r2;
  @%p1 bra INNER;
  add.s32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, %r2;
  @%p2 bra OUTER;
  bar.sync 0;
  ret;)");
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  ASSERT_EQ(c.condition.factors.size(), 1u);  // outer trips alone; the inner loop counts as one
  EXPECT_EQ(c.per_iteration.n_ld, 1);
  EXPECT_EQ(iterations_of(kernel, c.condition, {{"%r2", 9}, {"%r4", 0}}), 9);
}

// ---- shapes of unrolled loops ----

/// `copies` iterations of the loop's body, and the step of its pointer.
std::string body(int copies) {
  std::string text;
  for (int i = 0; i < copies; ++i) {
    const std::string at = std::to_string(4 * i);
    text += "  ld.global.f32 %f1, [%rd1+" + at + "];\n  mul.f32 %f1, %f1, %f2;\n";
    text += "  st.global.f32 [%rd1+" + at + "], %f1;\n";
  }
  return text + "  add.s64 %rd1, %rd1, " + std::to_string(4 * copies) + ";\n";
}

// The parts of a loop that is unrolled by four: the main loop, the loop for the remainder, the code
// before both that splits the trip count, and the end.
const std::string kMain = R"(
  setp.lt.u32 %p2, %r6, 3;
  @%p2 bra AFTER_MAIN;
  sub.s32 %r7, %r2, %r5;
MAIN:
)" + body(4) + R"(
  add.s32 %r7, %r7, -4;
  setp.ne.s32 %p3, %r7, 0;
  @%p3 bra MAIN;
AFTER_MAIN:
)";
const std::string kRest = R"(
  setp.eq.s32 %p4, %r5, 0;
  @%p4 bra AFTER_REST;
REST:
)" + body(1) + R"(
  add.s32 %r5, %r5, -1;
  setp.ne.s32 %p5, %r5, 0;
  @%p5 bra REST;
AFTER_REST:
)";
const std::string kSplit = R"(
  mov.b32 %f2, %r3;
  bar.sync 0;
  setp.lt.s32 %p1, %r2, 1;
  @%p1 bra DONE;
  and.b32 %r5, %r2, 3;
  add.s32 %r6, %r2, -1;
)";
const std::string kDone = R"(
DONE:
  bar.sync 0;
  ret;)";

void expect_one_loop(const Kernel& kernel, size_t count_blocks) {
  const OffloadCandidate c = only_candidate(kernel);
  ASSERT_EQ(c.trip, TripKind::kConditional);
  EXPECT_EQ(c.kind, CandidateKind::kRegion);
  EXPECT_EQ(c.per_iteration.n_ld, 1);
  EXPECT_EQ(c.per_iteration.n_st, 1);
  EXPECT_EQ(c.base.n_ld + c.base.n_st, 0);
  EXPECT_EQ(names(kernel, c.live_ins), (Names{"%f2", "%r2", "%rd1"}));
  EXPECT_EQ(c.condition.threshold_iterations, 2);  // 3 x 32 < 2 x 49.75
  EXPECT_EQ(condition_text(kernel, c.condition), "%r2 >= 2");
  ASSERT_EQ(c.condition.count_blocks.size(), count_blocks);
  EXPECT_EQ(c.condition.count_blocks[0].iterations_per_execution, 4u);
  for (size_t i = 1; i < count_blocks; ++i)
    EXPECT_EQ(c.condition.count_blocks[i].iterations_per_execution, 1u);
}

TEST(OffloadUnrolled, MainThenRemainder) {
  expect_one_loop(kernel_of(kSplit + kMain + kRest + kDone), 2);
}

TEST(OffloadUnrolled, RemainderThenMain) {
  // The remainder counts %r5 down, so the main loop's count must not depend on it.
  std::string main = kMain;
  main.replace(main.find("sub.s32 %r7, %r2, %r5;"), 22, "and.b32 %r7, %r2, -4; ");
  expect_one_loop(kernel_of(kSplit + kRest + main + kDone), 2);
}

TEST(OffloadUnrolled, GuardedCopies) {
  std::string copies = "\n  setp.eq.s32 %p4, %r5, 0;\n  @%p4 bra AFTER_REST;\n" + body(1) +
                       "  setp.eq.s32 %p5, %r5, 1;\n  @%p5 bra AFTER_REST;\n" + body(1) +
                       "  setp.eq.s32 %p6, %r5, 2;\n  @%p6 bra AFTER_REST;\n" + body(1) +
                       "AFTER_REST:\n";
  expect_one_loop(kernel_of(kSplit + kMain + copies + kDone), 4);
}

TEST(OffloadUnrolled, DifferentWorkIsNoPair) {
  std::string rest = kRest;
  rest.insert(rest.find("  add.s32 %r5"), "  st.global.f32 [%rd2], %f2;\n");
  const Kernel kernel = kernel_of(kSplit + kMain + rest + kDone);
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 2u);  // two loops of their own
  for (const OffloadCandidate& c : result.candidates)
    EXPECT_LE(c.condition.count_blocks.size(), 1u);
}

}  // namespace
}  // namespace nearwarp::compiler
