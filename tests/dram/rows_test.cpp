// Do rows of constraints become what vaults step with, and is a wrong row refused where it stands?
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/config/config.h"
#include "host/config/constraints.h"
#include "host/core/error.h"
#include "host/timing/dram/channel_run.h"
#include "host/timing/vault/table.h"

namespace nearwarp::dram {
namespace {

using Words = std::vector<std::string>;

VaultParams params_of(const std::string& standard, const Words& changes = {}) {
  return vault_params(config::load_dram(standard, changes));
}

/// The message for a file of DDR5's in which `row` stands in the place of "rank: PRE > PRE = tPPD",
/// with the name of the file cut off.
std::string message_of(const std::string& row, const std::string& removed = "") {
  std::ifstream file(NW_SOURCE_DIR "/configs/dram/ddr5-4800b.toml");
  std::ostringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("rank: PRE > PRE = tPPD", row);
  if (!removed.empty()) replace(removed, "");
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "nearwarp-rows.toml";
  std::ofstream(path) << text;
  std::string message = "no error";
  try {
    config::load_dram(path.string());
  } catch (const Error& error) {
    message = error.what();
  }
  std::filesystem::remove(path);
  const size_t at = message.find(path.parent_path().string());
  if (at != std::string::npos)
    message.erase(at, path.string().size() - path.filename().string().size());
  return message;
}

/// The rows of a standard and more of them, as they are given on the command line.
std::string with_rows(const std::string& standard, const std::string& more) {
  Words rows = config::load_dram(standard).timing.constraints;
  if (!more.empty()) rows.push_back(more);
  return fmt::format("timing.constraints={}", fmt::join(rows, "; "));
}

std::string error_of(const std::string& standard, const Words& changes) {
  try {
    params_of(standard, changes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Do random reads and writes come to an end within so many cycles?
bool ends(const config::DramConfig& d, uint64_t cycles = 3'000'000) {
  Traffic t;
  t.pattern = TrafficPattern::kRandom;
  t.writes_num = 1;
  t.writes_den = 3;
  RunOptions options;
  options.warm_up_cycles = 0;
  options.cycles = 500;
  return run_channel_while(d, t, options, [&](uint64_t now) { return now < cycles; }).has_value();
}

TEST(Rows, CustomaryOnesAreFieldsOfTheVault) {
  for (const char* name : {"ddr3-1600k", "gddr5", "hbm1", "hbm2", "hmc-vault", "mpu-bank"}) {
    SCOPED_TRACE(name);
    const config::DramConfig d = config::load_dram(name);
    const config::DramConfig::Timing& t = d.timing;
    const VaultParams p = vault_params(d);
    EXPECT_EQ(p.general, 0u);
    EXPECT_EQ(p.rows.count, 0u);
    EXPECT_EQ((std::vector{p.tRCD, p.tRP, p.tRAS, p.tRC, p.tRRD, p.tFAW, p.tCCD, p.tWR, p.tWTR,
                           p.tRTP, p.tREFI, p.tRFC}),
              (std::vector{t.tRCD, t.tRP, t.tRAS, t.tRC, t.tRRD_S, t.tFAW, t.tCCD_S, t.tWR,
                           t.tWTR_S, t.tRTP, t.tREFI, t.tRFC}));
    EXPECT_EQ(std::max(p.tCCD, p.tRTW), std::max(t.tCCD_S, t.tRTW));
    if (d.organisation.bank_groups == 1) continue;
    EXPECT_EQ((std::vector{p.tRRD_L, p.tCCD_L, p.tWTR_L}),
              (std::vector{t.tRRD_L, t.tCCD_L, t.tWTR_L}));
  }
}

TEST(Rows, AVaultWalksOnlyWhatFieldsLeave) {
  // DDR4 leaves out pairs that follow from others. DDR5's writes of a group are further apart than
  // its reads, and precharges have a distance.
  EXPECT_EQ(params_of("ddr4-3200aa").general, 0u);
  const VaultParams ddr5 = params_of("ddr5-4800b");
  EXPECT_EQ(ddr5.tCCD_L, 12u);
  EXPECT_EQ(ddr5.rows.count, 2u);
  EXPECT_EQ(ddr5.refresh.parts, 1u);
  EXPECT_EQ(params_of("ddr5-6400a").refresh.parts, 4u);
  EXPECT_EQ(params_of("ddr5-6400a").refresh.banks, 0x11111111u);
  EXPECT_EQ(params_of("lpddr5-6400").refresh.parts, 8u);
  EXPECT_EQ(params_of("lpddr5-6400").refresh.banks, 0x101u);
  EXPECT_EQ(params_of("hbm3-6400").refresh.parts, 32u);
  EXPECT_EQ(params_of("hbm3-6400").tREFI, 195u);  // of the 32 banks of both pseudo channels
  EXPECT_EQ(params_of("gddr7-28000", {"organisation.row_buffers=2"}).refresh.banks, 3u);
}

TEST(Rows, TimesFollowTheClock) {
  // 13.75, 32, 45.75 and 15 ns at 800 MHz, and bursts that stay bursts.
  const VaultParams p = params_of("ddr4-3200aa", {"speed.clock_mhz=800", "speed.data_mbps=12800",
                                                  "timing.other_clock=keep-cycles"});
  EXPECT_EQ((std::vector{p.tRCD, p.tRAS, p.tRC, p.tWR, p.tCCD}),
            (std::vector{11u, 26u, 37u, 12u, 4u}));
}

TEST(Rows, AWrongRowIsRefusedWhereItStands) {
  const auto expect = [](const std::string& row, const std::string& part) {
    const std::string message = message_of(row);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("row \"" + row + "\" of timing.constraints"), std::string::npos)
        << message;
    EXPECT_NE(message.find("(nearwarp-rows.toml:58)"), std::string::npos) << message;
  };
  expect("rank: PRE PRE = tPPD", "is no SCOPE: COMMANDS > COMMANDS = CYCLES");
  expect("bankgroup: RD > RD = tCCD_L", "did you mean 'bank-group'?");
  expect("rank: PRE > PREA = tPPD", "did you mean 'PRE'?");
  expect("rank: PRE > PRE = tPDD", "did you mean 'tPPD'?");
  expect("rank: PRE > PRE = tRFCpb", "wants tRFCpb, which is not given");
  expect("rank: PRE > PRE = tCWL - tCL", "is -2 cycles (");
  expect("rank: PRE > PRE = tPPD +", "ends in the midst");
  expect("rank: PRE > PRE = tPPD x 2", "has 'x' between its terms");
  expect("rank: PRE > PRE = tPPD / 0", "divides by 0");
  expect("rank: PRE > PRE =", "has no distance");
  expect("rank: > PRE = tPPD", "lacks a command");
  expect("rank: WR > WR-data = tPPD", "stands before the >");
  expect("rank: 5 ACT > ACT = tFAW", "a window is \"4 ACT > ACT\"");
  expect("rank: 4 ACT > RD = tFAW", "a window is \"4 ACT > ACT\"");
  expect("same-bank: ACT > ACT = tRC", "say which banks REF > ACT takes");
  expect("bank: PRE > REF = tRP", "bounds a refresh of all banks");
  expect("channel: REF > ACT = tRFC", "bounds a refresh of all banks");
  expect("channel: REF > ACT REF = tRFC", "has the interval of refreshes among distances");
  expect("bank: 4 ACT > ACT = tFAW", "has a window of a bank's activations");
  expect("other-rank: ACT > REF = 4", "cannot hold in other ranks");
  expect("other-rank: ACT > ACT REF = 4", "cannot hold in other ranks");
  expect("rank: PRE > PRE = 9999999999", "has no timing '9999999999'");
  expect("rank: PRE > PRE = 1000001", "is 1000001 cycles");
}

TEST(Rows, AnIntervalOfRefreshesIsNotRoundedToNone) {
  EXPECT_EQ(params_of("hbm3-6400", {"timing.tREFI=0"}).tREFI, 0u);
  try {
    params_of("hbm3-6400", {"timing.tREFI=31", "timing.tRFC=20"});
    ADD_FAILURE() << "31 cycles for 32 refreshes";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("= tREFI / parts\" of timing.constraints is 0 cycles"),
              std::string::npos)
        << error.what();
  }
}

TEST(Rows, AnIntervalIsNoneOnlyWhereItsTimingsAre) {
  std::string rows = with_rows("hbm3-6400", "");
  const std::string interval = "= tREFI / parts";
  rows.replace(rows.find(interval), interval.size(), "= 0 + tREFI / 10000");
  EXPECT_NE(error_of("hbm3-6400", {rows}).find("is 0 cycles"), std::string::npos);
}

TEST(Rows, RefreshesLeaveTimeForAccesses) {
  // 32 banks one after the other, 195 cycles apart: a round of 6240 cycles.
  const std::string long_refresh = error_of("hbm3-6400", {"timing.tRFCpb=6300"});
  EXPECT_NE(long_refresh.find("row \"channel: REF > REF = tREFI / parts\" of timing.constraints is "
                              "195 cycles ("),
            std::string::npos)
      << long_refresh;
  EXPECT_NE(long_refresh.find("hbm3-6400.toml:"), std::string::npos) << long_refresh;
  EXPECT_NE(long_refresh.find("32 are one of all banks, each takes 6300 cycles of its banks"),
            std::string::npos)
      << long_refresh;
  const std::string all_at_once = error_of("ddr3-1600k", {"timing.tREFI=209"});
  EXPECT_NE(all_at_once.find("one takes 208 cycles"), std::string::npos) << all_at_once;
  // A second row for the interval does not shorten it: the longest holds.
  EXPECT_EQ(params_of("hbm3-6400", {with_rows("hbm3-6400", "channel: REF > REF = 10")}).tREFI,
            195u);
  EXPECT_NE(error_of("hbm3-6400", {"timing.tREFI=640", "timing.tRFC=600"}).find("is 20 cycles"),
            std::string::npos);
}

TEST(Rows, TheShortestIntervalLetsAccessesGoOn) {
  struct Case {
    std::string standard, more;
    Words changes = {};
  };
  for (const Case& c :
       std::vector<Case>{{"ddr3-1600k", ""},
                         {"ddr3-1600k", "", {"timing.tFAW=900", "timing.tRFC=1"}},
                         {"ddr5-6400a", ""},
                         {"lpddr5-6400", ""},
                         {"lpddr5-6400", "", {"timing.tRFCpb=1", "controller.page_policy=closed"}},
                         {"gddr7-28000", "", {"organisation.row_buffers=2"}},
                         {"hbm3-6400", ""},
                         {"hbm3-6400", "", {"controller.scheduler=fcfs"}},
                         {"hbm3-6400", "pseudo-channel: REF > ACT = 100; channel: ACT > REF = 40"},
                         {"hbm4-8000", "", {"timing.tRFCpb=5000"}}}) {
    SCOPED_TRACE(c.standard + " " + c.more);
    const auto changed = [&](uint32_t interval) {
      const std::string customary = "channel: REF > REF = ";
      Words changes = c.changes;
      std::string rows = with_rows(c.standard, c.more);
      const size_t at = rows.find(customary), end = rows.find(';', at);
      EXPECT_NE(at, std::string::npos);
      rows.replace(at, end - at, customary + std::to_string(interval));
      changes.push_back(rows);
      changes.push_back("timing.tREFI=1000000");
      return changes;
    };
    const std::string refused = error_of(c.standard, changed(1)), must = "it must be ";
    const size_t at = refused.find(must);
    ASSERT_NE(at, std::string::npos) << refused;
    const auto least = static_cast<uint32_t>(std::stoul(refused.substr(at + must.size())));
    EXPECT_NE(error_of(c.standard, changed(least - 1)), "no error");
    EXPECT_TRUE(ends(config::load_dram(c.standard, changed(least))));
  }
}

TEST(Rows, DistancesOfNoneAndLongOnesEnd) {
  for (const char* standard : {"ddr3-1600k", "ddr5-6400a", "hbm3-6400"}) {
    for (const char* distance : {"0", "1", "20000"}) {
      SCOPED_TRACE(std::string(standard) + " " + distance);
      std::string rows;
      for (const std::string& row : config::load_dram(standard).timing.constraints)
        rows += row.substr(0, row.find('=')) + "= " + distance + "; ";
      rows += "channel: REF > REF = 1000000";
      EXPECT_TRUE(
          ends(config::load_dram(standard, Words{"timing.constraints=" + rows}), 2'000'000'000));
    }
  }
}

TEST(Rows, ARefreshTakesBanksOfOneScope) {
  // Banks of a smaller scope hold others back in no pairs.
  for (const char* row : {"bank-pair: REF > ACT = 100", "same-bank: REF > ACT = 100"})
    EXPECT_NE(error_of("hbm3-6400", {with_rows("hbm3-6400", row)})
                  .find("a row \"bank: REF > ACT\" does already: leave one out"),
              std::string::npos)
        << row;
  EXPECT_NE(error_of("lpddr5-6400", {with_rows("lpddr5-6400", "same-bank: REF > ACT = 100")})
                .find("a row \"bank-pair: REF > ACT\" does already"),
            std::string::npos);
  // A constraint that holds in other ranks is no refresh of a rank.
  const std::string others = with_rows("ddr5-4800b", "other-rank: REF > ACT = 1000");
  const VaultParams p = params_of("ddr5-4800b", {"organisation.ranks=2", others});
  EXPECT_EQ(p.refresh.parts, 2u);
  EXPECT_EQ(p.tRFC, config::load_dram("ddr5-4800b").timing.tRFC);
  std::string rows = with_rows("ddr5-4800b", "");
  const std::string own = "rank: REF > ACT";
  rows.replace(rows.find(own), own.size(), "other-rank: REF > ACT");
  const std::string rank_row = error_of("ddr5-4800b", {"organisation.ranks=2", rows});
  EXPECT_NE(rank_row.find("has no row of a bank from REF to ACT"), std::string::npos) << rank_row;
}

TEST(Rows, OneWindowIsOfTheChannelAndOneOfItsParts) {
  const auto with = [](const std::string& more) {
    return Words{with_rows("hbm3-6400", more)};  // it has one of a pseudo channel, tFAW 24
  };
  const VaultParams both = params_of("hbm3-6400", with("channel: 4 ACT > ACT = 30"));
  EXPECT_EQ(both.tFAW, 30u);
  EXPECT_EQ(both.rows.window_cycles, 24u);
  EXPECT_EQ(params_of("hbm3-6400", with("rank: 4 ACT > ACT = 20")).rows.window_cycles, 24u);
  EXPECT_EQ(params_of("hbm3-6400", with("rank: 4 ACT > ACT = 28")).rows.window_cycles, 28u);
  EXPECT_NE(error_of("hbm3-6400", with("bank-group: 4 ACT > ACT = 40"))
                .find("row \"bank-group: 4 ACT > ACT = 40\" of timing.constraints is a second "
                      "window"),
            std::string::npos);
  std::string groups = with_rows("hbm3-6400", "");
  const std::string window = "pseudo-channel: 4 ACT";
  groups.replace(groups.find(window), window.size(), "bank-group: 4 ACT");
  const std::string many =
      error_of("hbm3-6400", {groups, "organisation.bank_groups=8", "organisation.banks_per_group=1",
                             "organisation.ranks=4"});
  EXPECT_NE(many.find("counts activations in 64 parts"), std::string::npos) << many;
}

TEST(Rows, MoreThanAVaultTakesAreRefused) {
  std::string rows;
  for (const char* scope : {"channel", "pseudo-channel", "bank-group", "bank"})
    for (const char* from : {"ACT", "PRE", "RD", "WR", "WR-data"})
      for (const char* to : {"ACT", "PRE", "RD", "WR"})
        rows += std::string(rows.empty() ? "" : "; ") + scope + ": " + from + " > " + to + " = 3";
  const std::string message = error_of("hbm3-6400", {with_rows("hbm3-6400", rows)});
  EXPECT_NE(message.find("more than 32 constraints"), std::string::npos) << message;
  EXPECT_NE(message.find("hbm3-6400.toml"), std::string::npos) << message;
}

TEST(Rows, ATableThatLacksARowIsRefused) {
  const std::string message =
      message_of("rank: PRE > PRE = tPPD", "  \"bank: ACT > PRE = tRAS\",\n");
  EXPECT_NE(message.find("has no row of a bank from ACT to PRE (nearwarp-rows.toml:"),
            std::string::npos)
      << message;
  const std::string never =
      message_of("rank: PRE > PRE = tPPD", "  \"channel: REF > REF = tREFI\",\n");
  EXPECT_NE(never.find("is the interval of refreshes"), std::string::npos) << never;
}

TEST(Rows, AMachineTakesThoseOfItsStandard) {
  const config::MachineConfig m =
      config::load_machine("coda", Words{"dram.standard=hbm3-6400", "clocks.dram_mhz=1600"});
  const std::vector<config::Constraint> rows = config::constraints_of(m, 4);
  EXPECT_EQ(config::refresh_scope(rows), config::DramScope::kBank);
  VaultParams p;
  p.tCL = m.dram.tCL;
  p.tCWL = m.dram.tCWL;
  sim::set_constraints(p, rows, config::parts_of(m), m.path);
  EXPECT_EQ(p.refresh.parts, m.dram.banks);  // a vault is one pseudo channel
  EXPECT_EQ(p.tREFI, 6240 / m.dram.banks);
  EXPECT_EQ(p.tRRD, 4u);
  EXPECT_EQ(p.tRFC, 320u);
  try {
    config::load_machine(
        "coda", Words{"dram.standard=hbm3-6400", "clocks.dram_mhz=1600", "dram.tRFCpb=6300"});
    ADD_FAILURE() << "16 banks, each of which is refreshed for longer than it takes to come again";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("16 are one of all banks, each takes 6300 cycles"),
              std::string::npos)
        << error.what();
  }
  // Its own keys are told apart from a standard's.
  const config::MachineConfig tom = config::load_machine("tom");
  EXPECT_EQ(tom.dram.constraints, config::customary_constraints());
}

}  // namespace
}  // namespace nearwarp::dram
