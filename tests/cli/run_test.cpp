// Does `nearwarp run` report what it should, where it should, whatever happens?
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

/// Takes at least several seconds on any machine, nearly all of it in the timing simulation.
const Words kLongRun = {"run", "gather", "--size", "large", "--policy", "baseline"};

/// Documents differ between runs only in how long these took.
Json without_times(Json document) {
  for (Json& run : document["runs"]) {
    std::erase_if(run.get_ref<Json::object_t&>(),
                  [](const auto& entry) { return entry.first == "host"; });
  }
  return document;
}

TEST(Run, TableOnStandardOutputAndNothingElse) {
  const Outcome outcome = run_program({"run", "vector-add"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(longest_line(outcome.out), 80u);
  EXPECT_FALSE(contains(outcome.out, "\r"));
  for (const char* part : {"vector-add", "small", "tom", "baseline", "ndp-uncontrolled-bmap",
                           "ndp-controlled-bmap", "cycles", "IPC", "speed-up", "GPU->memory",
                           "memory->GPU", "memory<->memory", "offloaded"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part;
  }
}

/// The last run of `nearwarp run row-sum`, which learns its mapping from one instance, a whole
/// loop, at its end.
Json row_sum_under_tom(const Words& more, Outcome& outcome) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  outcome = run_program(Words{"run", "row-sum", "--policy", "baseline,tom", "--json", file, "--set",
                              "offload.decide=entry"} +
                        more);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(read_text(file))["runs"].at(1);
}

TEST(Run, TheLearningPhaseIsInTheDiagnosis) {
  Outcome outcome;
  const Json run = row_sum_under_tom({}, outcome);
  EXPECT_TRUE(contains(outcome.out, "tom is bound by the learning phase, 98 % of the run"))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "instances decided")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "SMs + in stacks")) << outcome.out;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  EXPECT_TRUE(run["bound"].get<std::string>().starts_with("the learning phase")) << run["bound"];
  EXPECT_EQ(run["mapping"]["instances"]["few"], true);
  const Json limited = row_sum_under_tom({"--set", "pcie.limited=true"}, outcome);
  EXPECT_TRUE(contains(limited["bound"], "behind PCI-E, which was ")) << limited["bound"];
}

/// Every resource that can be full is among those that can bound a run.
TEST(Run, HowBusyEverythingWasHasEveryResource) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  const auto names_of = [&](const Words& more) {
    const Outcome outcome = run_program(Words{"run", "--json", file} + more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::set<std::string> names;
    const Json document = Json::parse(read_text(file));
    for (const Json& u : document["runs"].at(0)["utilisation"]) {
      EXPECT_TRUE(names.insert(u["name"]).second) << u;
      EXPECT_LE(u["mean"], u["most"]) << u;
      EXPECT_LE(u["most"], 1.001) << u;
    }
    return names;
  };
  const std::set<std::string> tom =
      names_of({"row-sum", "--policy", "tom", "--set", "pcie.limited=true"});
  for (const char* name :
       {"pcie", "dram.bus", "dram.banks", "dram.activations", "sm.walkers", "l2.tags",
        "link.gpu_to_memory", "noc.crossbar", "sm.issue", "sm.sp", "sm.sfu", "stack_sm.sp"})
    EXPECT_TRUE(tom.contains(name)) << name;
  const std::set<std::string> h100 = names_of({"vector-add", "--machine", "h100"});
  for (const char* name : {"sm.matrix", "sm.int", "sm.dp"})
    EXPECT_TRUE(h100.contains(name)) << name;
  EXPECT_TRUE(
      names_of({"vector-add", "--machine", "qv100"}).contains("l2.tags"));  // sectors take turns
}

/// On machines with a CUDA toolkit, too: results are the same everywhere.
TEST(Run, WorkloadsHaveOurOwnCountOfRegisters) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  const Outcome explained =
      run_program({"run", "vector-add", "--policy", "baseline", "--explain", "--json", file});
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_TRUE(contains(explained.out, "Registers per thread")) << explained.out;
  EXPECT_TRUE(contains(explained.out, "  own allocation  sm_75\n")) << explained.out;
  const Json run = Json::parse(read_text(file))["runs"][0];
  for (const char* list : {"kernels", "kernel_totals"}) {
    EXPECT_EQ(run[list][0]["registers_source"], "own allocation");
    EXPECT_GT(run[list][0]["registers"], 0);
    EXPECT_EQ(run[list][0]["code"], "sm_75");
  }
}

