// Do the commands of the user guide do what it says: do they run?
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
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

TEST(Guide, ItsCommandsRun) {
  const TemporaryFolder folder;
  const std::vector<std::string> blocks = blocks_of(NW_SOURCE_DIR "/docs/guide.md");
  ASSERT_GT(blocks.size(), 6u);
  const std::string programs = std::filesystem::path(NW_PROGRAM).parent_path();
  for (const std::string& block : blocks) {
    write_text(folder.file("block.sh"), block);
    const std::string command = "cd '" + folder.path().string() + "' && PATH='" + programs +
                                "':\"$PATH\" bash -eu block.sh > out.txt 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << block << read_text(folder.file("out.txt"));
  }
}

TEST(Guide, TheIndexHasAllPages) {
  const std::string index = read_text(NW_SOURCE_DIR "/docs/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(NW_SOURCE_DIR "/docs")) {
    const std::string name = entry.path().filename();
    if (name == "README.md" || !name.ends_with(".md")) continue;
    EXPECT_TRUE(contains(index, "](" + name + ")")) << "no line for " << name;
  }
}

}  // namespace
}  // namespace nearwarp::testing
