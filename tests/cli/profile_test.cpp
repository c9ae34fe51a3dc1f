// Does `nearwarp run --profile` say and write what it should?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/expectations.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

/// Names of all members of all objects in `json`.
class ProfileCommand : public ::testing::TestWithParam<const char*> {};

TEST_P(ProfileCommand, DocumentAgreesWithItselfAndItsDescription) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"run", GetParam(), "--profile", "--json", folder.file("x.json")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "cycles"));

  const Json document = Json::parse(read_text(folder.file("x.json")));
  EXPECT_EQ(document.at("schema"), "nearwarp.profile/1");
  EXPECT_EQ(document.at("sector_bytes"), 32);
  ASSERT_EQ(document.at("programs").size(), 1u);
  const Json& program = document["programs"][0];
  EXPECT_EQ(program.at("workload"), GetParam());
  EXPECT_EQ(program.at("size"), "small");
  EXPECT_EQ(program.at("truncated"), false);
  for (const char* rows : {"kernels", "source"}) {
    uint64_t sum = 0, sectors = 0;
    for (const Json& row : program.at(rows)) {
      sum += row.at("warp_instructions").get<uint64_t>();
      if (row.contains("global_loads"))
        sectors += row["global_loads"].at("sectors").get<uint64_t>();
    }
    EXPECT_EQ(sum, program.at("warp_instructions").get<uint64_t>()) << rows;
    EXPECT_EQ(sectors, program.at("global_loads").at("sectors").get<uint64_t>()) << rows;
  }
  std::set<std::string> members;
  collect_members(document, members);
  const std::string description = read_text(std::string(NW_SOURCE_DIR) + "/docs/profile.md");
  for (const std::string& name : members)
    EXPECT_TRUE(contains(description, "`" + name + "`")) << name << " is not in docs/profile.md";
}

INSTANTIATE_TEST_SUITE_P(Small, ProfileCommand,
                         ::testing::Values("kmeans", "libor", "bfs-rmat", "reduction"));

TEST(Profiles, TheDocumentationHasWhatIsPrinted) {
  const Outcome outcome = run_program({"run", "kmeans", "--profile", "--profile-lines", "6"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string description = read_text(std::string(NW_SOURCE_DIR) + "/docs/profile.md");
  EXPECT_TRUE(
      contains(description, "$ nearwarp run kmeans --profile --profile-lines 6\n" + outcome.out))
      << outcome.out;
}

/// The profile's document without what a recording does not know.
Json document_of(const std::string& program, const TemporaryFolder& folder) {
  const std::string file = folder.file("x.json");
  const Outcome outcome = run_program(
      {"run", program, "--profile", "--trace-cache", folder.file("cache"), "--json", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  Json document = Json::parse(read_text(file));
  document["programs"][0].erase("size");
  return document;
}

TEST(Profiles, OfARecordingAsOfTheProgram) {
  const TemporaryFolder folder;
  const Json live = document_of("bfs-rmat", folder);
  std::string recording;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "cache"))
    recording = entry.path();
  EXPECT_EQ(document_of(recording, folder), live);
}

TEST(Profiles, ProgramsThatWouldRunTogetherHaveOneEach) {
  const Outcome outcome =
      run_program({"run", "vector-add+reduction", "--profile", "--profile-lines", "2", "--set",
                   "l1.line_bytes=64", "--set", "l1.set_function=linear"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "vector-add, size small; "));
  EXPECT_TRUE(contains(outcome.out, "\n\nreduction, size small; ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "32 and 64"));
}

TEST(Profiles, MistakesOfUse) {
  for (const Words& other :
       {Words{"--policy", "baseline,tom"}, Words{"--explain"}, Words{"--max-repeats", "2"},
        Words{"--backend", "cpu"}, Words{"--checkpoint", "somewhere"}}) {
    Words words = {"run", "kmeans", "--profile"};
    words.insert(words.end(), other.begin(), other.end());
    expect_usage_error(words, other[0] + " does not go with --profile");
  }
  expect_usage_error({"run", "kmeans", "--profile-lines", "3"}, "--profile-lines is for --profile");
  expect_usage_error({"run", "kmeans", "--profile", "--profile-lines", "0"}, "profile-lines");
  expect_usage_error({"run", "kmeans", "--profil"}, "'--profile'");
  expect_usage_error({"run", "kmean", "--profile"}, "'kmeans'");
  expect_usage_error({"run", "--profile"}, "");
}

}  // namespace
}  // namespace nearwarp::testing
