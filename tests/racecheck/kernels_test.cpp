// Are known races found, and nothing else? Each kernel comes with a twin that has none.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/functional/racecheck/report.h"
#include "tests/racecheck/checked_device.h"

namespace nearwarp::racecheck {
namespace {

using enum HazardKind;
using enum Distance;
using runtime::DevicePtr;

void expect_clean(const Findings& f) {
  EXPECT_TRUE(f.clean()) << format_text(f, 5);
  EXPECT_GT(f.accesses, 0u);
}

TEST(Races, TransposeWithoutABarrier) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    const DevicePtr in = d.numbers(1024), out = d.zeros(1024);
    const Findings& f = d.run(fixed ? "transpose_clean" : "transpose_race", {1}, {32, 8}, out, in);
    if (fixed) {
      expect_clean(f);
      continue;
    }
    // The warps run one after the other: the first reads too early, what the others write later.
    EXPECT_TRUE(has(f, kWriteAfterRead, kWarps, true)) << format_text(f, 5);
    EXPECT_TRUE(has(f, kReadAfterWrite, kWarps, true)) << format_text(f, 5);
    for (const Hazard& h : f.hazards) {
      EXPECT_EQ(h.kernel, "transpose_race");
      EXPECT_NE(h.distance, kBlocks);
      EXPECT_NE(h.later.source.find("races.cu:"), std::string::npos) << h.later.source;
      EXPECT_EQ(h.distance == kWarps, h.earlier.thread[1] != h.later.thread[1]);
    }
  }
}

TEST(Races, ReductionWithoutABarrier) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    const DevicePtr in = d.numbers(256), out = d.zeros(1);
    const Findings& f = d.run(fixed ? "reduce_clean" : "reduce_race", {1}, {256}, out, in);
    if (fixed) {
      expect_clean(f);
      EXPECT_EQ(d.device.download<int>(out, 1)[0], 255 * 128);
    } else {
      EXPECT_TRUE(has(f, kWriteAfterRead, kWarps, true)) << format_text(f, 5);
      EXPECT_TRUE(has(f, kReadAfterWrite, kLanes, true)) << format_text(f, 5);
    }
  }
}

TEST(Races, LanesThatDoNotWait) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    const DevicePtr in = d.numbers(64), out = d.zeros(1);
    const Findings& f = d.run(fixed ? "warp_clean" : "warp_race", {1}, {32}, out, in);
    if (fixed) {
      expect_clean(f);
      EXPECT_EQ(d.device.download<int>(out, 1)[0], 63 * 32);
    } else {
      EXPECT_TRUE(has(f, kReadAfterWrite, kLanes, true)) << format_text(f, 5);
      EXPECT_FALSE(has(f, kReadAfterWrite, kWarps, true));
    }
  }
}

TEST(Races, TheLastBlockNeedsAFence) {
  constexpr uint32_t kBlocks = 40;
  for (const char* kernel : {"last_block_clean", "last_block_race", "last_block_narrow"}) {
    CheckedDevice d("races");
    const DevicePtr in = d.numbers(kBlocks), out = d.zeros(1), partial = d.zeros(kBlocks),
                    done = d.zeros(1);
    const Findings& f = d.run(kernel, {kBlocks}, {64}, out, partial, done, in);
    if (std::string(kernel) == "last_block_clean") {
      expect_clean(f);
    } else {
      ASSERT_EQ(f.hazards.size(), 1u) << kernel << format_text(f, 5);
      EXPECT_TRUE(has(f, kReadAfterWrite, Distance::kBlocks, false));
      EXPECT_EQ(f.hazards[0].count, kBlocks - 1);
      EXPECT_EQ(f.hazards[0].earlier.block[0], 0u);
      EXPECT_EQ(f.hazards[0].later.block[0], kBlocks - 1);
      EXPECT_NE(f.hazards[0].place.find("byte 0 of the allocation 'zeros' of 160 bytes"),
                std::string::npos)
          << f.hazards[0].place;
    }
  }
}

TEST(Races, OneThreadTellsForAll) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    const DevicePtr data = d.zeros(128), flag = d.zeros(1), out = d.zeros(128);
    const Findings& f = d.run(fixed ? "tell_clean" : "tell_race", {2}, {128}, data, flag, out);
    if (fixed)
      expect_clean(f);
    else
      EXPECT_TRUE(has(f, kReadAfterWrite, kBlocks, false)) << format_text(f, 5);
  }
}

TEST(Races, Histogram) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    std::vector<int> values(512);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i % 16);
    const DevicePtr in = d.device.upload(values), bins = d.zeros(16);
    const Findings& f = d.run(fixed ? "histogram_clean" : "histogram_race", {4}, {128}, bins, in);
    if (fixed) {
      expect_clean(f);
    } else {
      EXPECT_TRUE(has(f, kReadAfterWrite, kBlocks, false)) << format_text(f, 9);
      EXPECT_TRUE(has(f, kReadAfterWrite, kWarps, false));
    }
  }
}

