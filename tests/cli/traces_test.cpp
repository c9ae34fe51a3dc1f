// Can a user give Accel-Sim's traces in place of a workload, and is told what does not work with
// them?
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// A list of one kernel of a warp that loads and stores 128 bytes.
std::string write_list(const TemporaryFolder& folder) {
  write_text(folder.file("kernel-1.traceg"),
             "-kernel name = copy\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-nregs = 8\n"
             "-binary version = 86\n-accelsim tracer version = 5\n\n#traces format = ...\n"
             "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 4\n"
             "0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f2280000000 4\n"
             "0010 ffffffff 0 STG.E 2 R2 R4 4 1 0x7f2280001000 4\n"
             "0020 ffffffff 1 R4 HMMA.16816.F32 3 R8 R12 R4 0\n"
             "0030 ffffffff 0 EXIT 0 0\n#END_TB\n");
  write_text(folder.file("kernelslist.g"), "MemcpyHtoD,0x7f2280000000,4096\nkernel-1.traceg\n");
  return folder.file("kernelslist.g");
}

TEST(Traces, AProfileNamesInstructions) {
  const TemporaryFolder folder;
  const std::string json = folder.file("x.json");
  const Outcome outcome = run_program({"run", write_list(folder), "--profile", "--json", json});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "4 warp-instructions in 1 launch, ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\ninstr. 0 ")) << outcome.out;
  const auto document = nlohmann::json::parse(read_text(json));
  const auto& program = document["programs"].at(0);
  for (const char* kind : {"global_loads", "global_stores"})
    EXPECT_EQ(program.at(kind),
              (nlohmann::json{
                  {"accesses", 1}, {"lanes", 32}, {"sectors", 4}, {"lines", 1}, {"bytes", 128}}));
  ASSERT_EQ(program["source"].size(), 4u);
  EXPECT_TRUE(program["source"][0].contains("instruction"));
}

TEST(Traces, RunUnderTheBaselineUnlessToldOtherwise) {
  const TemporaryFolder folder;
  const std::string list = write_list(folder), json = folder.file("x.json");
  const Outcome outcome = run_program({"run", list, "--json", json});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "HMMA (1): matrix units are not modelled")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "4 warp-instructions in")) << outcome.out;
  EXPECT_LE(longest_line(outcome.out), 80u);
  const auto document = nlohmann::json::parse(read_text(json));
  ASSERT_EQ(document["runs"].size(), 1u);
  EXPECT_EQ(document["runs"][0]["policy"], "baseline");
}

TEST(Traces, TheirFoldersMayHaveAnyName) {
  const TemporaryFolder folder;
  write_list(folder);
  const std::filesystem::path other = folder.file("caf\xe9");  // no UTF-8
  std::filesystem::create_directory(other);
  for (const char* file : {"kernel-1.traceg", "kernelslist.g"})
    std::filesystem::rename(folder.file(file), other / file);
  const std::string json = folder.file("x.json");
  const Outcome outcome = run_program(
      {"run", other / "kernelslist.g", "--json", json, "--checkpoint", folder.file("states")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto document = nlohmann::json::parse(read_text(json));
  EXPECT_TRUE(contains(document["runs"][0]["workload"], "caf\xef\xbf\xbd/kernelslist.g"));
}

TEST(Traces, MarkersArePassedOver) {
  const TemporaryFolder folder;
  const std::string list = write_list(folder), kernel = folder.file("kernel-1.traceg");
  write_text(list, "REPLAY_START\nkernel-1.traceg\nREPLAY_END,1\n");
  std::string text = read_text(kernel);
  for (const std::string before : {"#BEGIN_TB", "warp = 0", "0010 ", "#END_TB"})
    text.insert(text.find(before), before == "0010 " ? "REPLAY_END\n" : "REPLAY_START 2\n");
  write_text(kernel, text);
  const Outcome outcome = run_program({"run", list});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "; 4 warp-instructions in")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err,
                       "lines of the list that begin with REPLAY_START, REPLAY_END "
                       "are passed over"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err,
                       "lines between instructions that begin with REPLAY_START, "
                       "REPLAY_END are passed over"))
      << outcome.err;
}

