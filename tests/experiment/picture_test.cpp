// Is the picture of the README what the program finds today?
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

TEST(Picture, ShowsTodaysNumbers) {
  const std::string pictures = std::string(NW_SOURCE_DIR) + "/docs/pictures/";
  const std::string svg = read_text(pictures + "tom.svg");
  ASSERT_FALSE(svg.empty());
  std::map<std::string, std::string> shown;  // by place
  const std::regex mark(
      "aria-label=\"([^\"]*), ([^\"&\n]*)(&#10;|&#xA;|\n)([0-9.]+) times as fast\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), mark), end; i != end; ++i)
    shown[(*i)[1].str() + ", " + (*i)[2].str()] = (*i)[4];

  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"experiment", pictures + "tom.toml", "--out", folder.file("x"), "--threads", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto document = nlohmann::json::parse(read_text(folder.file("x/experiment.json")));
  const auto& figure = document["figures"][0];
  size_t compared = 0;
  for (const auto& cell : figure["cells"]) {
    const std::string place = figure["x"][cell["x"].get<size_t>()].get<std::string>() + ", " +
                              figure["series"][cell["series"].get<size_t>()].get<std::string>();
    ASSERT_EQ(shown.count(place), 1u) << place << " is not in the picture";
    EXPECT_NEAR(std::stod(shown[place]), cell["value"].get<double>(), 0.00051)
        << place
        << ": the picture is of other results - docs/pictures/tom.toml says how it is made";
    compared += 1;
  }
  EXPECT_EQ(compared, shown.size());
  for (const char* page : {"/README.md", "/docs/guide.md"})
    EXPECT_TRUE(contains(read_text(NW_SOURCE_DIR + std::string(page)), "pictures/tom.svg)"))
        << page;
}

}  // namespace
}  // namespace nearwarp::testing