TEST(Races, BytesOfOneWord) {
  CheckedDevice clean("races"), race("races");
  expect_clean(clean.run("bytes_clean", {2}, {50}, clean.zeros(64)));
  EXPECT_TRUE(
      has(race.run("bytes_race", {2}, {50}, race.zeros(64)), kWriteAfterWrite, kBlocks, false));
}

TEST(Races, ThoseInSharedMemoryComeFirstAndThoseWithoutAChangeLast) {
  Hazard changes, harmless, shared;
  changes.count = 3;
  changes.unchanged = 2;
  changes.place = "changes";
  harmless.count = harmless.unchanged = 5;
  harmless.shared = true;
  harmless.place = "harmless";
  shared.shared = true;
  shared.count = 1;
  shared.place = "shared";
  Findings f;
  f.hazards = {harmless, changes, shared};
  const std::vector<Hazard> sorted = in_order(f.hazards);
  EXPECT_EQ(sorted[0].place, "shared");
  EXPECT_EQ(sorted[1].place, "changes");
  EXPECT_EQ(sorted[2].place, "harmless");
  const std::string text = format_text(f, 1);
  EXPECT_NE(text.find("at shared"), std::string::npos) << text;
  EXPECT_EQ(text.find("at changes"), std::string::npos) << text;
  EXPECT_NE(format_text(f, 3).find("5 times, never with another value than there was"),
            std::string::npos);
}

TEST(Races, TheSameValueIsNoHazard) {
  CheckedDevice same("races"), different("races");
  const Findings& f = same.run("flag_same", {3}, {64}, same.zeros(1), same.numbers(192));
  expect_clean(f);
  EXPECT_EQ(f.same_value, 3 * 64 - 1u);
  const Findings& g = different.run("flag_different", {1}, {32}, different.zeros(1));
  ASSERT_EQ(g.hazards.size(), 1u);
  EXPECT_TRUE(has(g, kWriteAfterWrite, kLanes, false));
  EXPECT_EQ(g.hazards[0].count, 31u);
}

TEST(Races, LanesThatAllDoTheSame) {
  CheckedDevice clean("races"), race("races");
  const DevicePtr out = clean.zeros(32);
  const Findings& f = clean.run("together_clean", {1}, {32}, out, 3);
  expect_clean(f);
  EXPECT_EQ(f.same_value, 4 * 31u);
  EXPECT_EQ(clean.device.download<int>(out, 32), std::vector<int>(32, 6));
  const Findings& g = race.run("together_race", {1}, {32}, race.zeros(32), 3);
  EXPECT_TRUE(has(g, kWriteAfterRead, kLanes, true)) << format_text(g, 5);
}

TEST(Races, Buffers) {
  CheckedDevice two("races"), one("races");
  expect_clean(two.run("buffers_clean", {1}, {128}, two.zeros(128), two.numbers(640), 5));
  const Findings& f = one.run("buffers_race", {1}, {128}, one.zeros(128), one.numbers(640), 5);
  EXPECT_TRUE(has(f, kWriteAfterRead, kWarps, true) || has(f, kReadAfterWrite, kWarps, true))
      << format_text(f, 5);
}

TEST(Races, NamedBarriers) {
  CheckedDevice clean("races"), race("races");
  expect_clean(clean.run("named_clean", {1}, {64}, clean.zeros(32)));
  EXPECT_TRUE(
      has(race.run("named_race", {1}, {64}, race.zeros(32)), kReadAfterWrite, kWarps, true));
}

TEST(Races, FlagsBetweenWarps) {
  CheckedDevice clean("races"), race("races");
  expect_clean(clean.run("flag_clean", {1}, {64}, clean.zeros(2)));
  const Findings& f = race.run("flag_race", {1}, {64}, race.zeros(2));
  ASSERT_EQ(f.hazards.size(), 1u) << format_text(f, 5);
  EXPECT_TRUE(has(f, kReadAfterWrite, kWarps, true));
}

TEST(Races, DecoupledLookBack) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    constexpr uint32_t blocks = 300;
    const DevicePtr status = d.zeros(blocks), sums = d.zeros(blocks), out = d.zeros(blocks * 64),
                    in = d.numbers(blocks);
    const Findings& f =
        d.run(fixed ? "look_back_clean" : "look_back_race", {blocks}, {64}, status, sums, out, in);
    if (fixed) {
      expect_clean(f);
    } else {
      // The fence that the reader makes publishes only what it did before.
      EXPECT_TRUE(has(f, kReadAfterWrite, kBlocks, false)) << format_text(f, 5);
    }
  }
}

TEST(Races, InPlace) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("races");
    const DevicePtr status = d.zeros(20), data = d.numbers(20 * 64);
    const Findings& f = d.run(fixed ? "in_place_clean" : "in_place_race", {20}, {64}, status, data);
    if (fixed)
      expect_clean(f);
    else
      EXPECT_TRUE(has(f, kWriteAfterRead, kBlocks, false)) << format_text(f, 5);
  }
}

