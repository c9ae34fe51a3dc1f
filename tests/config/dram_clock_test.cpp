// Do DRAM timings follow the clock as their file, or whoever changes it, says?
#include "host/config/dram_clock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

using Texts = std::vector<std::string>;

std::string machine_error(const Texts& overrides) {
  return message_of([&] { load_machine("tom", overrides); });
}
std::string dram_error(const Texts& overrides) {
  return message_of([&] { load_dram("hbm2", overrides); });
}

TEST(DramClock, TimesAreRead) {
  EXPECT_EQ(picoseconds("13.75 ns"), 13'750u);
  EXPECT_EQ(picoseconds("13.75ns"), 13'750u);
  EXPECT_EQ(picoseconds("0.001 ns"), 1u);
  EXPECT_EQ(picoseconds("3.9 us"), 3'900'000u);
  EXPECT_EQ(picoseconds("0 ns"), 0u);
  EXPECT_EQ(picoseconds("625 ps"), 625u);
  for (const char* wrong : {"", "ns", "13.75", "13.ns", ".5 ns", "-1 ns", "1e3 ns", "0.0001 ns",
                            "0.5 ps", "13 75 ns", "13 ms", "99999999999999999999 ns"})
    EXPECT_EQ(picoseconds(wrong), std::nullopt) << wrong;
}

TEST(DramClock, AChangedClockWithTimingsInCyclesIsAnErrorThatSaysBothWaysOut) {
  const std::string of_machine = machine_error({"clocks.dram_mhz=3200"});
  for (const char* part :
       {"clocks.dram_mhz is 3200 (`set` clocks.dram_mhz=3200)",
        "dram.tCL, dram.tCWL and 16 more count cycles of 800 MHz", "dram.standard 'hmc-vault'",
        "dram.other_clock = \"keep-ns\" keeps their durations", "\"keep-cycles\" keeps the cycles"})
    expect_contains(of_machine, part);
  const std::string of_dram = dram_error({"speed.clock_mhz=3200"});
  for (const char* part : {"speed.clock_mhz is 3200 (`set` speed.clock_mhz=3200)",
                           "count cycles of 1000 MHz (", "timing.other_clock = \"keep-ns\""})
    expect_contains(of_dram, part);
  EXPECT_THROW(load_machine("tom", Texts{"clocks.dram_mhz=3200"}), UsageError);
  EXPECT_THROW(load_dram("hbm2", Texts{"speed.clock_mhz=3200"}), UsageError);
}

TEST(DramClock, DurationsAreKeptRoundedUp) {
  const DramConfig was = load_dram("hbm2");
  const DramConfig fast =
      load_dram("hbm2", Texts{"speed.clock_mhz=3200", "timing.other_clock=keep-ns"});
  EXPECT_EQ(was.timing.tCL, 16u);
  EXPECT_EQ(fast.timing.tCL, 52u);  // 51.2
  EXPECT_EQ(fast.timing.tRFC, 1120u);
  EXPECT_EQ(fast.timing.tCCD_S, was.timing.tCCD_S) << "a burst";
  EXPECT_EQ(fast.timing.clock_mhz, 3200u);
  const MachineConfig::Dram slow =
      load_machine("tom", Texts{"clocks.dram_mhz=500", "dram.other_clock=keep-ns"}).dram;
  EXPECT_EQ(slow.tCL, 7u);  // 13.75 ns of 2 ns
  EXPECT_EQ(slow.tREFI, 3900u);
  EXPECT_EQ(slow.timing_mhz, 500u);
}

TEST(DramClock, CyclesAreKeptWhereThatIsSaid) {
  const MachineConfig::Dram was = load_machine("tom").dram;
  const MachineConfig::Dram now =
      load_machine("tom", Texts{"clocks.dram_mhz=3200", "dram.other_clock=keep-cycles"}).dram;
  EXPECT_EQ(now.tCL, was.tCL);
  EXPECT_EQ(now.tRC, was.tRC);
}

TEST(DramClock, WhatIsGivenBesidesTheClockIsOfThatClock) {
  const Texts texts{"clocks.dram_mhz=1600", "dram.other_clock=keep-ns", "dram.tCL=20"};
  const MachineConfig::Dram d = load_machine("tom", texts).dram;
  EXPECT_EQ(d.tCL, 20u);
  EXPECT_EQ(d.tRCD, 22u);
  // All of them given, nothing is left to ask about.
  Texts all{"clocks.dram_mhz=1600"};
  for (const char* timing : {"tCL", "tCWL", "tRCD", "tRP", "tRRD", "tFAW", "tCCD", "tWR", "tWTR",
                             "tRTP", "tRTW", "tRFC", "tRRD_L", "tCCD_L", "tWTR_L"})
    all.push_back(std::string("dram.") + timing + "=20");
  for (const char* timing : {"tRAS=40", "tRC=60", "tREFI=1000"})
    all.push_back(std::string("dram.") + timing);
  EXPECT_EQ(machine_error(all), "");
  all.pop_back();
  expect_contains(machine_error(all), "but dram.tREFI counts cycles of 800 MHz");
}

TEST(DramClock, TheFileMaySayForWhichClockItsCyclesHold) {
  const MachineConfig::Dram d =
      load_machine("tom", Texts{"clocks.dram_mhz=1600", "dram.timing_mhz=1600"}).dram;
  EXPECT_EQ(d.tCL, 11u);
  const MachineConfig::Dram other =
      load_machine("tom", Texts{"dram.timing_mhz=400", "dram.other_clock=keep-ns"}).dram;
  EXPECT_EQ(other.tCL, 22u);
}

TEST(DramClock, TimesFollowAnyClock) {
  const MachineConfig::Dram d = load_machine("tom", Texts{"dram.tCL=13.76ns"}).dram;
  EXPECT_EQ(d.tCL, 12u);  // of 1.25 ns
  const MachineConfig::Dram quoted = load_machine("tom", Texts{"dram.tCL=\"13.75 ns\""}).dram;
  EXPECT_EQ(quoted.tCL, 11u);
  const MachineConfig::Dram last = load_machine("tom", Texts{"dram.tCL=50ns", "dram.tCL=9"}).dram;
  EXPECT_EQ(last.tCL, 9u);
  expect_contains(machine_error({"dram.tCL=soon"}), "or a time as in \"13.75 ns\"");
  expect_contains(machine_error({"dram.tCL=900 us"}), "dram.tCL is 720000 cycles of 800 MHz");
  expect_contains(machine_error({"dram.tCL=0 ns"}), "dram.tCL is 0 cycles of 800 MHz");
  // 2^64 over a million cycles: a product of 64 bits would be small again.
  expect_contains(machine_error({"clocks.dram_mhz=100000", "dram.other_clock=keep-cycles",
                                 "dram.tCL=184467440.737096 us"}),
                  "dram.tCL is 18446744073710 cycles of 100000 MHz");
}

TEST(DramClock, TheV100IsInNanoseconds) {
  EXPECT_EQ(load_machine("v100").dram.tCL, 13u);  // 14 ns at 877 MHz
  const MachineConfig::Dram d =
      load_machine("v100", Texts{"clocks.dram_mhz=1000", "dram.other_clock=keep-ns"}).dram;
  EXPECT_EQ(d.tCL, 14u);
  EXPECT_EQ(d.tRC, 47u);
  EXPECT_EQ(d.tCCD, 1u);
}

TEST(DramClock, RoundingUpMakesNoPartsLongerThanTheWhole) {
  for (uint32_t mhz = 200; mhz <= 3200; mhz += 7)
    for (const char* machine : {"tom", "coda", "mpu", "gtx480", "qv100", "v100"})
      EXPECT_EQ(message_of([&] {
                  load_machine(machine, Texts{"clocks.dram_mhz=" + std::to_string(mhz),
                                              "dram.other_clock=keep-ns"});
                }),
                "")
          << machine << " at " << mhz;
}

TEST(DramClock, AFileOfTimesIsReadAndAStandardHandsThemOn) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "nearwarp_dram_clock";
  fs::create_directories(folder);
  std::string text = read_text(fs::path(NW_SOURCE_DIR) / "configs/dram/hmc-vault.toml");
  const std::string line = "tRCD = 11 ";
  ASSERT_NE(text.find(line), std::string::npos);
  text.replace(text.find(line), line.size(), "tRCD = \"13.75 ns\"");
  const std::string path = (folder / "times.toml").string();
  std::ofstream(path) << text;
  EXPECT_EQ(load_dram(path).timing.tRCD, 11u);
  const MachineConfig::Dram d =
      load_machine("tom", Texts{"dram.standard=" + path, "clocks.dram_mhz=1600",
                                "dram.other_clock=keep-cycles"})
          .dram;
  EXPECT_EQ(d.tRCD, 22u);
  EXPECT_EQ(d.tCL, 11u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nearwarp::config
