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

}  // namespace
}  // namespace nearwarp::report
