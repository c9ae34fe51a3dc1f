// Do the parts of the command line that no run shows well do what they say?
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <regex>
#include <string>

#include "host/api/time_left.h"
#include "host/cli/commands.h"
#include "host/cli/options.h"
#include "host/cli/progress/progress_bar.h"
#include "host/cli/progress/sweep_progress.h"
#include "host/cli/with_options.h"
#include "host/core/error.h"
#include "host/programs/executable.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::cli {
namespace {

TEST(Options, StandWhereTheLibraryNamesItsArguments) {
  EXPECT_EQ(with_options("`hot_nodes` 9: no such receiver"), "--hot-nodes 9: no such receiver");
  EXPECT_EQ(with_options("`vcs` 3 with `loads` 1"), "--vcs 3 with --rate 1");
  EXPECT_EQ(with_options("and 3 more (`most`)", "all"), "and 3 more (--all)");
  // Other things stand between these marks, too.
  for (const char* text : {"raise `ulimit -v`", "`", "``", "`set", ""})
    EXPECT_EQ(with_options(text), text);
}

TEST(Options, DoNotStandForUsersWords) {
  for (const char* text : {"cannot read 'a `set` of runs.toml'", "no file '`size`' here",
                           "x.cu:3: main: block: [0,0,0], "
                           "thread: [0,0,0] Assertion `size` failed.",
                           "unknown key `width` (my.toml:3)"})
    EXPECT_EQ(with_options(text), text);
  EXPECT_EQ(with_options("'`size`' on gpu's memory - `size` small, not users' `set`"),
            "'`size`' on gpu's memory - --size small, not users' --set");
  EXPECT_EQ(with_options("a 'quotation without end\n`set` x"), "a 'quotation without end\n--set x");
}

/// Each word between backticks in the library's texts is an argument in the list.
TEST(Options, AreKnownForAllThatTheLibraryNames) {
  const std::regex text("\"(?:[^\"\\\\]|\\\\.)*\""), word("`([a-z_]+)`");
  size_t found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(NW_SOURCE_DIR "/host")) {
    if (file.path().extension() != ".cpp" || file.path().string().ends_with("with_options.cpp"))
      continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find('`') == std::string::npos || line.find("//") != std::string::npos) continue;
      for (std::sregex_iterator t(line.begin(), line.end(), text), end; t != end; ++t) {
        const std::string literal = t->str();
        for (std::sregex_iterator w(literal.begin(), literal.end(), word); w != end; ++w, ++found)
          EXPECT_TRUE(names_argument((*w)[1].str())) << file.path() << ": " << (*w)[1];
      }
    }
  }
  EXPECT_GT(found, 30u);
}

TEST(ProgressLine, ShowsShareSpeedAndRemainingTime) {
  EXPECT_EQ(progress_line("libor", 5'000'000, 20'000'000, 10, 30, 60),
            "libor [######..................]  25 %, 0.5 Mwi/s, 0:30 left");
}

TEST(ProgressLine, NeverWiderThanTheTerminal) {
  for (size_t width = 1; width < 120; ++width) {
    for (const uint64_t done : {uint64_t{0}, uint64_t{999}, uint64_t{1} << 60}) {
      for (const uint64_t total : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 60}) {
        EXPECT_LE(progress_line("kmeans under 3 policies", done, total, 0.001, 1e5, width).size(),
                  width);
      }
    }
  }
}

TEST(ProgressLine, AnEndThatIsNotKnownHasNoBar) {
  const std::string line = progress_line("executing libor", 3'000'000, 0, 2, {}, 80);
  EXPECT_EQ(line, "executing libor 3.0 M warp-instructions, 1.5 Mwi/s");
  EXPECT_NE(
      progress_line("simulating", 3'000'000, 0, 2, {}, 80, "Mcycles/s").find(" 3.0 Mcycles, "),
      std::string::npos);
  EXPECT_EQ(progress_line("measuring", 3, 0, 2, {}, 80, "loads"), "measuring 3 loads");
}

