// Are points found again that other sweeps have written, whatever they call the program?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/timing/sweep/results_file.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using sweep::Outcome;
using sweep::Plan;
using sweep::ResultsFile;

class SweepPlaces : public ::testing::Test {
 protected:
  /// The ids of the points in the file, none of which is there twice.
  std::set<std::string> ids() const {
    std::set<std::string> all;
    std::string torn;
    sweep::for_each_line(
        path_,
        [&](uint64_t, uint64_t, std::string_view line) {
          EXPECT_TRUE(all.insert(nlohmann::json::parse(line).at("id")).second) << line;
        },
        torn);
    return all;
  }

  const Plan plan_ = sweep::expand(definition({"sm.warps=8,16,32"}, {"alpha", "beta"}));
  TemporaryFolder folder_;
  std::string path_ = folder_.file("results.jsonl");
};

/// A recording is named by a path, and its id is of its name and contents.
TEST_F(SweepPlaces, ARecordingIsFoundHoweverItsPathIsWritten) {
  using Programs = std::vector<std::pair<std::string, std::string>>;  // names, and what they hold
  const auto over = [](const Programs& programs) {
    sweep::Definition d = definition({"sm.warps=8,16"}, {});
    for (const auto& [name, contents] : programs) d.programs.push_back({name, "", contents});
    return sweep::expand(std::move(d));
  };
  const Plan first = over({{"a.nwtrace", "A"}, {"a.nwtrace+b.nwtrace", "A and B"}});
  EXPECT_EQ(SweepRig().run(first, path_).finished, 8u);
  const Plan more =
      over({{"c.nwtrace", "C"}, {"./a.nwtrace", "A"}, {"../x+y/a.nwtrace+./b.nwtrace", "A and B"}});
  ASSERT_NE(more.id, first.id);
  const Outcome outcome = SweepRig().run(more, path_);
  EXPECT_EQ(outcome.already_there, 8u);
  EXPECT_EQ(outcome.finished, 4u);
  // Another file of that name.
  EXPECT_EQ(SweepRig().run(over({{"x/a.nwtrace", "D"}}), path_).finished, 4u);
  EXPECT_EQ(ids().size(), 16u);
}

/// As in an experiment whose programs were given other names.
TEST_F(SweepPlaces, AProgramWithAnotherNameIsFoundByWhatItIs) {
  sweep::Definition named = definition({"sm.warps=16,24"});
  named.programs[0].name = "another name";  // of the same program
  SweepRig().run(sweep::expand(std::move(named)), path_);
  SweepRig rig;
  ResultsFile file(path_);
  const Outcome outcome = sweep::run_sweep(plan_, rig.options, rig.runner, rig.surroundings, file);
  EXPECT_EQ(outcome.already_there, 2u);
  EXPECT_EQ(outcome.finished, 10u);
  EXPECT_EQ(sweep::count_results(plan_, rig.options, file).already_there, 12u);
  EXPECT_EQ(ids().size(), 14u);
}

}  // namespace
}  // namespace nearwarp::testing
