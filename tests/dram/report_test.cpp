// Do tables fit, does the JSON say everything, is energy counters times constants?
#include "host/timing/dram/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "host/config/config.h"

namespace nearwarp::dram {
namespace {

config::DramConfig priced() {
  return config::load_dram(
      "ddr3-1600k",
      std::vector<std::string>{"energy.activation_fj=2000", "energy.read_fj_per_bit=3",
                               "energy.write_fj_per_bit=5", "energy.io_fj_per_bit=7",
                               "energy.refresh_fj=11000", "energy.background_uw=13"});
}

TEST(Energy, IsCountersTimesConstants) {
  RunResult r;
  r.commands.activates = 10;
  r.commands.refreshes = 3;
  r.commands.data_bytes_read = 100;
  r.commands.data_bytes_written = 200;
  r.cycles = 1600;
  r.clock_mhz = 800;
  const Energy e = energy_of(priced(), r);
  EXPECT_DOUBLE_EQ(*e.activation, 20);  // pJ
  EXPECT_DOUBLE_EQ(*e.read, 2.4);       // 800 bits
  EXPECT_DOUBLE_EQ(*e.write, 8);        // 1600 bits
  EXPECT_DOUBLE_EQ(*e.io, 16.8);        // both
  EXPECT_DOUBLE_EQ(*e.refresh, 33);
  EXPECT_DOUBLE_EQ(*e.background, 26);  // 13 uW for 2 us
  EXPECT_TRUE(e.complete());
  EXPECT_DOUBLE_EQ(*e.known(), 20 + 2.4 + 8 + 16.8 + 33 + 26);
}

TEST(Energy, ARefreshOfAPartTakesItsShare) {
  const config::DramConfig d =
      config::load_dram("hbm3-6400", std::vector<std::string>{"energy.refresh_fj=32000"});
  RunResult r;
  r.commands.refreshes = 64;  // each bank twice
  r.clock_mhz = 1600;
  EXPECT_DOUBLE_EQ(*energy_of(d, r).refresh, 64);
}

TEST(Energy, IsOfTheKnownPartsIfOneIsNotKnown) {
  config::DramConfig d = priced();
  d.energy.refresh_fj.reset();
  RunResult r;
  r.clock_mhz = 800;
  EXPECT_FALSE(energy_of(d, r).refresh.has_value());
  EXPECT_FALSE(energy_of(d, r).complete());
  EXPECT_TRUE(energy_of(d, r).known().has_value());
  d.energy = {};
  EXPECT_FALSE(energy_of(d, r).known().has_value());
}

TEST(Report, TableFitsAndJsonIsComplete) {
  const config::DramConfig standard = config::load_dram("ddr3-1600k");
  std::vector<Point> points;
  for (const uint32_t window : {1u, 2u, 4u, 8u, 16u, 32u}) {
    Traffic t;
    t.pattern = TrafficPattern::kRandom;
    t.pacing = TrafficPacing::kWindow;
    t.outstanding = window;
    points.push_back({&standard, t, "a rather long label " + std::to_string(window)});
  }
  RunOptions options;
  options.cycles = 20'000;
  std::vector<RunResult> results;
  for (const Point& p : points) results.push_back(run_channel(standard, p.load, options));
  std::istringstream lines(table_text(points, results));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;

  const auto json = nlohmann::json::parse(json_text(points, results, options, "0.0"));
  EXPECT_EQ(json["schema"], kDramSchema);
  ASSERT_EQ(json["runs"].size(), points.size());
  const auto& run = json["runs"][2];
  EXPECT_EQ(run["keys"]["timing.tCL"], 11);
  EXPECT_EQ(run["traffic"]["outstanding"], 4);
  EXPECT_EQ(run["cycles"], 20'000);
  EXPECT_EQ(run["commands"]["reads"], results[2].commands.read_commands);
  EXPECT_TRUE(run["energy_pj"]["total"].is_null());
  uint64_t n = 0;
  for (const auto& bucket : run["read_latency_cycles"]["histogram"]) n += bucket[1].get<uint64_t>();
  EXPECT_EQ(n, run["read_latency_cycles"]["reads"]);
}

TEST(Report, WritesAloneHaveNoLatencyOfReads) {
  const config::DramConfig standard = config::load_dram("ddr3-1600k");
  Traffic t;
  t.writes_num = 1;
  RunOptions options;
  options.cycles = 2000;
  const std::vector<Point> points = {{&standard, t, "writes"}};
  const std::vector<RunResult> results = {run_channel(standard, t, options)};
  ASSERT_EQ(results[0].traffic.reads_done, 0u);
  std::istringstream lines(table_text(points, results));
  size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {"read latency: mean", "  median", "  95 %", "  99 %", "  largest"}) {
      if (!line.starts_with(name)) continue;
      EXPECT_TRUE(line.ends_with(" -")) << line;
      found += 1;
    }
  }
  EXPECT_EQ(found, 5u);
}

}  // namespace
}  // namespace nearwarp::dram