TEST(Run, OverridesReachTheMachine) {
  const TemporaryFolder folder;
  const std::string wide = folder.file("wide.json"), narrow = folder.file("narrow.json");
  const Words run = {"run", "vector-add", "--policy", "baseline", "--json"};
  ASSERT_EQ(run_program(run + Words{wide}).exit_code, 0);
  ASSERT_EQ(run_program(run + Words{narrow, "--set", "links.gpu_to_memory_mbps=8000"}).exit_code,
            0);
  const auto cycles = [](const std::string& path) {
    return Json::parse(read_text(path))["runs"][0]["cycles"].get<uint64_t>();
  };
  EXPECT_GT(cycles(narrow), cycles(wide));  // a tenth of the bandwidth
}

TEST(Run, OverridesReachTheEnergyAccount) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  const Outcome outcome = run_program({"run", "vector-add", "--policy", "baseline", "--set",
                                       "energy.links.idle_fj_per_bit=0", "--json", file});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "energy, all ["));
  const Json document = Json::parse(read_text(file));
  EXPECT_EQ(document["machine"]["energy.model"], "tom-40nm");
  EXPECT_EQ(document["machine"]["energy.links.idle_fj_per_bit"], 0);
  const Json& run = document["runs"][0];
  const uint64_t bytes = run["traffic"]["gpu_to_memory_bytes"].get<uint64_t>() +
                         run["traffic"]["memory_to_gpu_bytes"].get<uint64_t>();
  EXPECT_DOUBLE_EQ(run["energy"]["parts"]["links"].get<double>(),
                   static_cast<double>(bytes) * 8 * 2e-12);
}

TEST(Run, ThreadsAndTraceCacheChangeNothing) {
  const TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  const Words run = {"run", "bfs-uniform"};
  ASSERT_EQ(run_program(run + Words{"--threads", "1", "--json", folder.file("1.json")}).exit_code,
            0);
  ASSERT_EQ(run_program(run + Words{"--threads", "5", "--json", folder.file("5.json")}).exit_code,
            0);
  for (const char* name : {"filled.json", "used.json"}) {
    const Outcome outcome =
        run_program(run + Words{"--trace-cache", cache, "--json", folder.file(name)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const Json one = without_times(Json::parse(read_text(folder.file("1.json"))));
  EXPECT_EQ(one["runs"].size(), 3u);
  for (const char* name : {"5.json", "filled.json", "used.json"}) {
    EXPECT_EQ(without_times(Json::parse(read_text(folder.file(name)))), one) << name;
  }
}

TEST(Run, BrokenTraceCacheIsMadeAgain) {
  const TemporaryFolder cache;
  const Words run = {"run", "fma", "--policy", "baseline", "--trace-cache", cache.path()};
  ASSERT_EQ(run_program(run).exit_code, 0);
  ASSERT_EQ(cache.size(), 1u);
  const std::string entry = std::filesystem::directory_iterator(cache.path())->path();
  const std::string half = read_text(entry).substr(0, read_text(entry).size() / 2);
  write_text(entry, half);
  const Outcome outcome = run_program(run);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string mended = read_text(entry);
  EXPECT_GT(mended.size(), half.size());
  ASSERT_EQ(run_program(run).exit_code, 0);
  EXPECT_TRUE(read_text(entry) == mended);  // used as it is
}

TEST(Run, FullDiskLeavesNothingBehind) {
  const Words run = {"run", "fma", "--policy", "baseline"};
  const Outcome device = run_program(run + Words{"--json", "/dev/full"});
  EXPECT_EQ(device.exit_code, 1);
  EXPECT_TRUE(contains(device.err, "/dev/full")) << device.err;
  EXPECT_TRUE(contains(device.out, "cycles"));  // the table is not lost

  Setting full;
  full.stdout_path = "/dev/full";
  const TemporaryFolder folder;
  const Outcome table = run_program(run + Words{"--json", folder.file("x.json")}, full);
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_TRUE(contains(table.err, "standard output")) << table.err;
  EXPECT_NO_THROW(Json::parse(read_text(folder.file("x.json"))));  // nor is this
}

TEST(Run, ReaderThatLeavesCostsTheTableOnly) {
  const TemporaryFolder folder;
  Setting closed;
  closed.stdout_closed = true;
  run_program({"run", "fma", "--policy", "baseline", "--json", folder.file("x.json")}, closed);
  EXPECT_NO_THROW(Json::parse(read_text(folder.file("x.json"))));
}

TEST(Run, LimitedRunIsPartial) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"run", "fma", "--policy", "baseline", "--set",
                                       "run.max_cycles=2000", "--json", folder.file("x.json")});
  EXPECT_TRUE(contains(outcome.out, "partial")) << outcome.out;
  const Json run = Json::parse(read_text(folder.file("x.json")))["runs"][0];
  EXPECT_EQ(run["status"], "partial");
  EXPECT_EQ(run["cycles"].get<uint64_t>(), 2000u);
}

