// Are races and other mistakes of CUDA applications found, and nothing else?
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cudart/application.h"

namespace nearwarp::testing {
namespace {

TEST_F(Application, AFailedSelfCheckIsAHintToCheck) {
  const Outcome outcome = run("endings", {"exit"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(contains(outcome.err, "'nearwarp check -- ...' finds races")) << outcome.err;
  EXPECT_FALSE(contains(run("endings").err, "nearwarp check")) << "it ended well";
  const Outcome none = run("endings", {}, {"--kernels", "zzz"});
  EXPECT_TRUE(contains(none.err, "a match of --kernels 'zzz'")) << none.err;
}

TEST_F(Application, RacesAreFound) {
  TemporaryFolder folder;
  struct Case {
    const char* how;
    int code;
    size_t hazards, errors;
  };
  for (const Case& c : {Case{"clean", 0, 0, 0},
                        {"race", 3, 2, 0},
                        {"fail", 5, 2, 0},
                        {"fault", 3, 2, 1},
                        {"kill", 128 + SIGABRT, 2, 0}}) {
    const std::string file = folder.file(std::string(c.how) + ".json");
    const Outcome outcome = run_program({"check", "--json", file, "--", app("races"), c.how});
    EXPECT_EQ(outcome.exit_code, c.code) << c.how << outcome.out << outcome.err;
    const auto found = nlohmann::json::parse(read_text(file))["programs"][0];
    EXPECT_EQ(found["hazards"].size(), c.hazards) << c.how << outcome.out;
    EXPECT_EQ(found["errors"].size(), c.errors) << c.how << outcome.out;
    EXPECT_EQ(contains(outcome.out, "kernel void reverse<false>(int*, int const*)"), c.hazards != 0)
        << outcome.out;
  }
  const Outcome one = run_program({"check", "--kernels", "<true>", "--", app("races"), "race"});
  EXPECT_EQ(one.exit_code, 0) << one.out;
}

TEST_F(Application, WhatNobodyWroteAndMasksAreFound) {
  const Outcome clean = run_program({"check", "--", app("written")});
  EXPECT_EQ(clean.exit_code, 0) << clean.out << clean.err;
  struct Case {
    Words options;
    int code;
    size_t misuses, unwritten;
  };
  for (const Case& c : {Case{{}, 3, 1, 1},
                        {{"--no-misuse"}, 3, 0, 1},
                        {{"--no-unwritten"}, 3, 1, 0},
                        {{"--no-misuse", "--no-unwritten"}, 0, 0, 0}}) {
    TemporaryFolder folder;
    const std::string file = folder.file("found.json");
    Words words = {"check", "--json", file};
    words.insert(words.end(), c.options.begin(), c.options.end());
    words.insert(words.end(), {"--", app("written"), "unwritten"});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, c.code) << outcome.out << outcome.err;
    const auto found = nlohmann::json::parse(read_text(file))["programs"][0];
    ASSERT_EQ(found["misuses"].size(), c.misuses) << outcome.out;
    ASSERT_EQ(found["unwritten_reads"].size(), c.unwritten) << outcome.out;
    if (c.misuses != 0) {
      EXPECT_EQ(found["misuses"][0]["count"], 16);
    }
    if (c.unwritten != 0) {
      EXPECT_EQ(found["unwritten_reads"][0]["count"], 48 + 2 * 64) << "a graph's, at each launch";
      EXPECT_EQ(found["unwritten_reads"][0]["at"]["thread"], (std::vector<int>{16, 0, 0}));
    }
  }
}

TEST_F(Application, UsualWaysToWorkTogetherAreRight) {
  const Outcome clean = run_program({"check", "--", app("idioms")});
  EXPECT_EQ(clean.exit_code, 0) << clean.out << clean.err;
  EXPECT_TRUE(contains(clean.out, "idioms: no hazards, no errors in 10 launches")) << clean.out;
  const Outcome bugs = run_program({"check", "--", app("idioms"), "bugs"});
  EXPECT_EQ(bugs.exit_code, 3) << bugs.err;
  // Each block's first thread reads the element that is missing.
  EXPECT_TRUE(contains(bugs.out, "read of shared memory that nobody wrote, 8 times")) << bugs.out;
  EXPECT_TRUE(contains(bugs.out, "atomic on shared memory that nobody wrote, 1 time")) << bugs.out;
}

TEST_F(Application, LibrariesOfKernelsHaveNoRaces) {
  for (const Words& words :
       {Words{"cub"}, Words{"cub", "device"}, Words{"thrust", "sort"}, Words{"thrust", "scan"},
        Words{"thrust", "select"}, Words{"thrust", "reduce_by_key"}, Words{"cooperative"}}) {
    Words all = {"check", "--", app(words[0])};
    all.insert(all.end(), words.begin() + 1, words.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, words[0] + ": no hazards, no errors in ")) << outcome.out;
  }
}

}  // namespace
}  // namespace nearwarp::testing
