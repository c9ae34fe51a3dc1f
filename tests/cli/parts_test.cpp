// Do the parts of the command line that no run shows well do what they say?
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "host/cli/commands.h"
#include "host/cli/executable.h"
#include "host/cli/options.h"
#include "host/cli/progress_bar.h"
#include "host/cli/sweep_progress.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

TEST(ProgressLine, ShowsShareSpeedAndRemainingTime) {
  EXPECT_EQ(progress_line("libor", 5'000'000, 20'000'000, 10, 60),
            "libor [######..................]  25 %, 0.5 Mwi/s, 0:30 left");
}

TEST(ProgressLine, NeverWiderThanTheTerminal) {
  for (size_t width = 1; width < 120; ++width) {
    for (const uint64_t done : {uint64_t{0}, uint64_t{999}, uint64_t{1} << 60}) {
      for (const uint64_t total : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 60}) {
        EXPECT_LE(progress_line("kmeans under 3 policies", done, total, 0.001, width).size(),
                  width);
      }
    }
  }
}

TEST(ProgressLine, AnEndThatIsNotKnownHasNoBar) {
  const std::string line = progress_line("executing libor", 3'000'000, 0, 2, 80);
  EXPECT_EQ(line, "executing libor 3.0 M warp-instructions, 1.5 Mwi/s");
}

TEST(ProgressLine, MoreThanEverythingIsEverything) {
  const std::string line = progress_line("x", 200, 100, 1, 80);
  EXPECT_NE(line.find("100 %"), std::string::npos) << line;
}

TEST(ProgressLine, HoursAreHours) {
  EXPECT_NE(progress_line("x", 1, 3601, 1, 80).find("1:00:00 left"), std::string::npos);
}

TEST(SweepProgressText, PointsShareSpeedAndRemainingTime) {
  sweep::Progress progress;
  progress.points = 24;
  EXPECT_EQ(sweep_progress_text(progress, 3), "sweep: 0/24 points");
  progress.points_done = 6;
  progress.warp_instructions_done = 5'000'000;
  progress.warp_instructions = 20'000'000;
  EXPECT_EQ(sweep_progress_text(progress, 10), "sweep: 6/24 points, 25 %, 0.5 Mwi/s, 0:30 left");
}

TEST(SplitCommas, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(split_commas("a,b"), (Words{"a", "b"}));
  EXPECT_EQ(split_commas(",a,,b,"), (Words{"a", "b"}));
  EXPECT_EQ(split_commas(""), Words{});
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 7, "  "), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensibilities", 5, ""), "incomprehensibilities");
  EXPECT_EQ(wrapped("", 5, ""), "");
}

CommandLine example() {
  CommandLine line("run", "WORKLOAD", "test");
  line.value("size", "", "SIZE", "small");
  line.value("json", "", "FILE");
  line.value("threads", "", "N");
  line.list("set", "", "KEY=VALUE");
  return line;
}

TEST(Options, ValuesDefaultsAndLists) {
  CommandLine line = example();
  line.parse({"libor", "--set", "a=1,2", "--json=x", "--set", "b=3"}, 1, 1);
  EXPECT_EQ(line.positional(), Words{"libor"});
  EXPECT_EQ(line.text("size"), "small");
  EXPECT_EQ(line.text("json"), "x");
  EXPECT_FALSE(line.given("size"));
  EXPECT_TRUE(line.given("json"));
  EXPECT_EQ(line.texts("set"), (Words{"a=1,2", "b=3"}));  // a comma does not split a value
}

TEST(Options, WordsForAProgramThatIsToDoTheSame) {
  CommandLine line("sweep", "WORKLOAD", "test");
  line.value("size", "", "SIZE", "small");
  line.value("out", "", "FILE");
  line.flag("retry", "");
  line.list("set", "", "KEY=VALUE");
  line.parse({"libor", "--set", "a=1,2", "--out=x", "--retry", "fma", "--set", "b='3 4'"}, 1, 2);
  EXPECT_EQ(line.words_without({"out", "size"}),
            (Words{"libor", "--set=a=1,2", "--retry", "fma", "--set=b='3 4'"}));
}

TEST(Options, WhatWasNotGivenIsEmpty) {
  CommandLine line = example();
  line.parse({"libor"}, 1, 1);
  EXPECT_EQ(line.text("json"), "");
  EXPECT_EQ(line.texts("set"), Words{});
}

TEST(Options, WrongWordsAreUsageErrors) {
  for (const Words& words : {Words{}, Words{"a", "b"}, Words{"a", "--sise", "x"},
                             Words{"a", "--json"}, Words{"a", "-x"}}) {
    CommandLine line = example();
    EXPECT_THROW(line.parse(words, 1, 1), UsageError);
  }
}

TEST(Options, NumbersHaveARange) {
  for (const char* text : {"0", "65", "x", "1x", "-1", "99999999999999999999"}) {
    CommandLine line = example();
    line.parse({"a", std::string("--threads=") + text}, 1, 1);
    EXPECT_THROW(line.number("threads", 1, 64), UsageError) << text;
  }
  CommandLine line = example();
  line.parse({"a", "--threads", "64"}, 1, 1);
  EXPECT_EQ(line.number("threads", 1, 64), 64u);
}

TEST(Executable, TheDriversApiIsOnlyWhereNearwarpIsBuilt) {
  ExecutableFacts facts;
  facts.needs_driver = true;
  EXPECT_NO_THROW(check_executable("app", facts, true));
  if (void* driver = dlopen(kDriverName, RTLD_LAZY)) {
    dlclose(driver);
    GTEST_SKIP() << "a driver is installed";
  }
  try {
    check_executable("app", facts, false);
    ADD_FAILURE() << "there is no driver";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("never installed"), std::string::npos);
  }
}

TEST(Executable, ABuiltInRuntimeIsRefusedUnlessTheDriversApiIsUsed) {
  ExecutableFacts facts;
  facts.has_kernels = true;
  EXPECT_THROW(check_executable("app", facts, true), UsageError);
  facts.needs_driver = true;
  EXPECT_NO_THROW(check_executable("app", facts, true));
  EXPECT_THROW(check_executable("app", facts, false), UsageError);
}

}  // namespace
}  // namespace nearwarp::cli
