// Are CUDA applications recorded as they are, and told of what goes wrong?
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cudart/application.h"

namespace nearwarp::testing {
namespace {

TEST_F(Application, NestedLaunchesAreRecordedAsLaunches) {
  TemporaryFolder folder;
  const auto kernels = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    EXPECT_EQ(run("nested", {}, all).exit_code, 0);
    return nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"];
  };
  uint64_t digs = 0;
  for (const auto& kernel : kernels({}))
    if (kernel["kernel"] == "_Z3digPiP9cudaError") digs = kernel["launches"];
  EXPECT_EQ(digs, 25u);
  const auto one = kernels({"--kernels", "^void expand|^expand"});  // launched by kernels only
  ASSERT_EQ(one.size(), 1u);
  EXPECT_GT(one[0]["launches"], 5);
}

TEST_F(Application, KernelsAndInstructionsMayBeLimited) {
  TemporaryFolder folder;
  const auto launches = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    const Outcome outcome = run("many_launches", {"50"}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "passed"));
    EXPECT_EQ(contains(outcome.err, "only a part was recorded"), !options.empty()) << outcome.err;
    return nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"];
  };
  const auto all = launches({});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["launches"], 50);
  EXPECT_EQ(all[1]["launches"], 50);
  const auto one = launches({"--kernels", "add_two\\(int"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["kernel"], "_Z7add_twoPi");
  EXPECT_EQ(one[0]["thread_instructions"], all[1]["thread_instructions"]);
  const auto few = launches({"--max-instructions", "100000"});
  uint64_t instructions = 0;
  for (const auto& kernel : few) instructions += kernel["thread_instructions"].get<uint64_t>();
  EXPECT_GE(instructions, 100000u);
  EXPECT_LT(instructions, 110000u);
}

