// Do exchange between lanes, barriers, atomics, access widths and control flow in nvcc's code work?
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "host/core/error.h"
#include "tests/exec/kernel_device.h"

namespace nearwarp::exec_test::warp_test {
namespace {

using runtime::DevicePtr;
using runtime::KernelArgs;

struct Device : KernelDevice {
  Device() : KernelDevice("warp") {}
};

TEST(Warp, Shuffles) {
  Device d;
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 3 + 1;
  const DevicePtr pi = d.upload(in), po = d.allocate(512 * 4);
  d.launch(d.module, "shuffles", {1}, {64}, 0, KernelArgs(pi, po));
  const auto out = d.download<int>(po, 512);
  for (int t = 0; t < 64; ++t) {
    const int lane = t & 31, base = t & ~31;
    const auto at = [&](int l) { return in[static_cast<size_t>(base + l)]; };
    EXPECT_EQ(out[t], at((t * 7) & 31));
    EXPECT_EQ(out[64 + t], at((lane & ~7) + 3));
    EXPECT_EQ(out[128 + t], at(lane < 5 ? lane : lane - 5));
    EXPECT_EQ(out[192 + t], at((lane & 15) < 2 ? lane : lane - 2));
    EXPECT_EQ(out[256 + t], at(lane + 9 > 31 ? lane : lane + 9));
    EXPECT_EQ(out[320 + t], at((lane & 3) + 3 > 3 ? lane : lane + 3));
    EXPECT_EQ(out[384 + t], at(lane ^ 13));
    EXPECT_EQ(out[448 + t], at(lane ^ 6));
  }
}

TEST(Warp, VotesMatchesAndReductions) {
  Device d;
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 5 % 19 + (i == 40 ? 2000 : 0);
  const DevicePtr pi = d.upload(in), po = d.allocate(704 * 4);
  d.launch(d.module, "votes", {1}, {64}, 0, KernelArgs(pi, po));
  const auto out = d.download<unsigned>(po, 704);
  for (int t = 0; t < 64; ++t) {
    const int base = t & ~31;
    const auto lanes = [&](const std::function<bool(int)>& f) {
      unsigned m = 0;
      for (int l = 0; l < 32; ++l)
        m |= static_cast<unsigned>(f(in[static_cast<size_t>(base + l)])) << l;
      return m;
    };
    const int v = in[t];
    EXPECT_EQ(out[t], lanes([](int x) { return x & 1; }));
    EXPECT_EQ(out[64 + t] != 0, lanes([](int x) { return x == 17; }) != 0);
    EXPECT_EQ(out[128 + t] != 0, base == 0);
    EXPECT_EQ(out[192 + t], lanes([&](int x) { return (x & 3) == (v & 3); }));
    EXPECT_EQ(out[256 + t], base == 0 ? 0xffffffffu : 0u);
    EXPECT_EQ(out[320 + t] != 0, base == 0);
    unsigned sum = 0, exclusive = 0;
    int least = 1 << 30;
    for (int l = 0; l < 32; ++l) {
      const int x = in[static_cast<size_t>(base + l)];
      sum += static_cast<unsigned>(x);
      exclusive ^= static_cast<unsigned>(x);
      least = std::min(least, x - 50);
    }
    EXPECT_EQ(out[384 + t], sum);
    EXPECT_EQ(out[448 + t], static_cast<unsigned>(least));
    EXPECT_EQ(out[512 + t], exclusive);
    EXPECT_EQ(out[576 + t], v & 1 ? lanes([](int x) { return x & 1; }) : 0);
    EXPECT_EQ(out[640 + t], v % 3 == 0 ? lanes([](int x) { return x % 3 == 0 && (x & 2); }) : 0);
  }
}

TEST(Barriers, Reductions) {
  Device d;
  constexpr int kBlocks = 4, kThreads = 150;
  std::vector<int> in(kBlocks * kThreads);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % (5 + i / kThreads * 2));
  const DevicePtr pi = d.upload(in), po = d.allocate(in.size() * 4);
  d.launch(d.module, "block_votes", {kBlocks}, {kThreads}, 0, KernelArgs(pi, po));
  const auto out = d.download<int>(po, in.size());
  for (int b = 0; b < kBlocks; ++b) {
    int count = 0;
    bool all = true, any = false;
    for (int t = 0; t < kThreads; ++t) {
      const int v = in[static_cast<size_t>(b * kThreads + t)];
      count += v > 3;
      all &= v < 9;
      any |= v == 7;
    }
    for (int t = 0; t < kThreads; ++t)
      ASSERT_EQ(out[static_cast<size_t>(b * kThreads + t)], count * 4 + all * 2 + any);
  }
}

TEST(Barriers, NamedOnesBetweenWarps) {
  Device d;
  const DevicePtr po = d.allocate(160 * 4);
  d.launch(d.module, "named_barriers", {1}, {64}, 0, KernelArgs(po));
  const auto out = d.download<int>(po, 160);
  for (int k = 0; k < 5; ++k)
    for (int t = 0; t < 32; ++t)
      EXPECT_EQ(out[static_cast<size_t>(k * 32 + t)], k * 100 + 32 + 31 - t);
}

TEST(Barriers, ExitedThreadsDoNotCount) {
  for (const int n : {1, 31, 32, 33, 64, 100, 128}) {
    Device d;
    const DevicePtr po = d.allocate(512);
    d.launch(d.module, "exit_before_barrier", {1}, {128}, 0, KernelArgs(po, n));
    const auto out = d.download<int>(po, 128);
    for (int t = 0; t < n; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], (t + 1) % n);
  }
}

