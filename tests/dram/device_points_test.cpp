// Do teams on a device give what the CPU gives?
#include <gtest/gtest.h>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/timing/dram/points.h"
#include "kernels/emulated_device.h"

namespace nearwarp::dram {
namespace {

std::vector<Point> points_of(const std::vector<config::DramConfig>& standards) {
  std::vector<Point> points;
  for (const config::DramConfig& standard : standards) {
    for (const TrafficPacing pacing :
         {TrafficPacing::kSaturated, TrafficPacing::kWindow, TrafficPacing::kOpen}) {
      Traffic t;
      t.pattern = TrafficPattern::kRandom;
      t.pacing = pacing;
      t.outstanding = 5;
      t.rate_ppm = 300'000;
      t.writes_num = 1;
      t.writes_den = 5;
      points.push_back({&standard, t, ""});
    }
  }
  Traffic reads, writes;
  reads.pacing = TrafficPacing::kWindow;
  reads.outstanding = 3;
  writes.pattern = TrafficPattern::kRandom;
  writes.pacing = TrafficPacing::kOpen;
  writes.rate_ppm = 200'000;
  writes.writes_num = 1;
  points.push_back({&standards[0], Load({reads, writes}), ""});
  Traffic trace;
  trace.pattern = TrafficPattern::kTrace;
  for (uint32_t i = 0; i < 500; ++i)
    trace.trace.push_back({0, i * 37 % 1000, i % 7 == 0 ? 1u : 0u});
  points.push_back({&standards[0], trace, ""});
  return points;
}

TEST(DevicePoints, EqualTheCpu) {
  std::vector<config::DramConfig> standards;
  for (const char* name : {"ddr3-1600k", "hbm2", "mpu-bank", "hbm3-6400"}) {
    standards.push_back(config::load_dram(name));
  }
  const std::vector<Point> points = points_of(standards);
  RunOptions options;
  options.warm_up_cycles = 2'000;
  options.cycles = 10'000;
  const RunResults cpu = run_points(points, options, 1);
  for (const uint32_t seed : {0u, 3u}) {
    kernels::EmulationOptions emulation;
    emulation.seed = seed;
    emulation.windows_at_once = 77;
    kernels::EmulatedDevice device(emulation);
    const RunResults teams = run_points_on(device, points, options);
    ASSERT_EQ(teams.size(), cpu.size());
    for (size_t i = 0; i < points.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(teams[i]->cycles, cpu[i]->cycles);
      EXPECT_EQ(teams[i]->latencies, cpu[i]->latencies);
      EXPECT_EQ(teams[i]->traffic.latency_cycles, cpu[i]->traffic.latency_cycles);
      EXPECT_EQ(teams[i]->commands.activates, cpu[i]->commands.activates);
      EXPECT_EQ(teams[i]->commands.turnarounds, cpu[i]->commands.turnarounds);
      EXPECT_EQ(teams[i]->commands.data_bytes_written, cpu[i]->commands.data_bytes_written);
      EXPECT_EQ(teams[i]->simulated_cycles, cpu[i]->simulated_cycles);
    }
  }
}

TEST(DevicePoints, TooManyForTheMemoryIsAnError) {
  const std::vector<config::DramConfig> standards = {config::load_dram("ddr3-1600k")};
  kernels::EmulationOptions emulation;
  emulation.memory_bytes = 100'000;
  kernels::EmulatedDevice device(emulation);
  EXPECT_THROW(run_points_on(device, points_of(standards), RunOptions{}), Error);
}

}  // namespace
}  // namespace nearwarp::dram
