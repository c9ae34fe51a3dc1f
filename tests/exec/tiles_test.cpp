// Can parts of a warp vote by themselves, and do clocks and the shared memory that the system
// reserves work?
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <memory>

#include "tests/exec/kernel_device.h"

namespace nearwarp::exec_test {
namespace {

using runtime::DevicePtr;
using runtime::KernelArgs;

struct Device : KernelDevice {
  Device() : KernelDevice("tiles") {}
};

TEST(Tiles, LanesThatNameDifferentMembersVoteApart) {
  Device d;
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 5 % 97 + (i == 20 ? 90 : 0);
  const DevicePtr pi = d.upload(in), po = d.allocate(384 * 4);
  d.launch(d.module, "votes_of_tiles", {1}, {64}, 0, KernelArgs(pi, po));
  const auto out = d.download<unsigned>(po, 384);
  for (int t = 0; t < 64; ++t) {
    const int warp = t & ~31, half = t & ~15;
    const auto lanes = [&](int first, int end, const std::function<bool(int)>& f) {
      unsigned m = 0;
      for (int i = first; i < end; ++i) m |= static_cast<unsigned>(f(in[i])) << (i - warp);
      return m;
    };
    const auto of_half = [&](const std::function<bool(int)>& f) {
      return lanes(half, half + 16, f);
    };
    const unsigned alike = of_half([&](int v) { return v % 3 == in[t] % 3; });
    ASSERT_EQ(out[t], of_half([](int v) { return v & 1; })) << t;
    ASSERT_EQ(out[64 + t], of_half([](int v) { return v == 17; }) != 0) << t;
    ASSERT_EQ(out[128 + t], std::popcount(of_half([](int v) { return v < 90; })) == 16) << t;
    ASSERT_EQ(out[192 + t], alike) << t;
    ASSERT_EQ(out[256 + t], alike & of_half([](int v) { return v & 2; })) << t;
    const unsigned leader = static_cast<unsigned>(std::countr_zero(alike));
    ASSERT_EQ(out[320 + t], leader * 2 + (leader == static_cast<unsigned>(t - warp))) << t;
  }
}

TEST(Tiles, LanesMeetWhereARegisterNamesThemAll) {
  Device d;
  const DevicePtr flag = d.upload(std::vector<int>{0}), po = d.allocate(128);
  d.launch(d.module, "meeting", {1}, {32}, 0, KernelArgs(flag, po));
  for (const int v : d.download<int>(po, 32)) EXPECT_EQ(v, 100);
}

TEST(Clocks, AdvanceBetweenInstructionsOfOneBlock) {
  Device d;
  const DevicePtr po = d.allocate(12);
  d.launch(d.module, "clocks", {1}, {32}, 0, KernelArgs(po, 7));
  const auto out = d.download<int>(po, 3);
  EXPECT_GE(out[1], 2);  // the addition, and the clock itself
  EXPECT_LE(out[1], 8);
  EXPECT_GE(out[0], out[1] + 2);
  EXPECT_LE(out[0], 16);
  EXPECT_EQ(out[2], 12);
}

TEST(ReservedSharedMemory, LiesBesideTheKernelsOwn) {
  Device d;
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  const DevicePtr pi = d.upload(in), po = d.allocate(131 * 4);
  d.launch(d.module, "reserved", {3}, {64}, 256, KernelArgs(pi, po));
  const auto out = d.download<int>(po, 131);
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(out[t], in[63 - t]);
    EXPECT_EQ(out[64 + t], 2 * in[63 - t] + 3);
  }
  EXPECT_EQ(out[128], 1024);
  EXPECT_EQ(out[129], 512);
  EXPECT_EQ(out[130], 1);
}

}  // namespace
}  // namespace nearwarp::exec_test
