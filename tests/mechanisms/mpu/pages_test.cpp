// Do CODA's pages work under MPU: do objects lie in the banks of the cores that run their thread
// blocks, behind the near-bank units of their warps?
#include <gtest/gtest.h>

#include <stdexcept>

#include "host/mechanisms/coda/report/sections.h"
#include "host/mechanisms/coda/units.h"
#include "tests/mechanisms/same_results.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::refusal;
using testing::run_setup;
using testing::workload;

constexpr const char* kMachine = "mpu";

report::RunResult run_placed(const std::string& name, const std::string& policy,
                             const std::vector<std::string>& overrides = {}, uint64_t limit = 0) {
  return run_setup({kMachine, policy}, name, limit, overrides);
}

const coda::PlacedObject& object(const report::RunResult& r, const std::string& name) {
  for (const coda::PlacedObject& o : coda::placed_of(r))
    if (o.name == name) return o;
  throw std::runtime_error(name);
}

TEST(MpuPages, WhatBlocksHaveForThemselvesIsBesideThem) {
  // A warp reads 256 bytes of two lines, and writes one; blocks go down rows of maps.
  const report::RunResult spread = run_placed("max-pool", "mpu"),
                          pages = run_placed("max-pool", "mpu-pages");
  EXPECT_GT(counter(spread, "mpu.remote"), 0u);
  EXPECT_EQ(counter(pages, "mpu.remote"), 0u);
  EXPECT_EQ(counter(pages, "mpu.other_unit"), 0u);
  EXPECT_EQ(counter(pages, "mpu.loads_near"), counter(pages, "sm.loads"));
  EXPECT_EQ(counter(pages, "mpu.stores_near"), counter(pages, "sm.stores"));
  EXPECT_EQ(pages.traffic.total_bytes(), 0u);
  EXPECT_EQ(object(pages, "maps").unit_bytes, 256u);
  EXPECT_EQ(object(pages, "pooled").unit_bytes, 128u);
  EXPECT_EQ(object(pages, "maps").near_unit, object(pages, "maps").warp_accesses);
}

TEST(MpuPages, UnitsAsTheMachineHasThem) {
  const report::RunResult r = run_placed("max-pool", "mpu-pages", {"pages.units=machine"});
  // Two lines are behind two units.
  EXPECT_EQ(counter(r, "mpu.loads_near"), 0u);
  EXPECT_EQ(counter(r, "mpu.other_unit"), counter(r, "sm.loads"));
  EXPECT_EQ(object(r, "maps").unit_bytes, 0u);
  const report::RunResult wide = run_placed(
      "max-pool", "mpu-pages", {"pages.units=machine", "near_bank.unit_interleave_bytes=256"});
  EXPECT_EQ(counter(wide, "mpu.loads_near"), counter(wide, "sm.loads"));
}

TEST(MpuPages, WholePagesBehindUnits) {
  // A row of the matrix is a warp's, and 4,096 bytes.
  const report::RunResult r = run_placed("gemv", "mpu-pages");
  const coda::PlacedObject& a = object(r, "A");
  EXPECT_EQ(a.unit_bytes, 4096u);
  EXPECT_EQ(a.near_unit, a.warp_accesses);
  EXPECT_GE(counter(r, "mpu.loads_near"), a.warp_accesses);
}

TEST(MpuPages, WithoutNearBankUnits) {
  const report::RunResult spread = run_placed("max-pool", "ponb"),
                          pages = run_placed("max-pool", "ponb-pages");
  EXPECT_GT(spread.traffic.total_bytes(), 0u);
  EXPECT_EQ(pages.traffic.total_bytes(), 0u);
  EXPECT_EQ(pages.warp_instructions, spread.warp_instructions);
  EXPECT_EQ(counter(pages, "dram.bytes_written"), counter(spread, "dram.bytes_written"));
}

TEST(MpuPages, EvenRowsAreOneRunOfBlocksForEachCore) {
  // 16 maps of 128 x 128 results are 1,024 blocks for 128 cores, of which a core holds eight. With
  // a third of the registers it holds fewer, and rows are as long as before.
  const report::RunResult r = run_placed("max-pool", "ponb-pages"),
                          few = run_placed("max-pool", "ponb-pages",
                                           {"sm.threads=768", "sm.warps=24"}),
                          fit = run_placed(
                              "max-pool", "ponb-pages",
                              {"sm.threads=768", "sm.warps=24", "dispatch.even_rows=false"});
  EXPECT_EQ(object(r, "pooled").chunk_bytes, 8u * 1024);
  EXPECT_EQ(object(few, "pooled").chunk_bytes, 8u * 1024);
  EXPECT_EQ(object(fit, "maps").chunk_bytes, 3u * 4096);
  EXPECT_EQ(few.traffic.total_bytes(), 0u);
}

TEST(MpuPages, TheSameInWindowsAndOnADevice) {
  testing::expect_same_in_windows({kMachine, "mpu-pages"}, "max-pool", 500'000);
  testing::expect_same_in_windows({kMachine, "mpu-pages"}, "gemv", 500'000);
  testing::expect_same_on_a_device({kMachine, "mpu-pages"}, "gemv", 200'000);
}

TEST(MpuPages, WhatDoesNotFitIsRefused) {
  const auto why = [](const std::string& policy, const std::vector<std::string>& keys) {
    return refusal({kMachine, policy}, "vector-add", 10'000, keys);
  };
  EXPECT_NE(why("mpu-pages", {"mpu.hash_units=true"}).find("pages.units"), std::string::npos);
  EXPECT_NE(why("mpu-pages", {"near_bank.unit_interleave_bytes=2048"}).find("memory.page_bytes"),
            std::string::npos);
  EXPECT_NE(why("ponb-pages", {"pages.units=objects"}).find("pages.units"), std::string::npos);
  const std::vector<std::string> fta = {"policy.mapping=fta", "pages.units=machine"};
  EXPECT_NE(why("mpu-pages", fta).find("first touches"), std::string::npos);
  EXPECT_NE(why("mpu-pages", {"dispatch.groups=4"}).find("128 cores"), std::string::npos);
  EXPECT_EQ(why("mpu-pages", {}), "");
}

TEST(MpuPages, ScalarsMoveAsOneValue) {
  // The factor of axpy is a parameter, which each warp wants beside its data: 8 bytes and a value
  // instead of 32.
  const report::RunResult lanes = run_placed("axpy", "mpu"),
                          value = run_placed("axpy", "mpu", {"mpu.scalar_moves=true"});
  EXPECT_EQ(counter(value, "mpu.moves_near"), counter(lanes, "mpu.moves_near"));
  EXPECT_EQ(counter(lanes, "stack.switch_bytes") - counter(value, "stack.switch_bytes"),
            counter(lanes, "mpu.moves_near") * (31 * 4));
}

}  // namespace
}  // namespace nearwarp::sim
