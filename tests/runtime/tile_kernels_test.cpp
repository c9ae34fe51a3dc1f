// Do kernels in the shape that is written for tiles compute what plain code does?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/small_floats.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"

namespace nearwarp::runtime {
namespace {

/// Small integers in a format, by rows; they are exact in all of them.
struct Numbers {
  std::vector<uint8_t> bytes;
  std::vector<float> values;
  Numbers(size_t count, uint32_t width, bool bf16, uint32_t seed) {
    uint32_t state = seed;
    for (size_t i = 0; i < count; ++i) {
      state = state * 1664525 + 1013904223;
      const int v = static_cast<int>(state >> 24) % 9 - 4;
      values.push_back(static_cast<float>(v));
      const uint32_t bits = width == 1 ? exec::small_bits(ptx::SmallFloat::kE4M3, v)
                                       : exec::half_bits(v, bf16, exec::Round::kNearest);
      for (uint32_t b = 0; b < width; ++b) bytes.push_back(static_cast<uint8_t>(bits >> 8 * b));
    }
  }
};

/// Compares a kernel's product with one by plain code. `rows`: rows of a box.
void expect_gemm(const std::string& kernel, uint32_t width, bool bf16, uint32_t n = 128,
                 uint32_t rows = 128) {
  BreadthDevice d("tile_kernels");
  constexpr uint32_t kM = 256, kK = 640;  // more parts than stages
  const Numbers a(kM * kK, width, bf16, 1), b(n * kK, width, bf16, 2);
  const DevicePtr pa = d.upload(a.bytes), pb = d.upload(b.bytes), out = d.allocate(kM * n * 4);
  const uint32_t numbers = 128 / width;
  const uint32_t type = width == 1 ? 0 : bf16 ? 9 : 6;
  const PlaneMap ma(pa, type, kK, kM, numbers, rows, 3), mb(pb, type, kK, n, numbers, rows, 3);
  constexpr uint32_t kShared = 4 * 2 * 128 * 128;
  d.launch(d.module, kernel, {n / 128, kM / 128}, {384}, kShared,
           KernelArgs(ma, mb, out, static_cast<int>(n), static_cast<int>(kK / numbers)));
  const auto got = d.download<float>(out, kM * n);
  for (uint32_t i = 0; i < kM; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      float sum = 0;
      for (uint32_t k = 0; k < kK; ++k) sum += a.values[i * kK + k] * b.values[j * kK + k];
      ASSERT_EQ(got[i * n + j], sum) << kernel << " " << i << " " << j;
    }
  validate(d.take_recording(""));
}

TEST(TileKernels, ProducersAndConsumersMultiply) {
  expect_gemm("gemm_f16", 2, false);
  expect_gemm("gemm_bf16", 2, true);
  expect_gemm("gemm_e4m3", 1, false);
  // Blocks of clusters of 2 by 2 fetch half of their rows for each other.
  expect_gemm("gemm_together", 2, false, 256, 64);
}

TEST(TileKernels, AttentionOfAProducerAndConsumers) {
  BreadthDevice d("attention");
  constexpr uint32_t kQueries = 256, kKeys = 320, kWidth = 64;  // more tiles than stages
  const Numbers q(kQueries * kWidth, 2, false, 3), k(kKeys * kWidth, 2, false, 4),
      v(kWidth * kKeys, 2, false, 5);  // by columns
  const DevicePtr pq = d.upload(q.bytes), pk = d.upload(k.bytes), pv = d.upload(v.bytes),
                  out = d.allocate(kQueries * kWidth * 4);
  const PlaneMap mq(pq, 6, kWidth, kQueries, kWidth, 128, 3),
      mk(pk, 6, kWidth, kKeys, kWidth, 64, 3), mv(pv, 6, kKeys, kWidth, 64, 64, 3);
  constexpr float kScale = 0.05f;
  d.launch(d.module, "attention", {kQueries / 128}, {384}, 128 * 128 + 2 * 2 * 64 * 128,
           KernelArgs(mq, mk, mv, out, static_cast<int>(kKeys / 64), kScale));
  const auto got = d.download<float>(out, kQueries * kWidth);
  for (uint32_t i = 0; i < kQueries; ++i) {
    std::vector<double> weights(kKeys);
    double largest = -1e30, total = 0;
    for (uint32_t j = 0; j < kKeys; ++j) {
      for (uint32_t c = 0; c < kWidth; ++c)
        weights[j] += double{q.values[i * kWidth + c]} * k.values[j * kWidth + c];
      largest = std::max(largest, weights[j]);
    }
    for (double& w : weights) total += w = std::exp2((w - largest) * double{kScale});
    for (uint32_t c = 0; c < kWidth; ++c) {
      double sum = 0;
      for (uint32_t j = 0; j < kKeys; ++j) sum += weights[j] * v.values[c * kKeys + j];
      // Weights are rounded to halves, and values are at most 4.
      ASSERT_NEAR(got[i * kWidth + c], sum / total, 4.0 / 1024) << i << " " << c;
    }
  }
  validate(d.take_recording(""));
}

TEST(TileKernels, ClustersSum) {
  BreadthDevice d("tile_kernels");
  std::vector<int> in(10000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7919 % 20011) - 10000;
  const DevicePtr p = d.upload(in), out = d.allocate(4 * 8);
  constexpr int kThreads = 128, kBlocks = 16;
  d.launch(d.module, "cluster_sum", {kBlocks}, {kThreads}, 0,
           KernelArgs(p, static_cast<int>(in.size()), out));
  const auto got = d.download<int64_t>(out, 4);
  std::vector<int64_t> want(4, 0);
  for (size_t i = 0; i < in.size(); ++i) want[i / kThreads % kBlocks / 4] += in[i];
  EXPECT_EQ(got, want);
  validate(d.take_recording(""));
}

TEST(TileKernels, StencilOfBoxes) {
  BreadthDevice d("tile_kernels");
  constexpr uint32_t kWidth = 100, kHeight = 50;
  std::vector<float> in(kWidth * kHeight);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 101);
  const DevicePtr p = d.upload(in), out = d.upload(std::vector<float>(in.size(), -1));
  const PlaneMap from(p, 7, kWidth, kHeight, 36, 18, 0), to(out, 7, kWidth, kHeight, 32, 16, 0);
  d.launch(d.module, "stencil", {4, 4}, {128}, 0, KernelArgs(from, to, 0));
  const auto got = d.download<float>(out, in.size());
  const auto at = [&](int x, int y) {
    return x < 0 || y < 0 || x >= int{kWidth} || y >= int{kHeight} ? 0.0f : in[y * kWidth + x];
  };
  for (int y = 0; y < int{kHeight}; ++y)
    for (int x = 0; x < int{kWidth}; ++x)
      ASSERT_EQ(
          got[y * kWidth + x],
          at(x, y) * 0.5f + (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y)) * 0.125f)
          << x << " " << y;
  validate(d.take_recording(""));
}

}  // namespace
}  // namespace nearwarp::runtime