TEST(Traces, OffloadingIsRefusedBeforeAnythingIsRead) {
  const TemporaryFolder folder;
  write_text(folder.file("kernelslist.g"), "kernel-1.traceg\n");  // which is not there
  const std::string list = folder.file("kernelslist.g");
  for (const Words& words :
       {Words{"run", list, "--policy", "baseline,tom"}, Words{"analyze", list, "--mappings"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.err, "analysis of PTX")) << outcome.err;
  }
  const std::string whole = write_list(folder);
  const Outcome sweep =
      run_program({"sweep", whole, "--policy", "tom", "--out", folder.file("x.jsonl")});
  EXPECT_EQ(sweep.exit_code, 2);
  EXPECT_TRUE(contains(sweep.err, "analysis of PTX")) << sweep.err;
}

TEST(Traces, MissingAndDamagedFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program({"run", folder.file("no.g")}).exit_code, 1);
  write_text(folder.file("kernelslist.g"), "kernel-1.traceg\n");
  const Outcome missing = run_program({"run", folder.file("kernelslist.g")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.err, "kernelslist.g:1")) << missing.err;
  write_list(folder);
  const std::string kernel = folder.file("kernel-1.traceg"), text = read_text(kernel);
  write_text(kernel, text.substr(0, text.size() - 20));
  const Outcome cut = run_program({"run", kernel});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_TRUE(contains(cut.err, "kernel-1.traceg:1")) << cut.err;
}

TEST(Traces, WhatIsNoTraceAndWhatDoesNotApply) {
  const TemporaryFolder folder;
  const Outcome raw = run_program({"run", folder.file("kernelslist")});
  EXPECT_EQ(raw.exit_code, 2);
  EXPECT_TRUE(contains(raw.err, "post-traces-processing")) << raw.err;
  const Outcome size = run_program({"run", write_list(folder), "--size", "large"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_TRUE(contains(size.err, "--size is for workloads")) << size.err;
}

TEST(Traces, AnalyzeSaysWhatThereIs) {
  const TemporaryFolder folder;
  const std::string list = write_list(folder);
  const Outcome outcome = run_program({"analyze", list});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"kernel copy", "1 launch, 1 thread block", "4 warp-instructions, 128",
                           "global memory", "50.0 %", "tensor", "no offloading candidates"})
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  EXPECT_LE(longest_line(outcome.out), 80u);
  const Outcome other = run_program({"analyze", list, "--kernel", "cpoy"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.err, "did you mean 'copy'")) << other.err;
  const Outcome strides = run_program({"analyze", list, "--strides"});
  EXPECT_EQ(strides.exit_code, 2);
  EXPECT_TRUE(contains(strides.err, "--strides analyzes a program's code, but ")) << strides.err;
}

TEST(Traces, SweepGoesOnWithTheSameFiles) {
  const TemporaryFolder folder;
  const std::string list = write_list(folder);
  const Words sweep = {"sweep",         list,
                       "--out",         folder.file("x.jsonl"),
                       "--trace-cache", folder.file("cache"),
                       "--set",         "l2.bytes=524288,1048576"};
  const Outcome first = run_program(sweep);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "2 points, on machine tom")) << first.out;
  EXPECT_TRUE(contains(run_program(sweep).out, "2 were there before"));

  // Copied elsewhere they are the same traces; changed they are others, even of the same size.
  const TemporaryFolder elsewhere;
  Words copied = sweep;
  copied[1] = write_list(elsewhere);
  EXPECT_TRUE(contains(run_program(copied).out, "2 were there before"));
  std::string text = read_text(elsewhere.file("kernel-1.traceg"));
  text.replace(text.find("0x7f2280001000"), 14, "0x7f2280002000");
  write_text(elsewhere.file("kernel-1.traceg"), text);
  EXPECT_FALSE(contains(run_program(copied).out, "were there before"));
}

}  // namespace
}  // namespace nearwarp::testing
