// Do list, show and analyze write what they print as JSON?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

class JsonFiles : public ::testing::Test {
 protected:
  Json of(Words words) {
    const Outcome outcome = run_program(words + Words{"--json", folder_.file("x.json")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    out_ = outcome.out;
    return Json::parse(read_text(folder_.file("x.json")), nullptr, false);
  }

  TemporaryFolder folder_;
  std::string out_;
};

TEST_F(JsonFiles, ListHasEveryNameThatItPrints) {
  for (const char* kind :
       {"workloads", "machines", "policies", "energy", "area", "dram", "experiments"}) {
    const Json list = of({"list", kind});
    ASSERT_TRUE(list.is_object()) << kind;
    EXPECT_EQ(list["schema"], "nearwarp.list/1");
    ASSERT_FALSE(list["entries"].empty()) << kind;
    for (const Json& entry : list["entries"]) {
      EXPECT_TRUE(contains(out_, entry["name"].get<std::string>() + " ")) << entry;
      EXPECT_FALSE(entry["description"].get<std::string>().empty()) << entry;
    }
  }
  EXPECT_TRUE(of({"list", "workloads"})["entries"][0].contains("source"));
}

TEST_F(JsonFiles, ShowHasValuesInEffect) {
  const Json machine = of({"show", "machine", "tom", "--set", "gpu.sms=12"});
  EXPECT_EQ(machine["schema"], "nearwarp.show/1");
  EXPECT_EQ(machine["keys"]["gpu.sms"]["value"], 12);
  EXPECT_EQ(machine["changes"][0], "gpu.sms=12");
  EXPECT_EQ(machine["keys"]["machine.shape"]["value"], "stacked") << "a text, not one in quotes";
  for (const auto& [key, k] : machine["keys"].items()) {
    EXPECT_FALSE(k["meaning"].get<std::string>().empty()) << key;
    EXPECT_TRUE(contains(out_, key.substr(key.rfind('.') + 1) + " = ")) << key;
  }
  EXPECT_EQ(of({"show", "policy", "tom"})["kind"], "policy");
  const Json experiment = of({"show", "experiment", "tom"});
  EXPECT_EQ(experiment["figures"][0]["name"], "speedup");
  EXPECT_FALSE(experiment["studies"][0]["policies"].empty());
}

TEST_F(JsonFiles, AnalyzeHasCandidatesAndRefusals) {
  const Json analysis = of({"analyze", "kmeans"});
  EXPECT_EQ(analysis["schema"], "nearwarp.analysis/1");
  size_t candidates = 0, refusals = 0;
  for (const Json& kernel : analysis["kernels"]) {
    candidates += kernel["candidates"].size();
    refusals += kernel["refusals"].size();
    EXPECT_TRUE(contains(out_, kernel["kernel"].get<std::string>()));
    for (const Json& c : kernel["candidates"])
      EXPECT_LT(c["tx_addresses"].get<double>() + c["rx_addresses"].get<double>(), 0)
          << "a candidate saves traffic";
  }
  EXPECT_GT(candidates, 0u);
  EXPECT_GT(refusals, 0u);
  EXPECT_EQ(run_program({"analyze", "kmeans", "--chains", "--json", folder_.file("y")}).exit_code,
            2);
}

}  // namespace
}  // namespace nearwarp::testing
