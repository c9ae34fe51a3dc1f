// Does `nearwarp sweep` find what `nearwarp run` finds, and lose nothing whatever happens?
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

/// 8 points of some 0.1 s.
const Words kSweep = {"sweep",    "kmeans",
                      "--policy", "baseline,ndp-controlled-bmap",
                      "--set",    "l1.bytes=16384,32768",
                      "--set",    "run.max_cycles=30000",
                      "--set",    "sm.warps=24,48"};

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// A file's lines by id, without the host's times.
std::map<std::string, Json> results_of(const std::string& path) {
  std::map<std::string, Json> results;
  for (Json& line : lines_of(path)) {
    if (line.contains("run")) line["run"].erase("host");
    const std::string id = line["id"];
    EXPECT_TRUE(results.emplace(id, std::move(line)).second) << id;
  }
  return results;
}

TEST(Sweep, InPartsResultsAreThoseOfRunAndApproximated) {
  const TemporaryFolder folder;
  const std::string json = folder.file("run.json"), csv = folder.file("csv");
  const Words both = {"kmeans", "fdtd", "--launches", "parallel:1:3", "--threads", "3"};
  const Outcome sweep = run_program(Words{"sweep", "--policy", "baseline,tom,tom-oracle", "--out",
                                          folder.file("x"), "--csv", csv} +
                                    both);
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_TRUE(contains(sweep.out, "Approximated (docs/launches.md): each part's"));
  std::vector<Json> lines = lines_of(folder.file("x"));
  ASSERT_EQ(lines.size(), 6u);
  ASSERT_EQ(run_program({"run", "kmeans", "--launches", "parallel:1:3", "--policy",
                         "baseline,tom,tom-oracle", "--json", json})
                .exit_code,
            0);
  for (Json run : Json::parse(read_text(json))["runs"]) {
    run.erase("host");
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Json& line) {
      return line["workload"] == "kmeans" && line["policy"] == run["policy"];
    });
    ASSERT_NE(same, lines.end());
    (*same)["run"].erase("host");
    EXPECT_EQ((*same)["run"], run);
    EXPECT_EQ(run["launches"]["parts"].size(), 3u);
    EXPECT_EQ(run["launches"]["learnt_by"], run["policy"] == "tom" ? 1 : 0);
  }
  EXPECT_TRUE(contains(read_text(csv), ",each part's machine began 1 launch earlier"));
  // Under first-touch placement, pages of parts are placed as those of the whole program.
  const Outcome whole =
      run_program({"sweep", "fdtd", "--machine", "coda", "--policy", "fgp-only,cgp-fta",
                   "--launches", "parallel:1:3", "--out", folder.file("y")});
  EXPECT_TRUE(contains(whole.out, "but under cgp-fta: exact")) << whole.out << whole.err;
  // Programs that are divided in another way are other points.
  const Outcome again = run_program({"sweep", "kmeans", "--policy", "baseline", "--launches",
                                     "parallel:1:2", "--out", folder.file("x")});
  EXPECT_TRUE(contains(again.out, "1 of 1 points are in")) << again.out;
  EXPECT_FALSE(contains(again.out, "were there before"));
}

TEST(Sweep, ResultsAreThoseOfRun) {
  const TemporaryFolder folder;
  const Words sets = {"--set", "offload.busy_threshold_percent=70", "--set"};
  const Outcome outcome =
      run_program(Words{"sweep", "fma", "reduction", "--out", folder.file("x"), "--threads", "3"} +
                  sets + Words{"links.gpu_to_memory_mbps=20000,80000"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::vector<Json> lines = lines_of(folder.file("x"));
  ASSERT_EQ(lines.size(), 12u);
  for (const char* workload : {"fma", "reduction"}) {
    for (const uint64_t mbps : {20000, 80000}) {
      const std::string json = folder.file("run.json");
      ASSERT_EQ(run_program(Words{"run", workload, "--json", json} + sets +
                            Words{"links.gpu_to_memory_mbps=" + std::to_string(mbps)})
                    .exit_code,
                0);
      for (Json run : Json::parse(read_text(json))["runs"]) {
        run.erase("host");
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const Json& line) {
          return line["workload"] == workload && line["policy"] == run["policy"] &&
                 line["overrides"]["links.gpu_to_memory_mbps"] == mbps;
        });
        ASSERT_NE(same, lines.end());
        Json swept = same->at("run");
        swept.erase("host");
        EXPECT_EQ(swept, run);
      }
    }
  }
}

