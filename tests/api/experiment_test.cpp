// Do experiments of the public interface find what the command line does, stopped and in parts?
#include <gtest/gtest.h>

#include <filesystem>

#include "host/api/nearwarp.h"
#include "tests/api/results.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// A program of its own beside a workload, and a point that two studies have.
std::string text() {
  return std::string("title = \"Two\"\ndescription = \"For tests.\"\n") +
         "[program.squares]\nptx = \"" + NW_SOURCE_DIR + R"(/bench/samples/squares.ptx"
[[program.squares.buffer]]
name = "in"
bytes = 65536
fill = "index"
[[program.squares.buffer]]
name = "out"
bytes = 65536
[[program.squares.launch]]
kernel = "squares"
grid = 16
block = 128
args = ["in", "out", 16384]
[study.links]
workloads = ["axpy", "squares"]
machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap"]
set = ["links.gpu_to_memory_mbps=40000,80000"]
[study.one]
workloads = ["squares"]
machines = ["tom"]
policies = ["baseline"]
set = ["links.gpu_to_memory_mbps=40000"]
[[figure]]
name = "cycles"
title = "Cycles"
studies = ["links"]
x = ["workload", "links.gpu_to_memory_mbps"]
series = "policy"
value = "cycles"
as = "speedup"
[[figure]]
name = "ipc"
title = "IPC"
studies = ["one"]
x = "workload"
series = "policy"
value = "ipc"
)";
}
constexpr size_t kPoints = 8;

ExperimentFile file() { return ExperimentFile::parse(text(), "two").value(); }
Experiment two() { return Experiment::plan(file()).value(); }

/// As two(), with this value in place of the second figure's.
Expected<Experiment> with_value(const std::string& value) {
  std::string changed = text();
  changed.replace(changed.find("value = \"ipc\""), std::string("value = \"ipc\"").size(),
                  "value = \"" + value + "\"\nunit = \"%\"");
  return Experiment::plan(ExperimentFile::parse(changed, "two").value());
}

TEST(ApiExperiment, CountersThatNoRunHasAreSaidBeforeAnythingRuns) {
  EXPECT_TRUE(with_value("l2.read_hits / l2.reads"));
  EXPECT_TRUE(with_value("energy.dram.read + energy"));
  EXPECT_TRUE(with_value("workload.batch / time"));
  const Expected<Experiment> counter = with_value("l2.read_hit / l2.reads");
  ASSERT_FALSE(counter);
  for (const char* part :
       {"figure 'ipc' (two:", "no run has a counter 'l2.read_hit'", "did you mean 'l2.read_hits'?"})
    EXPECT_TRUE(contains(counter.failure().message, part)) << counter.failure().message;
  EXPECT_NE(counter.failure().line, 0u);
  EXPECT_TRUE(contains(with_value("energy.dram.reed").failure().message, "'energy.dram.read'"));
  EXPECT_TRUE(contains(with_value("cycle").failure().message, "'cycles'"));
  // A key that only some of the policies have is there.
  EXPECT_FALSE(with_value("offload.learning")) << "the second figure has baseline alone";
}

TEST(ApiExperiment, ReportsAreTheCommandLines) {
  const TemporaryFolder folder;
  write_text(folder.file("two.toml"), text());
  const Outcome theirs = run_program(
      {"experiment", folder.file("two.toml"), "--out", folder.file("theirs"), "--threads", "1"});
  ASSERT_EQ(theirs.exit_code, 0) << theirs.err;

  const Experiment own = two();
  size_t told = 0;
  const auto ran = own.run(
      {.out = folder.file("own"), .threads = 1, .finished = [&](const auto&) { told += 1; }});
  ASSERT_TRUE(ran) << ran.failure().message;
  EXPECT_EQ(ran->points, kPoints);
  EXPECT_EQ(ran->finished, kPoints);
  EXPECT_EQ(ran->failed, 0u) << ran->first_failure;
  EXPECT_EQ(told, kPoints);
  const auto report = own.report(folder.file("own"));
  ASSERT_TRUE(report) << report.failure().message;
  ASSERT_TRUE(report->write(folder.file("own")));
  for (const char* name : {"points.csv", "figures/cycles.csv", "figures/ipc.tex"})
    EXPECT_EQ(read_text(folder.file(std::string("own/") + name)),
              read_text(folder.file(std::string("theirs/") + name)))
        << name;
  ASSERT_EQ(report->figures.size(), 2u);
  for (const FigureTable& figure : report->figures)
    EXPECT_TRUE(contains(theirs.out, figure.text)) << figure.text;
  EXPECT_EQ(report->points_csv, read_text(folder.file("own/points.csv")));
  EXPECT_TRUE(contains(report->html, "<html"));
}

