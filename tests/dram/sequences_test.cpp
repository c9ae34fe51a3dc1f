// Do the standards' commands come in the cycles that their timings give by hand?
//
// Accesses are taken in in given cycles, one in each; the first command for one comes a cycle later
// at the earliest. Each expected cycle was added up by hand from the published timings that the
// files name, and is a number here: a wrong row, unit or rounding of a file shows.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/dram/command_watch.h"

namespace nearwarp::dram {
namespace {

using Words = std::vector<std::string>;
using config::DramCommand;

struct Access {
  uint64_t cycle;
  uint32_t bank, row;
  bool write = false;
};

std::string name_of(const Issued& i) {
  constexpr const char* kNames[] = {"ACT", "PRE", "RD", "WR", "REF"};
  return std::string(kNames[static_cast<size_t>(i.command)]) + std::to_string(i.bank) + "@" +
         std::to_string(i.cycle);
}

/// The commands issued from cycle `from` on, as in "RD0@501 RD4@503".
std::string issued(const std::string& standard, const std::vector<Access>& accesses, uint64_t from,
                   uint64_t cycles, const Words& changes = {"timing.tREFI=0"}) {
  CommandWatch watch(config::load_dram(standard, changes));
  std::string text;
  size_t next = 0;
  for (uint64_t c = 1; c < cycles; ++c) {
    for (; next < accesses.size() && accesses[next].cycle == c; ++next)
      watch.push(watch.line(accesses[next].bank, accesses[next].row), accesses[next].write, c);
    uint64_t idle = 0;
    for (const Issued& i : watch.step(c, idle))
      if (i.cycle >= from) text += (text.empty() ? "" : " ") + name_of(i);
  }
  EXPECT_EQ(next, accesses.size());
  return text;
}

TEST(Sequences, AnotherRowOfABank) {
  // ACT 11, RD + tRCD, PRE as tRAS and tRTP allow, ACT + tRP (or tRC from the first), RD + tRCD.
  const std::map<std::string, std::string> expected = {
      {"ddr4-2400r", "ACT0@11 RD0@27 PRE0@50 ACT0@66 RD0@82"},
      {"ddr4-3200aa", "ACT0@11 RD0@33 PRE0@63 ACT0@85 RD0@107"},
      {"ddr5-4800b", "ACT0@11 RD0@47 PRE0@88 ACT0@124 RD0@160"},
      {"ddr5-6400a", "ACT0@11 RD0@57 PRE0@114 ACT0@160 RD0@206"},
      {"gddr6-14000", "ACT0@11 RD0@37 PRE0@64 ACT0@90 RD0@116"},
      {"gddr7-28000", "ACT0@11 RD0@41 PRE0@71 ACT0@101 RD0@131"},
      {"hbm3-6400", "ACT0@11 RD0@42 PRE0@56 ACT0@83 RD0@114"},    // tRC, one more than tRAS + tRP
      {"hbm3e-9200", "ACT0@11 RD0@56 PRE0@76 ACT0@115 RD0@160"},  // tRC
      {"hbm4-8000", "ACT0@11 RD0@50 PRE0@68 ACT0@101 RD0@140"},
      {"lpddr5-6400", "ACT0@11 RD0@26 PRE0@45 ACT0@60 RD0@75"},
  };
  for (const auto& [standard, commands] : expected)
    EXPECT_EQ(issued(standard, {{10, 0, 0}, {11, 0, 1}}, 0, 400), commands) << standard;
}

TEST(Sequences, AnotherRowAfterAWrite) {
  // WR as tRCDWR allows, its data end tCWL and a burst later, PRE tWR after that (or by tRAS), ACT
  // + tRP, RD + tRCD. The read comes in cycle 60.
  const std::map<std::string, std::string> expected = {
      {"ddr4-2400r", "ACT0@11 WR0@27 PRE0@61 ACT0@77 RD0@93"},
      {"ddr4-3200aa", "ACT0@11 WR0@33 PRE0@77 ACT0@99 RD0@121"},
      {"ddr5-4800b", "ACT0@11 WR0@47 PRE0@161 ACT0@197 RD0@233"},
      {"ddr5-6400a", "ACT0@11 WR0@57 PRE0@205 ACT0@251 RD0@297"},
      {"gddr6-14000", "ACT0@11 WR0@27 PRE0@64 ACT0@90 RD0@116"},   // tRAS
      {"gddr7-28000", "ACT0@11 WR0@30 PRE0@71 ACT0@101 RD0@131"},  // tRAS
      {"hbm3-6400", "ACT0@11 WR0@26 PRE0@71 ACT0@97 RD0@128"},
      {"hbm3e-9200", "ACT0@11 WR0@33 PRE0@96 ACT0@133 RD0@178"},
      {"hbm4-8000", "ACT0@11 WR0@30 PRE0@84 ACT0@117 RD0@156"},
      {"lpddr5-6400", "ACT0@11 WR0@26 PRE0@65 ACT0@80 RD0@95"},
  };
  for (const auto& [standard, commands] : expected)
    EXPECT_EQ(issued(standard, {{10, 0, 0, true}, {60, 0, 1}}, 0, 400), commands) << standard;
}

/// Banks 0 and `other` are opened long before; then one command to each, taken in together.
std::string pair_of(const std::string& standard, uint32_t other, bool first_writes,
                    bool second_writes) {
  // A read goes before a write that waits, so that one comes when the write has been issued.
  const uint64_t later = first_writes && !second_writes ? 501 : 500;
  std::vector<Access> all = {{10, 0, 0}};
  if (other != 0) all.push_back({10, other, 0});
  all.push_back({500, 0, 0, first_writes});
  all.push_back({later, other, 0, second_writes});
  return issued(standard, all, 500, 700);
}

TEST(Sequences, TwoReadsAndTwoWrites) {
  struct Case {
    std::string standard;
    uint32_t near, far;  ///< another bank of bank 0's group, a bank of another one
    std::string reads_near, reads_far, writes_near;
  };
  const Case cases[] = {
      {"ddr4-2400r", 1, 4, "RD0@501 RD1@507", "RD0@501 RD4@505", "WR0@501 WR1@507"},
      {"ddr4-3200aa", 1, 4, "RD0@501 RD1@509", "RD0@501 RD4@505", "WR0@501 WR1@509"},
      // A write of a group waits for another one's read, change and write within the DRAM.
      {"ddr5-4800b", 1, 4, "RD0@501 RD1@513", "RD0@501 RD4@509", "WR0@501 WR1@549"},
      {"ddr5-6400a", 1, 4, "RD0@501 RD1@517", "RD0@501 RD4@509", "WR0@501 WR1@565"},
      {"gddr6-14000", 1, 4, "RD0@501 RD1@504", "RD0@501 RD4@503", "WR0@501 WR1@504"},
      // No groups: a bank by itself takes every second burst's time.
      {"gddr7-28000", 0, 1, "RD0@501 RD0@505", "RD0@501 RD1@503", "WR0@501 WR0@505"},
      {"hbm3-6400", 1, 4, "RD0@501 RD1@505", "RD0@501 RD4@503", "WR0@501 WR1@505"},
      {"hbm3e-9200", 1, 4, "RD0@501 RD1@507", "RD0@501 RD4@503", "WR0@501 WR1@507"},
      {"hbm4-8000", 1, 8, "RD0@501 RD1@505", "RD0@501 RD8@503", "WR0@501 WR1@505"},
      {"lpddr5-6400", 1, 4, "RD0@501 RD1@505", "RD0@501 RD4@503", "WR0@501 WR1@505"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(pair_of(c.standard, c.near, false, false), c.reads_near) << c.standard;
    EXPECT_EQ(pair_of(c.standard, c.far, false, false), c.reads_far) << c.standard;
    EXPECT_EQ(pair_of(c.standard, c.near, true, true), c.writes_near) << c.standard;
  }
}

TEST(Sequences, AReadAfterAWrite) {
  // tCWL, a burst and tWTR_L or tWTR_S.
  struct Case {
    std::string standard;
    uint32_t near, far;
    std::string in_near, in_far;
  };
  const Case cases[] = {
      {"ddr4-2400r", 1, 4, "WR0@501 RD1@526", "WR0@501 RD4@520"},
      {"ddr4-3200aa", 1, 4, "WR0@501 RD1@533", "WR0@501 RD4@525"},
      {"ddr5-4800b", 1, 4, "WR0@501 RD1@567", "WR0@501 RD4@549"},
      {"ddr5-6400a", 1, 4, "WR0@501 RD1@585", "WR0@501 RD4@558"},
      {"gddr6-14000", 1, 4, "WR0@501 RD1@520", "WR0@501 RD4@518"},
      {"gddr7-28000", 0, 1, "WR0@501 RD0@520", "WR0@501 RD1@518"},  // tWTRSB in the bank
      {"hbm3-6400", 1, 4, "WR0@501 RD1@523", "WR0@501 RD4@520"},
      {"hbm3e-9200", 1, 4, "WR0@501 RD1@531", "WR0@501 RD4@527"},
      {"hbm4-8000", 1, 8, "WR0@501 RD1@526", "WR0@501 RD8@522"},
      {"lpddr5-6400", 1, 4, "WR0@501 RD1@522", "WR0@501 RD4@517"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(pair_of(c.standard, c.near, true, false), c.in_near) << c.standard;
    EXPECT_EQ(pair_of(c.standard, c.far, true, false), c.in_far) << c.standard;
  }
}

TEST(Sequences, FiveActivations) {
  // Activations of banks in different groups, so far as there are: tRRD_S apart, the fifth by tFAW.
  struct Case {
    std::string standard;
    uint32_t banks[5];
    std::string activations;
  };
  const Case cases[] = {
      {"ddr4-2400r", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@15 ACT8@19 ACT12@23 ACT1@37"},
      // Due in cycle 45, in which the fourth bank's read has the command bus.
      {"ddr4-3200aa", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@15 ACT8@19 ACT12@23 ACT1@46"},
      {"ddr5-4800b", {0, 4, 8, 12, 16}, "ACT0@11 ACT4@19 ACT8@27 ACT12@35 ACT16@59"},
      {"ddr5-6400a", {0, 4, 8, 12, 16}, "ACT0@11 ACT4@19 ACT8@27 ACT12@35 ACT16@75"},
      {"gddr6-14000", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@18 ACT8@25 ACT12@32 ACT1@39"},
      {"gddr7-28000", {0, 1, 2, 3, 4}, "ACT0@11 ACT1@15 ACT2@19 ACT3@23 ACT4@27"},  // no tFAW
      {"hbm3-6400", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@15 ACT8@19 ACT12@23 ACT1@35"},
      {"hbm3e-9200", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@17 ACT8@23 ACT12@29 ACT1@46"},
      {"hbm4-8000", {0, 8, 1, 9, 2}, "ACT0@11 ACT8@16 ACT1@21 ACT9@26 ACT2@41"},
      {"lpddr5-6400", {0, 4, 8, 12, 1}, "ACT0@11 ACT4@15 ACT8@19 ACT12@23 ACT1@27"},
  };
  for (const Case& c : cases) {
    std::vector<Access> all;
    for (const uint32_t bank : c.banks) all.push_back({10, bank, 0});
    std::string activations;
    std::istringstream commands(issued(c.standard, all, 0, 200));
    for (std::string word; commands >> word;)
      if (word.starts_with("ACT")) activations += (activations.empty() ? "" : " ") + word;
    EXPECT_EQ(activations, c.activations) << c.standard;
  }
}

TEST(Sequences, PseudoChannelsDoNotHoldEachOther) {
  // Bank 16 is the first of the other pseudo channel. Neither tRRD, nor tFAW, nor tCCD, nor a
  // write's data stand between the two.
  EXPECT_EQ(issued("hbm3-6400", {{10, 0, 0}, {10, 16, 0}}, 0, 100),
            "ACT0@11 ACT16@12 RD0@42 RD16@43");
  EXPECT_EQ(pair_of("hbm3-6400", 16, false, false), "RD0@501 RD16@502");
  EXPECT_EQ(pair_of("hbm3-6400", 16, true, false), "WR0@501 RD16@502");
  // As ranks (stack IDs) of one pseudo channel they share data lines and tRRD: tCCD_R, not tCCD_S.
  const Words ranks = {"timing.tREFI=0", "organisation.pseudo_channels=1", "organisation.ranks=2"};
  EXPECT_EQ(
      issued("hbm3-6400", {{10, 0, 0}, {10, 16, 0}, {500, 0, 0}, {500, 16, 0}}, 0, 600, ranks),
      "ACT0@11 ACT16@15 RD0@42 RD16@46 RD0@501 RD16@504");
}

TEST(Sequences, ABankIsRefreshedBesideAccessesOfOthers) {
  // HBM3: 32 banks, one due every 6240 / 32 = 195 cycles, bank 0 first. It is closed (tRP 26) and
  // refreshed (tRFCpb 320); its row 1 waits. Bank 5's open row is read meanwhile; bank 6 is opened
  // tRREFD (8 ns: 13 cycles) after the refresh, for which it has come too late to go before.
  EXPECT_EQ(issued("hbm3-6400", {{10, 0, 0}, {10, 5, 0}, {194, 0, 1}, {194, 5, 0}, {221, 6, 0}},
                   100, 380, {}),
            "PRE0@195 RD5@196 REF0@221 ACT6@234 RD6@265");
  // Its own access waits for the end of the refresh; bank 1's is due meanwhile.
  EXPECT_EQ(issued("hbm3-6400", {{10, 0, 0}, {194, 0, 1}}, 100, 600, {}),
            "PRE0@195 REF0@221 REF1@390 ACT0@541 RD0@572");
}

TEST(Sequences, ARefreshOfAllStopsAll) {
  // DDR4: due in cycle 12480, both banks are closed together; 22 cycles later 350 ns, 560 cycles.
  EXPECT_EQ(
      issued("ddr4-3200aa", {{10, 0, 0}, {10, 5, 0}, {12479, 0, 0}, {12479, 5, 0}}, 1000, 13200, {})
          .substr(0, 18),
      "PRE0@12480 PRE5@12");
  EXPECT_NE(issued("ddr4-3200aa", {{10, 0, 0}, {12479, 0, 0}}, 1000, 13200, {}).find("ACT0@13062"),
            std::string::npos);
}

TEST(Sequences, ARefreshTakesBanksAlikeInAllGroups) {
  // DDR5, same-bank: every 12480 / 2 / 4 = 1560 cycles the banks of one number. Banks 0 and 4 are
  // closed tPPD apart, then tRP 46; 130 ns are 416 cycles. Bank 1 goes on.
  EXPECT_EQ(issued("ddr5-6400a", {{10, 0, 0}, {10, 1, 0}, {10, 4, 0}, {1559, 0, 1}, {1559, 1, 0}},
                   1000, 2100, {}),
            "PRE0@1560 RD1@1561 PRE4@1562 REF0@1608 REF4@1608 REF8@1608 REF12@1608 REF16@1608 "
            "REF20@1608 REF24@1608 REF28@1608 ACT0@2024 RD0@2070");
}

TEST(Sequences, ARefreshTakesAPairOfBanks) {
  // LPDDR5: eight pairs, 3125 / 8 = 390 cycles apart; 160 ns are 128 cycles.
  EXPECT_EQ(issued("lpddr5-6400", {{10, 0, 0}, {389, 8, 0}}, 100, 560, {}),
            "PRE0@390 REF0@405 REF8@405 ACT8@533 RD8@548");
}

TEST(Sequences, AnIdlePairIsClosedACommandACycle) {
  // Both banks are open when their refresh falls due in cycle 390, and nothing waits: closed in 390
  // and 391, refreshed tRP 15 later, in 406; 128 cycles.
  std::string rows = "timing.constraints=";  // without a distance between precharges
  for (const std::string& row : config::load_dram("lpddr5-6400").timing.constraints)
    if (row.find("PRE > PRE") == std::string::npos) rows += row + "; ";
  rows.resize(rows.size() - 2);
  EXPECT_EQ(issued("lpddr5-6400", {{10, 0, 0}, {10, 8, 0}, {420, 8, 1}}, 420, 560, {rows}),
            "ACT8@534 RD8@549");
}

TEST(Sequences, DoNotDependOnWhenCyclesAreCountedAnew) {
  for (const char* name :
       {"hbm3-6400", "ddr5-6400a", "lpddr5-6400", "gddr7-28000", "ddr4-3200aa"}) {
    const auto commands = [&](uint32_t rebase_cycles) {
      const config::DramConfig d = config::load_dram(name);
      CommandWatch watch(d, rebase_cycles);
      std::string text;
      uint64_t idle = 0;
      for (uint64_t c = 1; c < 15'000; ++c) {
        // Rows and banks by turns, with pauses.
        if (c % 7 == 0 && c / 1'000 % 3 != 2)
          watch.push(
              watch.line(static_cast<uint32_t>(c * 5 % 16), static_cast<uint32_t>(c / 90 % 4)),
              c % 3 == 0, c);
        for (const Issued& i : watch.step(c, idle)) text += name_of(i) + " ";
      }
      return text;
    };
    const std::string expected = commands(1u << 30);
    EXPECT_GT(expected.size(), 5'000u) << name;
    EXPECT_TRUE(commands(100) == expected) << name;
  }
}

}  // namespace
}  // namespace nearwarp::dram
