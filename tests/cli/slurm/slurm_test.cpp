// Does a sweep on a real Slurm give what it gives here, whatever happens to its jobs?
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/cli/slurm/cluster.h"
#include "tests/experiment/small.h"

namespace nearwarp::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// 12 points of some 0.1 s.
const Words kSweep = {"sweep",    "kmeans",
                      "--policy", "baseline,ndp-controlled-bmap",
                      "--set",    "l1.bytes=16384,32768",
                      "--set",    "run.max_cycles=150000",
                      "--set",    "sm.warps=16,24,48"};

/// A file of results without the host's times.
std::string without_times(const std::string& path) {
  std::string all;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) {
    Json json = Json::parse(line);
    if (json.contains("run")) json["run"].erase("host");
    all += json.dump() + "\n";
  }
  return all;
}

/// The processes whose command line has all of these words in it.
std::vector<pid_t> processes_with(const Words& words) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid == 0) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::stringstream line;
    line << file.rdbuf();
    bool all = true;
    for (const std::string& word : words) all = all && contains(line.str(), word);
    if (all) found.push_back(pid);
  }
  return found;
}

class Slurm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = new Cluster; }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override {
    if (!cluster_->why_not().empty()) GTEST_SKIP() << cluster_->why_not();
  }

  Words sweep_into(const std::string& out) const {
    return kSweep + Words{"--out", folder_.file(out) + "/"};
  }
  Words slurm(const std::string& out, const Words& more = {}) const {
    return sweep_into(out) + Words{"--engine", "slurm", "--slurm-tasks", "3"} + more;
  }
  /// The results of the same sweep here.
  const std::string& expected() const {
    if (expected_.empty()) {
      EXPECT_EQ(run_program(sweep_into("local") + Words{"--threads", "1"}).exit_code, 0);
      expected_ = without_times(folder_.file("local/sweep.jsonl"));
    }
    return expected_;
  }
  /// Points in the parts' files.
  size_t points_in(const std::string& out) const {
    size_t points = 0;
    for (const char* part : {"1", "2", "3"}) {
      const std::string path = folder_.file(out + "/sweep-" + part + "-of-3.jsonl");
      if (fs::exists(path)) points += count_lines(read_text(path));
    }
    return points;
  }
  /// Does something once, when so many points are there.
  Setting when(const std::string& out, size_t points, std::function<bool(pid_t)> act) const {
    Setting setting;
    setting.watch = [=, this, done = false](pid_t pid, const std::string&) mutable {
      if (!done && points_in(out) >= points) done = act(pid);
    };
    return setting;
  }

  static Cluster* cluster_;
  static std::string expected_;
  const TemporaryFolder folder_;
};

Cluster* Slurm::cluster_ = nullptr;
std::string Slurm::expected_;

TEST_F(Slurm, AnInterruptedCommandGoesOnWithItsJob) {
  const Outcome stopped =
      run_program(slurm("x"), when("x", 1, [](pid_t pid) { return kill(pid, SIGINT) == 0; }));
  EXPECT_EQ(stopped.exit_code, 1);
  const std::string record = folder_.file("x/slurm/job.json");
  ASSERT_TRUE(fs::exists(record)) << stopped.err;
  const std::string job = Json::parse(read_text(record))["submitted"][0]["job"];
  EXPECT_TRUE(contains(stopped.err, "job " + job + " is submitted: 12 of 12 points, in 3 tasks"))
      << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "job " + job + " goes on")) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "scancel " + job)) << stopped.err;

  const Outcome other = run_program(slurm("x", {"--set", "sm.schedulers=1"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.err, "on other points")) << other.err;

  const Outcome outcome = run_program(sweep_into("x") + Words{"--engine", "slurm"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "job " + job + " submitted before")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "is submitted")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "12 of 12 points are in")) << outcome.out;
  EXPECT_FALSE(fs::exists(record));
  EXPECT_EQ(without_times(folder_.file("x/sweep.jsonl")), expected());

  const Outcome nothing = run_program(slurm("x"));
  EXPECT_EQ(nothing.exit_code, 0);
  EXPECT_EQ(nothing.err, "");
  EXPECT_TRUE(contains(nothing.out, "12 were there before")) << nothing.out;
}

