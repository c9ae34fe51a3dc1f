// Can a user choose what steps the simulated systems, and is told what cannot be?
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "kernels/device.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

bool has_gpu() {
  std::string why;
  return !kernels::cuda_devices(why).empty();
}

TEST(Backend, DevicesAreListed) {
  const Outcome outcome = run_program({"devices"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "cpu     ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, has_gpu() ? "cuda 0" : "cuda    none: ")) << outcome.out;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
}

TEST(Backend, TheCpuIsAlwaysThere) {
  const Outcome plain = run_program({"run", "fma", "--policy", "baseline", "--backend", "cpu"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
}

TEST(Backend, AutoTakesTheCpuUnlessADeviceIsNamed) {
  const Outcome outcome = run_program({"run", "fma", "--policy", "baseline", "--backend", "auto"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(Backend, WithoutAGpuCudaIsAnErrorThatSaysSo) {
  if (has_gpu()) GTEST_SKIP() << "there is a GPU";
  for (const Words& words :
       {Words{"run", "fma", "--backend", "cuda"}, Words{"run", "fma", "--device", "0"},
        Words{"sweep", "fma", "--backend", "cuda", "--out", "/tmp/never-written.jsonl"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, "there is no CUDA device: ")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "--backend cpu")) << outcome.err;
  }
}

TEST(Backend, WrongNamesAreErrorsOfUse) {
  const Outcome wrong = run_program({"run", "fma", "--backend", "cude"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "'cude'")) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "'cuda'")) << wrong.err;
  const Outcome both = run_program({"run", "fma", "--backend", "cpu", "--device", "1"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_TRUE(contains(both.err, "--device")) << both.err;
  EXPECT_TRUE(contains(both.err, "leave --backend cpu out")) << both.err;
  const Outcome needs_cuda = run_program({"dram", "--device", "1"});
  EXPECT_EQ(needs_cuda.exit_code, 2);
  EXPECT_TRUE(contains(needs_cuda.err, "give --backend cuda, too")) << needs_cuda.err;
}

TEST(Backend, OptionsThatWouldHaveNoEffectAreErrors) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.json");
  const Words run = {"run", "fma", "--policy", "tom"};
  const std::pair<Words, const char*> cases[] = {
      {run + Words{"--timeline", file, "--backend", "cude"}, "there is no backend 'cude'"},
      {run + Words{"--timeline", file, "--locate-fault"}, "--locate-fault is about a GPU"},
      {run + Words{"--live", "--locate-fault"}, "--locate-fault is about a GPU"},
      {{"analyze", "fma", "--backend", "cude"}, "--backend is for"},
      {{"analyze", "fma", "--chains", "--device", "1"}, "--device is for"},
  };
  for (const auto& [words, message] : cases) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 2) << message;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  }
}

TEST(Checkpoints, AFinishedRunLeavesNone) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "nearwarp-checkpoints";
  const Outcome outcome =
      run_program({"run", "fma", "--policy", "baseline,tom", "--checkpoint", folder.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_directory(folder));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(Checkpoints, AFolderThatCannotBeMadeIsAnError) {
  const Outcome outcome = run_program({"run", "fma", "--checkpoint", "/dev/null/folder"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "/dev/null/folder")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "--checkpoint")) << outcome.err;
}

}  // namespace
}  // namespace nearwarp::testing