TEST(ApiExperiment, StoppedItGoesOnAndPartsAreJoined) {
  const TemporaryFolder folder;
  const Experiment own = two();
  SweepOptions options{.out = folder.file("x"), .threads = 1};
  options.progress = [](const SweepProgress& p) { return p.points_done < 3; };
  const auto stopped = own.run(options);
  ASSERT_TRUE(stopped) << stopped.failure().message;
  EXPECT_TRUE(stopped->stopped);
  EXPECT_LT(stopped->finished, kPoints);
  options.progress = {};
  const auto first = own.run({.out = folder.file("x"), .part = "1/2", .threads = 1});
  ASSERT_TRUE(first) << first.failure().message;
  EXPECT_TRUE(first->file.ends_with("results-1-of-2.jsonl")) << first->file;
  const auto rest = own.run(options);
  ASSERT_TRUE(rest) << rest.failure().message;
  EXPECT_EQ(rest->already_there + rest->finished, kPoints);
  EXPECT_GE(rest->already_there, stopped->finished);
  options.only_count = true;
  options.csv = folder.file("points.csv");
  EXPECT_EQ(own.run(options)->already_there, kPoints);

  ASSERT_TRUE(own.run({.out = folder.file("whole")}));
  EXPECT_EQ(own.report(folder.file("x"))->points_csv, own.report(folder.file("whole"))->points_csv);
  EXPECT_EQ(read_text(options.csv), own.report(folder.file("x"))->points_csv);
}

/// Points do not fail because their program was stopped.
TEST(ApiExperiment, StoppedWhileAProgramRunsItHasNoResults) {
  const TemporaryFolder folder;
  const Words command = {"python3", NW_SOURCE_DIR "/bench/samples/squares.py"};
  ASSERT_TRUE(new_experiment(folder.file("app.toml"), command));
  const Experiment app = Experiment::load(folder.file("app.toml")).value();
  SweepOptions options{.out = folder.file("x"), .threads = 1};
  std::string unit = "none";
  options.program = [&](const Activity& a) {
    unit = a.unit;
    return false;
  };
  const auto outcome = app.run(options);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(unit, "") << "how much is done of an application is not known";
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->finished + outcome->failed, 0u) << outcome->first_failure;

  const Sweep sweep =
      Sweep::plan({.programs = {"kmeans"}, .machines = {"tom"}, .policies = {"baseline"}}).value();
  options.out = folder.file("s.jsonl");
  const auto swept = sweep.run(options);
  ASSERT_TRUE(swept) << swept.failure().message;
  EXPECT_EQ(unit, "Mwi/s");
  EXPECT_TRUE(swept->stopped);
  EXPECT_EQ(swept->finished + swept->failed, 0u) << swept->first_failure;
}

TEST(ApiExperiment, PointsAndWhatTheFileSays) {
  const ExperimentFile all = file();
  EXPECT_EQ(all.title(), "Two");
  EXPECT_EQ(all.own_programs(), Words{"squares"});
  ASSERT_EQ(all.studies().size(), 2u);
  EXPECT_EQ(all.studies()[0].programs, (Words{"axpy", "squares"}));
  const std::vector<StudyPoint> points = two().points();
  ASSERT_EQ(points.size(), kPoints + 1);
  EXPECT_EQ(points[0].point.program, "axpy");
  EXPECT_EQ(points[0].point.size, "small");
  EXPECT_EQ(points[4].point.size, "") << "it is as large as it is";
  EXPECT_EQ(points[0].point.values, Words{"links.gpu_to_memory_mbps=40000"});
  EXPECT_EQ(points[4].point.id, points[8].point.id) << "a point of both studies";
  EXPECT_EQ(points[8].study, "one");
  EXPECT_EQ(two().folder(), "two-small");

  const ExperimentFile fewer = all.only(Words{"ipc"}).value();
  EXPECT_EQ(fewer.figures().size(), 1u);
  const Experiment one = Experiment::plan(fewer, {.size = "medium"}).value();
  EXPECT_EQ(one.points().size(), 1u);
  EXPECT_EQ(one.folder(), "two-report") << "no workload";
  for (const std::string& name : experiment_names())
    EXPECT_TRUE(ExperimentFile::load(name)) << name;
}

