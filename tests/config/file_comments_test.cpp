// Are a file's comments found beside the keys and sections that they are of?
#include "host/config/file_comments.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nearwarp::config {
namespace {

using Lines = std::vector<std::string>;

FileComments comments_of(const std::string& text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path =
      std::filesystem::path(::testing::TempDir()) / (std::string(test->name()) + ".toml");
  std::ofstream(path) << text;
  FileComments comments = read_comments(path);
  std::filesystem::remove(path);
  return comments;
}

TEST(FileComments, OfTheFileOfKeysAndOfSections) {
  FileComments c = comments_of(
      "# A file,\n"
      "# in two lines.\n"
      "\n"
      "# Before a section.\n"
      "[a]                # behind it\n"
      "x = 5              # Table 1\n"
      "# Above,\n"
      "#   indented.\n"
      "\n"
      "y = \"a # b\"  # \"quoted\" \n"
      "z = 'c # d'\n"
      "[a.b]\n"
      "u = { p = 1, q = true }   # of both\n");
  EXPECT_EQ(c.head, (Lines{"A file,", "in two lines."}));
  EXPECT_EQ(c.by_path["a"].before, Lines{"Before a section."});
  EXPECT_EQ(c.by_path["a"].behind, "behind it");
  EXPECT_EQ(c.by_path["a.x"].behind, "Table 1");
  EXPECT_EQ(c.by_path["a.x"].value, "5");
  EXPECT_EQ(c.by_path["a.y"].before, (Lines{"Above,", "  indented."}));
  EXPECT_EQ(c.by_path["a.y"].behind, "\"quoted\"");
  EXPECT_EQ(c.by_path["a.z"].behind, "");
  EXPECT_EQ(c.by_path["a.b"].before, Lines{});
  // Comments at an inline table are its own, and not those of each of its keys.
  EXPECT_EQ(c.by_path["a.b.u"].behind, "of both");
  EXPECT_EQ(c.by_path["a.b.u.p"].behind, "");
  EXPECT_EQ(c.by_path["a.b.u.q"].value, "true");
}

TEST(FileComments, SectionsThatAreNotNamedHaveNone) {
  FileComments c = comments_of("# Of it.\n[a.b.c]  # here\nx = 1\n");
  EXPECT_EQ(c.head, Lines{});  // no blank line: it is of what follows
  EXPECT_EQ(c.by_path["a.b.c"].before, Lines{"Of it."});
  EXPECT_EQ(c.by_path["a.b.c"].behind, "here");
  EXPECT_FALSE(c.by_path.contains("a"));
  EXPECT_FALSE(c.by_path.contains("a.b"));
}

TEST(FileComments, AFileOfCommentsAloneAndAnEmptyOne) {
  EXPECT_EQ(comments_of("# only this\n").head, Lines{"only this"});
  EXPECT_TRUE(comments_of("").head.empty());
}

}  // namespace
}  // namespace nearwarp::config
