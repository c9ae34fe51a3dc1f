// Do all workloads run under all policies, and do their reports agree with themselves?
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/workloads/workload.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

class EveryWorkload : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryWorkload, RunsUnderAllPolicies) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"run", GetParam(), "--json", folder.file("x.json")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;

  const Json document = Json::parse(read_text(folder.file("x.json")));
  const Json& runs = document["runs"];
  ASSERT_EQ(runs.size(), 3u);
  for (const Json& run : runs) {
    const std::string policy = run["policy"];
    EXPECT_EQ(run["workload"], GetParam());
    EXPECT_EQ(run["status"], "complete") << policy;
    EXPECT_GT(run["cycles"].get<uint64_t>(), 0u) << policy;
    // All policies run the same program, wherever its parts run.
    EXPECT_EQ(run["warp_instructions"], runs[0]["warp_instructions"]) << policy;
    EXPECT_EQ(run["thread_instructions"], runs[0]["thread_instructions"]) << policy;

    uint64_t committed = 0;
    for (const Json& kernel : run["kernels"])
      committed += kernel["warp_instructions"].get<uint64_t>();
    EXPECT_EQ(committed, run["warp_instructions"].get<uint64_t>()) << policy;

    uint64_t offloaded = 0;
    for (const Json& candidate : run["candidates"]) {
      offloaded += candidate["offloaded"].get<uint64_t>();
      EXPECT_LE(candidate["offloaded"].get<uint64_t>(), candidate["instances"].get<uint64_t>());
    }
    const auto moved = run["offloaded_thread_instructions"].get<uint64_t>();
    EXPECT_EQ(moved > 0, offloaded > 0) << policy;
    if (policy == "baseline") {
      EXPECT_EQ(offloaded, 0u);
      EXPECT_EQ(run["traffic"]["memory_to_memory_bytes"], 0u);
    }
    for (const auto& [name, counter] : run["counters"].items()) {
      EXPECT_FALSE(counter["unit"].get<std::string>().empty()) << name;
      EXPECT_FALSE(counter["description"].get<std::string>().empty()) << name;
    }
  }
}

std::vector<std::string> all_workloads() {
  std::vector<std::string> names;
  for (const auto& workload : workloads::all()) names.push_back(workload->name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Small, EveryWorkload, ::testing::ValuesIn(all_workloads()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace nearwarp::testing
