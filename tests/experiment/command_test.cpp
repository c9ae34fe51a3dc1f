// Does `nearwarp experiment` give what `nearwarp run` gives, and lose nothing whatever happens?
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/experiment/small.h"

namespace nearwarp::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Everything but the results' own file, whose lines have the host's times.
const char* const kFiles[] = {"experiment.json",     "points.csv",          "report.html",
                              "figures/speedup.csv", "figures/traffic.csv", "figures/warps.csv",
                              "figures/both.csv"};

class ExperimentCommand : public ::testing::Test {
 protected:
  ExperimentCommand() { write_text(folder_.file("small.toml"), kSmallExperiment); }

  Outcome experiment(const std::string& out, const Words& more = {}, const Setting& setting = {}) {
    Words words = {
        "experiment", folder_.file("small.toml"), "--out", folder_.file(out), "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, setting);
  }
  std::string text(const std::string& file) { return read_text(folder_.file(file)); }

  void expect_equal(const std::string& a, const std::string& b) {
    for (const char* file : kFiles)
      EXPECT_EQ(text(a + "/" + file), text(b + "/" + file)) << a << ", " << b << ": " << file;
  }

  TemporaryFolder folder_;
};

TEST_F(ExperimentCommand, NumbersAreThoseOfRun) {
  const Outcome outcome = experiment("x");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "10 points, 0 of them were there before")) << outcome.out;
  const std::string json = folder_.file("run.json");
  ASSERT_EQ(
      run_program({"run", "kmeans", "--size", "small", "--policy", "baseline,tom", "--json", json})
          .exit_code,
      0);
  const Json runs = Json::parse(read_text(json))["runs"];
  const Json document = Json::parse(text("x/experiment.json"));
  EXPECT_EQ(document["schema"], "nearwarp.experiment/1");
  const Json& figure = document["figures"][0];
  bool found = false;
  for (const Json& cell : figure["cells"]) {
    if (figure["x"][cell["x"].get<size_t>()] != "kmeans" ||
        figure["series"][cell["series"].get<size_t>()] != "tom")
      continue;
    found = true;
    EXPECT_DOUBLE_EQ(cell["value"].get<double>(),
                     runs[0]["cycles"].get<double>() / runs[1]["cycles"].get<double>());
  }
  EXPECT_TRUE(found);
  for (const Json& point : document["points"]) {
    if (point["workload"] != "kmeans" || point["policy"] != "tom") continue;
    EXPECT_EQ(point["quantities"]["cycles"], runs[1]["cycles"]);
    EXPECT_EQ(point["candidates"], runs[1]["candidates"]);
    // The document has the mechanism's tables for the page.
    const Json& blocks = point["sections"][0];
    EXPECT_EQ(blocks["title"], "Candidate blocks");
    ASSERT_EQ(blocks["rows"].size(), point["candidates"].size());
    EXPECT_EQ(blocks["rows"][0].size(), blocks["columns"].size());
    EXPECT_EQ(blocks["rows"][0][0]["kernel"], point["candidates"][0]["kernel"]);
    const std::string name = "sm.issued";
    const auto& names = document["counters"];
    EXPECT_TRUE(names.contains(name));
  }
  EXPECT_TRUE(contains(text("x/figures/speedup.csv"), "times as fast,1.25,nowhere"));
}

TEST_F(ExperimentCommand, GoesOnWhereItStopped) {
  ASSERT_EQ(experiment("whole").exit_code, 0);
  // The experiment is done in pieces: first one figure's runs; then a line is cut off.
  ASSERT_EQ(experiment("pieces", {"--only", "warps"}).exit_code, 0);
  std::string results = text("pieces/results.jsonl");
  write_text(folder_.file("pieces/results.jsonl"), results.substr(0, results.size() - 100));
  const Outcome rest = experiment("pieces");
  EXPECT_EQ(rest.exit_code, 0);
  EXPECT_TRUE(contains(rest.err, "was cut off")) << rest.err;
  EXPECT_TRUE(contains(rest.out, "10 points, 3 of them were there before")) << rest.out;
  expect_equal("whole", "pieces");
}

TEST_F(ExperimentCommand, AnInterruptLosesNothingThatWasFinished) {
  ASSERT_EQ(experiment("whole").exit_code, 0);
  Setting setting;
  bool sent = false;
  setting.watch = [&](pid_t pid, const std::string&) {
    std::error_code ignored;
    const auto size = fs::file_size(folder_.file("stopped/results.jsonl"), ignored);
    if (sent || ignored || size == 0) return;
    sent = true;
    kill(pid, SIGINT);
  };
  const Outcome stopped = experiment("stopped", {}, setting);
  if (stopped.exit_code != 0) {
    EXPECT_TRUE(contains(stopped.err, "the same command again runs them")) << stopped.err;
    EXPECT_TRUE(contains(stopped.out, "10 points, not all of them done")) << stopped.out;
    EXPECT_FALSE(contains(stopped.out, "Speed-up")) << "figures of gaps: " << stopped.out;
  }
  ASSERT_EQ(experiment("stopped").exit_code, 0);
  expect_equal("whole", "stopped");
}

