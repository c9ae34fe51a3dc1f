// Does 'nearwarp dram' do what its options say, and say what is wrong with them?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

Outcome dram(Words words) {
  words.insert(words.begin(), "dram");
  words.insert(words.end(), {"--cycles", "20000"});
  return run_program(words);
}
void expect_usage_error(Words words, const Words& parts) {
  words.insert(words.begin(), "dram");
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(count_lines(outcome.err), 1u) << outcome.err;
  for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
}

TEST(Dram, TablesFitATerminal) {
  for (const Words& words : {Words{}, Words{"--traffic", "mix"}, Words{"--traffic", "conflict"},
                             Words{"--traffic", "random", "--rate", "0.1,.2,0.3,0.4,0.5,0.6"},
                             Words{"--traffic", "random", "--outstanding", "1,2,4,8,16,32"},
                             Words{"--traffic", "strided", "--stride", "8192"}, Words{"--help"}}) {
    const Outcome outcome = dram(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  }
}

TEST(Dram, JsonHasEveryRun) {
  const TemporaryFolder folder;
  const std::string path = folder.file("dram.json");
  const Outcome outcome = dram({"--traffic", "random", "--outstanding", "2,8", "--reads", "0.5",
                                "--seed", "3", "--set", "timing.tREFI=0", "--scheduler", "fcfs",
                                "--page-policy", "closed", "--threads", "2", "--json", path});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read_text(path));
  ASSERT_EQ(json["runs"].size(), 2u);
  const auto& run = json["runs"][1];
  EXPECT_EQ(run["keys"]["controller.scheduler"], "fcfs");
  EXPECT_EQ(run["keys"]["controller.page_policy"], "closed");
  EXPECT_EQ(run["traffic"]["outstanding"], 8);
  EXPECT_EQ(run["traffic"]["share_of_writes"], 0.5);
  EXPECT_EQ(run["commands"]["refreshes"], 0);
  EXPECT_GT(run["commands"]["writes"], 0);
}

TEST(Dram, TracesRun) {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace");
  write_text(path, "R 0x0\nW 0x40\nR 0x80\n");
  const Outcome outcome = dram({"--traffic", "trace", "--trace", path});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  write_text(path, "R 0x0\nW 40\n");
  const Outcome damaged = dram({"--traffic", "trace", "--trace", path});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_TRUE(contains(damaged.err, path + ":2")) << damaged.err;
}

TEST(Dram, MistakesOfUse) {
  expect_usage_error({"--trafic", "random"}, {"--trafic", "'--traffic'"});
  expect_usage_error({"--traffic", "randm"}, {"randm", "'random'"});
  expect_usage_error({"--standard", "ddr3-1600"}, {"DRAM standard", "'ddr3-1600k'"});
  expect_usage_error({"--standard", ","}, {"--standard"});
  expect_usage_error({"--traffic", "strided"}, {"--stride"});
  expect_usage_error({"--stride", "64"}, {"--traffic strided"});
  expect_usage_error({"--traffic", "strided", "--stride", "65"}, {"65", "multiple of the 64"});
  expect_usage_error({"--traffic", "trace"}, {"--trace"});
  expect_usage_error({"--reads", "1.1"}, {"--reads", "1.1"});
  expect_usage_error({"--reads", "2/3"}, {"--reads", "2/3"});
  expect_usage_error({"--rate", "0"}, {"--rate", "0.000001"});
  expect_usage_error({"--rate", "0.1", "--outstanding", "2"}, {"--rate", "--outstanding"});
  expect_usage_error({"--outstanding", "2,0"}, {"--outstanding", "'0'"});
  expect_usage_error({"--cycles", "none"}, {"--cycles", "none"});
  expect_usage_error({"--set", "timing.tCLL=3"}, {"timing.tCLL", "'timing.tCL'"});
  expect_usage_error({"--set", "timing.tCL=0"}, {"timing.tCL", "1 to"});
  expect_usage_error({"--scheduler", "lifo"}, {"lifo", "fr-fcfs"});
  expect_usage_error({"--backend", "gpu"}, {"backend", "'gpu'"});
  expect_usage_error({"word"}, {"word"});
}

TEST(Dram, ListAndShow) {
  EXPECT_TRUE(contains(run_program({"list", "dram"}).out, "ddr3-1600k"));
  const Outcome shown = run_program({"show", "dram", "ddr3-1600k", "--set", "timing.tREFI=0"});
  EXPECT_TRUE(contains(shown.out, "tREFI = 0"));
  EXPECT_TRUE(contains(shown.out, "refresh_fj = \"unknown\""));
  const TemporaryFolder folder;
  write_text(folder.file("mine.toml"), shown.out);
  EXPECT_EQ(dram({"--standard", folder.file("mine.toml")}).exit_code, 0);
}

}  // namespace
}  // namespace nearwarp::testing
