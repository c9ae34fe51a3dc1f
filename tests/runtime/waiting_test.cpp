// Do blocks, warps and lanes that wait for one another always get on?
#include <gtest/gtest.h>

#include <numeric>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

TEST(Waiting, BarriersOfTheGrid) {
  BreadthDevice d("grid");
  constexpr int blocks = 20, threads = 64, n = blocks * threads, rounds = 5;
  std::vector<int> data(n);
  std::iota(data.begin(), data.end(), 1);
  const DevicePtr p = d.upload(data);
  for (int launch = 0; launch < 2; ++launch)
    d.launch_cooperative(d.module, "grid_sync", {blocks}, {threads}, 0, KernelArgs(p, rounds));
  for (int r = 0; r < 2 * rounds; ++r) {
    const std::vector<int> before = data;
    for (int i = 0; i < n; ++i) data[i] = before[i] + before[(i + 1) % n];
  }
  EXPECT_EQ(d.download<int>(p, n), data);
  const Recording recording = d.take_recording("");
  validate(recording);
  // A warp that waits is looked at every 1024 instructions, so few of them are polls.
  EXPECT_LT(recording.warp_instructions, 2u * 2 * rounds * blocks * 3 * 1024);
}

TEST(Waiting, AGridThatIsNotCooperativeHasNoBarrier) {
  BreadthDevice d("grid");
  const DevicePtr p = d.upload(std::vector<int>(64, 1));
  EXPECT_THROW(d.launch(d.module, "grid_sync", {1}, {64}, 0, KernelArgs(p, 1)), DeviceFault);
}

TEST(Waiting, GroupsOfThreads) {
  BreadthDevice d("grid");
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * i % 37;
  const DevicePtr p = d.upload(in), out = d.upload(std::vector<int>(64, -1));
  d.launch(d.module, "reduce", {1}, {64}, 0, KernelArgs(p, out));
  const auto got = d.download<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    if (i % 3 != 0) {
      EXPECT_EQ(got[i], -1);
      continue;
    }
    const int sum = std::accumulate(in.begin() + i / 16 * 16, in.begin() + (i / 16 + 1) * 16, 0);
    int rank = 0, size = 0;
    for (int j = i / 32 * 32; j < (i / 32 + 1) * 32; ++j) {
      if (j % 3 != 0) continue;
      rank += j < i;
      ++size;
    }
    EXPECT_EQ(got[i], sum * 100 + rank + size) << i;
  }
}

TEST(Waiting, ALockTakenByLanesOfOneWarp) {
  BreadthDevice d("grid");
  const DevicePtr lock = d.upload(std::vector<int>(1, 0)),
                  counter = d.upload(std::vector<int>(1, 0));
  d.launch(d.module, "spin_lock", {3}, {64}, 0, KernelArgs(lock, counter));
  EXPECT_EQ(d.download<int>(counter, 1)[0], 192);
  validate(d.take_recording(""));
}

TEST(Waiting, LanesThatWaitForLanes) {
  BreadthDevice d("grid");
  const DevicePtr flag = d.upload(std::vector<int>(64, 0)), out = d.upload(std::vector<int>(64, 0));
  d.launch(d.module, "hand_over", {1}, {64}, 0, KernelArgs(flag, out));
  const auto got = d.download<int>(out, 64);
  for (int i = 0; i < 64; i += 2) EXPECT_EQ(got[i], i + 1) << i;
}

TEST(Waiting, LanesWaitForTheOneThatWaitsForAll) {
  BreadthDevice d("grid");
  constexpr int blocks = 40, threads = 64, n = blocks * threads;
  const DevicePtr values = d.upload(std::vector<int>(2 * blocks, 0)),
                  synchronised = d.upload(std::vector<int>(n, -1)),
                  shuffled = d.upload(std::vector<int>(n, -1));
  d.launch(d.module, "leaders_wait", {blocks}, {threads}, 0,
           KernelArgs(values, synchronised, shuffled));
  const auto one = d.download<int>(synchronised, n), two = d.download<int>(shuffled, n);
  for (int i = 0; i < n - threads; ++i) {
    EXPECT_EQ(one[i], i / threads + 2) << i;
    EXPECT_EQ(two[i], i / threads + 1001) << i;
  }
  validate(d.take_recording(""));
}

