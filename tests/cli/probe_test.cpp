// Does 'nearwarp probe' say what it measured, to people and to programs?
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// A small machine takes a part of a second.
Words probe(Words more) {
  Words words{"probe", "--machine", "discrete16", "--set", "gpu.sms=4"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(ProbeCommand, TablesFitATerminal) {
  for (const Words& words : {probe({}), Words{"probe", "--machine", "coda"}}) {
    const Outcome o = run_program(words);
    ASSERT_EQ(o.exit_code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    EXPECT_LE(longest_line(o.out), 80u) << o.out;
    for (const char* part : {"latency from", "L1 hit", "L2 hit", "bandwidth that is reached",
                             "all: DRAM read", "one alone: DRAM read"})
      EXPECT_TRUE(contains(o.out, part)) << part << "\n" << o.out;
  }
}

TEST(ProbeCommand, JsonHasEverything) {
  const TemporaryFolder folder;
  const std::string path = folder.file("probe.json");
  const Outcome o = run_program(probe({"--set", "l1.hit_latency_cycles=50", "--json", path}));
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const auto json = nlohmann::json::parse(read_text(path));
  EXPECT_EQ(json["schema"], "nearwarp.probe/1");
  EXPECT_EQ(json["machine"], "discrete16");
  EXPECT_EQ(json["keys"]["l1.hit_latency_cycles"], 50);
  EXPECT_EQ(json["partial"], false);
  const auto& latencies = json["sections"][0];
  EXPECT_EQ(latencies["kind"], "latency");
  const auto& l1 = latencies["probes"][1];
  EXPECT_EQ(l1["name"], "L1 hit");
  EXPECT_NEAR(l1["core_cycles"].get<double>(), 55, 0.01);
  EXPECT_EQ(l1["share_as_meant"], 1.0);
  const auto& bandwidth = json["sections"][1]["probes"][0];
  EXPECT_GT(bandwidth["gigabytes_per_second"], 0.0);
  EXPECT_LE(bandwidth["bound"]["share"], 1.0);
  EXPECT_GT(bandwidth["between_two_runs"]["bytes"], 0);
}

TEST(ProbeCommand, ThreadsMakeNoDifference) {
  EXPECT_EQ(run_program(probe({"--threads", "1"})).out, run_program(probe({"--threads", "4"})).out);
}

TEST(ProbeCommand, MistakesAreSaid) {
  const auto expect_error = [](const Words& words, int exit_code, const Words& parts) {
    const Outcome o = run_program(words);
    EXPECT_EQ(o.exit_code, exit_code) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(count_lines(o.err), 1u) << o.err;
    for (const std::string& part : parts) EXPECT_TRUE(contains(o.err, part)) << o.err;
  };
  expect_error({"probe", "--machine", "ton"}, 2, {"ton", "tom"});
  expect_error(probe({"--set", "l1.wayz=3"}), 2, {"l1.wayz", "l1.ways"});
  expect_error(probe({"--set", "l1.ways=0"}), 2, {"l1.ways"});
  expect_error(probe({"--set", "dispatch.groups=2"}), 2, {"dispatch.groups", "policy"});
  expect_error(probe({"--set", " dispatch.groups = 2"}), 2, {"dispatch.groups", "policy"});
  expect_error(probe({"--threads", "0"}), 2, {"--threads"});
  expect_error(probe({"libor"}), 2, {"libor"});
  expect_error(probe({"--jsn", "x"}), 2, {"'--json'"});
  expect_error(probe({"--json", "/no/such/folder/x.json"}), 1, {"/no/such/folder"});
}

TEST(ProbeCommand, AnInterruptLeavesWhatThereIs) {
  const TemporaryFolder folder;
  const std::string path = folder.file("probe.json");
  Setting setting;
  setting.stderr_is_terminal = true;
  bool sent = false;
  setting.watch = [&](pid_t child, const std::string& err) {
    if (sent || !contains(err, "probing")) return;
    kill(child, SIGINT);
    sent = true;
  };
  const Outcome o =
      run_program({"probe", "--machine", "mpu", "--threads", "1", "--json", path}, setting);
  ASSERT_TRUE(sent) << o.err;
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(contains(o.err, "interrupted: ")) << o.err;
  EXPECT_TRUE(contains(o.out, "shared memory")) << o.out;
  EXPECT_EQ(nlohmann::json::parse(read_text(path))["partial"], true);
}

}  // namespace
}  // namespace nearwarp::testing
