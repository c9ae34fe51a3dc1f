// Are folders of killed processes removed by the next one, and those in use left alone?
#include "host/core/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>

namespace nearwarp {
namespace {

namespace fs = std::filesystem;

/// As if it had been made an hour ago.
void age(const fs::path& folder) {
  fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(TemporaryFolder, VanishesWithAllThatIsInIt) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, ThoseOfKilledProcessesAreRemovedByTheNextOne) {
  const TemporaryFolder parent;  // folders of other processes do not matter here
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", parent.path().c_str(), 1);
  {
    const TemporaryFolder in_use;
    age(in_use.path());
    const pid_t child = fork();
    if (child == 0) {
      const TemporaryFolder* const left = new TemporaryFolder;
      std::ofstream(left->path() / "file") << "text";
      age(left->path());
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const auto folders = [&] {
      return std::distance(fs::directory_iterator(parent.path()), fs::directory_iterator());
    };
    EXPECT_EQ(folders(), 2);
    fs::create_directory(parent.path() / "nearwarp-somebodys");
    age(parent.path() / "nearwarp-somebodys");  // a name that is not of these
    const TemporaryFolder next;
    EXPECT_TRUE(fs::exists(in_use.path()));
    EXPECT_TRUE(fs::exists(parent.path() / "nearwarp-somebodys"));
    EXPECT_EQ(folders(), 3);
  }
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace nearwarp