TEST(Waiting, PartsOfAWarpWaitForTheOneThatWaitsForThem) {
  for (const unsigned width : {8u, 16u, 32u}) {
    BreadthDevice d("grid");
    constexpr int blocks = 40, threads = 64, n = blocks * threads;
    const DevicePtr values = d.upload(std::vector<int>(2 * blocks, 0)),
                    synchronised = d.upload(std::vector<int>(n, -1)),
                    shuffled = d.upload(std::vector<int>(n, -1));
    d.launch(d.module, "tiles_wait", {blocks}, {threads}, 0,
             KernelArgs(values, synchronised, shuffled, width));
    const auto one = d.download<int>(synchronised, n), two = d.download<int>(shuffled, n);
    for (int i = 0; i < n - threads; ++i) {
      ASSERT_EQ(one[i], i / threads + 2) << i << " of parts of " << width;
      ASSERT_EQ(two[i], i / threads + 1001) << i << " of parts of " << width;
    }
    validate(d.take_recording(""));
  }
}

TEST(Waiting, PartsOfAWarpDoNotWaitForEachOther) {
  for (const unsigned width : {2u, 4u, 16u}) {
    BreadthDevice d("grid");
    constexpr unsigned threads = 64;
    const int tiles = static_cast<int>(threads / width);
    const DevicePtr flags = d.upload(std::vector<int>(threads, 0)),
                    out = d.upload(std::vector<int>(threads, -1));
    d.launch(d.module, "tiles_in_turn", {1}, {threads}, 0, KernelArgs(flags, out, width));
    const auto got = d.download<int>(out, threads);
    for (int i = 0; i < static_cast<int>(threads); ++i)
      EXPECT_EQ(got[i], tiles - 1 - i / static_cast<int>(width)) << i << " of " << width;
  }
}

TEST(Waiting, LanesAreWaitedForByLanesThatTheyWaitFor) {
  BreadthDevice d("grid");
  const DevicePtr flag = d.upload(std::vector<int>(1, 0)), out = d.upload(std::vector<int>(32, 0));
  d.launch(d.module, "before_meeting", {1}, {32}, 0, KernelArgs(flag, out));
  EXPECT_EQ(d.download<int>(out, 32), std::vector<int>(32, 1));
}

TEST(Waiting, TheLastBlockSeesAllOthers) {
  BreadthDevice d("grid");
  constexpr int blocks = 50, n = blocks * 64;
  std::vector<int> in(n);
  std::iota(in.begin(), in.end(), 0);
  const DevicePtr p = d.upload(in), partial = d.allocate(blocks * 4),
                  done = d.upload(std::vector<int>(1, 0)), out = d.allocate(4);
  d.launch(d.module, "last_block", {blocks}, {64}, 0, KernelArgs(p, partial, done, out));
  EXPECT_EQ(d.download<int>(out, 1)[0], n * (n - 1) / 2);
}

TEST(Waiting, ChainsOfBlocksInBothDirections) {
  for (const int reversed : {0, 1}) {
    BreadthDevice d("grid");
    constexpr int blocks = 300;
    const DevicePtr state = d.upload(std::vector<int>(blocks, 0));
    d.launch(d.module, "chain", {blocks}, {32}, 0, KernelArgs(state, reversed));
    const auto got = d.download<int>(state, blocks);
    for (int b = 0; b < blocks; ++b) EXPECT_EQ(got[b], b + 2) << b;
  }
}

}  // namespace
}  // namespace nearwarp::runtime
