// Does the race detector know copies of boxes, and products of warp groups?
#include <gtest/gtest.h>

#include "tests/racecheck/checked_device.h"
#include "tests/runtime/plane_map.h"

namespace nearwarp::racecheck {
namespace {

using runtime::DevicePtr;
using runtime::PlaneMap;

const Findings& run_stencil(CheckedDevice& d, int early) {
  std::vector<float> in(64 * 32);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  const DevicePtr p = d.device.upload(in), out = d.device.upload(std::vector<float>(64 * 32, 0));
  const PlaneMap from(p, 7, 64, 32, 36, 18, 0), to(out, 7, 64, 32, 32, 16, 0);
  return d.run("stencil", {2, 2}, {128}, from, to, early);
}

TEST(RacesOfTiles, ABoxThatIsWaitedForIsFine) {
  CheckedDevice d("tile_kernels", {}, "runtime/breadth");
  const Findings& f = run_stencil(d, 0);
  EXPECT_TRUE(f.hazards.empty());
  EXPECT_GT(f.accesses, 0u);
}

TEST(RacesOfTiles, ABoxThatIsReadBeforeItsPhaseIsFound) {
  CheckedDevice d("tile_kernels", {}, "runtime/breadth");
  const Findings& f = run_stencil(d, 1);
  EXPECT_TRUE(std::any_of(f.hazards.begin(), f.hazards.end(), [](const Hazard& h) {
    return h.kind == HazardKind::kReadAfterWrite && h.shared;
  }));
}

TEST(RacesOfTiles, ProductsOfWhatIsWaitedForAreFine) {
  CheckedDevice d("tile_kernels", {}, "runtime/breadth");
  const DevicePtr a = d.device.upload(std::vector<uint16_t>(128 * 320, 0x3c00)),
                  b = d.device.upload(std::vector<uint16_t>(128 * 320, 0x3c00)),
                  c = d.device.allocate(128 * 128 * 4);
  const PlaneMap ma(a, 6, 320, 128, 64, 128, 3), mb(b, 6, 320, 128, 64, 128, 3);
  d.device.launch(d.module, "gemm_f16", {1}, {384}, 4 * 2 * 128 * 128,
                  runtime::KernelArgs(ma, mb, c, 128, 5));
  d.checker.end_launch();
  EXPECT_TRUE(d.checker.findings().hazards.empty());
}

TEST(RacesOfTiles, AttentionIsFine) {
  CheckedDevice d("attention", {}, "runtime/breadth");
  constexpr uint32_t kQueries = 128, kKeys = 256, kWidth = 64;
  const auto ones = [&](uint32_t rows) {
    return d.device.upload(std::vector<uint16_t>(rows * kWidth, 0x3c00));
  };
  const DevicePtr q = ones(kQueries), k = ones(kKeys), v = ones(kKeys),
                  out = d.device.allocate(kQueries * kWidth * 4);
  const PlaneMap mq(q, 6, kWidth, kQueries, kWidth, 128, 3), mk(k, 6, kWidth, kKeys, kWidth, 64, 3),
      mv(v, 6, kKeys, kWidth, 64, 64, 3);
  d.device.launch(d.module, "attention", {kQueries / 128}, {384}, 128 * 128 + 2 * 2 * 64 * 128,
                  runtime::KernelArgs(mq, mk, mv, out, static_cast<int>(kKeys / 64), 0.05f));
  d.checker.end_launch();
  EXPECT_TRUE(d.checker.findings().clean());
}

const Findings& run_product(CheckedDevice& d, const std::string& kernel) {
  const DevicePtr out = d.device.allocate(128 * 4);
  return d.run(kernel, {1}, {256}, out);
}

bool writes_too_early(const Findings& f) {
  return std::any_of(f.hazards.begin(), f.hazards.end(), [](const Hazard& h) {
    return h.kind == HazardKind::kWriteAfterRead && h.shared && h.earlier.kind == "product" &&
           h.earlier.text.find("mma") != std::string::npos;
  });
}

TEST(RacesOfTiles, FactorsMayBeWrittenOnceTheyHaveBeenWaitedFor) {
  for (const char* kernel :
       {"fine", "other_groups_stage", "told_by_one_warp", "results_are_copied", "factors_again"}) {
    CheckedDevice d("late");
    const Findings& f = run_product(d, kernel);
    EXPECT_TRUE(f.hazards.empty()) << kernel;
    EXPECT_TRUE(f.misuses.empty()) << kernel << (f.misuses.empty() ? "" : f.misuses[0].detail);
    EXPECT_GT(f.accesses, 0u);
  }
}

TEST(RacesOfTiles, FactorsThatAreWrittenTooEarlyAreFound) {
  for (const char* kernel :
       {"factors_too_early", "newest_stage", "by_another_group", "not_committed"}) {
    CheckedDevice d("late");
    const Findings& f = run_product(d, kernel);
    EXPECT_TRUE(writes_too_early(f)) << kernel;
    // Warps that come to the product after the write make it a read after a write, too.
    for (const Hazard& h : f.hazards)
      EXPECT_TRUE(h.earlier.kind == "product" || h.later.kind == "product")
          << kernel << ": " << h.earlier.text << " then " << h.later.text;
    EXPECT_TRUE(f.misuses.empty()) << kernel;
  }
}

TEST(RacesOfTiles, RegistersOfProductsThatAreTouchedTooEarlyAreFound) {
  const auto found = [](const char* kernel) {
    CheckedDevice d("late");
    const Findings f = run_product(d, kernel);
    EXPECT_TRUE(f.hazards.empty()) << kernel;
    EXPECT_EQ(f.misuses.size(), 1u) << kernel;
    if (f.misuses.empty()) return std::string();
    EXPECT_EQ(f.misuses[0].kind, MisuseKind::kInProduct);
    EXPECT_EQ(f.misuses[0].count, 128u);
    EXPECT_EQ(f.misuses[0].at.kind, "touched");
    return f.misuses[0].detail;
  };
  const std::string results = found("results_too_early"), factors = found("factors_in_registers");
  EXPECT_NE(results.find(", a result of the product in "), std::string::npos) << results;
  EXPECT_NE(factors.find(", factors of the product in "), std::string::npos) << factors;
}

TEST(RacesOfTiles, BlocksMayReduceToOnePlace) {
  for (const int how : {1, 2}) {  // added; the largest
    CheckedDevice d("tensors", {}, "runtime/breadth");
    const DevicePtr p = d.zeros(20 * 12), in = d.numbers(8 * 6);
    const PlaneMap map(p, 3, 20, 12, 8, 6, 0);
    d.device.launch(d.module, "store_2d", {4}, {32}, 192,
                    runtime::KernelArgs(map, in, 192, 4, 3, how));
    d.checker.end_launch();
    EXPECT_GT(d.checker.findings().accesses, 0u);
    EXPECT_TRUE(d.checker.findings().clean()) << how;
  }
}

TEST(RacesOfTiles, BoxesMayBeginAtAnyElement) {
  CheckedDevice d("tensors", {}, "runtime/breadth");
  const DevicePtr p = d.numbers(512 * 8), out = d.device.allocate(4 * 64 * 4);
  const PlaneMap map(p, 2, 512, 8, 64, 4, 0);
  // Pieces of 16 bytes lie across the ends of the shadow's pages.
  d.device.launch(d.module, "load_2d", {1}, {64}, 1024,
                  runtime::KernelArgs(map, 225, 1, 0, 0, 0, 1024u, 1024u, out));
  d.checker.end_launch();
  EXPECT_TRUE(d.checker.findings().clean());
}

TEST(RacesOfTiles, BulkCopiesReadUntilTheyAreWaitedFor) {
  const auto hazards = [](int waits, int all) {
    CheckedDevice d("late");
    const DevicePtr out = d.device.allocate(128);
    const Findings& f = d.run("store", {1}, {64}, out, waits, all);
    for (const Hazard& h : f.hazards) {
      EXPECT_EQ(h.kind, HazardKind::kWriteAfterRead);
      EXPECT_EQ(h.earlier.kind, "asynchronous copy");
      EXPECT_EQ(h.distance, all != 0 ? Distance::kWarps : Distance::kLanes);
    }
    return f.hazards.size();
  };
  for (const int all : {0, 1}) {
    EXPECT_EQ(hazards(0, all), 1u);
    EXPECT_EQ(hazards(1, all), 0u);
    EXPECT_EQ(hazards(2, all), 0u);
    EXPECT_EQ(hazards(3, all), 1u);
  }
}

}  // namespace
}  // namespace nearwarp::racecheck
