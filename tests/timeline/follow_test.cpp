// Is a warp's way what happened to it, and is the run left as it is?
#include "host/timing/timeline/follow.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "host/timing/timeline/timeline.h"
#include "host/timing/timeline/watchers.h"
#include "tests/cli/program.h"
#include "tests/sim/whole_machine.h"
#include "tests/timeline/trace_file.h"

namespace nearwarp::testing {
namespace {

struct Way {
  report::RunResult result;
  std::string text;
};

Way way(const std::string& what, const std::string& name, const std::string& machine,
        const std::string& policy) {
  timeline::Follow follow(timeline::parse_followed(what));
  sim::SimOptions options;
  options.watcher = &follow;
  Way w;
  w.result = sim::replay_on_cpu(workload(name), config::load_machine(machine, {}),
                                config::load_policy(policy, {}), options);
  w.text = follow.text();
  return w;
}

class Follows : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {
};

TEST_P(Follows, ResultsAreAsWithout) {
  const auto& [machine, policy, kernel] = GetParam();
  const Way w = way(std::string(kernel) + ":5", "kmeans", machine, policy);
  const report::RunResult plain = sim::replay_on_cpu(
      workload("kmeans"), config::load_machine(machine, {}), config::load_policy(policy, {}), {});
  EXPECT_EQ(numbers(w.result), numbers(plain));
  EXPECT_TRUE(contains(w.text, "launch 0, warp 5, on sm")) << w.text.substr(0, 200);
}

INSTANTIATE_TEST_SUITE_P(Machines, Follows,
                         ::testing::Values(std::tuple{"tom", "baseline", "kmeans_assign"},
                                           std::tuple{"tom", "tom", "kmeans_transpose"},
                                           std::tuple{"opportunistic", "llc-compute",
                                                      "kmeans_assign"},
                                           std::tuple{"coda", "coda", "kmeans_assign"}));

TEST(Follow, ARequestGoesThereAndBackInOrderAndTakesAsLongAsAMissDoes) {
  const Way w = way("kmeans_assign#1:37", "kmeans", "tom", "baseline");
  // "  112,379  line 0x5f67: sm 6 -> request crossbar, there at 112,430"
  const std::regex hop(" *([0-9,]+)  line (0x[0-9a-f]+): (.+) -> (.+), there at ([0-9,]+)");
  const std::regex back(" *([0-9,]+)  line (0x[0-9a-f]+): is there, after ([0-9,]+) cycles");
  const auto number = [](std::string text) {
    std::erase(text, ',');
    return std::stoull(text);
  };
  std::map<std::string, std::vector<std::string>> places;  // of a line, as far as it has come
  std::map<std::string, uint64_t> arrived;
  std::set<std::string> joined;  // others had asked for them before: the way's beginning is unseen
  size_t whole = 0;
  uint64_t cycles = 0;
  std::istringstream lines(w.text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (line.find(": another warp has asked for it") != line.npos) {
      const size_t at = line.find("line ") + 5;
      joined.insert(line.substr(at, line.find(',', at) - at));
    } else if (std::regex_match(line, m, hop)) {
      std::vector<std::string>& way_of = places[m[2]];
      if (way_of.empty()) way_of.push_back(m[3]);
      EXPECT_EQ(way_of.back(), m[3]) << line << ": it goes on where it came to";
      EXPECT_GE(number(m[1]), arrived[m[2]]) << line << ": not before it came there";
      EXPECT_GE(number(m[5]), number(m[1])) << line;
      way_of.push_back(m[4]);
      arrived[m[2]] = number(m[5]);
    } else if (std::regex_match(line, m, back)) {
      if (places.count(m[2]) != 0) {
        if (joined.count(m[2]) == 0) {
          EXPECT_EQ(places[m[2]].front(), places[m[2]].back()) << line << ": back at its SM";
        }
        EXPECT_GE(number(m[1]), arrived[m[2]]) << line;
        whole += places[m[2]].size() >= 5 ? 1 : 0;  // SM, network, slice, network, SM
        cycles += number(m[3]);
      }
      places.erase(m[2]);
      arrived.erase(m[2]);
      joined.erase(m[2]);
    }
  }
  ASSERT_GT(whole, 20u) << w.text;
  const double mean = static_cast<double>(counter(w.result, "sm.miss_latency")) /
                      static_cast<double>(counter(w.result, "sm.l1.read_misses"));
  EXPECT_NEAR(static_cast<double>(cycles) / static_cast<double>(whole), mean, 0.5 * mean)
      << "of the order of all warps' misses";
}

TEST(Follow, IsInTheTimelineToo) {
  const TemporaryFolder folder;
  timeline::Options options;
  options.path = (folder.path() / "trace.json").string();
  timeline::Timeline timeline(options);
  timeline::Follow follow(timeline::parse_followed("kmeans_assign:3"));
  timeline.also([&](timeline::TraceWriter& out) { follow.write(out, timeline::kAlsoPid); });
  timeline::Watchers both;
  both.add(&follow);
  both.add(&timeline);
  sim::SimOptions sim;
  sim.watcher = &both;
  sim::replay_on_cpu(workload("kmeans"), config::load_machine("tom", {}),
                     config::load_policy("baseline", {}), sim);
  const TraceFile file = read_trace(options.path);
  EXPECT_TRUE(file.nests());
  const uint64_t pid = file.pid("followed: kmeans_assign, warp 3");
  EXPECT_GT((file.spans.at({pid, 1}).size()), 3u) << "the warp's states";
  size_t requests = 0;
  for (const auto& [thread, spans] : file.spans)
    if (thread.first == pid && thread.second != 1) requests += spans.size();
  EXPECT_GT(requests, 10u);
}

TEST(Follow, WhatIsNotThereIsSaid) {
  EXPECT_THROW(timeline::parse_followed("kernel"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel:"), UsageError);
  EXPECT_THROW(timeline::parse_followed(":3"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel#x:3"), UsageError);
  EXPECT_THROW(way("kmeans_asign:0", "kmeans", "tom", "baseline"), Error);
  EXPECT_THROW(way("kmeans_assign#99:0", "kmeans", "tom", "baseline"), Error);
  EXPECT_THROW(way("kmeans_assign:9999999", "kmeans", "tom", "baseline"), Error);
}

}  // namespace
}  // namespace nearwarp::testing