// Locks, flags and barriers that the executor's own tests take turns with.
TEST(Races, WaitingInOtherWays) {
  const auto device = [] {
    return std::make_unique<CheckedDevice>("grid", Checker::Options{}, "runtime/breadth");
  };
  auto d = device();
  expect_clean(d->run("spin_lock", {3}, {64}, d->zeros(1), d->zeros(1)));
  d = device();
  expect_clean(d->run("hand_over", {1}, {64}, d->zeros(64), d->zeros(64)));
  for (const int reversed : {0, 1}) {
    d = device();
    expect_clean(d->run("chain", {300}, {32}, d->zeros(300), reversed));
  }
  d = device();
  expect_clean(d->run("reduce", {1}, {64}, d->numbers(64), d->zeros(64)));
  d = device();
  d->device.launch_cooperative(d->module, "grid_sync", {20}, {64}, 0,
                               runtime::KernelArgs(d->numbers(1280), 3));
  expect_clean(d->checker.findings());
}

TEST(Races, AsynchronousCopies) {
  for (const char* kernel : {"copy_clean", "copy_no_wait", "copy_no_barrier"}) {
    CheckedDevice d("copies");
    const DevicePtr in = d.numbers(64), out = d.zeros(64);
    const Findings& f = d.run(kernel, {1}, {64}, out, in);
    if (std::string(kernel) == "copy_clean") {
      expect_clean(f);
    } else {
      EXPECT_TRUE(has(f, kReadAfterWrite, kWarps, true) || has(f, kWriteAfterRead, kWarps, true))
          << kernel << format_text(f, 5);
    }
  }
  CheckedDevice clean("copies"), early("copies");
  expect_clean(clean.run("pipeline_clean", {1}, {64}, clean.zeros(64), clean.numbers(320), 5));
  const Findings& f =
      early.run("pipeline_early", {1}, {64}, early.zeros(64), early.numbers(320), 5);
  ASSERT_FALSE(f.clean());
  EXPECT_EQ(f.hazards[0].earlier.kind, "asynchronous copy");
}

TEST(Races, BarriersOfTheGrid) {
  for (const bool fixed : {true, false}) {
    CheckedDevice d("copies");
    constexpr uint32_t blocks = 20, threads = 96;
    const DevicePtr data = d.numbers(blocks * threads), next = d.zeros(blocks * threads);
    d.device.launch_cooperative(d.module, fixed ? "grid_clean" : "grid_race", {blocks}, {threads},
                                0, runtime::KernelArgs(data, next));
    const Findings& f = d.checker.findings();
    if (fixed)
      expect_clean(f);
    else
      EXPECT_TRUE(has(f, kReadAfterWrite, kBlocks, false) ||
                  has(f, kWriteAfterRead, kBlocks, false))
          << format_text(f, 5);
  }
}

TEST(Races, TilesOfLanes) {
  CheckedDevice clean("copies"), race("copies");
  expect_clean(clean.run("tiles_clean", {1}, {64}, clean.zeros(64)));
  const Findings& f = race.run("tiles_race", {1}, {64}, race.zeros(64));
  ASSERT_FALSE(f.clean());
  for (const Hazard& h : f.hazards) {
    EXPECT_EQ(h.distance, kLanes);
    EXPECT_EQ(h.later.thread[0] / 8 % 2, 1u);
    EXPECT_EQ(h.later.thread[0] / 8, h.earlier.thread[0] / 8);
  }
}

TEST(Races, OnlyKernelsThatAreWanted) {
  Checker::Options options;
  options.kernels = "clean$";
  CheckedDevice d("races", options);
  d.run("transpose_race", {1}, {32, 8}, d.zeros(1024), d.numbers(1024));
  EXPECT_EQ(d.checker.findings().launches, 0u);
  d.run("transpose_clean", {1}, {32, 8}, d.zeros(1024), d.numbers(1024));
  EXPECT_EQ(d.checker.findings().launches, 1u);
  EXPECT_THROW(Checker(Checker::Options{"(", 1}), Error);
}

TEST(Races, LaunchesAreOrdered) {
  CheckedDevice d("races");
  const DevicePtr a = d.numbers(1024), b = d.zeros(1024);
  d.run("transpose_clean", {1}, {32, 8}, b, a);
  expect_clean(d.run("transpose_clean", {1}, {32, 8}, a, b));
}

TEST(Races, LittleShadowMemoryIsTold) {
  Checker::Options options;
  options.most_bytes = 64 << 10;
  CheckedDevice d("races", options);
  std::vector<int> values(1 << 16, 3);
  const DevicePtr in = d.device.upload(values), bins = d.zeros(16);
  const Findings& f = d.run("histogram_race", {512}, {128}, bins, in);
  EXPECT_GT(f.forgotten, 0u);
}

TEST(Races, TheSameReportsOnEveryRun) {
  std::string first;
  for (int run = 0; run < 2; ++run) {
    CheckedDevice d("races");
    const Findings& f = d.run("reduce_race", {3}, {256}, d.zeros(1), d.numbers(256));
    const std::string text = format_json(std::array{f}, "");
    if (run == 0) first = text;
    EXPECT_EQ(text, first);
    EXPECT_EQ(format_json(std::array{from_json(to_json(f))}, ""), text);
  }
}

}  // namespace
}  // namespace nearwarp::racecheck
