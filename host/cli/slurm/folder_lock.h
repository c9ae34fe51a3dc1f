// A folder that one process at a time submits jobs for.
#pragma once

#include <string>

namespace nearwarp::cli {

class FolderLock {
 public:
  /// Throws nearwarp::Error if the file cannot be made or another process has it.
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace nearwarp::cli
