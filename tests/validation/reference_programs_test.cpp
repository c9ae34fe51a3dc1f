// Do the reference programs run, and execute as many warp-instructions as on GPGPU-Sim?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "bench/reference/figures.h"
#include "bench/reference/programs.h"

namespace nearwarp::reference {
namespace {

const std::vector<Figures>& figures() {
  static const std::vector<Figures> all =
      read_figures(NW_SOURCE_DIR "/tests/validation/gpgpusim_reference.tsv");
  return all;
}

/// One line of each program with each arguments.
std::vector<Figures> runs() {
  std::map<std::pair<std::string, std::vector<int>>, Figures> distinct;
  for (const Figures& f : figures()) distinct.try_emplace({f.program, f.arguments}, f);
  std::vector<Figures> list;
  for (const auto& [key, f] : distinct) list.push_back(f);
  return list;
}

std::string test_name(const Figures& f) {
  std::string name = f.program;
  for (const int argument : f.arguments) name += "_" + std::to_string(argument);
  return name;
}

class ReferenceRun : public ::testing::TestWithParam<Figures> {};

TEST_P(ReferenceRun, IsRightAndHasAsManyWarpInstructions) {
  const Figures& run = GetParam();
  runtime::VirtualDevice device;
  EXPECT_TRUE(run_program(device, run.program, run.arguments));
  for (const Figures& f : figures()) {
    if (f.program != run.program || f.arguments != run.arguments) continue;
    EXPECT_EQ(device.warp_instructions(), f.warp_instructions) << f.config << " " << f.run;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceRun, ::testing::ValuesIn(runs()),
                         [](const auto& test) { return test_name(test.param); });

TEST(ReferenceFigures, EveryProgramIsCompared) {
  for (const Program& p : programs()) {
    const auto& all = figures();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Figures& f) {
      return f.program == p.name;
    })) << p.name;
  }
}

}  // namespace
}  // namespace nearwarp::reference
