// Do the commands of the user guide do what it says: do they run?
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// The shell blocks of a page, one after the other.
std::vector<std::string> blocks_of(const std::string& page) {
  std::vector<std::string> blocks;
  std::istringstream text(read_text(page));
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    } else if (line == "```sh") {
      inside = true;
      blocks.emplace_back();
    }
  }
  return blocks;
}

/// The commands run in one shell, as a reader types them, in a folder with the files of the
/// checkout that they use.
TEST(Guide, ItsCommandsRun) {
  const TemporaryFolder folder;
  const std::vector<std::string> blocks = blocks_of(NW_SOURCE_DIR "/docs/guide.md");
  ASSERT_GT(blocks.size(), 6u);
  std::filesystem::create_directories(folder.path() / "build/cpu");
  std::filesystem::create_directory_symlink(std::filesystem::path(NW_PROGRAM).parent_path(),
                                            folder.path() / "build/cpu/bin");
  std::filesystem::create_directory_symlink(NW_SOURCE_DIR "/bench", folder.path() / "bench");
  std::string script;
  for (const std::string& block : blocks) script += "exec > out.txt 2>&1\nset -x\n" + block;
  write_text(folder.file("guide.sh"), script);
  // The PATH has only what the page puts there.
  const std::string command =
      "cd '" + folder.path().string() + "' && PATH=/usr/bin:/bin bash -eu guide.sh";
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read_text(folder.file("out.txt"));
}

/// The test would not run a command that stands in a sentence.
TEST(Guide, AllCommandsStandInBlocks) {
  const std::string page = read_text(NW_SOURCE_DIR "/docs/guide.md");
  std::string blocks;
  for (const std::string& block : blocks_of(NW_SOURCE_DIR "/docs/guide.md")) blocks += block;
  const std::regex inline_command("`nearwarp ([a-z]+) [^`]+`");
  for (auto at = std::sregex_iterator(page.begin(), page.end(), inline_command);
       at != std::sregex_iterator(); ++at)
    ADD_FAILURE() << at->str() << " is not in a block of commands";
  // The page uses every command that a new user needs.
  for (const char* name : {"run", "record", "check", "sweep", "experiment", "compare", "analyze",
                           "restructure", "probe", "list", "show"})
    EXPECT_TRUE(contains(blocks, std::string("nearwarp ") + name + " ")) << name;
}

TEST(Guide, TheIndexHasAllPages) {
  const std::filesystem::path docs = NW_SOURCE_DIR "/docs";
  const std::string index = read_text(docs / "README.md");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(docs)) {
    const std::string name = std::filesystem::relative(entry.path(), docs);
    if (name == "README.md" || !name.ends_with(".md")) continue;
    EXPECT_TRUE(contains(index, "](" + name + ")")) << "no line for " << name;
  }
}

/// The figures that a page names, as in "figures `a`, `b` and `c`", across line breaks.
std::vector<std::string> figures_in(const std::string& text) {
  const std::string flat = std::regex_replace(text, std::regex("\\s+"), " ");
  const std::regex list("[Ff]igures? ((`[a-z_-]+`(, | and )?)+)");
  const std::regex name("`([a-z_-]+)`");
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(flat.begin(), flat.end(), list); at != std::sregex_iterator();
       ++at) {
    const std::string names = (*at)[1];
    for (auto one = std::sregex_iterator(names.begin(), names.end(), name);
         one != std::sregex_iterator(); ++one)
      found.push_back((*one)[1]);
  }
  return found;
}

/// A table's section has a command, or the text before the table names figures of the page's
/// experiment.
TEST(Guide, ResultsSayHowTheyAreMade) {
  const std::regex command("(^|\n|`)(nearwarp|tools/placements) ");
  for (const auto& entry : std::filesystem::directory_iterator(NW_SOURCE_DIR "/docs/results")) {
    const std::string name = entry.path().stem();
    const std::string experiment =
        read_text(NW_SOURCE_DIR "/configs/experiments/" + name + ".toml");
    const std::string page = read_text(entry.path());
    for (const std::string& figure : figures_in(page))
      EXPECT_TRUE(contains(experiment, "name = \"" + figure + "\"")) << name << ": " << figure;
    std::istringstream text(page);
    size_t tables = 0;
    std::string section;
    for (std::string line; std::getline(text, line); section += line + "\n") {
      if (line.starts_with("## ")) section.clear();
      if (!line.starts_with("|---")) continue;
      tables += 1;
      EXPECT_TRUE(std::regex_search(section, command) || !figures_in(section).empty())
          << name << ": which command makes this?\n"
          << section;
    }
    EXPECT_GT(tables, 0u) << name << " has no results";
  }
}

}  // namespace
}  // namespace nearwarp::testing
