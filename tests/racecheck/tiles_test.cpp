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

}  // namespace
}  // namespace nearwarp::racecheck
