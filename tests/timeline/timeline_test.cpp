// Does a timeline show what the run did, and leave it as it is?
#include "host/timing/timeline/timeline.h"

#include <gtest/gtest.h>

#include "host/core/temporary_folder.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/use.h"
#include "tests/cli/trace_file.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

struct Shown {
  report::RunResult result;
  TraceFile file;
  std::string summary;
};

Shown shown(const std::string& name, const std::string& machine, const std::string& policy,
            timeline::Options options = {}, sim::SimOptions sim = {}) {
  const TemporaryFolder folder;
  options.path = (folder.path() / "trace.json").string();
  timeline::Timeline timeline(options);
  sim.watcher = &timeline;
  Shown s;
  s.result = sim::replay_on_cpu(workload(name), config::load_machine(machine, {}),
                                config::load_policy(policy, {}), sim);
  s.file = read_trace(options.path);
  s.summary = timeline.summary();
  return s;
}

report::RunResult not_shown(const std::string& name, const std::string& machine,
                            const std::string& policy) {
  return sim::replay_on_cpu(workload(name), config::load_machine(machine, {}),
                            config::load_policy(policy, {}), {});
}

/// Busy time of all series of a process, in percent x cycles.
double busy(const Shown& s, const std::string& process) {
  double sum = 0;
  for (const auto& [name, series] : s.file.series)
    if (name.starts_with(process + "/")) sum += integral(series, s.result.cycles);
  return sum;
}

class Timelines
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(Timelines, ResultsAreAsWithoutAndTimesInOrder) {
  const auto& [name, machine, policy] = GetParam();
  const Shown s = shown(name, machine, policy);
  EXPECT_EQ(numbers(s.result), numbers(not_shown(name, machine, policy)));
  EXPECT_TRUE(s.file.nests());
  ASSERT_FALSE(s.file.series.empty());
  for (const auto& [track, series] : s.file.series) {
    EXPECT_LE(series.back().first, s.result.cycles) << track;
    EXPECT_TRUE(std::is_sorted(series.begin(), series.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    })) << track;
  }
  size_t launches = 0;
  for (const auto& [thread, spans] : s.file.spans)
    if (thread.first == s.file.pid("kernels")) launches += spans.size();
  EXPECT_EQ(launches, s.result.kernels.size());
}

INSTANTIATE_TEST_SUITE_P(Machines, Timelines,
                         ::testing::Values(std::tuple{"reduction", "tom", "baseline"},
                                           std::tuple{"libor", "tom", "tom"},
                                           std::tuple{"vector-add", "opportunistic", "llc-compute"},
                                           std::tuple{"vector-add", "mpu", "mpu"},
                                           std::tuple{"vector-add", "coda", "baseline"}));

TEST(Timeline, CountersSumToTheRuns) {
  timeline::Options options;
  options.interval = 500;
  const Shown s = shown("libor", "tom", "ndp-uncontrolled-bmap", options);
  const auto near = [&](double is, double wanted) { EXPECT_NEAR(is, wanted, 0.001 * wanted); };
  const auto period = static_cast<double>(s.result.link_use.available_ticks / s.result.cycles /
                                          4);  // ticks; there are four stacks
  double busy_ticks = 0;
  for (const char* link : {"link.gpu_to_memory", "link.memory_to_gpu", "link.memory_to_memory"})
    busy_ticks += static_cast<double>(counter(s.result, link + std::string(".busy_ticks")));
  near(busy(s, "links") * period / 100, busy_ticks);
  near(busy(s, "vaults' data buses") * period / 100,
       static_cast<double>(counter(s.result, "dram.bus_busy_ticks")));
  std::map<std::string, double> uses;
  double warps = 0;
  for (const auto& [track, series] : s.file.series) {
    if (track.find("/% of cycles/") != track.npos)
      uses[track.substr(track.rfind('/') + 1)] += integral(series, s.result.cycles) / 100;
    if (track.ends_with("/warps/warps")) warps += integral(series, s.result.cycles);
  }
  for (const report::CycleUse& use : report::kCycleUses) {
    uint64_t cycles = 0;
    for (const char* sms : {"sm", "stack_sm"})
      cycles += counter(s.result, std::string(sms) + ".cycles." + use.name);
    EXPECT_NEAR(uses[use.name], static_cast<double>(cycles),
                0.0002 * static_cast<double>(s.result.cycles) * 68)
        << use.name;
  }
  near(warps, static_cast<double>(counter(s.result, "sm.warp_cycles") +
                                  counter(s.result, "stack_sm.warp_cycles")));
}

