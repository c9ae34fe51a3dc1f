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
void expect_dram_error(Words words, const Words& parts) {
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
                             Words{"--traffic", "strided", "--stride", "8192"},
                             Words{"--stream", "strided,stride=8192,start=128,outstanding=16",
                                   "--stream", "random,reads=0,rate=0.2,seed=9", "--stream", "mix",
                                   "--standard", "ddr3-1600k,gddr5,hbm1,hbm2,hmc-vault"},
                             Words{"--help"}}) {
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

TEST(Dram, StreamsHaveBandwidthAndLatencyEach) {
  const TemporaryFolder folder;
  const std::string path = folder.file("dram.json");
  const Outcome outcome = dram({"--stream", "stream,outstanding=4,start=8192", "--stream",
                                "random,reads=0,rate=0.2", "--seed", "5", "--json", path});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* text :
       {"stream 1: strided by 1 from 128, 100 % reads, 4 under way",
        "stream 2: random, 0 % reads, rate 0.2", "1: read latency: mean", "2: bandwidth [GB/s]"})
    EXPECT_TRUE(contains(outcome.out, text)) << outcome.out;
  const auto run = nlohmann::json::parse(read_text(path))["runs"][0];
  EXPECT_FALSE(run.contains("traffic"));
  ASSERT_EQ(run["streams"].size(), 2u);
  EXPECT_EQ(run["streams"][0]["traffic"]["outstanding"], 4);
  EXPECT_EQ(run["streams"][0]["traffic"]["seed"], 5);
  EXPECT_EQ(run["streams"][1]["traffic"]["seed"], 6);
  EXPECT_EQ(run["streams"][1]["traffic"]["share_of_writes"], 1.0);
  EXPECT_EQ(run["streams"][1]["reads"], 0);
  EXPECT_NEAR(run["streams"][1]["bandwidth"]["share_of_peak"].get<double>(), 0.2, 0.02);
  EXPECT_EQ(run["streams"][0]["read_latency_cycles"]["reads"], run["read_latency_cycles"]["reads"]);
}

TEST(Dram, MistakesInStreams) {
  expect_dram_error({"--stream", "randm"}, {"randm", "'random'"});
  expect_dram_error({"--stream", ""}, {"--stream", "conflict"});
  expect_dram_error({"--stream", "trace"}, {"trace"});
  expect_dram_error({"--stream", "random,raeds=0"}, {"raeds", "'reads'"});
  expect_dram_error({"--stream", "random,reads"}, {"'reads'"});
  expect_dram_error({"--stream", "random,reads=2"}, {"reads", "'2'"});
  expect_dram_error({"--stream", "random,rate=0"}, {"rate", "'0'"});
  expect_dram_error({"--stream", "random,rate=.1,rate=.2"}, {"rate", "twice"});
  expect_dram_error({"--stream", "random,rate=.1,outstanding=2"}, {"rate", "outstanding"});
  expect_dram_error({"--stream", "random,start=64"}, {"start", "strided"});
  expect_dram_error({"--stream", "strided"}, {"stride"});
  expect_dram_error({"--stream", "stream,start=65"}, {"'65'", "multiple of the 64"});
  expect_dram_error({"--stream", "random", "--rate", "0.1"}, {"--rate", "random,rate=0.2"});
  Words many;
  for (int i = 0; i < 17; ++i) many.insert(many.end(), {"--stream", "random"});
  expect_dram_error(many, {"17 times", "16"});
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
  expect_dram_error({"--trafic", "random"}, {"--trafic", "'--traffic'"});
  expect_dram_error({"--traffic", "randm"}, {"randm", "'random'"});
  expect_dram_error({"--standard", "ddr3-1600"}, {"DRAM standard", "'ddr3-1600k'"});
  expect_dram_error({"--standard", ","}, {"--standard"});
  expect_dram_error({"--traffic", "strided"}, {"--stride"});
  expect_dram_error({"--stride", "64"}, {"--traffic strided"});
  expect_dram_error({"--traffic", "strided", "--stride", "65"}, {"65", "multiple of the 64"});
  expect_dram_error({"--traffic", "trace"}, {"--trace"});
  expect_dram_error({"--reads", "1.1"}, {"--reads", "1.1"});
  expect_dram_error({"--reads", "2/3"}, {"--reads", "2/3"});
  expect_dram_error({"--rate", "0"}, {"--rate", "0.000001"});
  expect_dram_error({"--rate", "0.1", "--outstanding", "2"}, {"--rate", "--outstanding"});
  expect_dram_error({"--outstanding", "2,0"}, {"--outstanding", "'0'"});
  expect_dram_error({"--cycles", "none"}, {"--cycles", "none"});
  expect_dram_error({"--set", "timing.tCLL=3"}, {"timing.tCLL", "'timing.tCL'"});
  expect_dram_error({"--set", "timing.tCL=0"}, {"timing.tCL", "1 to"});
  expect_dram_error({"--scheduler", "lifo"}, {"lifo", "fr-fcfs"});
  expect_dram_error({"--backend", "gpu"}, {"backend", "'gpu'"});
  expect_dram_error({"word"}, {"word"});
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
