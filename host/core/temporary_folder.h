// A folder for files of a moment.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "host/core/error.h"

namespace nearwarp {

/// Vanishes with the object, and all that is in it. Throws Error if it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    std::string name = (std::filesystem::temp_directory_path(failed) / "nearwarp-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("cannot make a temporary folder: {} - set $TMPDIR to a writable one",
                              failed ? failed.message() : std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace nearwarp