TEST(ProgressLine, MoreThanEverythingIsEverything) {
  const std::string line = progress_line("x", 200, 100, 1, {}, 80);
  EXPECT_NE(line.find("100 %"), std::string::npos) << line;
}

TEST(ProgressLine, HoursAreHours) {
  EXPECT_NE(progress_line("x", 1, 3601, 1, 3600, 80).find("1:00:00 left"), std::string::npos);
}

TEST(SweepProgressText, PointsShareSpeedAndRemainingTime) {
  SweepProgress progress;
  progress.points = 24;
  EXPECT_EQ(sweep_progress_text(progress, 3, {}), "sweep: 0/24 points");
  progress.points_done = 6;
  progress.warp_instructions_done = 5'000'000;
  progress.warp_instructions = 20'000'000;
  EXPECT_EQ(sweep_progress_text(progress, 10, 30),
            "sweep: 6/24 points, 25 %, 0.5 Mwi/s, 0:30 left");
}

TEST(SweepProgressText, WhatIsLeftGoesByWhatPointsCost) {
  SweepProgress progress;
  progress.cost_done = 1;
  progress.cost = 100;
  EXPECT_FALSE(sweep_seconds_left(progress, 5).has_value()) << "too little to go by";
  progress.cost_done = 20;  // by four threads
  EXPECT_DOUBLE_EQ(*sweep_seconds_left(progress, 5), 20);
}

TEST(ProgressBar, LinesStandWhereNobodySeesABarAndAreFew) {
  if (isatty(STDERR_FILENO) != 0) GTEST_SKIP() << "standard error is a terminal";
  using std::chrono::hours, std::chrono::seconds;
  ProgressBar at_once("", "points", {seconds(0), hours(1)});
  EXPECT_TRUE(at_once.line_is_due());
  EXPECT_FALSE(at_once.line_is_due()) << "the next one is due in an hour";
  ProgressBar later("", "points", {hours(1), hours(1)});
  EXPECT_FALSE(later.line_is_due());
  ProgressBar none("");
  EXPECT_FALSE(none.line_is_due());
}

TEST(ProgressLine, NobodyKnowsHowLongItTakesAtItsBeginning) {
  EXPECT_EQ(progress_line("libor", 5'000'000, 20'000'000, 10, {}, 60).find("left"),
            std::string::npos);
}

/// Watches something that is done after `end` seconds, `done(t)` of it after t, eight times a
/// second. Returns how far off the worst estimate was, as a factor, from a tenth of the time on;
/// `first`: when there was one.
double worst_estimate(double end, const std::function<double(double)>& done, double& first) {
  constexpr double kTotal = 1e9;
  TimeLeft left;
  double worst = 1;
  first = end;
  for (double t = 0; t < 0.95 * end; t += 0.125) {
    left.update(t, static_cast<uint64_t>(kTotal * done(t)), static_cast<uint64_t>(kTotal));
    const std::optional<double> seconds = left.seconds();
    if (!seconds.has_value() || t < end / 10) continue;
    first = std::min(first, t);
    worst = std::max({worst, *seconds / (end - t), (end - t) / *seconds});
  }
  return worst;
}

TEST(TimeLeft, WhatGoesOnEvenlyIsKnownSoon) {
  double first = 0;
  EXPECT_LT(worst_estimate(
                10, [](double t) { return t / 10; }, first),
            1.1);
  EXPECT_LE(first, 1.2);
}

TEST(TimeLeft, ASlowBeginningGivesNoEstimateRatherThanAWrongOne) {
  // Nothing to speak of in the first two seconds, as while a mapping is learnt.
  const auto done = [](double t) { return t < 2 ? t / 1000 : 0.002 + 0.998 * (t - 2) / 8; };
  double first = 0;
  EXPECT_LT(worst_estimate(10, done, first), 1.5);
  EXPECT_GT(first, 2);
  EXPECT_LT(first, 10);
  // And one that gets slower and slower.
  EXPECT_LT(worst_estimate(
                10, [](double t) { return 1.25 * t / 10 - 0.25 * t * t / 100; }, first),
            1.5);
}