TEST(ApiExperiment, WhatIsWrongIsAValue) {
  const auto why = [](const auto& made) { return made.failure().message; };
  EXPECT_TRUE(contains(why(Experiment::load("tmo")), "did you mean 'tom'"));
  const auto wrong = ExperimentFile::parse("title = \"x\"\ndescription = 5\n", "mine");
  EXPECT_EQ(wrong.failure().file, "mine");
  EXPECT_EQ(wrong.failure().line, 2u);
  EXPECT_FALSE(wrong.failure().right.empty());
  EXPECT_EQ(file().only(Words{"ipx"}).failure().kind, Failure::Kind::kUsage);
  EXPECT_EQ(Experiment::plan(file(), {.size = "huge"}).failure().kind, Failure::Kind::kUsage);
  EXPECT_TRUE(contains(why(Experiment::plan(file(), {.launches = "3..1"})), "3..1"));
  std::string other = text();
  other.replace(other.find("\"axpy\""), 6, "\"axpi\"");
  const auto unknown = Experiment::plan(ExperimentFile::parse(other, "mine").value());
  EXPECT_TRUE(contains(why(unknown), "study links (mine): unknown workload 'axpi'"));
  EXPECT_FALSE(contains(why(unknown), "nearwarp list")) << "the command line's word";

  const Experiment own = two();
  EXPECT_EQ(own.run({.out = ""}).failure().kind, Failure::Kind::kUsage);
  EXPECT_FALSE(own.run({.out = "/proc/x/y"}));
  EXPECT_TRUE(contains(why(own.report("/no/such/folder")), "/no/such/folder"));
  const TemporaryFolder folder;
  const auto thrown =
      own.run({.out = folder.file("x"),
               .progress = [](const SweepProgress&) -> bool { throw std::runtime_error("mine"); }});
  EXPECT_TRUE(contains(why(thrown), "mine"));
}

TEST(ApiExperiment, AFileToBeginWith) {
  const TemporaryFolder folder;
  ASSERT_TRUE(new_experiment(folder.file("k.toml"), std::string("kmeans")));
  EXPECT_EQ(Experiment::load(folder.file("k.toml"))->points().size(), 3u);
  const Words command = {"python3", NW_SOURCE_DIR "/bench/samples/squares.py"};
  ASSERT_TRUE(new_experiment(folder.file("app.toml"), command));
  const Experiment app = Experiment::load(folder.file("app.toml")).value();
  EXPECT_EQ(app.file().own_programs(), Words{"python3"});
  EXPECT_EQ(app.folder(), "app-report");

  const auto kind = [](const auto& made) { return made.failure().kind; };
  EXPECT_EQ(kind(new_experiment(folder.file("k.toml"), std::string("kmeans"))),
            Failure::Kind::kUsage)
      << "it is there";
  EXPECT_EQ(kind(new_experiment(folder.file("k"), std::string("kmeans"))), Failure::Kind::kUsage);
  EXPECT_EQ(kind(new_experiment(folder.file("a.toml"), std::string("kmens"))),
            Failure::Kind::kUsage);
  EXPECT_EQ(kind(new_experiment(folder.file("a.toml"), Words{})), Failure::Kind::kUsage);
  EXPECT_FALSE(new_experiment(folder.file("a.toml"), Words{"/no/such/app"}));
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.toml")));
}

TEST(ApiExperiment, PointsOfASweep) {
  const Sweep sweep = Sweep::plan({.programs = {"axpy"},
                                   .machines = {"tom"},
                                   .policies = {"baseline", "tom"},
                                   .values = {"l1.ways=3,4"}})
                          .value();
  ASSERT_EQ(sweep.points(), 4u);
  EXPECT_EQ(sweep.point(3)->policy, "tom");
  EXPECT_EQ(sweep.point(3)->values, Words{"l1.ways=4"});
  EXPECT_EQ(sweep.point(3)->id.size(), 32u);
  EXPECT_TRUE(contains(sweep.point(0)->error, "power of two"));
  EXPECT_EQ(sweep.point(4).failure().kind, Failure::Kind::kUsage);
}

}  // namespace
}  // namespace nearwarp::testing
