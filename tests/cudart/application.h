// CUDA applications of tests/cudart/apps, run by nearwarp.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.h"

namespace nearwarp::testing {

class Application : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(NW_APPLICATIONS).empty()) GTEST_SKIP() << "there is no nvcc to build it";
  }
  static std::string app(const std::string& name) { return NW_APPLICATIONS "/" + name; }
  static Outcome run(const std::string& name, const Words& arguments = {},
                     const Words& options = {}) {
    Words words = {"run", "--policy", "baseline"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.push_back(app(name));
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(words);
  }
  /// It checks itself, and a table follows.
  static void expect_passes(const std::string& name, const Words& arguments = {}) {
    const Outcome outcome = run(name, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, name + ", on machine tom; ")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "cycles")) << outcome.out;
  }
};

}  // namespace nearwarp::testing
