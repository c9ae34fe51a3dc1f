// Does the analytical report of areas give what one counts by hand, for round values of single
// parts?
#include "host/mechanisms/mpu/area/area.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/core/error.h"

namespace nearwarp::mpu {
namespace {

/// Round values: a lane is 1,000 um2, a bit 100,000 nm2, of registers 200,000; a die is 100 mm2.
const std::vector<std::string> kRound = {"area.die_mm2=100",
                                         "area.dies=4",
                                         "area.process_percent=200",
                                         "area.lane_um2=1000",
                                         "area.sram_nm2_per_bit=100000",
                                         "area.register_nm2_per_bit=200000",
                                         "area.latch_nm2_per_bit=1000000",
                                         "area.row_latches=128",
                                         "area.controller_um2=5000",
                                         "area.lsu_lines=4",
                                         "area.pipeline_um2=10000",
                                         "area.instruction_cache_bytes=131072",
                                         "area.router_um2=7000"};

AreaReport report_of(const std::string& policy, const std::vector<std::string>& changes = {}) {
  return area_of(config::load_machine("mpu", changes), config::load_policy(policy, changes),
                 config::load_area("mpu-20nm", kRound));
}

/// um2 of one part; -1 if there is none.
int64_t each_um2(const AreaReport& report, Die die, const std::string& name) {
  for (const AreaPart& part : report.parts)
    if (part.die == die && part.name == name) return static_cast<int64_t>(part.nm2 / 1'000'000);
  return -1;
}

TEST(MpuArea, PartsOfDramDiesTakeTwiceTheirArea) {
  const AreaReport report = report_of("mpu");
  EXPECT_EQ(each_um2(report, Die::kDram, "vector ALU"), 2 * 32 * 1000);
  EXPECT_EQ(each_um2(report, Die::kLogic, "vector ALU"), 32 * 1000);
  // 16 KB: 4,096 registers of 32 bits and 0.2 um2.
  EXPECT_EQ(each_um2(report, Die::kDram, "near-bank register file"), 2 * 4096 * 32 / 5);
  // 4 instructions of 3 operands of 1,024 bits and 0.1 um2; 4 lines of 1,024 bits.
  EXPECT_EQ(each_um2(report, Die::kDram, "operand collector"), 2 * 12 * 1024 / 10);
  EXPECT_EQ(each_um2(report, Die::kDram, "LSU-Extension"), 2 * 4 * 1024 / 10);
  EXPECT_EQ(each_um2(report, Die::kDram, "memory controller"), 2 * 5000);
  EXPECT_EQ(each_um2(report, Die::kDram, "latches of row addresses"), 2 * 128);
  EXPECT_EQ(each_um2(report, Die::kDram, "shared memory"), 2 * 65536 * 8 / 10);
  EXPECT_EQ(each_um2(report, Die::kLogic, "shared memory"), -1);
  EXPECT_EQ(each_um2(report, Die::kLogic, "register file"), 8192 * 32 / 5);
  EXPECT_EQ(each_um2(report, Die::kLogic, "instruction cache"), 131072 * 8 / 10);
}

TEST(MpuArea, SharesAreOfAllDiesOfAProcessor) {
  const AreaReport report = report_of("mpu");
  EXPECT_EQ(report.dram_nm2, 400'000'000'000'000u);
  EXPECT_EQ(report.logic_nm2, 100'000'000'000'000u);
  // 16 cores of 4 units.
  const uint64_t unit = 64000 + 52428 + 2457 + 819 + 10000 + 256;
  const double um2 = static_cast<double>(64 * unit + 16 * 104857);
  EXPECT_NEAR(report.share(Die::kDram), um2 / 4e8, 1e-6);
  uint64_t sum = 0;
  for (const AreaPart& part : report.parts) sum += part.total_nm2();
  EXPECT_EQ(sum, report.added_nm2(Die::kDram) + report.added_nm2(Die::kLogic));
}

TEST(MpuArea, FollowsMachineAndPolicy) {
  EXPECT_EQ(
      each_um2(report_of("mpu", {"dram.row_buffers=1"}), Die::kDram, "latches of row addresses"),
      -1);
  EXPECT_EQ(
      each_um2(report_of("mpu", {"dram.row_buffers=2"}), Die::kDram, "latches of row addresses"),
      2 * 43);
  EXPECT_EQ(each_um2(report_of("mpu", {"mpu.near_registers=32768"}), Die::kDram,
                     "near-bank register file"),
            2 * 8192 * 32 / 5);
  const AreaReport far = report_of("mpu", {"mpu.shared_memory=far"});
  EXPECT_EQ(each_um2(far, Die::kDram, "shared memory"), -1);
  EXPECT_EQ(each_um2(far, Die::kLogic, "shared memory"), 65536 * 8 / 10);
  const AreaReport below = report_of("ponb");
  EXPECT_EQ(each_um2(below, Die::kDram, "vector ALU"), -1);
  EXPECT_EQ(each_um2(below, Die::kLogic, "memory controller"), 5000);
}

TEST(MpuArea, OtherMachinesHaveNone) {
  EXPECT_THROW(area_of(config::load_machine("tom"), config::load_policy("baseline"),
                       config::load_area("mpu-20nm")),
               Error);
  EXPECT_THROW(config::load_area("mpu-20nm", std::vector<std::string>{"area.lane=1"}), UsageError);
}

TEST(MpuArea, DocumentHasWhatTheTableHas) {
  const config::MachineConfig machine = config::load_machine("mpu");
  const config::PolicyConfig policy = config::load_policy("mpu");
  const config::AreaConfig area = config::load_area("mpu-20nm");
  const AreaReport report = area_of(machine, policy, area);
  const auto json = nlohmann::json::parse(area_json(report, machine, policy, area));
  EXPECT_EQ(json.at("parts").size(), report.parts.size());
  EXPECT_EQ(json.at("dies").at("DRAM").at("used_nm2"), report.added_nm2(Die::kDram));
  EXPECT_NE(area_text(report).find("near-bank register file (unit)"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::mpu