TEST(Barriers, GridBarrierMakesProgress) {
  Device d;
  constexpr int kBlocks = 60, kThreads = 64, kRounds = 4;
  const DevicePtr count = d.allocate(4), data = d.allocate(kBlocks * kThreads * kRounds * 4);
  d.launch(d.module, "grid_barrier", {kBlocks}, {kThreads}, 0,
           KernelArgs(count, data, int{kRounds}));
  const auto out = d.download<int>(data, kBlocks * kThreads * kRounds);
  for (int i = 0; i < kBlocks * kThreads * kRounds; ++i)
    ASSERT_EQ(out[static_cast<size_t>(i)], i / (kBlocks * kThreads) + 1);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Barriers, DeadlockIsReported) {
  Device d;
  const DevicePtr po = d.allocate(512);
  const std::string m =
      error_of([&] { d.launch(d.module, "missing_barrier", {1}, {64}, 0, KernelArgs(po)); });
  EXPECT_NE(m.find("deadlock in kernel missing_barrier"), std::string::npos) << m;
  EXPECT_NE(m.find("warp 0 at the barrier"), std::string::npos) << m;
}

TEST(Control, TrapNamesTheThread) {
  Device d;
  const DevicePtr po = d.allocate(512);
  const std::string m =
      error_of([&] { d.launch(d.module, "traps", {1}, {64}, 0, KernelArgs(po, 37)); });
  EXPECT_NE(m.find("trap in kernel traps"), std::string::npos) << m;
  EXPECT_NE(m.find("thread (37,0,0)"), std::string::npos) << m;
  d.launch(d.module, "traps", {1}, {64}, 0, KernelArgs(po, 64));
}