TEST_F(ExperimentCommand, PartsAreTheWhole) {
  ASSERT_EQ(experiment("whole").exit_code, 0);
  for (const char* part : {"1/3", "2/3", "3/3"})
    ASSERT_EQ(experiment("parts", {"--shard", part}).exit_code, 0);
  const Outcome joined = experiment("parts", {"--no-run"});
  ASSERT_EQ(joined.exit_code, 0) << joined.err;
  expect_equal("whole", "parts");
  const Outcome nothing = experiment("parts");
  EXPECT_TRUE(contains(nothing.out, "10 points, 10 of them were there before")) << nothing.out;
  expect_equal("whole", "parts");
}

TEST_F(ExperimentCommand, AFailedPointLosesNoOther) {
  std::string file = kSmallExperiment;
  const std::string good = "l1.bytes=16384,32768";
  file.replace(file.find(good), good.size(), "l1.ways=4,3");
  for (size_t at = 0; (at = file.find("\"l1.bytes\"")) != std::string::npos;)
    file.replace(at, 10, "\"l1.ways\"");
  write_text(folder_.file("small.toml"), file);
  const Outcome outcome = experiment("x");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "2 of 10 points failed")) << outcome.err;
  const Json document = Json::parse(text("x/experiment.json"));
  EXPECT_EQ(document["studies"][1]["complete"], 2);
  EXPECT_EQ(document["studies"][1]["failed"], 2);
  ASSERT_EQ(document["figures"][2]["notes"].size(), 2u);
  EXPECT_TRUE(contains(document["figures"][2]["notes"][0], "power of two"));
  EXPECT_EQ(document["figures"][2]["cells"].size(), 2u);
}

TEST_F(ExperimentCommand, OfAFolderThatIsNotThereNoReportIsMade) {
  const Outcome outcome = experiment("wheer", {"--no-run"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "wheer")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "name the one that the experiment was run into"))
      << outcome.err;
  EXPECT_FALSE(fs::exists(folder_.file("wheer")));
}

TEST_F(ExperimentCommand, ANewFileNeedsAProgram) {
  const std::string file = folder_.file("new.toml");
  const auto says = [&](const Words& more, const std::string& what) {
    const Outcome outcome = run_program(Words{"experiment", "--new", file} + more);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.err, what)) << outcome.err;
  };
  says({}, "--new needs the program that the file is for");
  says({"--"}, "an application must follow '--'");
  says({"axpy", "--size", "medium"}, "--size does not go with --new");
  says({"--retry", "--", "ls"}, "--retry does not go with --new");
  says({"axpy+vector-add"}, "one program, and 'axpy+vector-add' has 2");
  EXPECT_FALSE(fs::exists(file));
  const Outcome nothing = run_program({"experiment"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_TRUE(contains(nothing.err, "needs NAME|FILE.toml")) << nothing.err;
}

TEST_F(ExperimentCommand, MistakesAreFoundBeforeAnythingRuns) {
  EXPECT_EQ(run_program({"experiment", "xyzzy"}).exit_code, 2);
  const Outcome figure = experiment("x", {"--only", "spedup"});
  EXPECT_EQ(figure.exit_code, 2);
  EXPECT_TRUE(contains(figure.err, "did you mean 'speedup'")) << figure.err;
  std::string file = kSmallExperiment;
  file.replace(file.find("\"kmeans\""), 8, "\"kmaens\"");
  write_text(folder_.file("small.toml"), file);
  const Outcome workload = experiment("x");
  EXPECT_NE(workload.exit_code, 0);
  EXPECT_TRUE(contains(workload.err, "study main")) << workload.err;
  EXPECT_TRUE(contains(workload.err, "did you mean 'kmeans'")) << workload.err;
  EXPECT_FALSE(fs::exists(folder_.file("x")));
}

TEST(Experiments, ThoseThatComeWithTheProgramCanBeMade) {
  for (const char* name : {"tom", "tuning", "coda", "opportunistic", "mpu", "mechanisms",
                           "combinations", "decoding"}) {
    const TemporaryFolder folder;
    const Outcome outcome = run_program(
        {"experiment", name, "--size", "small", "--no-run", "--out", folder.path().string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(run_program({"list", "experiments"}).out, name));
    EXPECT_TRUE(contains(run_program({"show", "experiment", name}).out, "[[figure]]"));
  }
}

}  // namespace
}  // namespace nearwarp::testing
