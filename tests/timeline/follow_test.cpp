// Is a warp's way what happened to it, and is the run left as it is?
#include "host/timing/timeline/follow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "host/timing/timeline/timeline.h"
#include "host/timing/timeline/watchers.h"
#include "tests/cli/program.h"
#include "tests/cli/trace_file.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

struct Way {
  report::RunResult result;
  std::string text;
};

Way way(const std::string& what, const runtime::Recording& recording, const std::string& machine,
        const std::string& policy) {
  const std::unique_ptr<timeline::Follower> follow =
      timeline::make_follower(timeline::parse_followed(what));
  sim::SimOptions options;
  options.watcher = follow.get();
  Way w;
  w.result = sim::replay_on_cpu(recording, config::load_machine(machine, {}),
                                config::load_policy(policy, {}), options);
  w.text = follow->text();
  return w;
}

Way way(const std::string& what, const std::string& name, const std::string& machine,
        const std::string& policy) {
  return way(what, workload(name), machine, policy);
}

/// A warp reads a line, and writes the next one.
runtime::Recording one_load() {
  PtxDevice d(R"(
.visible .entry one_load(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd3+128], %r3;
  ret;
})");
  const uint64_t data = d.device.allocate(4096, "data");
  d.device.launch(d.module, "one_load", {1, 1, 1}, {32, 1, 1}, 0, runtime::KernelArgs(data));
  return d.record();
}

/// A row of a way's table: a stage with its beginning and cycles; the last one is the whole.
struct TimedStage {
  uint64_t begin, cycles;
  std::string what;
};
std::vector<TimedStage> table_in(const std::string& text) {
  const std::regex row(" +([0-9,]+) +([0-9,]+)  (.+)");
  const auto number = [](std::string digits) {
    std::erase(digits, ',');
    return std::stoull(digits);
  };
  std::vector<TimedStage> stages;
  std::istringstream lines(text);
  std::smatch m;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, m, row)) stages.push_back({number(m[1]), number(m[2]), m[3]});
  return stages;
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

TEST(Follow, ARequestsStagesAddUpToItsLatencyAndAreWhatTheMachinesFileSays) {
  const Way w = way("one_load:0/1", one_load(), "tom", "baseline");
  EXPECT_TRUE(contains(w.text,
                       "one_load, launch 0, warp 0, request 1: sm 0 reads line 0x7f2d00200000, "
                       "PTX line "))
      << w.text;
  std::vector<TimedStage> stages = table_in(w.text);
  ASSERT_EQ(stages.size(), 22u) << w.text;
  const TimedStage whole = stages.back();
  stages.pop_back();
  uint64_t at = stages[0].begin;
  for (const TimedStage& stage : stages) {
    EXPECT_EQ(stage.begin, at) << stage.what;
    at += stage.cycles;
  }
  EXPECT_EQ(at, whole.begin);
  EXPECT_EQ(whole.begin - stages[0].begin, whole.cycles);
  EXPECT_EQ(counter(w.result, "sm.l1.read_misses"), 1u);
  EXPECT_EQ(counter(w.result, "sm.miss_latency"), whole.cycles);
  const auto takes = [&](const std::string& what, uint64_t least, uint64_t most) {
    const auto found = std::find_if(stages.begin(), stages.end(), [&](const TimedStage& stage) {
      return stage.what.find(what) != stage.what.npos;
    });
    ASSERT_NE(found, stages.end()) << what << " is not in\n" << w.text;
    EXPECT_GE(found->cycles, least) << what;
    EXPECT_LE(found->cycles, most) << what;
  };
  // Packets are seen when they are sent, up to a core cycle late; clocks of 700 to 1250 MHz add
  // another one or two of the core's cycles, of 1400 MHz.
  takes("sm 0 -> request crossbar", 51, 51);             // 35 after a miss, and 16 of the channel
  takes("in l2 slice 4", 58, 62);                        // 29 of 700 MHz
  takes("l2 slice 4 -> link port 1", 16, 17);            // 16 of the channel
  takes("waits for bank 8, its row is opened", 20, 23);  // tRCD: 11 of 800 MHz are 19.25
  takes("data of bank 8", 38, 40);  // tCL: 11 of 800 MHz, and 128 bytes of 10 GB/s: 37.2
}

