// Does 'nearwarp noc' say what it measured, to people and to programs?
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

TEST(NocCommand, TableFitsATerminal) {
  const Outcome o = run_program({"noc", "--size", "4x4", "--rate", "0.05:0.15:0.05,1", "--flits",
                                 "5", "--links", "3", "--period", "200", "--saturation"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_LE(longest_line(o.out), 80u) << o.out;
  for (const char* part : {"mesh 4x4 xy", "0.0500", "0.1000", "0.1500", "unstable", "busiest links",
                           "saturates between"})
    EXPECT_TRUE(contains(o.out, part)) << part << "\n" << o.out;
}

TEST(NocCommand, JsonHasEverything) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "noc_command_test.json";
  const Outcome o =
      run_program({"noc", "--topology", "butterfly", "--size", "2x3", "--rate", "0.2,0.1",
                   "--period", "200", "--threads", "2", "--json", path.string()});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file);
  EXPECT_EQ(json["schema"], "nearwarp.noc/1");
  EXPECT_EQ(json["config"]["topology"], "butterfly");
  EXPECT_EQ(json["config"]["vcs"], 8);
  EXPECT_DOUBLE_EQ(json["zero_load_latency"], 17.0);
  ASSERT_EQ(json["points"].size(), 2u);
  EXPECT_EQ(json["points"][0]["rate"], 0.2);
  const nlohmann::json& p = json["points"][1];
  EXPECT_TRUE(p["stable"]);
  EXPECT_NEAR(p["accepted"], 0.1, 0.01);
  EXPECT_NEAR(p["latency"], 17.3, 0.5);
  EXPECT_EQ(p["links"].size(), 2 * 8u + 8u);
  std::filesystem::remove(path);
}

TEST(NocCommand, RequestsAndReplies) {
  Words words{"noc", "--traffic-class", "request-reply", "--size",
              "4x4", "--rate",          "0.05,1",        "--reply-flits",
              "4",   "--period",        "200",           "--max-periods",
              "10"};
  const Outcome o = run_program(words);
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_LE(longest_line(o.out), 80u) << o.out;
  std::string text = o.out;
  std::replace(text.begin(), text.end(), '\n', ' ');  // lines are wrapped
  for (const char* part :
       {"2 virtual networks", "requests of 1 flit and replies of 4", "round trip"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << o.out;
  words.insert(words.end(), {"--vnets", "1"});
  const Outcome shared = run_program(words);
  EXPECT_EQ(shared.exit_code, 2);
  EXPECT_TRUE(contains(shared.err, "requests and their replies need 2 virtual networks"))
      << shared.err;
  const Outcome wrong = run_program({"noc", "--traffic-class", "request-reply2"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "did you mean 'request-reply'?")) << wrong.err;
  EXPECT_EQ(run_program({"noc", "--reply-flits", "3"}).exit_code, 2);
}

TEST(NocCommand, SpeedUpsAndTailCredits) {
  const Words routers{"noc", "--topology",      "crossbar", "--size",
                      "8",   "--rate",          "0.1",      "--speedup",
                      "2",   "--input-speedup", "4",        "--wait-for-tail-credit"};
  const Outcome o = run_program(routers);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part : {"speed-up 2, input speed-up 4,", "waiting for tail", "zero load 5.00"})
    EXPECT_TRUE(contains(o.out, part)) << part << "\n" << o.out;
  const Outcome ports =
      run_program({"noc", "--topology", "crossbar", "--size", "40", "--input-speedup", "2"});
  EXPECT_EQ(ports.exit_code, 2);
  EXPECT_TRUE(contains(ports.err, "80 inputs of the switch")) << ports.err;
  const Outcome three = run_program({"noc", "--input-speedup", "3"});
  EXPECT_EQ(three.exit_code, 2);
  EXPECT_TRUE(contains(three.err, "1, 2, 4 or 8")) << three.err;
}

TEST(NocCommand, SaysTheSameTwice) {
  const Words words{"noc", "--size", "4x4", "--rate", "0.3,0.4", "--period", "200"};
  Words threads = words;
  threads.insert(threads.end(), {"--threads", "3"});
  const Outcome a = run_program(words), b = run_program(threads);
  EXPECT_EQ(a.exit_code, 0);
  EXPECT_EQ(a.out, b.out);
}

}  // namespace
}  // namespace nearwarp::testing