TEST(TimeLeft, WhatHasNotBegunIsNoBasis) {
  TimeLeftOfAll left({1000, 1000, 1000});
  const auto at = [&](double t) {
    const auto done = static_cast<uint64_t>(100 * t);
    const uint64_t each[] = {done, done, 0};
    left.update(t, each);
  };
  for (double t = 0; t <= 4; t += 0.1) at(t);
  ASSERT_TRUE(left.seconds().has_value());  // 6 s of two, and 10 s, by two at a time
  EXPECT_NEAR(*left.seconds(), 11, 0.5);
  for (double t = 4.1; t <= 8; t += 0.1) at(t);
  EXPECT_FALSE(left.seconds().has_value());  // nearly all that is left is the third one
}

TEST(TimeLeft, OfSeveralTheLongestCountsAndThoseThatWaitAreAsTheOthers) {
  // One takes 1 s, the other 10; a third waits for the first one's place.
  TimeLeftOfAll left({1000, 1000, 1000});
  const auto update = [&](double t) {
    const uint64_t third = t < 1 ? 0 : static_cast<uint64_t>(100 * (t - 1));
    const uint64_t done[] = {std::min<uint64_t>(1000, static_cast<uint64_t>(1000 * t)),
                             static_cast<uint64_t>(100 * t), third};
    left.update(t, done);
  };
  for (double t = 0; t <= 0.3; t += 0.05) update(t);
  EXPECT_FALSE(left.seconds().has_value());  // too little of the second one
  for (double t = 0.35; t <= 2; t += 0.05) update(t);
  ASSERT_TRUE(left.seconds().has_value());
  EXPECT_NEAR(*left.seconds(), 9, 0.5);  // the third one ends after 11 s
  for (double t = 2.05; t <= 5; t += 0.05) update(t);
  EXPECT_NEAR(*left.seconds(), 6, 0.5);
}

TEST(Wrapped, ListsThatAreTooLongEndLinesWithTheirCommas) {
  EXPECT_EQ(wrapped("x (default: baseline,controlled,tom)", 20, "  "),
            "x (default:\n  baseline,controlled,\n  tom)");
  EXPECT_EQ(wrapped("averyverylongword b", 8, ""), "averyverylongword\nb");
}

TEST(FittedLines, LinesThatAreTooWideGoOnFurtherToTheRight) {
  EXPECT_EQ(fitted_lines("short\n  line 5 with some words more\nend\n", 16),
            "short\n  line 5 with\n      some words\n      more\nend\n");
  EXPECT_EQ(fitted_lines("one_word_that_is_long", 16), "one_word_that_is_long");
  EXPECT_EQ(fitted_lines("", 16), "");
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

TEST(Executable, WhereTheDriversApiIsMissingItsPlaceIsNamed) {
  programs::ExecutableFacts facts;
  facts.needs_driver = true;
  EXPECT_NO_THROW(programs::check_executable("app", facts, true));
  if (void* driver = dlopen(programs::kDriverName, RTLD_LAZY)) {
    dlclose(driver);
    GTEST_SKIP() << "a driver is installed";
  }
  try {
    programs::check_executable("app", facts, false);
    ADD_FAILURE() << "there is no driver";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("lib/nearwarp/driver"), std::string::npos);
  }
}

TEST(Executable, ABuiltInRuntimeIsRefusedUnlessTheDriversApiIsUsed) {
  programs::ExecutableFacts facts;
  facts.has_kernels = true;
  EXPECT_THROW(programs::check_executable("app", facts, true), UsageError);
  facts.needs_driver = true;
  EXPECT_NO_THROW(programs::check_executable("app", facts, true));
  EXPECT_THROW(programs::check_executable("app", facts, false), UsageError);
}

}  // namespace
}  // namespace nearwarp::cli
