// Do matrix instructions multiply, and asynchronous copies and mbarriers copy and wait?
#include <gtest/gtest.h>

#include <cmath>

#include "host/functional/instructions/half_ops.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

uint16_t half(double v) {
  return static_cast<uint16_t>(exec::half_bits(v, false, exec::Round::kNearest));
}
int small(int i, int range) { return i * 7919 % (2 * range + 1) - range; }

TEST(Matrices, WmmaOfHalves) {
  BreadthDevice d("matrices");
  // a: 16 rows (or columns) 24 apart; b by columns; c by rows; d by columns. Integers are exact.
  std::vector<uint16_t> a(16 * 24), b(256), c16(256);
  std::vector<float> c(256);
  for (int i = 0; i < 16 * 24; ++i) a[i] = half(small(i, 9));
  for (int i = 0; i < 256; ++i) {
    b[i] = half(small(i + 3, 7));
    c[i] = static_cast<float>(small(i, 50));
    c16[i] = half(small(i, 50));
  }
  const auto value = [](uint16_t h) { return exec::half_value(h, false); };
  const DevicePtr pa = d.upload(a), pb = d.upload(b), pc = d.upload(c), pc16 = d.upload(c16),
                  out = d.allocate(1024);
  for (const bool column : {false, true}) {
    if (column)
      d.launch(d.module, "wmma_half_column", {1}, {32}, 0, KernelArgs(pa, pb, pc16, out));
    else
      d.launch(d.module, "wmma_half", {1}, {32}, 0, KernelArgs(pa, pb, pc, out));
    const auto single = d.download<float>(out, 256);
    const auto halves = d.download<uint16_t>(out, 256);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        double sum = c[i * 16 + j];
        for (int k = 0; k < 16; ++k)
          sum += value(a[column ? k * 24 + i : i * 24 + k]) * value(b[j * 16 + k]);
        if (column)
          EXPECT_EQ(halves[j * 16 + i], half(2 * value(half(sum)))) << i << " " << j;
        else
          EXPECT_EQ(single[j * 16 + i], 2 * sum) << i << " " << j;
      }
    }
  }
  validate(d.take_recording(""));
}

TEST(Matrices, WmmaOfBytes) {
  BreadthDevice d("matrices");
  std::vector<int8_t> a(256), b(256);
  std::vector<int> c(256);
  for (int i = 0; i < 256; ++i) {
    a[i] = static_cast<int8_t>(i * 37);
    b[i] = static_cast<int8_t>(i * 91 + 5);
    c[i] = i * 1000003;
  }
  const DevicePtr pa = d.upload(a), pb = d.upload(b), pc = d.upload(c), out = d.allocate(1024);
  d.launch(d.module, "wmma_bytes", {1}, {32}, 0, KernelArgs(pa, pb, pc, out));
  const auto got = d.download<int>(out, 256);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      int sum = c[i * 16 + j];
      for (int k = 0; k < 16; ++k) sum += a[i * 16 + k] * b[j * 16 + k];
      EXPECT_EQ(got[i * 16 + j], sum) << i << " " << j;
    }
  }
}

TEST(Matrices, WmmaOfDoubles) {
  for (const bool column : {false, true}) {
    BreadthDevice d("matrices");
    std::vector<double> a(80), b(80), c(64);
    for (int i = 0; i < 80; ++i) a[i] = std::sqrt(i + 2.0), b[i] = std::cbrt(i - 9.5);
    for (int i = 0; i < 64; ++i) c[i] = i * 0.125;
    const DevicePtr pa = d.upload(a), pb = d.upload(b), pc = d.upload(c), out = d.allocate(512);
    d.launch(d.module, column ? "wmma_double_column" : "wmma_double", {1}, {32}, 0,
             KernelArgs(pa, pb, pc, out));
    const auto got = d.download<double>(out, 64);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        const int at = column ? j * 8 + i : i * 8 + j;
        double sum = c[at];
        for (int k = 0; k < 4; ++k)
          sum = std::fma(a[column ? k * 10 + i : i * 10 + k], b[column ? k * 10 + j : j * 10 + k],
                         sum);
        EXPECT_EQ(got[at], 2 * sum) << i << " " << j;
      }
    }
    validate(d.take_recording(""));
  }
}

TEST(Matrices, MmaWithLdmatrix) {
  BreadthDevice d("matrices");
  std::vector<uint16_t> a(256), bt(128);
  for (int i = 0; i < 256; ++i) a[i] = half(small(i, 20));
  for (int i = 0; i < 128; ++i) bt[i] = half(small(i + 1, 20) * 0.5);
  const DevicePtr pa = d.upload(a), pb = d.upload(bt), out = d.allocate(512);
  d.launch(d.module, "mma_half", {1}, {32}, 0, KernelArgs(pa, pb, out));
  const auto got = d.download<float>(out, 128);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      double sum = 1 + i / 8 * 2 + j % 2;
      for (int k = 0; k < 16; ++k)
        sum += exec::half_value(a[i * 16 + k], false) * exec::half_value(bt[j * 16 + k], false);
      EXPECT_EQ(got[i * 8 + j], sum) << i << " " << j;
    }
  }
}

