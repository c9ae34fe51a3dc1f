// Does a DDR3 channel give what DRAMsim3 and Ramulator 2 give?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/config/config.h"
#include "host/timing/dram/channel_run.h"

namespace nearwarp::dram {
namespace {

/// A line of tests/validation/dram_reference.csv.
struct Reference {
  std::string pattern, pacing, load, refresh, quantity;
  double dramsim3 = 0, ramulator2 = 0, tolerance_percent = 0;

  std::string name() const {
    std::string text;
    for (const std::string& part : {pattern, pacing, load, quantity, "refresh_" + refresh}) {
      for (const char c : part) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      text += "_";
    }
    return text + "end";
  }
};

std::vector<Reference> references() {
  std::ifstream file(NW_SOURCE_DIR "/tests/validation/dram_reference.csv");
  std::vector<Reference> all;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(words, cell, ',');) cells.push_back(cell);
    if (cells.size() != 8) throw std::runtime_error("a damaged reference: " + line);
    all.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], std::stod(cells[5]),
                   std::stod(cells[6]), std::stod(cells[7])});
  }
  return all;
}

Traffic traffic_of(const Reference& r) {
  Traffic t;
  if (r.pattern == "random") t.pattern = TrafficPattern::kRandom;
  if (r.pattern == "conflict") t.pattern = TrafficPattern::kConflict;
  if (r.pattern == "mix") {
    t.writes_num = 1;
    t.writes_den = 3;
  }
  if (r.pacing == "window") {
    t.pacing = TrafficPacing::kWindow;
    t.outstanding = static_cast<uint32_t>(std::stoul(r.load));
  }
  if (r.pacing == "open") {
    t.pacing = TrafficPacing::kOpen;
    t.rate_ppm = static_cast<uint64_t>(std::stod(r.load) * 1e6);
  }
  return t;
}

double measured(const Reference& r, const RunResult& result) {
  if (r.quantity == "share") return result.share_of_peak();
  if (r.quantity == "hits") return result.row_hit_rate();
  if (r.quantity == "median") return static_cast<double>(result.latency_quantile(500));
  return result.mean_latency();
}

class Ddr3Reference : public ::testing::TestWithParam<Reference> {};

TEST_P(Ddr3Reference, LiesBetweenTheTwoSimulators) {
  const Reference& r = GetParam();
  std::vector<std::string> changes;
  if (r.refresh == "off") changes.emplace_back("timing.tREFI=0");
  const config::DramConfig standard = config::load_dram("ddr3-1600k", changes);
  const double value = measured(r, run_channel(standard, traffic_of(r), RunOptions{}));
  const double slack = r.tolerance_percent / 100;
  EXPECT_GE(value, std::min(r.dramsim3, r.ramulator2) * (1 - slack));
  EXPECT_LE(value, std::max(r.dramsim3, r.ramulator2) * (1 + slack));
}

INSTANTIATE_TEST_SUITE_P(Curves, Ddr3Reference, ::testing::ValuesIn(references()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace nearwarp::dram
