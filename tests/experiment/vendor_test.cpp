// Are the libraries in the report those that its table names, unchanged?
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

const std::string kFolder = std::string(NW_SOURCE_DIR) + "/host/timing/experiment/page/vendor/";

std::string sha256(const std::string& path) {
  FILE* pipe = popen(("sha256sum '" + path + "'").c_str(), "r");
  char text[65] = {};
  const size_t read = pipe == nullptr ? 0 : fread(text, 1, 64, pipe);
  if (pipe != nullptr) pclose(pipe);
  return std::string(text, read);
}

TEST(Vendor, LibrariesAreAsPublished) {
  const std::string table = read_text(kFolder + "README.md");
  for (const char* file : {"d3.min.js", "plot.umd.min.js"}) {
    const std::string sum = sha256(kFolder + file);
    ASSERT_EQ(sum.size(), 64u);
    EXPECT_TRUE(contains(table, std::string(file) + "`")) << file;
    EXPECT_TRUE(contains(table, sum)) << file << " has " << sum;
  }
}

TEST(Vendor, TheirLicencesNameTheVersionsThatAreThere) {
  const std::string licences = read_text(kFolder + "LICENCES.txt");
  EXPECT_TRUE(contains(licences, "d3 7.9.2"));
  EXPECT_TRUE(contains(read_text(kFolder + "d3.min.js").substr(0, 100), "v7.9.2"));
  EXPECT_TRUE(contains(licences, "plot 0.6.17"));
  EXPECT_TRUE(contains(read_text(kFolder + "plot.umd.min.js").substr(0, 100), "v0.6.17"));
}

}  // namespace
}  // namespace nearwarp::testing
