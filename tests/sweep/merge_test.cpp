// Do a sweep's parts join to the sweep, and are parts that disagree found?
#include "host/timing/sweep/merge.h"

#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/timing/sweep/format.h"
#include "host/timing/sweep/results_folder.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using sweep::MergeOutcome;
using sweep::Plan;

class Merge : public ::testing::Test {
 protected:
  std::string line(size_t point, double wall_seconds = 1, uint64_t cycles = 1000) const {
    report::RunResult result = made_up({&recording_, plan_.machine(plan_.points[point]).get(),
                                        plan_.policy(plan_.points[point]).get()});
    result.wall_seconds = wall_seconds;
    result.cycles = cycles;
    return sweep::result_line(plan_, plan_.points[point], result);
  }
  std::string file(const std::string& name, const std::string& text) const {
    write_text(folder_.file(name), text);
    return folder_.file(name);
  }
  std::string error_of(const std::vector<std::string>& inputs) const {
    try {
      sweep::merge(inputs, out_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const runtime::Recording recording_;
  const Plan plan_ = sweep::expand(definition({"sm.warps=8,16"}));
  TemporaryFolder folder_;
  std::string out_ = folder_.file("merged");
};

TEST_F(Merge, BringsPointsIntoTheOrderOfTheSweep) {
  const std::string a = file("a", line(3) + line(0)), b = file("b", line(2) + line(1));
  const MergeOutcome outcome = sweep::merge({a, b}, out_);
  EXPECT_EQ(outcome.points, 4u);
  EXPECT_EQ(outcome.duplicates, 0u);
  EXPECT_EQ(read_text(out_), line(0) + line(1) + line(2) + line(3));
}

TEST_F(Merge, KeepsEqualPointsOnceWhateverTheHostsTimes) {
  const std::string a = file("a", line(0, 1)), b = file("b", line(0, 2) + line(1));
  const MergeOutcome outcome = sweep::merge({a, b, a}, out_);
  EXPECT_EQ(outcome.points, 2u);
  EXPECT_EQ(outcome.duplicates, 2u);
  EXPECT_EQ(read_text(out_), line(0, 1) + line(1));
}

TEST_F(Merge, PointsOfTwoSweepsAreEqualHoweverTheirValuesAreWritten) {
  sweep::Definition other = definition({"sm.scheduler_policy=\"gto\"", "sm.warps=1_6"});
  const Plan plan = sweep::expand(other);
  ASSERT_EQ(plan.points[0].id, plan_.points[2].id);
  const report::RunResult result =
      made_up({&recording_, plan.machine(plan.points[0]).get(), plan.policy(plan.points[0]).get()});
  report::RunResult same = result;
  same.cycles = 1000;
  const std::string a = file("a", line(2));
  const std::string b = file("b", sweep::result_line(plan, plan.points[0], same));
  EXPECT_EQ(sweep::merge({a, b}, out_).points, 1u);
}

TEST_F(Merge, AnotherSweepComesAfterwards) {
  const Plan other = sweep::expand(definition({"sm.warps=4"}));
  const report::RunResult result = made_up(
      {&recording_, other.machine(other.points[0]).get(), other.policy(other.points[0]).get()});
  const std::string foreign = sweep::result_line(other, other.points[0], result);
  const std::string a = file("a", line(3)), b = file("b", foreign + line(1));
  sweep::merge({a, b}, out_);
  EXPECT_EQ(read_text(out_), line(1) + line(3) + foreign);
}

TEST_F(Merge, AConflictSaysWhichPointAndWhere) {
  const std::string a = file("a", line(1) + line(2)), b = file("b", line(2, 1, 1001));
  const std::string error = error_of({a, b});
  for (const std::string& part :
       {plan_.points[2].id, std::string("alpha"), std::string("baseline"),
        std::string("sm.warps=16"), std::string("'cycles'"), a + ":2", b + ":1"})
    EXPECT_TRUE(contains(error, part)) << error;
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(Merge, MorePartsThanFilesAreHeldOpen) {
  std::string warps = "sm.warps=1";
  for (int i = 2; i <= 64; ++i) warps += "," + std::to_string(i);
  const Plan plan = sweep::expand(definition({"sm.scheduler_policy=\"gto\",\"lrr\"", warps}));
  ASSERT_GE(plan.points.size(), 250u);
  std::string whole;
  std::vector<std::string> texts(250), inputs;
  for (size_t point = 0; point < plan.points.size(); ++point) {  // by turns
    const std::string line = sweep::failure_line(plan, plan.points[point], "out of memory");
    texts[point % texts.size()] += line;
    whole += line;
  }
  for (size_t i = 0; i < texts.size(); ++i) inputs.push_back(file(std::to_string(i), texts[i]));
  EXPECT_EQ(sweep::merge(inputs, out_).points, plan.points.size());
  EXPECT_EQ(read_text(out_), whole);
}

TEST_F(Merge, AFinishedPointTakesThePlaceOfAFailedOne) {
  const std::string failed = sweep::failure_line(plan_, plan_.points[0], "out of memory");
  const std::string bad = file("bad", failed), good = file("good", line(0));
  for (const auto& inputs : {std::vector{bad, good}, std::vector{good, bad}}) {
    const MergeOutcome outcome = sweep::merge(inputs, out_);
    EXPECT_EQ(outcome.failed, 0u);
    EXPECT_EQ(read_text(out_), line(0));
  }
  EXPECT_EQ(sweep::merge({bad, bad}, out_).failed, 1u);
  const std::string other =
      file("other", sweep::failure_line(plan_, plan_.points[0], "something else"));
  EXPECT_TRUE(contains(error_of({bad, other}), "'error'"));
}

TEST_F(Merge, ALaterFailureTakesThePlaceOfAnEarlierOne) {
  const std::string first = sweep::failure_line(plan_, plan_.points[0], "out of memory");
  const std::string then = sweep::failure_line(plan_, plan_.points[0], "something else");
  const std::string both = file("both", first + then);
  EXPECT_EQ(sweep::merge({both}, out_).failed, 1u);
  EXPECT_EQ(read_text(out_), then);
  const std::string a = file("a", first), b = file("b", then);
  sweep::merge({a, b}, out_, {{}, true});
  EXPECT_EQ(read_text(out_), then);
}

TEST_F(Merge, TheOrderOfSweepsMayBeGiven) {
  const Plan other = sweep::expand(definition({"sm.warps=4"}));
  const report::RunResult result = made_up(
      {&recording_, other.machine(other.points[0]).get(), other.policy(other.points[0]).get()});
  const std::string foreign = sweep::result_line(other, other.points[0], result);
  const std::string a = file("a", foreign + line(3)), b = file("b", line(1));
  sweep::merge({a, b}, out_, {{plan_.id, other.id}, false});
  EXPECT_EQ(read_text(out_), line(1) + line(3) + foreign);
}

TEST_F(Merge, AFoldersPartsAreJoinedToItsWhole) {
  const sweep::ResultsFolder folder{folder_.path(), "sweep"};
  EXPECT_FALSE(sweep::join_parts(folder, {plan_.id}));
  EXPECT_FALSE(std::filesystem::exists(folder.whole()));
  file("sweep-2-of-3.jsonl", line(3) + line(1).substr(0, 100));
  file("sweep-1-of-2.jsonl", line(0, 2));
  file("sweepstakes.jsonl", "something else\n");
  EXPECT_EQ(folder.part({2, 3}), folder_.file("sweep-2-of-3.jsonl"));
  EXPECT_EQ(folder.parts().size(), 2u);
  EXPECT_FALSE(sweep::join_parts(folder, {plan_.id}));
  EXPECT_EQ(read_text(folder.whole()), line(0, 2) + line(3));
  file("sweep.jsonl", line(0, 1) + line(2).substr(0, 50));
  EXPECT_TRUE(sweep::join_parts(folder, {plan_.id}));
  EXPECT_EQ(read_text(folder.whole()), line(0, 1) + line(3));
}

TEST_F(Merge, TornLinesAreLeftOutAndSaid) {
  const std::string a = file("a", line(0) + line(1).substr(0, 100));
  const MergeOutcome outcome = sweep::merge({a}, out_);
  EXPECT_EQ(outcome.torn, std::vector<std::string>{a});
  EXPECT_EQ(read_text(out_), line(0));
}

TEST_F(Merge, TheOutputMayBeAnInput) {
  const std::string a = file("a", line(1)), b = file("b", line(0));
  sweep::merge({a, b}, a);
  EXPECT_EQ(read_text(a), line(0) + line(1));
}

TEST_F(Merge, OtherFilesAreErrors) {
  const std::string good = file("good", line(0));
  for (const char* text : {"hello\n", "hello", "{}\n"})
    EXPECT_NE(error_of({good, file("other", text)}), "") << text;
  EXPECT_NE(error_of({folder_.file("none")}), "");
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace nearwarp::testing
