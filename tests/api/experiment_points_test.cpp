// How many points of a large experiment are made before the first one runs?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "host/api/inside.h"
#include "host/api/nearwarp.h"
#include "host/api/sweep_parts.h"
#include "host/timing/sweep/plan.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// "KEY=FIRST,...", so many.
std::string axis(const std::string& key, int first, int many) {
  std::string text = key + "=";
  for (int i = 0; i < many; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", first + i);
  return text;
}

constexpr int kValues = 200;
constexpr size_t kPoints = size_t{kValues} * kValues + 1;
/// All values of an axis, one after the other, and a few things beside them.
constexpr size_t kAlongAxes = 2 * kValues + 10;

Experiment large(const ExperimentChoice& choice) {
  const std::string text = fmt::format(
      R"(title = "Large"
description = "For tests."
size = "small"
[study.main]
workloads = ["fma"]
machines = ["tom"]
policies = ["baseline"]
set = ["{}", "{}"]
[study.alone]
workloads = ["fma"]
machines = ["tom"]
policies = ["baseline"]
[[figure]]
name = "cycles"
title = "Cycles"
studies = ["main"]
kind = "curve"
x = "l1.hit_latency_cycles"
series = "policy"
value = "cycles"
mean = "arithmetic"
)",
      axis("l1.hit_latency_cycles", 30, kValues), axis("run.max_cycles", 100000000, kValues));
  return Experiment::plan(ExperimentFile::parse(text, "large").value(), choice).value();
}

size_t made(const Experiment& experiment) {
  size_t points = 0;
  for (const sweep::Plan* plan : plans_of(experiment)) points += plan->points.made();
  return points;
}

/// How many points are made until the first one is done.
size_t made_before_the_first(const ExperimentChoice& choice, const std::string& part) {
  const TemporaryFolder folder;
  const Experiment experiment = large(choice);
  EXPECT_LE(made(experiment), 3 * kAlongAxes) << "to check the study and its figure";
  SweepOptions how;
  how.out = folder.path();
  how.part = part;
  size_t until_then = 0;
  how.finished = [&](const std::string&) {
    if (until_then == 0) until_then = made(experiment);
  };
  how.progress = [&](const SweepProgress& progress) { return progress.points_done == 0; };
  const ExperimentOutcome outcome = experiment.run(how).value();
  EXPECT_TRUE(outcome.stopped);
  EXPECT_GT(outcome.finished, 0u);
  EXPECT_EQ(outcome.already_there, 0u);
  return until_then;
}

TEST(LargeExperiment, MakesPointsAsTheyAreRun) {
  const size_t points = made_before_the_first({}, "2/3");
  EXPECT_GT(points, 0u);
  EXPECT_LE(points, 3 * kAlongAxes + 4096);
}

TEST(LargeExperiment, InPartsOrSampledToo) {
  ExperimentChoice parallel, sample;
  parallel.launches = "parallel";
  sample.sample = "3";
  for (const ExperimentChoice& choice : {parallel, sample}) {
    const size_t points = made_before_the_first(choice, "");
    EXPECT_GT(points, 0u);
    EXPECT_LE(points, 5 * kAlongAxes);
  }
}

/// A file of which other sweeps wrote many lines is read through before the first point runs.
TEST(LargeExperiment, StopsWhilePointsThatAreThereAreLookedFor) {
  const TemporaryFolder folder;
  const Experiment experiment = large({});
  SweepOptions how;
  how.out = folder.path();
  std::string line;
  how.finished = [&](const std::string& first) { line = first; };
  how.progress = [&](const SweepProgress& progress) { return progress.points_done == 0; };
  const std::string file = experiment.run(how).value().file;
  auto other = nlohmann::ordered_json::parse(line);
  other["sweep"] = "another";
  std::string lines;
  for (int i = 0; i < 600; ++i) lines += other.dump() + "\n";
  write_text(file, lines);
  for (const bool only_count : {false, true}) {
    int asked = 0;
    how.only_count = only_count;
    how.progress = [&](const SweepProgress&) { return ++asked == 2; };
    const Expected<ExperimentOutcome> stopped = experiment.run(how);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.failure().kind, Failure::Kind::kStopped);
    EXPECT_TRUE(contains(stopped.failure().message, "none ran")) << stopped.failure().message;
    EXPECT_EQ(asked, 1);
  }
}

/// Tasks of a cluster: only their lines are looked at.
TEST(LargeExperiment, IsDividedForAClusterWithoutMakingPoints) {
  const TemporaryFolder folder;
  const Experiment experiment = large({});
  const size_t before = made(experiment);
  SweepOptions how;
  how.out = folder.path();
  SweepParts parts(experiment, how);
  parts.divide(16);
  EXPECT_EQ(parts.planned(), kPoints);
  EXPECT_EQ(parts.points(), kPoints);
  EXPECT_EQ(made(experiment), before);
}

}  // namespace
}  // namespace nearwarp::testing