TEST(Sweep, ProgramsThatAreBoundToStacksAreOthers) {
  const TemporaryFolder folder;
  const auto cycles = [&](const std::string& programs) {
    const Outcome swept =
        run_program({"sweep", programs, "--machine", "coda", "--policy", "cgp-only", "--out",
                     folder.file("all.jsonl"), "--csv", folder.file(programs + ".csv")});
    EXPECT_EQ(swept.exit_code, 0) << swept.err;
    return read_text(folder.file(programs + ".csv"));
  };
  const std::string bound = cycles("row-sum@0+vector-add@1"),
                    other = cycles("row-sum@0+vector-add@1-2"), free = cycles("row-sum+vector-add");
  EXPECT_TRUE(contains(bound, "row-sum@0+vector-add@1,"));
  EXPECT_NE(bound, other);
  EXPECT_NE(bound, free);
  // The file has a result of each of the three, and that of the first is used again.
  EXPECT_EQ(cycles("row-sum@0+vector-add@1"), bound);
  const Outcome run =
      run_program({"run", "row-sum@0+vector-add@1", "--machine", "coda", "--policy", "cgp-only"});
  EXPECT_TRUE(contains(run.out, "vector-add@1")) << run.out;
}

TEST(Sweep, ThreadsAndTraceCacheChangeNothing) {
  const TemporaryFolder folder;
  const Words cache = {"--trace-cache", folder.file("cache")};
  ASSERT_EQ(run_program(kSweep + Words{"--threads", "1", "--out", folder.file("1")}).exit_code, 0);
  ASSERT_EQ(
      run_program(kSweep + cache + Words{"--threads", "4", "--out", folder.file("4")}).exit_code,
      0);
  ASSERT_EQ(run_program(kSweep + cache + Words{"--out", folder.file("cached")}).exit_code, 0);
  EXPECT_EQ(results_of(folder.file("1")), results_of(folder.file("4")));
  EXPECT_EQ(results_of(folder.file("1")), results_of(folder.file("cached")));
}

TEST(Sweep, TableFitsATerminalAndSaysWhereTheFileIs) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"sweep", "fma,vector-add", "--set", "sm.schedulers=1,2",
                                       "--out", folder.file("new/"), "--csv", folder.file("c")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  for (const char* part :
       {"vector-add sm.schedulers=1", "fma sm.schedulers=2", "baseline cycles",
        "ndp-uncontrolled-bmap", "Speed-up", "12 of 12 points", "new/sweep.jsonl"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(count_lines(read_text(folder.file("c"))), 13u);
  EXPECT_EQ(results_of(folder.file("new/sweep.jsonl")).size(), 12u);
}

TEST(Sweep, AKilledSweepLosesOnlyWhatWasRunning) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole"), killed = folder.file("killed");
  ASSERT_EQ(run_program(kSweep + Words{"--out", whole}).exit_code, 0);
  Setting setting;
  setting.watch = [&](pid_t child, const std::string&) {
    if (!std::filesystem::exists(killed)) return;
    if (count_lines(read_text(killed)) >= 2) kill(child, SIGKILL);
  };
  const Words again = kSweep + Words{"--threads", "1", "--out", killed};
  EXPECT_EQ(run_program(again, setting).signal, SIGKILL);
  const size_t saved = lines_of(killed).size();
  EXPECT_GE(saved, 2u);
  EXPECT_LT(saved, 8u);
  write_text(killed, read_text(killed) + "{\"schema\":\"nearwarp.sw");  // as if torn
  const Outcome outcome = run_program(again);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "cut off")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, std::to_string(saved) + " were there before")) << outcome.out;
  EXPECT_EQ(results_of(killed), results_of(whole));
}

TEST(Sweep, InterruptSaysHowToGoOn) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x");
  bool sent = false;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string&) {
    if (sent || !std::filesystem::exists(file) || count_lines(read_text(file)) < 1) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Words words = kSweep + Words{"--threads", "1", "--out", file, "--csv", folder.file("csv")};
  const Outcome stopped = run_program(words, setting);
  EXPECT_TRUE(sent);
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_TRUE(contains(stopped.err, "interrupted")) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "the same command again")) << stopped.err;
  const size_t saved = results_of(file).size();
  EXPECT_LT(saved, 8u);
  EXPECT_EQ(count_lines(read_text(folder.file("csv"))), saved + 1);
  for (const Json& line : lines_of(file)) EXPECT_EQ(line["run"]["cycles"], 30000);
  EXPECT_EQ(run_program(words).exit_code, 0);
  EXPECT_EQ(results_of(file).size(), 8u);
}

