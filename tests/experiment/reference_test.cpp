// What is a point compared with, where studies share points and change keys of policies?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

const std::string kTwoStudies = R"(title = "Shared"
description = "Studies with a point in common, and one over a policy's key"
size = "small"

[study.first]
workloads = ["kmeans"]
machines = ["tom"]
policies = ["baseline", "tom"]

[study.second]
workloads = ["kmeans"]
machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap"]

[study.third]
workloads = ["kmeans"]
machines = ["tom"]
policies = ["baseline", "tom"]
set = ["mapping.learning_permille=5,10"]
)";

const std::string kOtherReference = R"(
[study.fourth]
workloads = ["kmeans"]
machines = ["tom"]
policies = ["ndp-ideal", "tom"]
set = ["stack.sm_warps=24"]
)";

class Reference : public ::testing::Test {
 protected:
  Json points_of(const std::string& toml) {
    write_text(folder_.file("shared.toml"), toml);
    const Outcome outcome = run_program(
        {"experiment", folder_.file("shared.toml"), "--out", folder_.file("x"), "--threads", "2"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(read_text(folder_.file("x/experiment.json")))["points"];
  }
  PageView page() {
    return view_page(browser_, folder_.file("x/report.html"), "#workload/kmeans", 1280,
                     folder_.path().string());
  }

  TemporaryFolder folder_;
  std::string browser_ = find_browser();
};

TEST_F(Reference, IsOfThePointsOwnStudyAlsoWhereAnotherHasItFirst) {
  const Json points = points_of(kTwoStudies);
  ASSERT_EQ(points.size(), 7u) << "one baseline is of two studies";
  std::map<std::string, Json> by_id;
  for (const Json& p : points) by_id[p["id"]] = p;
  std::set<std::string> of_third;
  for (const Json& p : points) {
    const auto reference = by_id.find(p["reference"]);
    ASSERT_NE(reference, by_id.end()) << p["study"] << " " << p["policy"];
    EXPECT_EQ(reference->second["policy"], "baseline");
    EXPECT_EQ(reference->second["study"], p["study"] == "second" ? "first" : p["study"]);
    if (p["study"] == "third") of_third.insert(p["reference"]);
  }
  EXPECT_EQ(of_third.size(), 2u) << "each value of the key has its own";
}

TEST_F(Reference, SpeedUpsOfAWorkloadsPageAreOverIt) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const Json points = points_of(kTwoStudies);
  const std::string dom = page().dom;
  EXPECT_TRUE(contains(dom, "data-errors=\"0\""));
  EXPECT_TRUE(contains(dom, "<th scope=\"col\">speed-up over baseline</th>"));
  std::map<std::string, double> cycles;
  for (const Json& p : points) cycles[p["id"]] = p["quantities"]["cycles"];
  for (const Json& p : points) {
    const double speedup = cycles[p["reference"]] / cycles[p["id"]];
    if (p["policy"] == "baseline")
      EXPECT_EQ(speedup, 1);
    else
      EXPECT_TRUE(contains(dom, fmt::format(">{:.3f}</td>", speedup)))
          << p["study"] << " " << p["policy"] << ": " << speedup;
  }
}

TEST_F(Reference, APageWithSeveralSaysWhichIsWhose) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  points_of(kTwoStudies + kOtherReference);
  const std::string dom = page().dom;
  EXPECT_TRUE(contains(dom, "data-errors=\"0\""));
  EXPECT_TRUE(contains(dom, ">over</th><th scope=\"col\">speed-up</th>"));
  EXPECT_FALSE(contains(dom, ">speed-up over"));
}

}  // namespace
}  // namespace nearwarp::testing
