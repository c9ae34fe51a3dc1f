// Temporary folders, which are removed even if their process is killed.
//
// A folder in use is locked, by flock() on the folder itself. A process that makes a folder removes
// those without a lock, which killed processes have left.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

#include "host/core/error.h"

namespace nearwarp {

/// A folder that is removed with its contents by the destructor. The constructor throws Error if it
/// cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const std::filesystem::path all = std::filesystem::temp_directory_path(failed);
    std::string name = (all / "nearwarp-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("cannot make a temporary folder: {} - set $TMPDIR to a writable one",
                              failed ? failed.message() : std::strerror(errno)));
    path_ = name;
    lock_ = locked(path_);
    remove_left(all);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  /// A descriptor that holds the folder's lock; -1 if another process holds it.
  static int locked(const std::filesystem::path& folder) {
    const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    close(file);
    return -1;
  }
  /// Removes folders that no running process uses. A new one may not be locked yet, so it stays.
  static void remove_left(const std::filesystem::path& all) {
    constexpr time_t kNew = 60;  // seconds
    std::error_code end, ignored;
    for (std::filesystem::directory_iterator at(all, end), none; !end && at != none;
         at.increment(end)) {
      const std::filesystem::path& folder = at->path();
      const std::string name = folder.filename().string();
      struct stat status;
      if (!name.starts_with("nearwarp-") || name.size() != 15 ||
          lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
          status.st_uid != geteuid() || time(nullptr) - status.st_mtime < kNew)
        continue;
      const int lock = locked(folder);
      if (lock < 0) continue;
      std::filesystem::remove_all(folder, ignored);
      close(lock);
    }
  }

  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace nearwarp