TEST(Memory, Atomics) {
  Device d;
  constexpr unsigned n = 1024;
  std::vector<unsigned> in(n);
  for (unsigned i = 0; i < n; ++i) in[i] = i * 2654435761u >> 20;
  std::vector<unsigned> u(32, 0);
  u[1] = 5000;
  u[3] = 0xffffffffu;
  u[7] = 3;
  const DevicePtr pi = d.upload(in), pu = d.upload(u), ps = d.upload(std::vector<int>{0, 0}),
                  pl = d.upload(std::vector<uint64_t>{1, 1, 7, 0}),
                  pf = d.upload(std::vector<float>{1}), pd = d.upload(std::vector<double>{1});
  d.launch(d.module, "atomics", {n / 128}, {128}, 0, KernelArgs(pi, pu, ps, pl, pf, pd));
  const auto ru = d.download<unsigned>(pu, 32);
  unsigned sum = 0, least = 5000, most = 0, all = ~0u, any = 0, odd = 0, inc = 0, dec = 3,
           hist[16] = {};
  for (const unsigned v : in) {
    sum += v;
    least = std::min(least, v);
    most = std::max(most, v);
    all &= v | 0xf0f0f0f0u;
    any |= v & 0x0ff00ff0u;
    odd ^= v;
    inc = inc >= 36 ? 0 : inc + 1;
    dec = dec == 0 || dec > 41 ? 41 : dec - 1;
    ++hist[v & 15];
  }
  const std::vector<unsigned> want = {sum, least, most,      all, any,     odd,
                                      inc, dec,   in[n - 1], sum, 0u - sum};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(ru[i], want[i]) << i;
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(ru[16 + i], hist[i]) << i;
  const auto rs = d.download<int>(ps, 2);
  EXPECT_EQ(rs[0], std::min(0, static_cast<int>(least) - 500));
  EXPECT_EQ(rs[1], std::max(0, static_cast<int>(most) - 500));
  const auto rl = d.download<uint64_t>(pl, 4);
  EXPECT_EQ(rl[0], 1 + (uint64_t{sum} << 20));
  EXPECT_EQ(rl[1], uint64_t{most} << 33);
  EXPECT_EQ(rl[2], uint64_t{1} << 40);
  EXPECT_EQ(rl[3], 3u);
  EXPECT_EQ(d.download<float>(pf, 1)[0], 1 + 0.5f * n);
  EXPECT_EQ(d.download<double>(pd, 1)[0], 1 + 0.25 * n);
}

struct Mixed {
  uint8_t a;
  int8_t b;
  uint16_t c;
  int16_t d;
  uint16_t pad;
  int e;
  long long f;
};

TEST(Memory, WidthsAndVectors) {
  Device d;
  constexpr int n = 256;
  std::vector<Mixed> in(n);
  std::vector<float> v4(n * 4);
  std::vector<double> v2(n * 2);
  for (int i = 0; i < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    in[k] = {static_cast<uint8_t>(i * 3),
             static_cast<int8_t>(i * 5),
             static_cast<uint16_t>(i * 777),
             static_cast<int16_t>(i * -999),
             0,
             i * 123456 - 9999999,
             (1ll << 40) * (i - 100)};
    for (size_t j = 0; j < 4; ++j)
      v4[4 * k + j] = static_cast<float>(i) + 0.1f * static_cast<float>(j);
    for (size_t j = 0; j < 2; ++j) v2[2 * k + j] = i - 0.3 * static_cast<double>(j);
  }
  const DevicePtr pi = d.upload(in), po = d.allocate(n * 8), p4 = d.upload(v4),
                  q4 = d.allocate(n * 16), p2 = d.upload(v2), q2 = d.allocate(n * 16),
                  pb = d.allocate(8192);
  d.launch(d.module, "widths", {2}, {128}, 0, KernelArgs(pi, po, p4, q4, p2, q2, pb));
  const auto out = d.download<long long>(po, n);
  const auto w4 = d.download<float>(q4, n * 4);
  const auto w2 = d.download<double>(q2, n * 2);
  const auto bytes = d.download<uint8_t>(pb, 8192);
  for (size_t i = 0; i < n; ++i) {
    const Mixed& m = in[i];
    ASSERT_EQ(out[i], m.a + 1000ll * m.b + 1000000ll * m.c - 7ll * m.d + m.e - m.f);
    ASSERT_EQ(w4[4 * i], v4[4 * i + 3]);
    ASSERT_EQ(w4[4 * i + 1], v4[4 * i + 1]);
    ASSERT_EQ(w4[4 * i + 3], v4[4 * i]);
    ASSERT_EQ(w2[2 * i], v2[2 * i + 1]);
    ASSERT_EQ(w2[2 * i + 1], -v2[2 * i]);
    ASSERT_EQ(bytes[i], static_cast<uint8_t>(m.e + static_cast<int>(i)));
    int16_t half;
    std::memcpy(&half, &bytes[4096 + 2 * i], 2);
    ASSERT_EQ(half, static_cast<int16_t>(m.f));
  }
}