TEST(Follow, AddressesAreOfAllWhoAsk) {
  const Way reads = way("0x7f2d00200004", one_load(), "tom", "baseline");
  EXPECT_TRUE(contains(reads.text, "Line 0x7f2d00200000, 128 bytes, at data + 4: 1 request\n"))
      << reads.text;
  EXPECT_TRUE(contains(reads.text, "1. sm 0 reads it, for one_load:0, PTX line "));
  const std::vector<TimedStage> stages = table_in(reads.text),
                                same = table_in(
                                    way("one_load:0/1", one_load(), "tom", "baseline").text);
  ASSERT_EQ(stages.size(), same.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(stages[i].begin, same[i].begin) << stages[i].what;
    EXPECT_EQ(stages[i].what, same[i].what);
  }
  const Way writes = way("0x7f2d00200080", one_load(), "tom", "baseline");
  EXPECT_TRUE(contains(writes.text, "at data + 128: 1 request\n\n1. sm 0 writes it\n"))
      << writes.text;
  EXPECT_EQ(table_in(writes.text).size(), 19u) << "there, and back with the acknowledgement";
  const Way none = way("0x7f2d00200800", one_load(), "tom", "baseline");
  EXPECT_TRUE(contains(none.text, "at data + 2,048: 0 requests\n")) << none.text;
}

TEST(Follow, AddressesAreTheProgramsUnderPageTablesToo) {
  for (const auto& [machine, policy] : {std::pair{"tom", "tom"}, {"coda", "coda"}}) {
    // A warp's request names an address, under which it is found.
    const std::string one = way("kmeans_assign:37/3", "kmeans", machine, policy).text;
    const size_t at = one.find("reads line 0x") + 11;
    const std::string address = one.substr(at, one.find(',', at) - at);
    const Way w = way(address, "kmeans", machine, policy);
    EXPECT_TRUE(contains(w.text, "reads it, for kmeans_assign:37, kmeans.cu:25"))
        << machine << " " << address << "\n"
        << w.text.substr(0, 2000);
    EXPECT_TRUE(contains(w.text, one.substr(one.find("\n\n") + 2))) << one << w.text;
  }
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

TEST(Follow, AllRequestsForALineAreInTheTimeline) {
  const TemporaryFolder folder;
  timeline::Options options;
  options.path = (folder.path() / "trace.json").string();
  timeline::Timeline timeline(options);
  const auto follow = timeline::make_follower(timeline::parse_followed("0x7f2d00200000"));
  timeline.also([&](timeline::TraceWriter& out) { follow->write(out, timeline::kAlsoPid); });
  timeline::Watchers both;
  both.add(follow.get());
  both.add(&timeline);
  sim::SimOptions sim;
  sim.watcher = &both;
  sim::replay_on_cpu(one_load(), config::load_machine("tom", {}),
                     config::load_policy("baseline", {}), sim);
  const TraceFile file = read_trace(options.path);
  EXPECT_TRUE(file.nests());
  const auto& spans = file.spans.at({file.pid("followed: line 0x7f2d00200000"), 1});
  const std::vector<TimedStage> stages = table_in(follow->text());
  ASSERT_EQ(spans.size(), stages.size()) << "the whole, and its stages";
  for (const TimedStage& stage : stages)
    EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [&](const TraceSpan& span) {
      return span.name == stage.what
                 ? span.begin == stage.begin && span.end - span.begin == stage.cycles
                 : stage.what == "cycles in all" && span.end - span.begin == stage.cycles;
    })) << stage.what;
}

TEST(Follow, WhatIsNotThereIsSaid) {
  EXPECT_THROW(timeline::parse_followed("kernel"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel:"), UsageError);
  EXPECT_THROW(timeline::parse_followed(":3"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel#x:3"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel:1/0"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel:1/"), UsageError);
  EXPECT_THROW(timeline::parse_followed("kernel:/1"), UsageError);
  EXPECT_THROW(timeline::parse_followed("0x"), UsageError);
  EXPECT_THROW(timeline::parse_followed("0x12g"), UsageError);
  EXPECT_THROW(timeline::parse_followed("1234"), UsageError);
  EXPECT_THROW(way("0x1234", "kmeans", "tom", "baseline"), Error);
  EXPECT_TRUE(contains(way("one_load:0/2", one_load(), "tom", "baseline").text,
                       "1 of its requests missed the L1, so there is no number 2"));
  EXPECT_THROW(way("kmeans_asign:0", "kmeans", "tom", "baseline"), Error);
  EXPECT_THROW(way("kmeans_assign#99:0", "kmeans", "tom", "baseline"), Error);
  EXPECT_THROW(way("kmeans_assign:9999999", "kmeans", "tom", "baseline"), Error);
}

}  // namespace
}  // namespace nearwarp::testing
