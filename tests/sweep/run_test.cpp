// Is every point run once and kept, whatever happens on the way?
#include "host/timing/sweep/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/mechanisms/tom/settings.h"
#include "host/recording/divide.h"
#include "host/timing/sweep/table.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;
using sweep::Outcome;
using sweep::Plan;
using sweep::ResultsFile;

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::string rest;
  sweep::for_each_line(
      path, [&](uint64_t, uint64_t, std::string_view text) { lines.push_back(Json::parse(text)); },
      rest);
  EXPECT_EQ(rest, "");
  return lines;
}

std::set<std::string> ids_of(const std::string& path) {
  std::set<std::string> ids;
  for (const Json& line : lines_of(path)) EXPECT_TRUE(ids.insert(line.at("id")).second);
  return ids;
}

class SweepRun : public ::testing::Test {
 protected:
  const Plan plan_ = sweep::expand(definition({"sm.warps=8,16,32"}, {"alpha", "beta"}));
  TemporaryFolder folder_;
  std::string path_ = folder_.file("results.jsonl");
};

TEST_F(SweepRun, EveryPointOnceAndEveryProgramOnce) {
  SweepRig rig;
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_EQ(outcome.points, 12u);
  EXPECT_EQ(outcome.finished, 12u);
  EXPECT_EQ(outcome.already_there, 0u);
  EXPECT_EQ(outcome.failed, 0u);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(rig.surroundings.recorded, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(rig.runner.batches, (std::vector<size_t>{6, 6}));
  const std::vector<Json> lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_EQ(ids_of(path_).size(), 12u);
  for (const Json& line : lines) {
    const sweep::Point& point = plan_.points.at(line.at("index"));
    EXPECT_EQ(line["id"], point.id);
    EXPECT_EQ(line["run"]["cycles"],
              1000 + plan_.machine(point)->sm.warps +
                  100 * plan_.policy(point)->table<tom::OffloadSettings>().load_miss_percent);
    EXPECT_EQ(line["run"]["workload"], line["workload"]);
    EXPECT_EQ(line["overrides"]["sm.warps"], plan_.machine(point)->sm.warps);
    EXPECT_EQ(line["run"]["overrides"], Json(plan_.overrides(point)));
  }
}

TEST_F(SweepRun, ManyPointsGoInPortions) {
  std::string cycles = "run.max_cycles=100000", warps = "sm.warps=4";
  for (int i = 1; i < 540; ++i) cycles += "," + std::to_string(100000 + i);
  for (int i = 2; i <= 4; ++i) warps += "," + std::to_string(4 * i);
  sweep::Definition d = definition({cycles, warps});
  d.policies.resize(2);
  d.programs.resize(1);
  const Plan plan = sweep::expand(d);
  ASSERT_EQ(plan.points.size(), 540u * 4 * 2);
  SweepRig rig;
  EXPECT_EQ(rig.run(plan, path_).finished, plan.points.size());
  EXPECT_EQ(rig.runner.batches,
            (std::vector<size_t>{sweep::kPointsAtOnce, plan.points.size() - sweep::kPointsAtOnce}));
  // The expectation is right from the start; while the first points are made there is none.
  for (const sweep::Progress& p : rig.surroundings.seen) {
    if (p.warp_instructions == 0) continue;
    EXPECT_EQ(p.warp_instructions, rig.surroundings.seen.back().warp_instructions);
  }
  size_t lines = 0;
  for (const Json& line : lines_of(path_)) {
    const sweep::Point& point = plan.points.at(line.at("index"));
    EXPECT_EQ(line["run"]["overrides"], Json(plan.overrides(point)));
    EXPECT_EQ(line["overrides"]["run.max_cycles"], plan.machine(point)->run.max_cycles);
    lines += 1;
  }
  EXPECT_EQ(lines, plan.points.size());
}

TEST_F(SweepRun, NothingIsRunTwice) {
  SweepRig().run(plan_, path_);
  const std::string before = read_text(path_);
  SweepRig again;
  const Outcome outcome = again.run(plan_, path_);
  EXPECT_EQ(outcome.already_there, 12u);
  EXPECT_EQ(outcome.finished, 0u);
  EXPECT_EQ(again.runner.ran, 0u);
  EXPECT_TRUE(again.surroundings.recorded.empty());
  EXPECT_EQ(read_text(path_), before);
}

TEST_F(SweepRun, AStoppedSweepIsResumed) {
  SweepRig rig;
  rig.surroundings.stop_at = 8;  // in the second program's batch
  const Outcome first = rig.run(plan_, path_);
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(first.finished, 8u);
  EXPECT_EQ(lines_of(path_).size(), 8u);
  SweepRig second;
  const Outcome outcome = second.run(plan_, path_);
  EXPECT_EQ(outcome.already_there, 8u);
  EXPECT_EQ(outcome.finished, 4u);
  EXPECT_EQ(second.surroundings.recorded, (std::vector<size_t>{1}));
  EXPECT_EQ(ids_of(path_).size(), 12u);
}

TEST_F(SweepRun, StoppedSystemsAreNotResults) {
  class Stopping final : public sim::BatchRunner {
   public:
    void run(std::span<const sim::ReplayJob> systems, sim::BatchObserver& observer) override {
      sim::BatchOutcome outcome;
      outcome.result = made_up(systems[0]);
      outcome.result->partial = outcome.stopped = true;
      observer.finished(0, std::move(outcome));
    }
  };
  Stopping runner;
  FakeSurroundings surroundings;
  ResultsFile file(path_);
  run_sweep(plan_, {}, runner, surroundings, file);
  EXPECT_EQ(read_text(path_), "");
}

TEST_F(SweepRun, ATornLastLineIsDroppedAndItsPointRunsAgain) {
  SweepRig().run(plan_, path_);
  const std::string whole = read_text(path_);
  const size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (const size_t length : {whole.size() - 1, last + 200, last + 5, last + 1}) {
    write_text(path_, whole.substr(0, length));
    SweepRig rig;
    EXPECT_TRUE(ResultsFile(path_).dropped_torn_line());
    EXPECT_EQ(read_text(path_), whole.substr(0, last));
    const Outcome outcome = rig.run(plan_, path_);
    EXPECT_EQ(outcome.finished, 1u) << length;
    EXPECT_EQ(read_text(path_), whole) << length;
  }
  write_text(path_, whole.substr(0, 9));  // of the first line
  EXPECT_EQ(SweepRig().run(plan_, path_).finished, 12u);
}

TEST_F(SweepRun, OtherFilesAreLeftAlone) {
  for (const char* text : {"Dear diary,", "{\"schema\":\"nearwarp.run/1\"}\n", "a\nb\n", "\n",
                           "{\"schema\":\"nearwarp.sweep/2\"}\n"}) {
    write_text(path_, text);
    EXPECT_THROW(ResultsFile{path_}, Error) << text;
    EXPECT_EQ(read_text(path_), text);
  }
  EXPECT_THROW(ResultsFile{folder_.file("none/x")}, Error);
  EXPECT_THROW(ResultsFile{"/dev/null"}, Error);
}

TEST_F(SweepRun, OneSweepWritesAFileAtATime) {
  const ResultsFile file(path_);
  EXPECT_THROW(ResultsFile{path_}, Error);
}

TEST_F(SweepRun, AFullDiskEndsItAndCostsOnePoint) {
  SweepRig().run(plan_, path_);
  const std::string whole = read_text(path_);
  std::filesystem::remove(path_);
  // A file may not grow beyond three and a half lines: the same as a disk with that much room.
  size_t room = 0;
  for (int i = 0; i < 3; ++i) room = whole.find('\n', room) + 1;
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit = {room + 200, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_THROW(SweepRig().run(plan_, path_), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(read_text(path_), whole.substr(0, room));
  EXPECT_EQ(SweepRig().run(plan_, path_).already_there, 3u);
  EXPECT_EQ(read_text(path_), whole);
}

TEST_F(SweepRun, AnotherSweepsFileIsUsedForThePointsInCommon) {
  SweepRig().run(sweep::expand(definition({"sm.warps=16,24"})), path_);
  SweepRig rig;
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_EQ(outcome.already_there, 2u);  // sm.warps=16 of alpha, two policies
  EXPECT_EQ(outcome.finished, 10u);
  EXPECT_EQ(ids_of(path_).size(), 14u);
}

TEST_F(SweepRun, PartsOfAPointAreOneResult) {
  const Plan plan =
      sweep::expand(definition({"sm.warps=8,16"}, {"alpha"}, {"baseline", "cgp-fta", "cgp-only"}));
  SweepRig rig;
  rig.surroundings.launches = 4;
  rig.options.divide = [](const runtime::Recording& recording,
                          const runtime::DivisionNeeds& needs) {
    return runtime::Division{runtime::divide(recording, 2, 1, needs.together)};
  };
  // Energy is accounted for parts together.
  rig.runner.simulate = [](const sim::ReplayJob& system) {
    report::RunResult result = made_up(system);
    for (const std::string& name : report::energy_counters(result.parts))
      result.counters.push_back({name, 1, "events", "Made up."});
    return result;
  };
  rig.surroundings.stop_at = 5;
  rig.run(plan, path_);
  EXPECT_EQ(rig.runner.batches, std::vector<size_t>{10});  // under cgp-fta all of it in one go
  std::vector<Json> lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(rig.surroundings.seen.back().warp_instructions, 2u * 100 + 4u * 125);
  SweepRig again;
  again.surroundings.launches = 4;
  again.options = rig.options;
  again.runner.simulate = rig.runner.simulate;
  again.run(plan, path_);
  EXPECT_EQ(again.runner.batches, std::vector<size_t>{2});
  lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 6u);
  for (const Json& line : lines) {
    const sweep::Point& point = plan.points.at(line.at("index"));
    const uint64_t once = 1000 + plan.machine(point)->sm.warps +
                          100 * plan.policy(point)->table<tom::OffloadSettings>().load_miss_percent;
    EXPECT_EQ(line["run"]["cycles"], point.policy == 1 ? once : 2 * once);
    const bool says_why =
        line["run"].contains("launches") && line["run"]["launches"].contains("in_one_go");
    EXPECT_EQ(says_why, point.policy == 1);
  }
}

/// Parts suit examples of a program's points, and a point that needs more has parts of its own:
/// no point is made for another one's sake.
TEST_F(SweepRun, PartsOfManyPointsAreThoseOfTheirExamples) {
  std::string cycles = "run.max_cycles=100000", warps = "sm.warps=8";
  for (int i = 1; i < 100; ++i) cycles += "," + std::to_string(100000 + i);
  for (int i = 2; i <= 6; ++i) warps += "," + std::to_string(8 * i);
  sweep::Definition d = definition({cycles, warps, "sm.registers=1024,65536"}, {"alpha"});
  d.divided = true;
  const Plan plan = sweep::expand(d);
  ASSERT_EQ(plan.points.size(), 100u * 6 * 2 * 2);
  size_t made = 0;
  std::vector<runtime::DivisionNeeds> asked;
  SweepRig rig;
  rig.surroundings.launches = 4;
  rig.surroundings.stop_at = 70;
  rig.options.divide = [&](const runtime::Recording& recording,
                           const runtime::DivisionNeeds& needs) {
    asked.push_back(needs);
    return runtime::Division{runtime::divide(recording, 2, 1, needs.together)};
  };
  rig.runner.simulate = [&](const sim::ReplayJob& system) -> report::RunResult {
    if (made == 0) made = plan.points.made();
    throw Error("none is needed: " + system.machine->name);
  };
  EXPECT_EQ(rig.run(plan, path_).finished, 70u);
  // Examples are made to check the sweep and for the first division; then a portion of points.
  const size_t examples = plan.examples(0).size();
  EXPECT_EQ(examples, 2u * (1 + 99 + 5 + 1));
  EXPECT_GT(made, examples);
  EXPECT_LE(made, 2 * examples + sweep::kDividedPointsAtOnce);
  ASSERT_FALSE(asked.empty());
  for (const runtime::DivisionNeeds& needs : asked) EXPECT_GE(needs.resident, asked[0].resident);
}

TEST_F(SweepRun, AFailureIsAResult) {
  SweepRig rig;
  rig.runner.simulate = [](const sim::ReplayJob& system) {
    if (system.machine->sm.warps == 16) throw Error("it is stuck");
    return made_up(system);
  };
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_EQ(outcome.finished, 12u);
  EXPECT_EQ(outcome.failed, 4u);
  for (const Json& line : lines_of(path_)) {
    const bool failed = line["overrides"]["sm.warps"] == 16;
    EXPECT_EQ(line["status"], failed ? "failed" : "complete");
    EXPECT_EQ(line.contains("run"), !failed);
    if (failed) {
      EXPECT_EQ(line["error"], "it is stuck");
    }
  }
  SweepRig again;
  const Outcome same = again.run(plan_, path_);
  EXPECT_EQ(same.already_there, 12u);
  EXPECT_EQ(same.failed, 4u);  // still not all right
  again.options.retry = true;
  const Outcome mended = again.run(plan_, path_);
  EXPECT_EQ(mended.finished, 4u);
  EXPECT_EQ(mended.failed, 0u);
}

TEST_F(SweepRun, ImpossiblePointsAndBrokenProgramsDoNotEndIt) {
  const Plan plan = sweep::expand(definition({"l1.ways=3,4"}, {"alpha", "beta"}));
  SweepRig rig;
  rig.surroundings.broken = {0};
  const Outcome outcome = rig.run(plan, path_);
  EXPECT_EQ(outcome.finished, 8u);
  EXPECT_EQ(outcome.failed, 6u);
  for (const Json& line : lines_of(path_)) {
    if (line["overrides"]["l1.ways"] == 3) {
      EXPECT_NE(line["error"].get<std::string>().find("power of two"), std::string::npos);
    } else if (line["workload"] == "alpha") {
      EXPECT_EQ(line["error"], "it does not run");
    } else {
      EXPECT_EQ(line["status"], "complete");
    }
  }
}

TEST_F(SweepRun, StoppingWhileAProgramIsExecutedFailsNothing) {
  SweepRig rig;
  rig.surroundings.broken = {1};
  rig.surroundings.stop_at = 6;  // the interrupt that broke it
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.failed, 0u);
  EXPECT_EQ(lines_of(path_).size(), 6u);
}

TEST_F(SweepRun, ShardsTogetherAreTheSweep) {
  std::set<std::string> all;
  for (uint32_t part = 1; part <= 5; ++part) {
    const std::string path = folder_.file(std::to_string(part));
    SweepRig rig;
    rig.options.shard = {part, 5};
    const Outcome outcome = rig.run(plan_, path);
    EXPECT_EQ(outcome.finished, outcome.points);
    EXPECT_GE(outcome.points, 2u);
    EXPECT_LE(outcome.points, 3u);
    for (const std::string& id : ids_of(path)) EXPECT_TRUE(all.insert(id).second);
  }
  EXPECT_EQ(all.size(), 12u);
}

TEST_F(SweepRun, WhatAnotherFileHasIsNotRun) {
  SweepRig().run(sweep::expand(definition({"sm.warps=16,24"})), path_);
  const std::string own = folder_.file("own.jsonl");
  SweepRig rig;
  ResultsFile file(own);
  file.read_also(path_);
  const Outcome outcome = sweep::run_sweep(plan_, rig.options, rig.runner, rig.surroundings, file);
  EXPECT_EQ(outcome.already_there, 2u);
  EXPECT_EQ(outcome.finished, 10u);
  EXPECT_EQ(ids_of(own).size(), 10u);
  const Outcome counted = sweep::count_results(plan_, rig.options, file);
  EXPECT_EQ(counted.points, 12u);
  EXPECT_EQ(counted.already_there, 12u);
}

/// A sweep's own points are found without being made: their places say which they are.
TEST_F(SweepRun, WhatASweepHasWrittenItFindsByPlace) {
  SweepRig().run(plan_, path_);
  std::string text, table;
  {
    const ResultsFile file(path_);
    table = sweep::format_table(plan_, file);
  }
  for (Json line : lines_of(path_)) {
    line["id"] = fmt::format("{:032}", line["index"].get<int>());
    text += line.dump() + "\n";
  }
  write_text(path_, text);
  SweepRig rig;
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_EQ(outcome.already_there, 12u);
  EXPECT_EQ(outcome.finished, 0u);
  const ResultsFile file(path_);
  sweep::RunOptions third;
  third.shard = {1, 3};
  EXPECT_EQ(sweep::count_results(plan_, third, file).already_there, 4u);
  EXPECT_EQ(sweep::format_table(plan_, file), table);
  EXPECT_EQ(count_lines(sweep::format_csv(plan_, {}, file)), 13u);
}

TEST_F(SweepRun, LookingForPointsBesideAnotherSweepsIsInterrupted) {
  std::string cycles = "run.max_cycles=1000";
  for (int i = 1; i < 150; ++i) cycles += "," + std::to_string(1000 + i);
  SweepRig().run(sweep::expand(definition({cycles})), path_);
  SweepRig rig;
  rig.surroundings.stop_at = 0;
  EXPECT_THROW(rig.run(plan_, path_), Interrupted);
  EXPECT_EQ(rig.runner.ran, 0u);
}

/// A line of another sweep is looked for where its values stand, those that it does not name where
/// the machine's and policy's own stand.
TEST_F(SweepRun, WhatAnotherSweepHasWrittenIsFoundByItsValues) {
  // The machine by itself has 48 warps, and the policy dynamic control.
  const auto some = [](std::vector<std::string> sets) { return sweep::expand(definition(sets)); };
  SweepRig().run(some({}), path_);
  SweepRig().run(some({"sm.warps=16,47", "offload.dynamic_control=false"}), path_);
  SweepRig().run(some({"lsu.queue_entries=9"}), path_);  // not one of ours
  std::string warps = "sm.warps=16";
  for (int i = 17; i < 49; ++i) warps += "," + std::to_string(i);
  const Plan many = some({warps, "sm.schedulers=2", "offload.dynamic_control=true,false"});
  ResultsFile file(path_);
  const Plan* const one = &many;
  file.place({&one, 1});
  size_t found = 0;
  for (size_t i = 0; i < many.points.size(); ++i) {
    const ResultsFile::Entry* there = find_point(many, file, i);
    EXPECT_EQ(there, file.find(many.points[i].id)) << i;
    found += there != nullptr ? 1 : 0;
  }
  // Not the first sweep's baseline: there, control was not set, and here it is, to no effect.
  EXPECT_EQ(found, 5u);
}

TEST_F(SweepRun, PointsOfOthersAreLeftOut) {
  SweepRig rig;
  rig.options.others = {3, 5};
  const Outcome outcome = rig.run(plan_, path_);
  EXPECT_EQ(outcome.points, 10u);
  EXPECT_EQ(outcome.finished, 10u);
  EXPECT_FALSE(ids_of(path_).contains(plan_.points[3].id));
}

TEST_F(SweepRun, ProgressGrowsToTheWhole) {
  SweepRig rig;
  rig.run(plan_, path_);
  uint64_t done = 0;
  for (const sweep::Progress& p : rig.surroundings.seen) {
    EXPECT_EQ(p.points, 12u);
    EXPECT_EQ(p.warp_instructions, 1200u);  // beta is taken to be like alpha
    EXPECT_GE(p.warp_instructions_done, done);
    EXPECT_LE(p.warp_instructions_done, p.warp_instructions);
    done = p.warp_instructions_done;
  }
  EXPECT_EQ(done, 600u);  // the fake runner never reports any
}

TEST_F(SweepRun, EveryMemberIsInTheDescription) {
  SweepRig rig;
  rig.runner.simulate = [](const sim::ReplayJob& system) {
    if (system.machine->sm.warps == 16) throw Error("no");
    return made_up(system);
  };
  rig.run(plan_, path_);
  const std::string description = read_text(std::string(NW_SOURCE_DIR) + "/docs/sweep.md");
  for (const Json& line : lines_of(path_)) {
    EXPECT_EQ(line["schema"], sweep::kSweepSchema);
    for (const auto& [name, value] : line.items())
      EXPECT_TRUE(contains(description, "| `" + name + "`")) << name << " is not in docs/sweep.md";
  }
  EXPECT_TRUE(contains(description, sweep::kSweepSchema));
}

}  // namespace
}  // namespace nearwarp::testing
