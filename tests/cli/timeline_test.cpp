// Does `nearwarp run --timeline` write a file, say how large it is, and refuse what cannot be?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/cli/trace_file.h"

namespace nearwarp::testing {
namespace {

TEST(TimelineOption, WritesATraceAndSaysSo) {
  const TemporaryFolder folder;
  const Words run = {"run", "vector-add", "--policy", "tom"};
  const std::string file = folder.file("x.json");
  Words with = run;
  with.insert(with.end(), {"--timeline", file});
  const Outcome shown = run_program(with);
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.err, file + ": ")) << shown.err;
  EXPECT_TRUE(contains(shown.err, " MB, cycles 0 to ")) << shown.err;
  EXPECT_TRUE(contains(shown.out, "tom is bound by ")) << shown.out;
  EXPECT_FALSE(read_trace(file).series.empty());
}

TEST(TimelineOption, ARunThatEndsBeforeItsWindowIsTold) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"run", "vector-add", "--policy", "baseline", "--timeline",
                                       folder.file("x.json"), "--from", "100000000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "the run ended in cycle ")) << outcome.err;
}

TEST(TimelineOption, MistakesAreSaid) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  struct Case {
    Words options;
    const char* message;
  };
  const Case cases[] = {
      {{"--timeline", file}, "--timeline is of one policy, and there are 3"},
      {{"--policy", "tom", "--from", "5"}, "--from is of a timeline"},
      {{"--policy", "tom", "--timeline", file, "--from", "5", "--to", "5"},
       "--from 5 is not before --to 5"},
      {{"--policy", "tom", "--timeline", file, "--interval", "0"}, "--interval"},
      {{"--policy", "tom", "--timeline", file, "--checkpoint", folder.file("c")},
       "leave --checkpoint out"},
      {{"--policy", "tom", "--timeline", file, "--backend", "cuda"}, "written by the CPU"},
      {{"--timeline", file, "--profile"}, "--profile simulates nothing"},
  };
  for (const Case& c : cases) {
    Words words = {"run", "vector-add"};
    words.insert(words.end(), c.options.begin(), c.options.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 2) << c.message;
    EXPECT_TRUE(contains(outcome.err, c.message)) << outcome.err;
  }
  const Outcome nowhere = run_program(
      {"run", "vector-add", "--policy", "tom", "--timeline", folder.file("no/such/x.json")});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_TRUE(contains(nowhere.err, "no/such/x.json")) << nowhere.err;
}

}  // namespace
}  // namespace nearwarp::testing
