// Do networks have the latencies and the throughput of the reference simulator?
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "host/timing/noc/bounds.h"
#include "host/timing/noc/measure.h"

namespace nearwarp::testing {
namespace {

constexpr double kLatencyTolerance = 0.02;  ///< below kNearSaturation
constexpr double kNearSaturation = 0.38;
constexpr double kAcceptedTolerance = 0.01;  ///< flits per node and cycle
/// Closer to saturation the mean depends on the seed and the length of the measurement (the
/// reference's own spread at .40 is 0.6 %).
constexpr double kSaturatedTolerance = 0.03;

struct Reference {
  noc::NocConfig config;
  std::string traffic;
  double rate = 0, latency = 0, accepted = 0;  ///< 0: was not measured
};

std::vector<Reference> references() {
  std::vector<Reference> all;
  std::ifstream file(NW_SOURCE_DIR "/tests/validation/noc_reference.csv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream words(line + ",");
    for (std::string cell; std::getline(words, cell, ',');) cells.push_back(cell);
    Reference r;
    r.config.topology = cells.at(0);
    r.config.size = cells.at(1);
    r.traffic = cells.at(2);
    r.config.packet_flits = static_cast<uint32_t>(std::atoi(cells.at(3).c_str()));
    r.rate = std::atof(cells.at(4).c_str());
    r.latency = std::atof(cells.at(5).c_str());
    r.accepted = std::atof(cells.at(6).c_str());
    if (r.traffic != "uniform") {
      r.config.traffic = "many-to-few";
      for (uint32_t i = 0; i < 8; ++i)
        r.config.hot_nodes.push_back(r.traffic == "row" ? 56 + i : 7 + 8 * i);
    }
    all.push_back(r);
  }
  return all;
}

std::string name_of(const Reference& r) {
  return r.config.topology + " " + r.traffic + ", " + std::to_string(r.config.packet_flits) +
         " flits, rate " + std::to_string(r.rate);
}

bool is_mesh(const Reference& r) { return r.config.topology == "mesh" && r.traffic == "uniform"; }

void compare(const Reference& r) {
  const noc::LoadPoint p = noc::measure_load(r.config, {}, r.rate);
  if (r.latency == 0) {
    EXPECT_FALSE(p.stable) << name_of(r);
    EXPECT_NEAR(p.accepted, r.accepted, kAcceptedTolerance) << name_of(r);
    return;
  }
  EXPECT_TRUE(p.stable) << name_of(r) << ": " << p.why;
  EXPECT_NEAR(p.accepted, r.rate, 0.02 * r.rate) << name_of(r);
  const bool near = r.rate >= kNearSaturation || r.config.topology != "mesh";
  EXPECT_NEAR(p.latency, r.latency, (near ? kSaturatedTolerance : kLatencyTolerance) * r.latency)
      << name_of(r);
}

TEST(NocCurves, AllReferencesAreThere) { EXPECT_EQ(references().size(), 33u); }

/// Deviation 52: there are so few packets that noise moves the reference's mean off the exact one.
bool is_noise(const Reference& r) { return r.rate == 0.001 && r.config.topology == "mesh"; }
/// Deviation 53: a crossbar this close to its limit wanders between fast and slow states.
bool is_metastable(const Reference& r) {
  return r.config.topology == "crossbar" && r.rate > 0.12 && r.latency != 0;
}

TEST(NocCurves, ZeroLoadIsExact) {
  for (const Reference& r : references()) {
    if (!is_noise(r)) continue;
    const double exact = noc::bounds_of(noc::Network(r.config), r.config).zero_load_latency;
    EXPECT_EQ(exact, 5 * 6.25 + 2 + (r.config.packet_flits - 1));
    const noc::LoadPoint p = noc::measure_load(r.config, {}, r.rate);
    EXPECT_NEAR(p.latency, exact, 0.01 * exact);
  }
}

TEST(NocCurves, Mesh) {
  for (const Reference& r : references())
    if (is_mesh(r) && !is_noise(r) && r.rate < kNearSaturation) compare(r);
}
TEST(NocCurves, MeshNearAndBeyondSaturation) {
  for (const Reference& r : references())
    if (is_mesh(r) && r.rate >= kNearSaturation) compare(r);
}
TEST(NocCurves, ManyToFew) {
  for (const Reference& r : references())
    if (r.traffic != "uniform") compare(r);
}
TEST(NocCurves, ButterflyAndCrossbar) {
  for (const Reference& r : references())
    if (r.config.topology != "mesh" && !is_metastable(r)) compare(r);
}

TEST(NocCurves, AColumnOfSinksOverloadsAtSixPercent) {
  // Dimension order, x first: all of a row's traffic to a column passes one link.
  for (const Reference& r : references()) {
    if (r.traffic != "col" || r.latency == 0) continue;
    EXPECT_FALSE(noc::measure_load(r.config, {}, 0.06).stable);
  }
}

TEST(NocCurves, TheMeshSaturatesBelowItsBisectionBound) {
  noc::NocConfig c;
  const std::optional<noc::Saturation> s = noc::find_saturation(
      [&](std::span<const double> rates) { return noc::measure_loads(c, {}, rates, 2); }, 0.01);
  ASSERT_TRUE(s.has_value());
  EXPECT_GT(s->stable_rate, 0.40);
  EXPECT_LT(s->unstable_rate, 0.44);
  EXPECT_LT(s->unstable_rate, noc::bounds_of(noc::Network(c), c).throughput);
  EXPECT_NEAR(s->accepted_at_full, 0.3746, kAcceptedTolerance);
}

}  // namespace
}  // namespace nearwarp::testing
