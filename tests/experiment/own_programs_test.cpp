// Do experiments take PTX with launches, recordings and traces beside workloads?
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

const std::string kSquares = std::string("[program.squares]\nptx = \"") + NW_SOURCE_DIR +
                             "/bench/samples/squares.ptx\"\n" + R"(
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
block = [128]
args = ["in", "out", 16384]
times = 3
)";

std::string experiment_of(const std::string& programs, const std::string& workloads) {
  return "title = \"Own\"\ndescription = \"For tests\"\n" + programs +
         "[study.main]\nworkloads = [" + workloads + R"(]
machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap"]
[[figure]]
name = "cycles"
title = "Cycles"
studies = ["main"]
x = "workload"
series = "policy"
value = "cycles"
)";
}

class OwnPrograms : public ::testing::Test {
 protected:
  Outcome run(const std::string& text, const Words& more = {}) {
    write_text(folder_.file("e.toml"), text);
    return run_program(Words{"experiment", folder_.file("e.toml"), "--out", folder_.file("x")} +
                       more);
  }
  Json points() { return Json::parse(read_text(folder_.file("x/experiment.json")))["points"]; }
  void expect_refused(const std::string& text, const std::string& why) {
    const Outcome outcome = run(text);
    EXPECT_NE(outcome.exit_code, 0) << why;
    EXPECT_TRUE(contains(outcome.err + outcome.out, why)) << outcome.err << outcome.out;
  }
  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
  }

  TemporaryFolder folder_;
};

TEST_F(OwnPrograms, PtxIsLaunchedAndItsRecordingGivesTheSame) {
  const Outcome outcome = run(experiment_of(kSquares, "\"squares\", \"axpy\", \"axpy+squares\""));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  const Json first = points();
  ASSERT_EQ(first.size(), 6u);
  EXPECT_EQ(first[0]["workload"], "squares");
  EXPECT_EQ(first[0]["size"], "") << "it has none";
  EXPECT_EQ(first[2]["size"], "small");
  const Json kernels = first[0]["kernel_totals"];
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0]["kernel"], "squares");
  EXPECT_EQ(kernels[0]["launches"], 3);
  EXPECT_GT(first[4]["quantities"]["warp_instructions"].get<double>(),
            first[0]["quantities"]["warp_instructions"].get<double>());

  // Not executed again, and no point is run again.
  const std::filesystem::directory_iterator kept(folder_.file("x/programs"));
  EXPECT_EQ(std::distance(begin(kept), end(kept)), 1);
  const Outcome again = run(read_text(folder_.file("e.toml")));
  EXPECT_TRUE(contains(again.out, "6 points, 6 of them were there before")) << again.out;
}

TEST_F(OwnPrograms, ARecordingIsAsGoodAsItsProgram) {
  ASSERT_EQ(run(experiment_of(kSquares, "\"squares\"")).exit_code, 0);
  const Json first = points();
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("x/programs")))
    std::filesystem::copy_file(entry.path(), folder_.file("squares.nwtrace"));
  std::filesystem::remove_all(folder_.file("x"));
  const Outcome outcome =
      run(experiment_of("[program.kept]\nrecording = \"squares.nwtrace\"\n", "\"kept\""));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json second = points();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0]["workload"], "kept");
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(first[i]["quantities"]["cycles"], second[i]["quantities"]["cycles"]);
  EXPECT_EQ(run(experiment_of("", "\"squares.nwtrace\"")).exit_code, 0) << "by its path alone";
  EXPECT_EQ(points()[0]["quantities"]["cycles"], first[0]["quantities"]["cycles"]);
}

TEST_F(OwnPrograms, WhatIsWrongIsSaid) {
  const std::string good = experiment_of(kSquares, "\"squares\"");
  expect_refused(replaced(good, "16384]", "16384, 1]"), "has 3 parameters, and 'args' 4");
  expect_refused(replaced(good, "16384]", "1.5]"), "'1.5' cannot be parameter 3");
  expect_refused(replaced(good, "16384]", "99999999999]"), "'99999999999' cannot be parameter 3");
  expect_refused(replaced(good, "\"in\", \"out\"", "\"inn\", \"out\""), "there is no buffer 'inn'");
  expect_refused(replaced(good, "kernel = \"squares\"", "kernel = \"square\""),
                 "has no kernel 'square'");
  expect_refused(replaced(good, "bytes = 65536", "byte = 65536"), "'bytes' is missing");
  expect_refused(replaced(good, "block = [128]", "block = [0]"), "'block' is no size");
  expect_refused(replaced(good, "squares.ptx", "none.ptx"), "none.ptx");
  expect_refused(replaced(good, "ptx = ", "app = \"./a\"\nptx = "), "one of an application");
  expect_refused(experiment_of("[program.a]\napp = \"./not-there\"\n", "\"a\""), "not-there");
  expect_refused(experiment_of("[program.a]\nrecording = \"no.nwtrace\"\n", "\"a\""), "no.nwtrace");
}

TEST_F(OwnPrograms, AFileToBeginWith) {
  const std::string file = folder_.file("new.toml");
  const Outcome made = run_program({"experiment", "kmeans", "--new", file});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "nearwarp experiment " + file)) << made.out;
  const Outcome twice = run_program({"experiment", "kmeans", "--new", file});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(contains(twice.err, "is there already")) << twice.err;
  EXPECT_EQ(run_program({"experiment", "kmeans", "--new", folder_.file("new")}).exit_code, 2);
  EXPECT_EQ(run_program({"experiment", "kmans", "--new", folder_.file("b.toml")}).exit_code, 2);
  EXPECT_EQ(run_program({"experiment", "tom", "--", "ls"}).exit_code, 2);
  const Outcome outcome = run_program({"experiment", file, "--out", folder_.file("y")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "3 points, 0 of them")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "no run has")) << outcome.out;
}

}  // namespace
}  // namespace nearwarp::testing