TEST(Run, FirstInterruptReportsWhatThereIs) {
  const TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  Setting setting;
  setting.stderr_is_terminal = true;
  bool sent = false;
  setting.watch = [&](pid_t child, const std::string& err) {
    // The progress bar tells that the timing simulation has begun: only that one has a total. The
    // first bar is drawn before there is anything to report.
    const size_t bar = err.rfind("%, ");
    if (sent || bar == std::string::npos || err.compare(bar + 3, 3, "0.0") == 0) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Outcome outcome = run_program(kLongRun + Words{"--json", folder.file("x.json")}, setting);
  EXPECT_TRUE(sent) << outcome.err;
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "interrupted")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "partial")) << outcome.out;
  const Json run = Json::parse(read_text(folder.file("x.json")))["runs"][0];
  EXPECT_EQ(run["status"], "partial");
  EXPECT_GT(run["cycles"].get<uint64_t>(), 0u);
  EXPECT_EQ(folder.size(), 1u);
}

TEST(Run, InterruptWhileExecutingEndsTheRun) {
  bool sent = false;
  int calls = 0;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string&) {
    if (sent || ++calls < 20) return;  // some 100 ms after the start
    sent = true;
    kill(child, SIGINT);
  };
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"run", "libor", "--size", "paper", "--policy", "baseline", "--trace-cache", folder.path()},
      setting);
  EXPECT_TRUE(sent);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "interrupted")) << outcome.err;
  EXPECT_EQ(folder.size(), 0u);
}

/// An application that ignores what can be ignored; it leaves its process's number in a file.
class Stubborn {
 public:
  Stubborn() : script_(folder_.file("stubborn")), number_(folder_.file("number")) {
    write_text(script_,
               "#!/bin/sh\ntrap '' INT TERM HUP\necho $$ > " + number_ + "\nwhile :; do :; done\n");
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
  }
  const std::string& script() const { return script_; }
  pid_t process() const {
    return std::filesystem::exists(number_) ? std::atoi(read_text(number_).c_str()) : 0;
  }
  /// Is it gone, soon?
  bool ends() const {
    for (int i = 0; i < 200; ++i) {
      if (kill(process(), 0) != 0) return true;
      usleep(10'000);
    }
    return false;
  }

 private:
  TemporaryFolder folder_;
  std::string script_, number_;
};

TEST(Run, AnApplicationThatIgnoresInterruptsIsKilledInTheEnd) {
  const Stubborn application;
  bool sent = false;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string&) {
    if (sent || application.process() == 0) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Outcome outcome = run_program({"run", "--", application.script()}, setting);
  EXPECT_TRUE(sent);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "has 5 seconds to end")) << outcome.err;
  EXPECT_TRUE(application.ends());
}

TEST(Run, TheSecondInterruptLeavesNoApplicationBehind) {
  const Stubborn application;
  int sent = 0, calls = 0;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string& err) {
    if (application.process() == 0 || ++calls < 5 || sent == 2) return;
    if (sent == 1 && !contains(err, "5 seconds")) return;
    sent += 1;
    kill(child, SIGINT);
  };
  const Outcome outcome = run_program({"run", "--", application.script()}, setting);
  EXPECT_EQ(sent, 2);
  EXPECT_EQ(outcome.signal, SIGINT) << outcome.err;
  EXPECT_TRUE(application.ends());
}

TEST(Run, ProgressBarFitsItsTerminalAndIsWiped) {
  Setting setting;
  setting.stderr_is_terminal = true;
  const Outcome quick = run_program({"run", "fma", "--policy", "baseline"}, setting);
  EXPECT_EQ(quick.err, "");  // it takes too little time for a bar

  bool sent = false;
  setting.watch = [&](pid_t child, const std::string& err) {
    if (sent || std::count(err.begin(), err.end(), '\r') < 4) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Outcome outcome = run_program(kLongRun, setting);
  EXPECT_TRUE(sent);
  const std::string drawn = outcome.err.substr(0, outcome.err.find("nearwarp: "));
  EXPECT_GE(std::count(drawn.begin(), drawn.end(), '\r'), 4);
  std::string last;
  for (size_t begin = 0, end; (end = drawn.find('\r', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string line = drawn.substr(begin, end - begin);
    EXPECT_LT(longest_line(line), 80u) << line;
    if (!line.empty()) last = line;
  }
  EXPECT_EQ(last.find_first_not_of(' '), std::string::npos) << last;
}

}  // namespace
}  // namespace nearwarp::testing