TEST(Timeline, TheOverviewIsTheMeanOfAllThatAreAlike) {
  timeline::Options options;
  options.interval = 500;
  const Shown s = shown("libor", "tom", "ndp-uncontrolled-bmap", options);
  const auto cycles = static_cast<double>(s.result.cycles);
  const auto overview = [&](const std::string& track) {
    const auto at = s.file.series.find("overview/" + track);
    EXPECT_NE(at, s.file.series.end()) << track;
    return at == s.file.series.end() ? 0 : integral(at->second, s.result.cycles) / cycles;
  };
  const auto period = static_cast<double>(s.result.link_use.available_ticks) / cycles / 4;
  const auto links = [&](const char* name, double links_of) {
    return 100 * static_cast<double>(counter(s.result, name)) / (cycles * period * links_of);
  };
  EXPECT_NEAR(overview("TX links/busy %"), links("link.gpu_to_memory.busy_ticks", 4), 0.05);
  EXPECT_NEAR(overview("RX links/busy %"), links("link.memory_to_gpu.busy_ticks", 4), 0.05);
  EXPECT_NEAR(overview("cross-stack links/busy %"), links("link.memory_to_memory.busy_ticks", 12),
              0.05);
  for (const report::SmCycles& c : s.result.sm_cycles) {
    const std::string name = c.sms == "sm" ? "SMs" : "stack SMs";
    EXPECT_NEAR(overview(name + ", cycles [%]/memory"),
                100 * c.share(static_cast<size_t>(sm::CycleUse::kMemory)), 0.1);
    EXPECT_NEAR(overview(name + ", warps on each/mean"), c.resident(), 0.05);
  }
}

TEST(Timeline, EveryOffloadHasItsSpans) {
  for (const char* policy : {"ndp-uncontrolled-bmap", "tom", "ndp-ideal", "tuned"}) {
    const std::string machine = std::string(policy) == "tuned" ? "pim-tuning" : "tom";
    const Shown s = shown("libor", machine, policy);
    uint64_t offloaded = 0;
    for (const tom::CandidateRow& c : tom::candidates_of(s.result)) offloaded += c.offloaded;
    ASSERT_GT(offloaded, 0u) << policy;
    EXPECT_EQ(s.file.count("offloaded"), offloaded) << policy;
    EXPECT_EQ(s.file.count("executes"), offloaded) << policy;
    EXPECT_EQ(s.file.arrows, offloaded) << policy;
    EXPECT_TRUE(s.file.nests()) << policy;
    EXPECT_EQ(s.summary.find("lost"), s.summary.npos) << s.summary;
  }
}

TEST(Timeline, TheLearningPhaseIsASpan) {
  const Shown s = shown("libor", "tom", "tom");
  ASSERT_TRUE(tom::mapping_of(s.result).has_value());
  const auto& spans = s.file.spans.at({s.file.pid("mechanism"), 1});
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].begin, 0u);
  EXPECT_EQ(spans[0].end, tom::mapping_of(s.result)->interrupt_cycle);
  EXPECT_EQ(spans[2].end, tom::mapping_of(s.result)->resume_cycle);
}

TEST(Timeline, APartIsShown) {
  timeline::Options options;
  options.from = 2000;
  options.to = 30'000;
  const Shown s = shown("libor", "tom", "ndp-uncontrolled-bmap", options);
  ASSERT_GT(s.result.cycles, 30'000u);
  for (const auto& [track, series] : s.file.series) {
    EXPECT_GE(series.front().first, 2000u) << track;
    EXPECT_LT(series.back().first, 30'000u) << track;
  }
  for (const auto& [thread, spans] : s.file.spans)
    for (const TraceSpan& span : spans) {
      EXPECT_GE(span.begin, 2000u) << span.name;
      EXPECT_LE(span.end, 30'000u) << span.name;
    }
  EXPECT_GT(s.file.count("offloaded"), 0u);
}

TEST(Timeline, AsTheFileGrowsSamplesBecomeRarerAndOffloadsAreLeftOut) {
  timeline::Options options;
  options.doubles_every = 20'000;
  options.most_spans = 20'000;
  const Shown s = shown("libor", "tom", "ndp-uncontrolled-bmap", options);
  EXPECT_NE(s.summary.find("longer as the file grew"), s.summary.npos) << s.summary;
  EXPECT_NE(s.summary.find("without spans"), s.summary.npos) << s.summary;
  EXPECT_TRUE(s.file.nests());
}

TEST(Timeline, AnIntervalBeyondAllTicksIsOneSample) {
  for (const uint64_t interval : {uint64_t{1} << 61, uint64_t{1} << 62, ~uint64_t{0}}) {
    timeline::Options options;
    options.interval = interval;
    const Shown s = shown("vector-add", "tom", "baseline", options);
    EXPECT_NE(s.summary.find(", 1 sample of "), std::string::npos) << s.summary;
  }
}

TEST(Timeline, AnInterruptedRunLeavesAWholeFile) {
  sim::SimOptions sim;
  sim.progress_interval = std::chrono::milliseconds(0);
  sim.progress = [](const sim::Progress& p) { return p.cycles < 3000; };
  const Shown s = shown("libor", "tom", "ndp-uncontrolled-bmap", {}, sim);
  EXPECT_TRUE(s.result.partial);
  EXPECT_TRUE(s.file.nests());
  EXPECT_FALSE(s.file.series.empty());
}

TEST(Timeline, ThreadsAndWindowsChangeNothing) {
  const Shown one = shown("reduction", "tom", "tom");
  sim::SimOptions sim;
  sim.threads = 2;
  sim.window_ticks = 7;
  const Shown other = shown("reduction", "tom", "tom", {}, sim);
  EXPECT_EQ(one.file.series, other.file.series);
  EXPECT_EQ(one.file.count("offloaded"), other.file.count("offloaded"));
}

}  // namespace
}  // namespace nearwarp::testing
