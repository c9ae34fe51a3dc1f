// A lock that lets one process at a time submit jobs for a folder.
#pragma once

#include <string>

namespace nearwarp::cli {

/// Holds a lock on a file from construction to destruction.
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