TEST(Matrices, MmaOfDoublesAndBytes) {
  BreadthDevice d("matrices");
  std::vector<double> a(32), b(32);
  for (int i = 0; i < 32; ++i) a[i] = std::sqrt(i + 1.0), b[i] = std::cbrt(i - 9.5);
  const DevicePtr pa = d.upload(a), pb = d.upload(b), out = d.allocate(512);
  d.launch(d.module, "mma_double", {1}, {32}, 0, KernelArgs(pa, pb, out));
  const auto got = d.download<double>(out, 64);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum = std::fma(a[i * 4 + k], b[k * 8 + j], sum);
      EXPECT_EQ(got[i * 8 + j], sum) << i << " " << j;
    }
  }
  std::vector<uint8_t> x(512), y(256);
  for (int i = 0; i < 512; ++i) x[i] = static_cast<uint8_t>(i * 29 + 3);
  for (int i = 0; i < 256; ++i) y[i] = static_cast<uint8_t>(i * 83 + 1);
  const DevicePtr px = d.upload(x), py = d.upload(y);
  d.launch(d.module, "mma_bytes", {1}, {32}, 0, KernelArgs(px, py, out));
  const auto bytes = d.download<int>(out, 128);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += static_cast<int8_t>(x[i * 32 + k]) * y[j * 32 + k];
      EXPECT_EQ(bytes[i * 8 + j], sum) << i << " " << j;
    }
  }
}

TEST(Matrices, Transposes) {
  BreadthDevice d("matrices");
  std::vector<uint16_t> in(64);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<uint16_t>(i * 1021);
  const DevicePtr p = d.upload(in), out = d.allocate(3 * 128);
  d.launch(d.module, "transpose", {1}, {32}, 0, KernelArgs(p, out));
  const auto got = d.download<uint16_t>(out, 192);
  for (int way = 0; way < 3; ++way)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        EXPECT_EQ(got[way * 64 + i * 8 + j], in[j * 8 + i]) << way << " " << i << " " << j;
}

TEST(Matrices, AsynchronousCopies) {
  for (const int missing : {0, 4, 7, 16}) {
    BreadthDevice d("matrices");
    std::vector<float> in(256);
    for (int i = 0; i < 256; ++i) in[i] = static_cast<float>(i);
    const std::vector<int> source = {0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10};
    const DevicePtr p = d.upload(in), out = d.allocate(1024), part = d.upload(source),
                    words = d.upload(std::vector<int>{1, 2, 3, 4, missing});
    d.launch(d.module, "copy", {1}, {64}, 0, KernelArgs(p, out, part, words));
    const auto got = d.download<float>(out, 256);
    for (int i = 0; i < 256; ++i) EXPECT_EQ(got[i], in[(63 - i / 4) * 4 + i % 4]) << i;
    auto want = source;
    std::memset(reinterpret_cast<char*>(want.data()) + 16 - missing, 0, missing);
    EXPECT_EQ(d.download<int>(words, 4), want) << missing;
    validate(d.take_recording(""));
  }
}

TEST(Matrices, AsynchronousCopiesWithGuardsAndHints) {
  for (const int bytes : {0, 4, 12, 16}) {
    BreadthDevice d("matrices");
    std::vector<float> in(128);
    for (int i = 0; i < 128; ++i) in[i] = static_cast<float>(i + 1);
    const DevicePtr p = d.upload(in), out = d.allocate(96 * 16);
    constexpr int kGuarded = 11;
    d.launch(d.module, "hinted_copy", {1}, {32}, 0, KernelArgs(p, out, kGuarded, bytes));
    const auto got = d.download<float>(out, 384);
    for (int i = 0; i < 128; ++i) {
      const float partial = i % 4 < bytes / 4 ? in[i] : 0.0f;
      EXPECT_EQ(got[i], in[i]) << i;
      EXPECT_EQ(got[128 + i], partial) << i << " " << bytes;
      EXPECT_EQ(got[256 + i], i / 4 < kGuarded ? partial : -1.0f) << i << " " << bytes;
    }
    validate(d.take_recording(""));
  }
}

TEST(Matrices, Mbarriers) {
  BreadthDevice d("matrices");
  constexpr int n = 256, rounds = 4;
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = i * i % 101;
  const DevicePtr p = d.upload(data);
  d.launch(d.module, "barriers", {1}, {n}, 0, KernelArgs(p, rounds));
  for (int r = 0; r < rounds; ++r) {
    const auto before = data;
    for (int i = 0; i < n; ++i) data[i] += before[(i + 1) % n];
  }
  EXPECT_EQ(d.download<int>(p, n), data);
}

}  // namespace
}  // namespace nearwarp::runtime