int shape(int v) {
  int r = 0;
  for (int a = 0; a < (v & 7); ++a) {
    if (a == 3 && (v & 16)) continue;
    for (int b = 0; b < (v >> 3 & 7); ++b) {
      if (b * a > 12) break;
      r = r * 3 + b - a;
      if (r > 5000) return -r;
    }
    if ((v & 32) && a > 4) break;
    r += (v & 1) ? (v & 2 ? 5 : 9) : (v & 4 ? a : -a);
  }
  return r;
}

TEST(Control, NestedLoopsAndEarlyReturns) {
  Device d;
  constexpr int n = 1001;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = i * 40503 % 4096;
  const DevicePtr pi = d.upload(in), po = d.allocate(n * 4);
  d.launch(d.module, "shapes", {8}, {128}, 0, KernelArgs(pi, po, int{n}));
  const auto out = d.download<int>(po, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], shape(in[i])) << in[i];
}

TEST(Control, DeviceFunctions) {
  Device d;
  constexpr int n = 333;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = 0.25f * static_cast<float>(i);
  const DevicePtr pi = d.upload(in), po = d.allocate(n * 4);
  d.launch(d.module, "calls", {3}, {128}, 0, KernelArgs(pi, po, int{n}));
  const auto out = d.download<float>(po, n);
  const auto helper = [](float x, int k) {
    float s = 0;
    for (int i = 0; i < k; ++i) s += x / static_cast<float>(i + 1);
    return s;
  };
  for (int i = 0; i < n; ++i) {
    float v = helper(in[static_cast<size_t>(i)], i & 7);
    if (i & 8) v += helper(v, 3);
    ASSERT_EQ(out[static_cast<size_t>(i)], v) << i;
  }
}

TEST(Control, SpecialRegisters) {
  Device d;
  const runtime::Dim3 grid{3, 2, 2}, block{5, 4, 3};
  const DevicePtr po = d.allocate(grid.count() * block.count() * 4);
  d.launch(d.module, "specials", grid, block, 0, KernelArgs(po));
  const auto out = d.download<unsigned>(po, grid.count() * block.count());
  for (unsigned i = 0; i < out.size(); ++i) {
    const unsigned b = i / 60, t = i % 60;
    ASSERT_EQ(out[i], b * 1000000 + t * 100 + t % 32);
  }
}

TEST(Control, LaunchErrors) {
  Device d;
  const DevicePtr po = d.allocate(512);
  const auto message = [&](const char* kernel, runtime::Dim3 grid, runtime::Dim3 block,
                           uint32_t shared, const KernelArgs& args) {
    return error_of([&] { d.launch(d.module, kernel, grid, block, shared, args); });
  };
  EXPECT_NE(message("nothing", {1}, {32}, 0, KernelArgs(po)).find("no kernel 'nothing'"),
            std::string::npos);
  EXPECT_NE(message("specials", {0}, {32}, 0, KernelArgs(po)).find("grid of (0,1,1)"),
            std::string::npos);
  EXPECT_NE(message("specials", {1}, {1025}, 0, KernelArgs(po)).find("1 to 1024 threads"),
            std::string::npos);
  EXPECT_NE(message("specials", {1}, {32}, 1 << 20, KernelArgs(po)).find("shared memory"),
            std::string::npos);
  EXPECT_NE(
      message("specials", {1}, {32}, 0, KernelArgs(po, 1)).find("takes 8 bytes of parameters"),
      std::string::npos);
  EXPECT_THROW(d.launch(99, "specials", {1}, {32}, 0, KernelArgs(po)), Error);
}

}  // namespace
}  // namespace nearwarp::exec_test::warp_test
