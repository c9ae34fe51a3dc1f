// Does the sentence name what is busy, be it a kind of component or a single one?
#include "host/timing/report/bound.h"

#include <gtest/gtest.h>

namespace nearwarp::report {
namespace {

/// Ten links, of 1,000 ticks each, one of which is busy for `most` and the others for `others`.
RunResult links(uint64_t most, uint64_t others) {
  RunResult run;
  SmCycles sms;
  sms.sms = "sm";
  sms.count = 1;
  sms.capacity = 48;
  sms.uses[kIssued] = 10;
  sms.uses[kNoWarp] = 90;
  run.sm_cycles.push_back(sms);
  Utilisation u;
  u.name = "links";
  u.text = "TX links";
  u.available_ticks = 1000;
  for (int i = 0; i < 9; ++i) u.add(others, "link");
  u.add(most, "TX link of stack 9");
  run.utilisation.push_back(u);
  return run;
}

TEST(Bound, AKindOfComponentsThatIsSaturated) {
  EXPECT_TRUE(bound_text(links(800, 800)).starts_with("TX links 80 % busy; "));
}

TEST(Bound, OneOfThemThatIsSaturated) {
  EXPECT_TRUE(
      bound_text(links(950, 50))
          .starts_with(
              "unevenly loaded TX links: TX link of stack 9 95 % busy, all together 14 %; "));
}

TEST(Bound, OneThatIsMuchBusierThanTheMean) {
  const std::string text = bound_text(links(850, 50));
  EXPECT_NE(text.find("nothing is near saturation (busiest: TX links, 13 %; TX link of stack 9 "
                      "alone 85 %); "),
            std::string::npos)
      << text;
}

TEST(Bound, ThoseThatAreAlike) {
  const std::string text = bound_text(links(60, 50));
  EXPECT_NE(text.find("nothing is near saturation (busiest: TX links, 5 %); "), std::string::npos)
      << text;
}

/// A run of 1,000 cycles whose learning phase ends with cycle `until`.
RunResult learning(uint64_t until) {
  RunResult run = links(60, 50);
  run.cycles = 1000;
  run.learning_cycles = until;
  return run;
}

TEST(Bound, ALearningPhaseThatIsMostOfTheRun) {
  RunResult run = learning(990);
  EXPECT_TRUE(bound_text(run).starts_with(
      "the learning phase, 99 % of the run: until the mapping is known, memory lies behind PCI-E, "
      "whose latency counts; SMs "))
      << bound_text(run);
  // Nothing was remapped before the program's end: all of it was learning.
  run.learning_cycles = RunResult::kToTheEnd;
  EXPECT_TRUE(bound_text(run).starts_with("the learning phase, 100 % of the run"));
}

TEST(Bound, PcieThatIsLimitedAndOfTheLearningPhaseAlone) {
  RunResult run = learning(500);
  Utilisation pcie;
  pcie.name = kPcieName;
  pcie.text = "PCI-E";
  pcie.available_ticks = 1000;
  pcie.add(10, "to");
  pcie.add(480, "from");
  run.utilisation.push_back(pcie);
  EXPECT_TRUE(bound_text(run).starts_with(
      "the learning phase, 50 % of the run: until the mapping is known, memory lies behind PCI-E, "
      "which was 96 % busy meanwhile; SMs "))
      << bound_text(run);
}

TEST(Bound, WhatIsNearSaturationAllTheSameFollows) {
  RunResult run = links(800, 800);
  const RunResult learns = learning(600);
  run.cycles = learns.cycles;
  run.learning_cycles = learns.learning_cycles;
  EXPECT_NE(bound_text(run).find("whose latency counts; TX links 80 % busy; "), std::string::npos)
      << bound_text(run);
}

TEST(Bound, AShortLearningPhaseIsMentionedAndAVeryShortOneIsNot) {
  const std::string text = bound_text(learning(200));
  EXPECT_TRUE(text.starts_with("latency, with too few warps: nothing is near saturation"));
  EXPECT_NE(text.find("; learning the mapping took 20 % of the run, with memory behind PCI-E"),
            std::string::npos)
      << text;
  EXPECT_EQ(bound_text(learning(20)).find("learning"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::report