TEST_F(Slurm, ATaskThatIsKilledIsSubmittedAgain) {
  const std::string out = folder_.file("x");
  const Outcome outcome =
      run_program(slurm("x"), when("x", 1, [&](pid_t) {
                    const auto tasks = processes_with({"--out=" + out, "--shard=2/3"});
                    for (const pid_t task : tasks) kill(task, SIGKILL);
                    return !tasks.empty();
                  }));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "part 2 of 3")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "ended as FAILED")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "submitted again (1 of 2)")) << outcome.err;
  EXPECT_EQ(without_times(folder_.file("x/sweep.jsonl")), expected());
}

TEST_F(Slurm, ACancelledJobIsNotSubmittedAgain) {
  const Outcome outcome = run_program(slurm("x"), when("x", 1, [](pid_t) {
                                        output_of_shell("scancel --state=RUNNING");
                                        return true;
                                      }));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "was cancelled")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "again (")) << outcome.err;
  // With other parts: those before are taken along.
  const size_t there = points_in("x");
  const Outcome rest =
      run_program(sweep_into("x") + Words{"--engine", "slurm", "--slurm-tasks", "4"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.out, std::to_string(there) + " were there before")) << rest.out;
  EXPECT_EQ(without_times(folder_.file("x/sweep.jsonl")), expected());
}

TEST_F(Slurm, FailedPointsAreResults) {
  const Words words = {"sweep",    "fma",         "--policy", "baseline",
                       "--set",    "l1.ways=4,3", "--set",    "l1.bytes=32768",
                       "--engine", "slurm",       "--out",    folder_.file("x/")};
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "1 of 2 points failed")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "power of two")) << outcome.err;
  const Outcome retry = run_program(words + Words{"--retry"});
  EXPECT_EQ(retry.exit_code, 1);
  EXPECT_TRUE(contains(retry.err, "1 of 2 points, in 1 task;")) << retry.err;
  EXPECT_FALSE(contains(retry.err, "submitted again")) << retry.err;
  EXPECT_TRUE(contains(retry.err, "1 of 2 points failed")) << retry.err;
}

TEST_F(Slurm, AnExperimentIsThatOfThisMachine) {
  write_text(folder_.file("small.toml"), kSmallExperiment);
  const auto experiment = [&](const std::string& out, const Words& more) {
    return run_program(Words{"experiment", folder_.file("small.toml"), "--out", folder_.file(out),
                             "--threads", "1"} +
                       more);
  };
  ASSERT_EQ(experiment("local", {}).exit_code, 0);
  const Outcome outcome = experiment("slurm", {"--engine", "slurm", "--slurm-tasks", "4"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "10 points, 0 of them were there before")) << outcome.out;
  for (const char* file : {"experiment.json", "points.csv", "report.html", "figures/speedup.csv"})
    EXPECT_EQ(read_text(folder_.file(std::string("slurm/") + file)),
              read_text(folder_.file(std::string("local/") + file)))
        << file;
  EXPECT_EQ(without_times(folder_.file("slurm/results.jsonl")),
            without_times(folder_.file("local/results.jsonl")));
}

TEST_F(Slurm, SbatchSaysWhatItDoesNotLike) {
  const Outcome partition = run_program(slurm("x", {"--slurm-partition", "nowhere"}));
  EXPECT_EQ(partition.exit_code, 1);
  EXPECT_TRUE(contains(partition.err, "invalid partition specified: nowhere")) << partition.err;
  const Outcome node = run_program(slurm("x", {"--slurm-nodes", "a[1-2]"}));
  EXPECT_EQ(node.exit_code, 1);
  EXPECT_TRUE(contains(node.err, "'a1', which is no node here")) << node.err;
}

}  // namespace
}  // namespace nearwarp::testing
