// A lock that lets one process at a time submit jobs for a folder.
#include "host/cli/slurm/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host/core/error.h"

namespace nearwarp::cli {

FolderLock::FolderLock(const std::string& path)
    : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) throw Error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  // On a file system without locks there is no lock, and that is no error.
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(fd_);
  throw Error(
      fmt::format("another nearwarp waits for the jobs of this folder already ('{}' is "
                  "locked) - leave it to that one, or end it first: jobs go on",
                  path));
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace nearwarp::cli
