// Does the text on data mappings say what the report holds, in words that fit every case?

#include <gtest/gtest.h>

#include "host/mechanisms/tom/report/sections.h"
#include "tests/report/texts.h"

namespace nearwarp::report {
namespace {

using testing::row;
using testing::unwrapped;
using testing::widest;
using testing::Words;

/// A mapping learnt from 4 of 4,000 instances: bits 9:10 are best.
RunResult learnt() {
  RunResult r;
  r.policy = "tom";
  tom::MappingReport m;
  m.learnt = m.applied = true;
  m.first_bit = 9;
  m.last_bit = 10;
  m.total_instances = 4000;
  m.wanted_instances = m.seen_instances = 4;
  m.seen_accesses = 200;
  for (uint32_t i = 0; i < 10; ++i) m.scores.push_back({7 + i, i == 2 ? 150u : 50u, 1});
  m.interrupt_cycle = 10'000;
  m.standstill_cycle = 12'500;
  m.resume_cycle = 15'300;
  m.ranges = {
      {"L", 0, 1'000'000, true}, {"L_b", 1 << 20, 500'000, true}, {"out", 1 << 21, 8, false}};
  r.learning_cycles = m.learning_cycles();
  tom::mapping_of(r) = m;
  return r;
}

std::string text_of(const RunResult& run) {
  return tom::format_mapping(std::vector<RunResult>{run});
}

TEST(MappingText, ShowsTheNumbers) {
  const std::string text = text_of(learnt());
  EXPECT_EQ(row(text, "bits 7:8 at destination [%]"), Words{"25.0"});
  EXPECT_EQ(row(text, "bits 9:10 at destination [%]"), Words{"75.0"});
  EXPECT_EQ(row(text, "bits 16:17 at destination [%]"), Words{"25.0"});
  EXPECT_EQ(row(text, "chosen bits"), Words{"9:10"});
  EXPECT_EQ(row(text, "instances seen"), Words{"4"});
  EXPECT_EQ(row(text, "line accesses seen"), Words{"200"});
  EXPECT_EQ(row(text, "learning [cycles]"), Words{"10,000"});
  EXPECT_EQ(row(text, "standstill [cycles]"), Words{"5,300"});
  EXPECT_EQ(row(text, "ranges remapped"), Words{"2"});
  EXPECT_EQ(row(text, "remapped [MB]"), Words{"1.50"});
  EXPECT_NE(unwrapped(text).find("tom: bits 9:10 choose the stack for L, L_b; baseline mapping "
                                 "for out."),
            std::string::npos);
  EXPECT_EQ(text.find("did not fit"), std::string::npos);
}

TEST(MappingText, SaysHowMuchOfTheRunLearningWas) {
  RunResult run = learnt();
  run.cycles = 61'200;
  EXPECT_NE(unwrapped(text_of(run)).find("Learning and remapping took 25 % of the run."),
            std::string::npos);
}

TEST(MappingText, SaysHowFewInstancesDecided) {
  RunResult run = learnt();
  EXPECT_NE(unwrapped(text_of(run))
                .find("Only 4 of 4,000 instances decided: the choice is luck, not learning."),
            std::string::npos)
      << text_of(run);
  tom::mapping_of(run)->seen_instances = kFewInstances;
  EXPECT_EQ(text_of(run).find("luck"), std::string::npos);
  tom::mapping_of(run)->seen_instances = 1;
  tom::mapping_of(run)->learnt = false;  // known from all there are
  EXPECT_EQ(text_of(run).find("luck"), std::string::npos);
}

TEST(MappingText, RunsWithoutAMappingHaveNone) {
  RunResult baseline;
  baseline.policy = "baseline";
  EXPECT_EQ(text_of(baseline), "");
  EXPECT_EQ(tom::format_mapping({}), "");
  // Runs without a mapping are left out beside one that has one.
  const std::string text = tom::format_mapping(std::vector<RunResult>{baseline, learnt()});
  EXPECT_EQ(text.find("baseline  "), std::string::npos);
  EXPECT_EQ(row(text, "chosen bits").size(), 1u);
}

TEST(MappingText, AMappingKnownBeforehandWasNotLearnt) {
  RunResult run = learnt();
  tom::mapping_of(run)->learnt = false;
  const std::string text = text_of(run);
  EXPECT_EQ(row(text, "learning [cycles]"), Words{"-"});
  EXPECT_EQ(row(text, "standstill [cycles]"), Words{"-"});
  EXPECT_EQ(row(text, "chosen bits"), Words{"9:10"});
}

TEST(MappingText, SaysWhyNothingWasMapped) {
  RunResult run = learnt();
  tom::mapping_of(run)->applied = false;
  std::string text = text_of(run);
  EXPECT_EQ(row(text, "chosen bits"), Words{"none"});
  EXPECT_EQ(row(text, "learning [cycles]"), Words{"-"});
  EXPECT_NE(unwrapped(text).find("the program ended while"), std::string::npos);
  run.partial = true;
  EXPECT_NE(unwrapped(text_of(run)).find("the run ended while"), std::string::npos);
  tom::mapping_of(run)->total_instances = tom::mapping_of(run)->seen_instances =
      tom::mapping_of(run)->seen_accesses = 0;
  text = text_of(run);
  EXPECT_NE(unwrapped(text).find("no candidate instance makes a memory access"), std::string::npos);
  EXPECT_EQ(row(text, "bits 7:8 at destination [%]"), Words{"-"});
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(MappingText, RangesWithoutNamesAreCounted) {
  RunResult run = learnt();
  auto& ranges = tom::mapping_of(run)->ranges;
  ranges[1].name = "";
  ranges.push_back({"", 1 << 22, 8, true});
  EXPECT_NE(unwrapped(text_of(run)).find("for L and 2 more; baseline"), std::string::npos);
  ranges[0].name = ranges[2].name = "";
  EXPECT_NE(unwrapped(text_of(run)).find("for 3 ranges; baseline mapping for 1 range."),
            std::string::npos);
  ranges.clear();
  EXPECT_NE(unwrapped(text_of(run)).find("for nothing; baseline mapping for nothing."),
            std::string::npos);
}

TEST(MappingText, AllocationsBeyondTheTableAreMentioned) {
  RunResult run = learnt();
  tom::mapping_of(run)->ranges_left_out = 7;
  EXPECT_NE(unwrapped(text_of(run)).find("7 allocations did not fit the memory allocation table."),
            std::string::npos);
}

TEST(MappingText, OneOrTwoStacksTakeOneBit) {
  RunResult run = learnt();
  tom::mapping_of(run)->last_bit = tom::mapping_of(run)->first_bit;
  const std::string text = text_of(run);
  EXPECT_EQ(row(text, "bits 7 at destination [%]"), Words{"25.0"});
  EXPECT_EQ(row(text, "chosen bits"), Words{"9"});
}

TEST(MappingText, FitsInto80Columns) {
  std::vector<RunResult> runs;
  for (const char* policy :
       {"tom", "tom-oracle", "ndp-uncontrolled-tmap", "ndp-uncontrolled-oracle", "tom"}) {
    runs.push_back(learnt());
    runs.back().policy = policy;
    tom::mapping_of(runs.back())->total_instances = 18'446'744'073'709'551'615u;
    for (int i = 0; i < 60; ++i)
      tom::mapping_of(runs.back())->ranges.push_back({"array " + std::to_string(i), 0, 1, true});
  }
  const std::string text = tom::format_mapping(runs);
  EXPECT_LE(widest(text), 80u) << text;
  EXPECT_LE(widest(tom::format_mapping(runs, 60)), 60u);
}

}  // namespace
}  // namespace nearwarp::report
