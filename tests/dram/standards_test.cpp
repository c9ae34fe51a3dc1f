// Does every standard load, reach its peak, and say where its values come from?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/config/config.h"
#include "host/config/constraints.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/timing/dram/channel_run.h"

namespace nearwarp::dram {
namespace {

std::string message_of(const std::string& name, const std::vector<std::string>& changes) {
  try {
    config::load_dram(name, changes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
void expect_message(const std::vector<std::string>& changes, const std::string& part) {
  const std::string message = message_of("ddr3-1600k", changes);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Standards, EveryOneStreamsNearItsPeakWithoutRefresh) {
  RunOptions options;
  options.warm_up_cycles = 5'000;
  options.cycles = 50'000;
  ASSERT_FALSE(config::dram_names().empty());
  for (const std::string& name : config::dram_names()) {
    const config::DramConfig standard =
        config::load_dram(name, std::vector<std::string>{"timing.tREFI=0"});
    const RunResult r = run_channel(standard, Traffic{}, options);
    // A queue that two pseudo channels share sees too little of a stream to open all rows ahead.
    EXPECT_GE(r.share_of_peak(), standard.organisation.pseudo_channels == 1 ? 0.97 : 0.9) << name;
    EXPECT_LE(r.share_of_peak(), 1.001) << name;
  }
}

TEST(Standards, EveryOneReadsOpenRowsAtItsPeak) {
  for (const std::string& name : config::dram_names()) {
    const config::DramConfig standard =
        config::load_dram(name, std::vector<std::string>{"timing.tREFI=0"});
    // Accesses go again and again to one row of a bank of each group, or of each bank if banks come
    // first.
    const uint32_t banks = config::parts_of(standard).banks();
    Traffic traffic;
    traffic.pattern = TrafficPattern::kTrace;
    for (uint32_t i = 0; i < 6'000; ++i) traffic.trace.push_back({0, i % banks, 0});
    RunOptions options;
    const RunResult r = run_channel(standard, traffic, options);
    EXPECT_GE(r.share_of_peak(), 0.97) << name;
    EXPECT_LE(r.share_of_peak(), 1.001) << name;
  }
}

TEST(Standards, WrongKeysAndValues) {
  expect_message({"timing.tCLL=3"}, "did you mean 'timing.tCL'");
  expect_message({"timing.tCL=0"}, "timing.tCL cannot be 0");
  expect_message({"timing.tRC=38"}, "at least timing.tRAS + timing.tRP, 39");
  expect_message({"timing.tREFI=208"}, "0 or above timing.tRFC");
  expect_message({"timing.constraints=bank: ACT > RD WR"}, "is no SCOPE: COMMANDS > COMMANDS");
  expect_message({"controller.scheduler=fifo"}, "\"fr-fcfs\" or \"fcfs\"");
  expect_message({"controller.mapping=row-column"}, "an order of row, bank, column");
  expect_message({"controller.mapping=row-row-bank-column"}, "an order of row, bank, column");
  expect_message({"controller.read_entries=40"}, "at most 64");
  expect_message({"organisation.banks_per_group=16", "organisation.row_buffers=8"}, "at most 64");
  expect_message({"energy.refresh_fj=much"}, "or \"unknown\"");
}

TEST(Standards, UnknownEnergyIsWrittenAndRead) {
  const config::DramConfig d = config::load_dram(
      "ddr3-1600k",
      std::vector<std::string>{"energy.refresh_fj=5", "energy.activation_fj=unknown"});
  EXPECT_EQ(d.energy.refresh_fj, 5u);
  EXPECT_FALSE(d.energy.activation_fj.has_value());
}

TEST(Standards, AddressFields) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(config::address_fields("row-bank-column"), (Fields{"row", "bank", "group", "column"}));
  EXPECT_EQ(config::address_fields("row-bank-column-group"),
            (Fields{"row", "bank", "column", "group"}));
  EXPECT_TRUE(config::address_fields("").empty());
  EXPECT_TRUE(config::address_fields("row-bank-column-").empty());
  EXPECT_TRUE(config::address_fields("row-bank-column-rank").empty());
}

TEST(Standards, EveryKeyIsInTheDocumentation) {
  std::ifstream file(NW_SOURCE_DIR "/docs/memory.md");
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  for (const config::KeyDescription& row : config::describe(config::load_dram("ddr3-1600k"))) {
    const std::string line =
        "| `" + row.key + "` | " + row.unit + " | " + row.range + " | " + row.doc + " |\n";
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace nearwarp::dram
