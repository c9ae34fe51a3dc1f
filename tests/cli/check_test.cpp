// Does `nearwarp check` report what it finds, end with the right exit code, and refuse mistakes?
// The built-in workloads have no races.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

TEST(Check, AWorkloadWithoutHazards) {
  TemporaryFolder folder;
  const std::string file = folder.file("found.json");
  const Outcome outcome = run_program({"check", "reduction", "--json", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "reduction: no hazards, no errors in ")) << outcome.out;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  const auto json = nlohmann::json::parse(read_text(file));
  EXPECT_EQ(json["schema"], "nearwarp.check/1");
  ASSERT_EQ(json["programs"].size(), 1u);
  EXPECT_EQ(json["programs"][0]["name"], "reduction");
  EXPECT_GT(json["programs"][0]["accesses"], 1000);
  for (const char* kind : {"hazards", "misuses", "unwritten_reads"})
    EXPECT_TRUE(json["programs"][0].at(kind).empty()) << kind;
}

TEST(Check, WorkloadsThatShareAndExchangeAreClean) {
  for (const char* workload : {"reduction-original", "scalarprod", "needleman-wunsch", "hybridsort",
                               "dwt2d", "srad", "sgemm-tiled", "spmv"}) {
    const Outcome outcome = run_program({"check", workload});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
}

TEST(Check, MistakesAreSaid) {
  struct Case {
    Words words;
    int code;
    const char* message;
  };
  for (const Case& c :
       {Case{{"check"}, 2, "WORKLOAD"},
        {{"check", "--"}, 2, "must follow"},
        {{"check", "redction"}, 2, "'reduction'"},
        {{"check", "reduction", "--kernels", "("}, 2, "regular expression"},
        {{"check", "reduction", "--kernels", "xyz"}, 1, "no kernel with a match of 'xyz'"},
        {{"check", "reduction", "--max-reports", "many"}, 2, "--max-reports"},
        {{"check", "reduction", "--set", "gpu.sms=4"}, 2, "is for applications"},
        {{"check", "reduction", "--json", "/no/such/folder/x"}, 1, "/no/such/folder/x"},
        {{"check", "--size", "small", "--", "ls"}, 2, "is for workloads"},
        {{"check", "--", "/no/such/application"}, 2, "there is no application"},
        {{"check", "--", "true"}, 1, "did not use the simulated GPU"}}) {
    const Outcome outcome = run_program(c.words);
    EXPECT_EQ(outcome.exit_code, c.code) << c.message << outcome.err;
    EXPECT_TRUE(contains(outcome.err, c.message)) << outcome.err;
    EXPECT_EQ(count_lines(outcome.err), 1u) << outcome.err;
  }
}

}  // namespace
}  // namespace nearwarp::testing
