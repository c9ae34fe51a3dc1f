// Is what `cmake --install` puts somewhere all that a user needs?
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

namespace fs = std::filesystem;

/// The whole of it, once for all tests of a process, in a folder that is gone afterwards.
class Installed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    installation_.emplace();
    const std::string out = installation_->file("out.txt");
    const std::string command = "'" NW_CMAKE "' --install '" NW_BUILD_DIR "' --prefix '" +
                                root().string() + "' > '" + out + "' 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_text(out);
  }
  static void TearDownTestSuite() { installation_.reset(); }

  static fs::path root() { return installation_->path() / "root"; }

  /// Exit status and output of a command, with the installed program first on the PATH.
  std::pair<int, std::string> shell(const std::string& command) const {
    const std::string out = folder_.file("out.txt");
    const std::string all = "cd '" + folder_.path().string() + "' && PATH='" +
                            (root() / "bin").string() + "':\"$PATH\" && " + command + " > '" + out +
                            "' 2>&1";
    const int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out)};
  }

  TemporaryFolder folder_;

 private:
  inline static std::optional<TemporaryFolder> installation_;
};

TEST_F(Installed, RunsWorkloadsAndApplications) {
  const auto [status, out] = shell("nearwarp show machine tom");
  EXPECT_EQ(status, 0) << out;
  EXPECT_TRUE(contains(out, (root() / "share/nearwarp/configs/machines/tom.toml").string())) << out;
  // One that uses the driver's API: its library is there, and finds the runtime's.
  const fs::path doc = root() / NW_DOCDIR;
  const auto [ran, table] = shell("nearwarp run --policy baseline -- python3 '" +
                                  (doc / "bench/samples/squares.py").string() + "'");
  EXPECT_EQ(ran, 0) << table;
  EXPECT_TRUE(contains(table, "squares of 65536 numbers: right")) << table;
  EXPECT_TRUE(contains(table, "speed-up")) << table;
}

TEST_F(Installed, MakesAnApplicationsReportInTwoCommands) {
  const std::string squares = (root() / NW_DOCDIR / "bench/samples/squares.py").string();
  const auto [made, told] =
      shell("nearwarp experiment --new mine.toml -- python3 '" + squares + "'");
  ASSERT_EQ(made, 0) << told;
  const auto [ran, table] = shell("nearwarp experiment ./mine.toml");
  ASSERT_EQ(ran, 0) << table;
  const std::string report = read_text(folder_.file("mine-report/report.html"));
  for (const char* part : {"Speed-up over the baseline", "Where cycles", "Traffic between chips",
                           "Energy by part", "cycles (lost|saved) under|changes next to nothing"})
    EXPECT_TRUE(std::regex_search(report, std::regex(part))) << part;
}

TEST_F(Installed, HasTheScriptThatReadsResults) {
  const auto [status, out] =
      shell("nearwarp run vector-add --policy baseline --json x.json && python3 '" +
            (root() / "share/nearwarp/tools/nearwarp_results.py").string() +
            "' x.json --columns policy,cycles");
  EXPECT_EQ(status, 0) << out;
  EXPECT_TRUE(contains(out, "policy,cycles\nbaseline,")) << out;
}

/// Links to pages and samples lead somewhere. Those to code do in the source tree alone.
TEST_F(Installed, PagesLinkToOneAnother) {
  const fs::path doc = root() / NW_DOCDIR;
  const std::regex link("\\]\\(([^)#:]+\\.md)(#[^)]*)?\\)");
  size_t links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(doc)) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "CONTRIBUTING.md") continue;
    const std::string page = read_text(entry.path());
    for (auto at = std::sregex_iterator(page.begin(), page.end(), link);
         at != std::sregex_iterator(); ++at, ++links) {
      if (contains((*at)[1], "host/")) continue;
      EXPECT_TRUE(fs::exists(entry.path().parent_path() / (*at)[1].str()))
          << entry.path() << " has " << at->str();
    }
  }
  EXPECT_GT(links, 100u);
  EXPECT_TRUE(fs::exists(doc / "docs/guide.md"));
}

}  // namespace
}  // namespace nearwarp::testing
