// Does the race detector find fences that are missing before bulk copies and products of warp
// groups, in memory and in registers, and no others?
#include <gtest/gtest.h>

#include "tests/racecheck/checked_device.h"

namespace nearwarp::racecheck {
namespace {

using runtime::DevicePtr;

/// The only hazard, if it is one without a fence from a write to a read of the two kinds.
bool is_unfenced(const Findings& f, const std::string& earlier, const std::string& later) {
  if (f.hazards.empty() || !f.misuses.empty()) return false;
  return std::all_of(f.hazards.begin(), f.hazards.end(), [&](const Hazard& h) {
    return h.kind == HazardKind::kUnfenced && h.shared && h.distance == Distance::kWarps &&
           h.earlier.kind == earlier && h.later.kind == later;
  });
}

TEST(RacesOfProxies, BulkCopiesOfWhatThreadsHaveWritten) {
  for (const int fences : {0, 1, 2, 3, 4, 5}) {
    CheckedDevice d("proxies");
    const DevicePtr out = d.device.allocate(128);
    const Findings& f = d.run("store_written", {1}, {64}, out, fences);
    const bool fenced = fences == 1 || fences == 2 || fences == 5;
    EXPECT_EQ(f.clean(), fenced) << fences;
    if (!fenced) {
      EXPECT_TRUE(is_unfenced(f, "write", "read")) << fences;
      ASSERT_EQ(f.hazards.size(), 1u);
      EXPECT_EQ(f.hazards[0].count, 8u) << "pieces of 16 bytes";
      EXPECT_NE(f.hazards[0].earlier.text.find("st.shared"), std::string::npos);
    }
  }
}

TEST(RacesOfProxies, ProductsOfWhatThreadsHaveWritten) {
  for (const int told : {0, 1})
    for (const int fences : {0, 1, 2}) {
      CheckedDevice d("proxies");
      const DevicePtr in = d.zeros((8192 + 1024) / 4), out = d.device.allocate(128 * 16);
      const Findings& f = d.run("multiply_written", {1}, {256}, in, out, told, fences);
      EXPECT_EQ(f.clean(), fences == 1) << told << fences;
      if (fences != 1) {
        EXPECT_TRUE(is_unfenced(f, "write", "product")) << told << fences;
      }
    }
}

std::string missing_fence(const char* kernel) {
  CheckedDevice d("proxies");
  const DevicePtr out = d.device.allocate(128 * 16);
  const Findings& f = d.run(kernel, {1}, {128}, out);
  EXPECT_TRUE(f.hazards.empty()) << kernel;
  std::string all;
  for (const Misuse& m : f.misuses) {
    EXPECT_EQ(m.kind, MisuseKind::kNoFence) << kernel << m.detail;
    EXPECT_EQ(m.count % 128, 0u);
    EXPECT_EQ(m.at.kind, "product");
    EXPECT_NE(m.at.text.find("mma"), std::string::npos) << m.at.text;
    all += m.detail;
  }
  return all;
}

TEST(RacesOfProxies, ProductsBehindAFenceAreFine) {
  for (const char* kernel : {"fine", "scaled", "constant"}) EXPECT_EQ(missing_fence(kernel), "");
}

TEST(RacesOfProxies, ProductsWithoutAFenceAreFound) {
  EXPECT_NE(missing_fence("none_at_all").find("has executed no wgmma.fence yet"),
            std::string::npos);
  EXPECT_NE(missing_fence("first_only").find(", a sum, was written in "), std::string::npos);
  for (const char* kernel : {"too_early", "moved_factor"})
    EXPECT_NE(missing_fence(kernel).find(", a factor, was written in "), std::string::npos)
        << kernel;
}

}  // namespace
}  // namespace nearwarp::racecheck
