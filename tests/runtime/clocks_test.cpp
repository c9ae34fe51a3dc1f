// Does waiting by the clock end, in all forms, whatever its length, and late by little?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

/// A second at 1 GHz, beyond what is executed in vain before a launch is given up.
constexpr int64_t kLong = 1'000'000'000;

struct Wait {
  const char* kernel;
  int64_t ticks;
  uint32_t blocks, threads;
};

std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << wait.kernel << " for " << wait.ticks << " ticks, " << wait.blocks << " x "
             << wait.threads;
}

class WaitingByTheClock : public ::testing::TestWithParam<Wait> {};

TEST_P(WaitingByTheClock, EndsAndIsShort) {
  const Wait wait = GetParam();
  BreadthDevice d("clocks");
  const std::vector<int> zeros(wait.blocks * wait.threads, 0);
  const DevicePtr out = d.upload(zeros);
  d.launch(d.module, wait.kernel, {wait.blocks}, {wait.threads}, 0, KernelArgs(wait.ticks, out));
  EXPECT_EQ(d.download<int>(out, zeros.size()), std::vector<int>(zeros.size(), 1));
  const Recording recording = d.take_recording("");
  validate(recording);
  const uint64_t warps = wait.blocks * ((wait.threads + 31) / 32);
  EXPECT_LT(recording.warp_instructions, warps * 200'000);
}

INSTANTIATE_TEST_SUITE_P(
    Runtime, WaitingByTheClock,
    ::testing::Values(Wait{"by_clock64", 17'000'000, 1, 1}, Wait{"by_clock64", kLong, 1, 1},
                      Wait{"by_clock64", 40 * kLong, 2, 33}, Wait{"by_elapsed_time", kLong, 1, 1},
                      Wait{"by_clock32", kLong, 1, 32}, Wait{"by_clock32", 4 * kLong, 3, 1},
                      Wait{"by_globaltimer", kLong, 1, 1}, Wait{"by_sleeping", kLong, 1, 1},
                      Wait{"by_time_out", kLong, 2, 64}, Wait{"by_some_lanes", kLong, 1, 32},
                      Wait{"before_a_barrier", kLong, 1, 128}, Wait{"by_clock64", kLong, 100, 64}));

TEST(WaitingByTheClockForOthers, EndsAsTheyDo) {
  struct Case {
    int64_t ticks, after;
    int in_time;
  };
  for (const Case c : {Case{50'000'000, 3'000'000, 1}, Case{kLong, 900'000'000, 1},
                       Case{3'000'000, 50'000'000, 0}, Case{kLong, 1'100'000'000, 0}}) {
    BreadthDevice d("clocks");
    const DevicePtr flag = d.upload(std::vector<int>{0}), out = d.upload(std::vector<int>{7});
    d.launch(d.module, "flag_with_time_out", {2}, {1}, 0, KernelArgs(c.ticks, c.after, flag, out));
    EXPECT_EQ(d.download<int>(out, 1)[0], c.in_time) << c.ticks << " against " << c.after;
    EXPECT_EQ(d.download<int>(flag, 1)[0], 1);
  }
}

TEST(WaitingByTheClockForOthers, IsADeadlockWhereTheClockIsNotWhatIsWaitedFor) {
  BreadthDevice d("clocks");
  const DevicePtr flag = d.upload(std::vector<int>{0}), out = d.allocate(8);
  try {
    d.launch(d.module, "flag_in_vain", {2}, {32}, 0, KernelArgs(flag, out));
    FAIL() << "a flag that nobody sets was seen";
  } catch (const DeviceFault& fault) {
    EXPECT_NE(std::string(fault.what()).find("poll memory that nobody changes"), std::string::npos)
        << fault.what();
  }
}

TEST(WaitingByTheClockForOthers, IsNotWhatMeasuresInALoop) {
  // 24 to 48 instructions a round; what is beyond a false deadlock's bound is none.
  for (const int rounds : {100, 100'000, 1'000'000}) {
    BreadthDevice d("clocks");
    const DevicePtr out = d.allocate(16);
    d.launch(d.module, "sums", {1}, {32}, 0, KernelArgs(rounds, out));
    const int64_t total = d.download<int64_t>(out, 1)[0];
    EXPECT_GT(total, rounds * int64_t{24} * 99 / 100) << rounds;
    EXPECT_LT(total, rounds * int64_t{48}) << rounds;
  }
}

TEST(WaitingByTheClockForOthers, HardlyMovesTheClockOfWhatMeasures) {
  for (const int64_t ticks : {int64_t{100'000}, int64_t{5'000'000}, kLong}) {
    BreadthDevice d("clocks");
    const DevicePtr out = d.allocate(24);
    d.launch(d.module, "measured", {1}, {32}, 0, KernelArgs(ticks, out));
    const auto took = d.download<int64_t>(out, 2);
    // The work is 62,500 instructions, as nvcc makes it: longer than a turn, and nothing jumps.
    EXPECT_GE(took[0], 62'500);
    EXPECT_LT(took[0], 63'000);
    EXPECT_GE(took[1], ticks);
    EXPECT_LT(took[1], (ticks + took[0]) / 32 + ticks + 2000) << ticks;
  }
}

}  // namespace
}  // namespace nearwarp::runtime
