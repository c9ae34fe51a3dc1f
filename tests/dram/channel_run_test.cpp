// Is a channel under traffic deterministic, complete, and bound by what its standard says?
#include "host/timing/dram/channel_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/timing/dram/points.h"
#include "tests/support/general_steps.h"

namespace nearwarp::dram {
namespace {

using Changes = std::vector<std::string>;

config::DramConfig ddr3(const Changes& changes = {}) {
  return config::load_dram("ddr3-1600k", changes);
}
RunOptions short_run(uint64_t cycles = 40'000) {
  RunOptions options;
  options.warm_up_cycles = 5'000;
  options.cycles = cycles;
  return options;
}
Traffic random_traffic() {
  Traffic t;
  t.pattern = TrafficPattern::kRandom;
  return t;
}

/// Everything that was counted, in one list.
std::vector<uint64_t> fingerprint(const RunResult& r) {
  std::vector<uint64_t> all = {r.cycles, r.traffic.reads_done, r.traffic.latency_cycles,
                               r.traffic.latency_min, r.traffic.latency_max};
  for (const auto& [cycles, n] : r.latencies) all.insert(all.end(), {cycles, n});
  const auto* words = reinterpret_cast<const uint64_t*>(&r.commands);
  all.insert(all.end(), words, words + sizeof(r.commands) / sizeof(uint64_t));
  return all;
}

class ChannelRunOf : public ::testing::TestWithParam<const char*> {};

TEST_P(ChannelRunOf, DoesNotDependOnHowItIsStepped) {
  const config::DramConfig standard = config::load_dram(GetParam());
  for (const TrafficPacing pacing :
       {TrafficPacing::kSaturated, TrafficPacing::kWindow, TrafficPacing::kOpen}) {
    Traffic t = random_traffic();
    t.pacing = pacing;
    t.outstanding = 6;
    t.rate_ppm = 400'000;
    t.writes_num = 1;
    t.writes_den = 4;
    const auto expected = fingerprint(run_channel(standard, t, short_run()));
    RunOptions other = short_run();
    other.window_ticks = 1;
    EXPECT_EQ(fingerprint(run_channel(standard, t, other)), expected);
    other.window_ticks = 5;
    other.order_seed = 7;
    EXPECT_EQ(fingerprint(run_channel(standard, t, other)), expected);
    testing::use_general_steps(other);
    EXPECT_EQ(fingerprint(run_channel(standard, t, other)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Standards, ChannelRunOf,
                         ::testing::Values("ddr3-1600k", "hbm2", "hmc-vault", "mpu-bank",
                                           "hbm3-6400", "gddr7-28000", "ddr5-6400a", "lpddr5-6400"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Traffic window_reads(uint32_t outstanding) {
  Traffic t;
  t.pacing = TrafficPacing::kWindow;
  t.outstanding = outstanding;
  return t;
}
Traffic open_writes(uint64_t ppm) {
  Traffic t = random_traffic();
  t.pacing = TrafficPacing::kOpen;
  t.rate_ppm = ppm;
  t.writes_num = 1;
  t.seed = 7;
  return t;
}
std::vector<uint64_t> fingerprint_of(const Served& s) {
  std::vector<uint64_t> all = {s.traffic.reads_sent,  s.traffic.writes_sent,
                               s.traffic.reads_done,  s.traffic.latency_cycles,
                               s.traffic.latency_min, s.traffic.latency_max};
  for (const auto& [cycles, n] : s.latencies) all.insert(all.end(), {cycles, n});
  return all;
}

TEST_P(ChannelRunOf, StreamsDoNotDependOnHowTheyAreStepped) {
  const config::DramConfig standard = config::load_dram(GetParam());
  Traffic mix = random_traffic();  // as fast as possible
  mix.writes_num = 1;
  mix.writes_den = 3;
  for (const bool saturated : {false, true}) {
    std::vector<Traffic> streams = {window_reads(4), open_writes(150'000), open_writes(50'000)};
    if (saturated) streams.push_back(mix);
    const auto outcome = [&](const RunOptions& options) {
      const RunResult r = run_channel(standard, Load(streams), options);
      std::vector<uint64_t> all = fingerprint(r);
      for (const Served& s : r.streams) {
        const auto own = fingerprint_of(s);
        all.insert(all.end(), own.begin(), own.end());
      }
      return all;
    };
    const auto expected = outcome(short_run());
    RunOptions other = short_run();
    other.window_ticks = 1;
    EXPECT_EQ(outcome(other), expected);
    other.window_ticks = 5;
    other.order_seed = 7;
    EXPECT_EQ(outcome(other), expected);
    testing::use_general_steps(other);
    EXPECT_EQ(outcome(other), expected);
  }
}

TEST(ChannelRun, TotalsAreTheSumsOfStreams) {
  const RunResult r = run_channel(
      ddr3(), Load({window_reads(4), open_writes(100'000), random_traffic()}), short_run(100'000));
  ASSERT_EQ(r.streams.size(), 3u);
  uint64_t reads = 0, writes = 0, latency = 0, classes = 0;
  double share = 0;
  for (const Served& s : r.streams) {
    reads += s.traffic.reads_done;
    writes += s.traffic.writes_sent;
    latency += s.traffic.latency_cycles;
    for (const auto& [cycles, n] : s.latencies) classes += n;
    share += r.share_of_peak(s);
  }
  EXPECT_EQ(r.traffic.reads_done, reads);
  EXPECT_EQ(r.traffic.writes_sent, writes);
  EXPECT_EQ(r.traffic.latency_cycles, latency);
  EXPECT_EQ(classes, reads);
  // Streams got what the channel did, but for what was under way at both ends.
  EXPECT_NEAR(share, r.share_of_peak(), 0.005);
  EXPECT_EQ(r.streams[0].traffic.writes_sent, 0u);
  EXPECT_EQ(r.streams[1].traffic.reads_done, 0u);
  EXPECT_GT(r.streams[1].traffic.writes_sent, 0u);
}

TEST(ChannelRun, AStreamBesideNothingIsAsByItself) {
  // The other one offers an access in six million cycles.
  const RunResult alone = run_channel(ddr3(), window_reads(3), short_run());
  const RunResult beside =
      run_channel(ddr3(), Load({window_reads(3), open_writes(1)}), short_run());
  EXPECT_EQ(beside.streams[1].traffic.writes_sent, 0u);
  EXPECT_EQ(fingerprint_of(beside.streams[0]), fingerprint_of(alone.streams[0]));
}

TEST(ChannelRun, StreamsThatCannotAllBeServedTakeTurns) {
  Traffic a = random_traffic(), b = random_traffic();
  b.seed = 2;
  const RunResult r = run_channel(ddr3(), Load({a, b}), short_run(100'000));
  const auto first = static_cast<double>(r.streams[0].traffic.reads_done),
             second = static_cast<double>(r.streams[1].traffic.reads_done);
  EXPECT_NEAR(first, second, 64);  // what may be under way
  EXPECT_NEAR(r.share_of_peak(), run_channel(ddr3(), a, short_run(100'000)).share_of_peak(), 0.01);
}

TEST(ChannelRun, OpenStreamsAreServedAtTheirOwnRates) {
  Traffic reads = random_traffic();
  reads.pacing = TrafficPacing::kOpen;
  reads.rate_ppm = 250'000;
  const RunResult r =
      run_channel(ddr3(), Load({reads, open_writes(100'000)}), short_run(1'000'000));
  EXPECT_NEAR(r.share_of_peak(r.streams[0]), 0.25, 0.25 * 0.015);
  EXPECT_NEAR(r.share_of_peak(r.streams[1]), 0.10, 0.10 * 0.03);
  // Writes make reads wait.
  EXPECT_GT(r.streams[0].mean_latency(),
            run_channel(ddr3(), reads, short_run(1'000'000)).mean_latency() + 1);
}

TEST(ChannelRun, StreamsBeginWhereTheyAreToldTo) {
  // Two streams in one bank, two of its rows apart, close each other's rows with about every second
  // access; in banks next to each other they do not.
  const auto conflicts = [](uint64_t first_line) {
    Traffic a = window_reads(1), b = window_reads(1);
    b.first_line = first_line;
    const RunResult r = run_channel(ddr3({"timing.tREFI=0"}), Load({a, b}), short_run(20'000));
    return static_cast<double>(r.commands.row_conflicts) /
           static_cast<double>(r.commands.read_commands);
  };
  const uint64_t row = 8192 / 64, banks = 8;
  EXPECT_GT(conflicts(2 * banks * row), 0.4);
  EXPECT_LT(conflicts(row), 0.05);
}

TEST(ChannelRun, SeedsDifferAndRepeat) {
  Traffic t = random_traffic();
  const auto first = fingerprint(run_channel(ddr3(), t, short_run()));
  EXPECT_EQ(fingerprint(run_channel(ddr3(), t, short_run())), first);
  t.seed = 2;
  EXPECT_NE(fingerprint(run_channel(ddr3(), t, short_run())), first);
}

TEST(ChannelRun, ThreadsGiveTheSameResultsInOrder) {
  const config::DramConfig standard = ddr3();
  std::vector<Point> points;
  for (const uint32_t window : {1u, 2u, 5u, 9u}) {
    Traffic t = random_traffic();
    t.pacing = TrafficPacing::kWindow;
    t.outstanding = window;
    points.push_back({&standard, t, ""});
  }
  const auto one = run_points(points, short_run(), 1), four = run_points(points, short_run(), 4);
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(fingerprint(*one[i]), fingerprint(*four[i]));
}

TEST(ChannelRun, AskedToStopTheOthersKeepTheirResults) {
  const config::DramConfig standard = ddr3();
  const std::vector<Point> points(3, Point{&standard, random_traffic(), ""});
  uint64_t last = 0;
  const auto found = run_points(points, short_run(), 1, [&](uint64_t cycles) {
    EXPECT_GE(cycles, last);
    last = cycles;
    return cycles < 60'000;  // in the second run
  });
  ASSERT_EQ(found.size(), points.size());
  ASSERT_TRUE(found[0].has_value());
  EXPECT_EQ(fingerprint(*found[0]),
            fingerprint(run_channel(standard, random_traffic(), short_run())));
  EXPECT_FALSE(found[2].has_value());
}

TEST(ChannelRun, AskedToStopAllThreadsEnd) {
  const config::DramConfig standard = ddr3();
  const std::vector<Point> points(6, Point{&standard, random_traffic(), ""});
  const auto expected = fingerprint(run_channel(standard, random_traffic(), short_run()));
  // A run takes 45,000 cycles: one of them may have come to its end before.
  const auto found =
      run_points(points, short_run(), 3, [](uint64_t cycles) { return cycles < 60'000; });
  ASSERT_EQ(found.size(), points.size());
  size_t ended = 0;
  for (const auto& result : found) {
    if (!result.has_value()) continue;
    ended += 1;
    EXPECT_EQ(fingerprint(*result), expected);
  }
  EXPECT_LE(ended, 1u);
}

TEST(ChannelRun, PeakLessRefresh) {
  // Every tREFI, a refresh takes at least tRP + tRFC + tRCD of the bus's time, and little more.
  const RunResult r = run_channel(ddr3(), Traffic{}, short_run(624'000));
  EXPECT_LE(r.share_of_peak(), 1 - (11.0 + 208 + 11) / 6240);
  EXPECT_GE(r.share_of_peak(), 1 - (11.0 + 208 + 11 + 20) / 6240);
  EXPECT_NEAR(static_cast<double>(r.commands.refreshes), 100, 1);
  EXPECT_EQ(run_channel(ddr3({"timing.tREFI=0"}), Traffic{}, short_run()).share_of_peak(), 1.0);
}

TEST(ChannelRun, ActivationsObeyTheirWindow) {
  const RunResult r = run_channel(ddr3({"timing.tREFI=0"}), random_traffic(), short_run(200'000));
  const double per_activation =
      static_cast<double>(r.cycles) / static_cast<double>(r.commands.activates);
  EXPECT_GE(per_activation, 6.0 - 0.001);  // tFAW / 4
  EXPECT_LT(per_activation, 6.0 * 1.02);
}

TEST(ChannelRun, ConflictsTakeARowCycleEach) {
  Traffic t;
  t.pattern = TrafficPattern::kConflict;
  const RunResult r = run_channel(ddr3({"timing.tREFI=0"}), t, short_run(390'000));
  EXPECT_NEAR(static_cast<double>(r.commands.read_commands), 10'000, 1);
  EXPECT_EQ(r.row_hit_rate(), 0.0);
}

TEST(ChannelRun, LatencyOfOneReadIsTheTiming) {
  // The command issues in the cycle after the request was taken in.
  Traffic t;
  t.pacing = TrafficPacing::kWindow;
  t.outstanding = 1;
  const RunResult stream = run_channel(ddr3({"timing.tREFI=0"}), t, short_run());
  EXPECT_EQ(stream.traffic.latency_min, 1u + 11 + 4);
  t.pattern = TrafficPattern::kConflict;
  const RunResult conflict = run_channel(ddr3({"timing.tREFI=0"}), t, short_run());
  EXPECT_EQ(conflict.traffic.latency_min, 1u + 11 + 11 + 11 + 4);
  EXPECT_EQ(conflict.traffic.latency_max, 1u + 11 + 11 + 11 + 4);
}

TEST(ChannelRun, ReadsInAWindowObeyLittlesLaw) {
  // Between the data of a read and the read that follows it lies one cycle.
  for (const uint32_t window : {1u, 3u, 16u}) {
    Traffic t = random_traffic();
    t.pacing = TrafficPacing::kWindow;
    t.outstanding = window;
    const RunResult r = run_channel(ddr3(), t, short_run(400'000));
    const double per_cycle =
        static_cast<double>(r.commands.read_commands) / static_cast<double>(r.cycles);
    EXPECT_NEAR(per_cycle * (r.mean_latency() + 1), window, 0.01 * window);
  }
}

TEST(ChannelRun, OpenLoopServesWhatIsOffered) {
  for (const uint64_t ppm : {50'000u, 250'000u}) {
    Traffic t = random_traffic();
    t.pacing = TrafficPacing::kOpen;
    t.rate_ppm = ppm;
    const RunResult r = run_channel(ddr3(), t, short_run(2'000'000));
    EXPECT_NEAR(r.share_of_peak() * 1e6, static_cast<double>(ppm),
                0.015 * static_cast<double>(ppm));
  }
}

TEST(ChannelRun, OverloadCountsTheWaitBeforeTheController) {
  Traffic t = random_traffic();
  t.pacing = TrafficPacing::kOpen;
  t.rate_ppm = 900'000;
  const RunResult r = run_channel(ddr3(), t, short_run(100'000));
  EXPECT_LT(r.share_of_peak(), 0.67);
  EXPECT_GT(r.traffic.latency_max, 20'000u);  // a quarter of the accesses cannot be served
}

TEST(ChannelRun, SharesOfWritesAreAsAsked) {
  Traffic t;
  t.writes_num = 340'000;
  t.writes_den = 1'000'000;
  const RunResult stream = run_channel(ddr3(), t, short_run(200'000));
  const auto share = [](const RunResult& r) {
    return static_cast<double>(r.commands.writes) /
           static_cast<double>(r.commands.writes + r.commands.reads);
  };
  EXPECT_NEAR(share(stream), 0.34, 0.003);
  t.pattern = TrafficPattern::kRandom;
  EXPECT_NEAR(share(run_channel(ddr3(), t, short_run(200'000))), 0.34, 0.02);
}

TEST(ChannelRun, AMixLacksWhatItsTurnsCost) {
  // HBM2 as in DRAMsim3's HBM2_8Gb_x128, a stream with every third access a write, no refresh. Rows
  // are opened ahead; what the bus idles is tRTW less a burst from reads to writes, and tCWL and
  // tWTR from writes to reads. So the watermarks decide, which say how many writes a drain has.
  const std::vector<std::string> timings = {"organisation.access_bytes=64",
                                            "speed.data_mbps=32000",
                                            "timing.tCL=14",
                                            "timing.tCWL=4",
                                            "timing.tRCD=14",
                                            "timing.tRP=14",
                                            "timing.tRAS=34",
                                            "timing.tRC=48",
                                            "timing.tRRD_S=4",
                                            "timing.tRRD_L=6",
                                            "timing.tFAW=30",
                                            "timing.tWTR_S=6",
                                            "timing.tWTR_L=8",
                                            "timing.tWR=16",
                                            "timing.tCCD_S=2",
                                            "timing.tCCD_L=2",
                                            "timing.tRTP=6",
                                            "timing.tRTW=13",
                                            "timing.tREFI=0"};
  constexpr double kBurst = 2, kIdleOfTwoTurns = (13 - kBurst) + (4 + 6);
  Traffic mix;
  mix.writes_num = 1;
  mix.writes_den = 3;
  for (const auto& [high, low] : {std::pair{32, 0}, {32, 1}, {28, 4}, {26, 6}, {8, 2}}) {
    std::vector<std::string> changes = timings;
    changes.push_back("controller.write_high_watermark=" + std::to_string(high));
    changes.push_back("controller.write_low_watermark=" + std::to_string(low));
    const RunResult r = run_channel(config::load_dram("hbm2", changes), mix, short_run(400'000));
    const double idle = (1 - r.share_of_peak()) * static_cast<double>(r.cycles);
    EXPECT_NEAR(idle / (static_cast<double>(r.commands.turnarounds) / 2), kIdleOfTwoTurns, 0.05)
        << high << " and " << low;
  }
}

TEST(ChannelRun, WaitingWritesAnswerReads) {
  // A read and a write of the same line, over and over: writes wait for their watermark.
  Traffic t;
  t.pattern = TrafficPattern::kTrace;
  for (uint32_t i = 0; i < 400; ++i) t.trace.push_back({0, 8 * (i / 2), i % 2 == 0 ? 1u : 0u});
  const RunResult with = run_channel(ddr3(), t, RunOptions{});
  EXPECT_GT(with.commands.forwarded_reads, 150u);
  EXPECT_EQ(with.commands.read_commands + with.commands.forwarded_reads, 200u);
  EXPECT_EQ(with.commands.write_commands, 200u);
  EXPECT_EQ(with.traffic.reads_done, 200u);
  const RunResult without = run_channel(ddr3({"controller.forward_writes=false"}), t, RunOptions{});
  EXPECT_EQ(without.commands.forwarded_reads, 0u);
  EXPECT_EQ(without.commands.read_commands, 200u);
}

TEST(ChannelRun, TimedTraceIsServedAtItsTimes) {
  Traffic t;
  t.pattern = TrafficPattern::kTrace;
  t.pacing = TrafficPacing::kOpen;
  t.trace = {{0, 0, 0}, {100, 1, 0}, {200, 2, 0}};
  const RunResult r = run_channel(ddr3(), t, RunOptions{});
  // Closed bank, then hits; data of the last ends 16 cycles after it came.
  EXPECT_EQ(r.traffic.latency_max, 1u + 11 + 11 + 4);
  EXPECT_EQ(r.traffic.latency_min, 1u + 11 + 4);
  EXPECT_EQ(r.cycles, 200u + 16);
  EXPECT_EQ(r.commands.row_hits, 2u);
}

TEST(ChannelRun, RatesWithoutAnAccessAreRefused) {
  Traffic t;
  t.pacing = TrafficPacing::kOpen;
  t.rate_ppm = 1;
  EXPECT_EQ(run_channel(ddr3(), t, short_run()).commands.requests_in, 0u);  // in time
  const config::DramConfig slow = ddr3({"speed.data_mbps=1", "timing.tREFI=0"});
  EXPECT_THROW(run_channel(slow, t, short_run()), UsageError);
}

TEST(ChannelRun, HistogramHoldsEveryRead) {
  const RunResult r = run_channel(ddr3(), random_traffic(), short_run());
  uint64_t n = 0;
  for (const auto& [cycles, count] : r.latencies) n += count;
  EXPECT_EQ(n, r.traffic.reads_done);
  EXPECT_GE(r.latency_quantile(0), r.traffic.latency_min);
  EXPECT_LE(r.latency_quantile(500), r.latency_quantile(950));
  EXPECT_LE(r.latency_quantile(1000), r.traffic.latency_max);
}

TEST(Latencies, BucketsAreMonotonousAndWithinOnePercent) {
  uint32_t last = 0;
  for (uint64_t cycles = 0; cycles < 3'000'000; cycles += 1 + cycles / 300) {
    const uint32_t bucket = latency_bucket(cycles);
    EXPECT_GE(bucket, last);
    EXPECT_LE(bucket_latency(bucket), cycles);
    EXPECT_GE(static_cast<double>(bucket_latency(bucket)), static_cast<double>(cycles) * 0.99);
    last = bucket;
  }
  EXPECT_LT(latency_bucket(~uint64_t{0}), kLatencyBuckets);
}

}  // namespace
}  // namespace nearwarp::dram
