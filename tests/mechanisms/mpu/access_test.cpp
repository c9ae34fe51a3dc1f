// Does the load-store unit find whether an access may be executed behind the warp's unit?
#include <gtest/gtest.h>

#include "device/mechanisms/mpu/mechanism.h"
#include "device/sm/tlb.h"
#include "tests/support/program.h"

namespace nearwarp::mpu {
namespace {

using testing::kBase;
using testing::kFull;

constexpr uint32_t kUnits = 4, kCoreLines = 8;

/// Eight lines of 128 bytes in a row lie with a core, with its units in turn.
struct Map {
  struct Place {
    uint32_t vault_of(LineAddr line) const { return line % kUnits; }
  };
  Place of(LineAddr, const std::byte*) const { return {}; }
};

/// The part of a core that the test reads: core 0, whose warp 1 stands at an access.
struct Core {
  struct Params {
    LineGrid grid{kBase, 7};
    Map map;
    uint32_t local_map = 0;
    Translation translation;
    sm::TlbParams tlb;
  };
  struct State {
    sm::TlbState tlb;
  };
  struct View {
    Params p;
    State s;
    std::byte* base = nullptr;
    sm::Warp warps[4] = {};
    std::vector<uint64_t> trace;
    const uint64_t* words(const sm::Warp&) const { return trace.data(); }
    StackId stack_of(LineAddr line) const { return stack_id(line / kCoreLines % 2); }
    StackId own_stack() const { return {}; }
    LineAddr physical(LineAddr line, uint32_t) const { return line; }
  } v;
  SmSideParams p;
};

constexpr uint32_t kWarp = 1;

Found found(uint64_t offset, int stride, uint32_t mask = kFull, uint32_t lane_bytes = 4,
            uint64_t window = 0) {
  Core core;
  core.p.units = kUnits;
  core.v.trace = {trace::memory_record((kBase + offset) | window, stride)};
  core.v.warps[kWarp].at.mask = mask;
  return test_access(core, kWarp, testing::memory(sm::Action::kLoad, 0, {1}, lane_bytes));
}

constexpr uint64_t kLine = 128;

TEST(AccessTest, AWholeLineOfTheWarpsUnitIsNear) {
  EXPECT_EQ(found(kLine * kWarp, 4), Found::kNear);
  EXPECT_EQ(found(kLine * (kWarp + kUnits), 4), Found::kNear);
  EXPECT_EQ(found(kLine * (kWarp + 2 * kCoreLines), 4), Found::kNear);
}

TEST(AccessTest, AnotherUnitsLine) {
  EXPECT_EQ(found(kLine * (kWarp + 1), 4), Found::kOtherUnit);
  EXPECT_EQ(found(0, 4), Found::kOtherUnit);
}

TEST(AccessTest, ARunOverTwoUnits) {
  // A word further on: the last lane's lies in the next line.
  EXPECT_EQ(found(kLine * kWarp + 4, 4), Found::kOtherUnit);
  EXPECT_EQ(found(kLine * kWarp - 4, 4), Found::kOtherUnit);
  // Eight bytes of a lane take two lines.
  EXPECT_EQ(found(kLine * kWarp, 8, kFull, 8), Found::kOtherUnit);
}

TEST(AccessTest, AnotherCoresLine) {
  EXPECT_EQ(found(kLine * (kWarp + kCoreLines), 4), Found::kRemote);
  // One line of a run is enough.
  EXPECT_EQ(found(kLine * kCoreLines - 4, 4), Found::kRemote);
}

TEST(AccessTest, NotARunOfBytes) {
  EXPECT_EQ(found(kLine * kWarp, 8), Found::kScattered);
  EXPECT_EQ(found(kLine * kWarp, 0), Found::kScattered);
  EXPECT_EQ(found(kLine * kWarp + 124, -4), Found::kScattered);
  EXPECT_EQ(found(kLine * kWarp, 4, kFull, 2), Found::kScattered);
}

TEST(AccessTest, ALaneThatTakesNoPart) {
  EXPECT_EQ(found(kLine * kWarp, 4, kFull ^ 1u << 7), Found::kInactive);
  EXPECT_EQ(found(kLine * kWarp, 4, 0), Found::kNothing);
}

TEST(AccessTest, SharedMemoryByAGenericAddress) {
  EXPECT_EQ(found(kLine * kWarp, 4, kFull, 4, trace::kSharedWindow), Found::kNothing);
}

}  // namespace
}  // namespace nearwarp::mpu