TEST(Sweep, PartsJoinToTheWhole) {
  const TemporaryFolder folder;
  const Words words = {"sweep", "fma", "--set", "sm.warps=8,16,32", "--out"};
  ASSERT_EQ(run_program(words + Words{folder.file("whole")}).exit_code, 0);
  Words merge = {"merge", folder.file("merged")};
  for (const char* shard : {"2/2", "1/2"}) {
    ASSERT_EQ(run_program(words + Words{folder.path(), "--shard", shard}).exit_code, 0);
    merge.push_back(folder.file(std::string("sweep-") + shard[0] + "-of-2.jsonl"));
  }
  const Outcome outcome = run_program(merge);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "9 points"));
  EXPECT_EQ(results_of(folder.file("merged")), results_of(folder.file("whole")));
  const std::vector<Json> lines = lines_of(folder.file("merged"));
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i]["index"], i);
  const Outcome nothing = run_program(words + Words{folder.file("merged")});
  EXPECT_TRUE(contains(nothing.out, "9 were there before")) << nothing.out;
  // A run of the whole joins the folder's parts; a part of another division then has no points
  // left.
  const Outcome joined = run_program(words + Words{folder.path()});
  EXPECT_TRUE(contains(joined.out, "9 were there before")) << joined.out;
  EXPECT_EQ(read_text(folder.file("sweep.jsonl")), read_text(folder.file("merged")));
  const Outcome third = run_program(words + Words{folder.path(), "--shard", "1/3"});
  EXPECT_TRUE(contains(third.out, "3 were there before")) << third.out;

  std::string other = read_text(folder.file("whole"));
  const size_t at = other.find("\"cycles\":") + 9;
  other[at] = other[at] == '9' ? '8' : '9';
  write_text(folder.file("whole"), other);
  const Outcome conflict =
      run_program({"merge", folder.file("bad"), folder.file("merged"), folder.file("whole")});
  EXPECT_EQ(conflict.exit_code, 1);
  EXPECT_TRUE(contains(conflict.err, "differs in 'cycles'")) << conflict.err;
}

TEST(Sweep, APointThatFailsIsRecorded) {
  const TemporaryFolder folder;
  const Words words = {"sweep",       "fma",   "--policy",       "baseline", "--set",
                       "l1.ways=4,3", "--set", "l1.bytes=32768", "--out",    folder.file("x")};
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(contains(outcome.err, "1 of 2 points failed")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "power of two")) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "failed")) << outcome.out;
    const std::vector<Json> lines = lines_of(folder.file("x"));
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const Json& line) { return line["status"] == "failed"; }),
              1);
  }
}

TEST(Sweep, MistakesOfUseExitWithTwoBeforeAnythingRuns) {
  const TemporaryFolder folder;
  const Words start = {"sweep", "fma", "--out", folder.file("x")};
  const std::vector<std::pair<Words, std::string>> mistakes = {
      {{"sweep", "fma"}, "--out"},
      {{"sweep"}, "WORKLOAD"},
      {{"sweep", "fma,kmean", "--out", folder.file("x")}, "'kmeans'"},
      {{"sweep", ",", "--out", folder.file("x")}, "no workload"},
      {{"merge", "a"}, "OUT IN"},
      {start + Words{"--set", "sm.warsp=1,2"}, "'sm.warps'"},
      {start + Words{"--set", "sm.warps=1,200"}, "sm.warps"},
      {start + Words{"--set", "sm.warps=1", "--set", "sm.warps=2"}, "twice"},
      {start + Words{"--machine", "tom,ton"}, "'tom'"},
      {start + Words{"--policy", "basline"}, "'baseline'"},
      {start + Words{"--policy", "baseline,baseline"}, "the same"},
      {start + Words{"--size", "huge"}, "huge"},
      {start + Words{"--shard", "3/2"}, "--shard"},
      {start + Words{"--threads", "0"}, "--threads"},
  };
  for (const auto& [words, part] : mistakes) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
    EXPECT_EQ(count_lines(outcome.err), 1u) << outcome.err;
  }
  EXPECT_EQ(folder.size(), 0u);
}

TEST(Sweep, ProgressBarFitsItsTerminalAndIsWiped) {
  const TemporaryFolder folder;
  Setting setting;
  setting.stderr_is_terminal = true;
  bool sent = false;
  setting.watch = [&](pid_t child, const std::string& err) {
    // Only the timing simulation's bar has a share.
    if (sent || std::count(err.begin(), err.end(), '%') < 2) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Outcome outcome =
      run_program({"sweep", "gather", "--size", "large", "--out", folder.file("x")}, setting);
  EXPECT_TRUE(sent);
  const std::string drawn = outcome.err.substr(0, outcome.err.find("nearwarp: "));
  EXPECT_TRUE(contains(drawn, "0/3 points")) << drawn;
  EXPECT_TRUE(contains(drawn, "%")) << drawn;
  std::string last;
  for (size_t begin = 0, end; (end = drawn.find('\r', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string line = drawn.substr(begin, end - begin);
    EXPECT_LT(longest_line(line), 80u) << line;
    if (!line.empty()) last = line;
  }
  EXPECT_EQ(last.find_first_not_of(' '), std::string::npos) << last;
  EXPECT_EQ(read_text(folder.file("x")), "");
}

}  // namespace
}  // namespace nearwarp::testing