TEST_F(Application, RepetitionsAreRecognisedAndCanBeLeftOut) {
  TemporaryFolder folder;
  const auto simulated = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    // Without refreshes, which make one launch in six a third longer.
    Words all = {"--policy", "baseline", "--json", file, "--set", "dram.tREFI=60000"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run("many_launches", {"50"}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(contains(outcome.out, "16 of 100 launches were simulated"), !options.empty());
    return nlohmann::json::parse(read_text(file))["runs"][0];
  };
  const auto all = simulated({}), few = simulated({"--max-repeats", "8"});
  for (size_t k = 0; k < 2; ++k) {
    const auto &a = all["kernel_totals"][k], &f = few["kernel_totals"][k];
    EXPECT_EQ(a["distinct_launches"], 1);
    EXPECT_EQ(a["simulated_launches"], 50);
    EXPECT_EQ(a["estimated_cycles"], a["cycles"]);
    EXPECT_EQ(f["launches"], 50);
    EXPECT_EQ(f["distinct_launches"], 1);
    EXPECT_EQ(f["simulated_launches"], 8);
    EXPECT_EQ(f["thread_instructions"].get<uint64_t>() * 50,
              a["thread_instructions"].get<uint64_t>() * 8);
    const double ratio = f["estimated_cycles"].get<double>() / a["cycles"].get<double>();
    EXPECT_NEAR(ratio, 1, 0.05) << "warm launches take about as long as each other";
  }
  for (size_t i = 0; i < 16; ++i) {  // the first ones are simulated as they are without the limit
    EXPECT_EQ(few["kernels"][i]["cycles"], all["kernels"][i]["cycles"]);
    EXPECT_EQ(few["kernels"][i]["launch"], i);
    EXPECT_EQ(few["kernels"][i]["alike"], i % 2);
    EXPECT_EQ(few["kernels"][i]["stands_for"], i < 14 ? 1 : 43);
  }
}

TEST_F(Application, RegistersAreCountedByMachineCodeOrPtxas) {
  TemporaryFolder folder;
  const auto counted = [&](const std::string& name, const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    const Outcome outcome = run(name, {}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto kernel = nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"][0];
    const std::string source = kernel["registers_source"];
    EXPECT_TRUE(contains(outcome.out, " " + source + "  sm_75\n")) << outcome.out;
    return std::pair{kernel["registers"].get<int>(), source};
  };
  // `defaults` has machine code for sm_75 beside the PTX that `vector_add` has alone.
  const auto [registers, source] = counted("defaults", {});
  EXPECT_EQ(source, "cubin sm_75");
  EXPECT_EQ(counted("vector_add", {}).second, "own allocation");
  EXPECT_EQ(counted("defaults", {"--registers", "own"}), counted("vector_add", {}));
  EXPECT_EQ(counted("linked", {}).second, "cubin sm_75") << "what the linker made";

  const std::string cache = folder.file("cache");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(counted("vector_add", {"--registers", "ptxas", "--trace-cache", cache}),
              (std::pair<int, std::string>{registers, "ptxas sm_75"}));
  EXPECT_TRUE(std::filesystem::exists(cache)) << "and holds the answer";
  EXPECT_FALSE(std::filesystem::is_empty(cache));
  EXPECT_EQ(counted("defaults", {"--registers", "ptxas"}).second, "cubin sm_75");
  EXPECT_EQ(counted("defaults", {"--registers", "ptxas:sm_90"}).second, "ptxas sm_90");

  const std::string file = folder.file("add.nwtrace");
  ASSERT_EQ(run_program({"record", "--out", file, "--registers", "ptxas", "--", app("vector_add")})
                .exit_code,
            0);
  const Outcome again = run_program({"run", file, "--policy", "baseline"});
  EXPECT_TRUE(contains(again.out, "ptxas sm_75  sm_75\n"))
      << again.out << "recordings keep the count";
  const Outcome wrong = run("vector_add", {}, {"--registers", "nvcc"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "'auto', 'own', 'ptxas'")) << wrong.err;
}

TEST_F(Application, EventsTellSimulatedTimes) {
  TemporaryFolder folder;
  const std::string file = folder.file("out.json");
  const auto told = [&](const Words& options) {
    Words all = {"--policy", "baseline", "--json", file, "--set", "gpu.sms=8"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run("timing", {}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<double> times;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      if (line.ends_with(" us")) times.push_back(std::stod(line));
    return times;
  };
  const std::vector<double> simulated = told({"--event-times", "simulated"});
  const auto report = nlohmann::json::parse(read_text(file))["runs"][0];
  ASSERT_EQ(simulated.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(simulated[i], report["kernels"][i]["cycles"].get<double>() / 1400, 0.001)
        << "as in nearwarp's own report";
  EXPECT_LT(simulated[2], simulated[1]);
  const std::vector<double> estimated = told({});
  ASSERT_EQ(estimated.size(), 3u);
  EXPECT_NE(estimated, simulated);
  const Outcome wrong = run("timing", {}, {"--event-times", "exact"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "'estimated' or 'simulated'")) << wrong.err;
}

TEST_F(Application, RecordedOnceSimulatedOften) {
  TemporaryFolder folder;
  const std::string file = folder.file("add.nwtrace");
  const Outcome recorded = run_program({"record", "--out", file, "--", app("vector_add")});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto cycles = [&](const Words& words) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const size_t at = outcome.out.find("\ncycles ");
    return at == std::string::npos ? outcome.out
                                   : outcome.out.substr(at, outcome.out.find('\n', at + 1) - at);
  };
  EXPECT_EQ(cycles({"run", file, "--policy", "baseline"}),
            cycles({"run", "--policy", "baseline", "--", app("vector_add")}));
  const Outcome sweep = run_program({"sweep", file, "--policy", "baseline", "--set",
                                     "l2.bytes=524288,1048576", "--out", folder.file("s/")});
  EXPECT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_TRUE(contains(sweep.out, "add.nwtrace")) << sweep.out;
}

TEST_F(Application, ItsOwnReportInTwoCommands) {
  TemporaryFolder folder;
  const std::string file = folder.file("add.toml"), out = folder.file("report");
  const Outcome made = run_program({"experiment", "--new", file, "--", app("vector_add")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome first = run_program({"experiment", file, "--out", out});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "vector_add")) << first.out;
  EXPECT_TRUE(std::filesystem::exists(out + "/report.html"));
  const auto document = nlohmann::json::parse(read_text(out + "/experiment.json"));
  ASSERT_EQ(document["points"].size(), 3u);
  EXPECT_EQ(document["points"][0]["workload"], "vector_add");
  EXPECT_GT(document["points"][0]["quantities"]["cycles"], 0);
  const Outcome again = run_program({"experiment", file, "--out", out});
  EXPECT_TRUE(contains(again.out, "3 points, 3 of them were there before")) << again.out;
}

TEST_F(Application, AProfileIsThatOfItsRecording) {
  TemporaryFolder folder;
  const std::string file = folder.file("add.nwtrace");
  ASSERT_EQ(run_program({"record", "--out", file, "--", app("vector_add")}).exit_code, 0);
  const auto profile = [&](const Words& words) {
    Words all = {"run", "--profile", "--json", folder.file("out.json")};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "warp-instr.")) << outcome.out;
    return read_text(folder.file("out.json"));
  };
  EXPECT_EQ(profile({file}), profile({"--", app("vector_add")}));
}

TEST_F(Application, SweepsCanLeaveRepetitionsOut) {
  TemporaryFolder folder;
  const std::string file = folder.file("many.nwtrace"), out = folder.file("s.jsonl");
  const Outcome recorded = run_program({"record", "--out", file, "--", app("many_launches"), "20"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto launches = [&](const Words& options) {
    Words words = {"sweep", file, "--policy", "baseline", "--out", out};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string text = read_text(out);
    const auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
    return last["run"]["kernels"].size();
  };
  EXPECT_EQ(launches({}), 40u);
  EXPECT_EQ(launches({"--max-repeats", "2"}), 4u) << "a point of its own in the same file";
  EXPECT_EQ(launches({"--max-repeats", "3"}), 6u);
}

}  // namespace
}  // namespace nearwarp::testing
