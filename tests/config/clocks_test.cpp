// Can any clock be entered, and is what cannot be exact said?
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/config/base_clock.h"

namespace nearwarp::config {
namespace {

std::vector<std::string> clocks(uint32_t core, uint32_t interconnect, uint32_t l2, uint32_t dram) {
  return {"clocks.core_mhz=" + std::to_string(core),
          "clocks.interconnect_mhz=" + std::to_string(interconnect),
          "clocks.l2_mhz=" + std::to_string(l2), "clocks.dram_mhz=" + std::to_string(dram),
          "dram.other_clock=keep-ns"};
}

double error_of(const MachineConfig& m, uint32_t mhz) {
  const double base = static_cast<double>(base_mhz(m));
  return std::abs(base / std::round(base / mhz) / mhz - 1);
}

TEST(Clocks, ThoseWithACommonMultipleAreExact) {
  const MachineConfig m = load_machine("tom");
  EXPECT_EQ(base_mhz(m), 140'000u);  // of 1400, 1250, 700 and 800
  EXPECT_EQ(clock_note(m), "");
}

TEST(Clocks, OfRealGpusAreWithinAThousandth) {
  for (const uint32_t core :
       {705u, 1150u, 1350u, 1410u, 1650u, 1733u, 1755u, 1980u, 2520u, 2619u}) {
    for (const uint32_t dram : {800u, 877u, 1215u, 1313u, 1593u, 1750u, 2619u, 5001u}) {
      const MachineConfig m = load_machine("tom", clocks(core, core / 2, core - 100, dram));
      EXPECT_LE(base_mhz(m), 2'000'000u);
      EXPECT_EQ(base_mhz(m) % core, 0u) << "the core clock is exact";
      for (const uint32_t mhz : {core / 2, core - 100, dram})
        EXPECT_LT(error_of(m, mhz), 1e-3) << core << ", " << mhz;
    }
  }
}

TEST(Clocks, WhatIsNotExactIsSaid) {
  const MachineConfig m = load_machine("tom", clocks(1733, 1250, 701, 877));
  const std::string note = clock_note(m);
  EXPECT_NE(note.find("clocks.l2_mhz is simulated as 70"), std::string::npos) << note;
  EXPECT_NE(note.find(" ppm"), std::string::npos) << note;
  EXPECT_EQ(note.find("clocks.core_mhz"), std::string::npos) << note;
}

}  // namespace
}  // namespace nearwarp::config
