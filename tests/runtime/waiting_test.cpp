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

/// Lanes from 16 on execute an instruction of old PTX, for which the others wait, but not for ever.
constexpr const char* kWithoutSync = R"(
.version 6.0
.target sm_35
.address_size 64
.visible .entry old(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  .reg .pred %p<4>;
  .shared .align 4 .b32 flag;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  mov.u32 %r2, 0;
  st.shared.u32 [flag], %r2;
  setp.ge.u32 %p1, %r1, 16;
  @%p1 bra UPPER;
WAIT:
  add.u32 %r2, %r2, 1;
  ld.volatile.shared.u32 %r3, [flag];
  setp.eq.u32 %p2, %r3, 0;
  setp.lt.and.u32 %p2, %r2, 100000, %p2;
  @%p2 bra WAIT;
  bra END;
UPPER:
)";

TEST(Waiting, VotesAndShufflesWithoutSyncAreOfTheLanesThatAreThere) {
  for (const std::string statement : {"shfl.idx.b32 %r3, %r1, 20, 31;\n",
                                      "vote.any.pred %p3, %p1;\nselp.u32 %r3, 20, 0, %p3;\n"}) {
    const std::string text = kWithoutSync + statement +
                             "mov.u32 %r2, 1;\nst.volatile.shared.u32 [flag], %r2;\n"
                             "END:\nst.global.u32 [%d1], %r3;\nret;\n}\n";
    VirtualDevice d;
    const uint32_t module =
        d.load_module(std::make_shared<compiler::Program>(compiler::compile_ptx(text, "old.ptx")));
    const DevicePtr out = d.upload(std::vector<int>(32, -1));
    d.launch(module, "old", {1}, {32}, 0, KernelArgs(out));
    const auto got = d.download<int>(out, 32);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 16 ? 1 : 20) << statement << i;
  }
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
