// Do rows of constraints become what vaults step with, and is a wrong row refused where it stands?
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
  sim::set_constraints(p, rows, config::parts_of(m), m.dram.row_buffers);
  EXPECT_EQ(p.refresh.parts, m.dram.banks);  // a vault is one pseudo channel
  EXPECT_EQ(p.tREFI, 6240 / m.dram.banks);
  EXPECT_EQ(p.tRRD, 4u);
  EXPECT_EQ(p.tRFC, 320u);
  // Its own keys are told apart from a standard's.
  const config::MachineConfig tom = config::load_machine("tom");
  EXPECT_EQ(tom.dram.constraints, config::customary_constraints());
}

}  // namespace
}  // namespace nearwarp::dram
