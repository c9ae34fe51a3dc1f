// Temporary files without a name, and reading at offsets.
#include "host/recording/spill_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host/core/error_parts.h"

namespace nearwarp::runtime {

SpillFile::SpillFile(const std::string& directory) : directory_(directory) {
  if (directory_.empty()) {
    const char* tmp = std::getenv("TMPDIR");
    directory_ = tmp != nullptr && *tmp != '\0' ? tmp : "/tmp";
  }
  fd_ = open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
    std::string name = directory_ + "/nearwarp-trace-XXXXXX";  // file systems without O_TMPFILE
    fd_ = mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) unlink(name.c_str());
  }
  if (fd_ < 0)
    throw Error("cannot create a temporary file for traces in " + directory_ + ": " +
                std::strerror(errno) + " - choose a writable directory");
}

SpillFile SpillFile::open_existing(const std::string& path) {
  SpillFile file;
  file.directory_ = path;
  file.fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file.fd_ < 0 || fstat(file.fd_, &status) != 0)
    throw file_error(path, "cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    throw file_error(path, "cannot read " + path + ": it is no regular file");
  file.size_ = static_cast<uint64_t>(status.st_size);
  return file;
}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      directory_(std::move(other.directory_)) {}

SpillFile::~SpillFile() {
  if (fd_ >= 0) close(fd_);
}

SpillFile::Extent SpillFile::append(const std::vector<uint8_t>& data) {
  uint64_t done = 0;
  while (done < data.size()) {
    const ssize_t n =
        pwrite(fd_, data.data() + done, data.size() - done, static_cast<off_t>(size_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error("cannot write " + std::to_string(data.size()) +
                  " bytes of traces to a temporary "
                  "file in " +
                  directory_ + ": " + std::strerror(n < 0 ? errno : ENOSPC) +
                  " - free some space, choose another directory, or allow more memory for traces");
    done += static_cast<uint64_t>(n);
  }
  const Extent extent{size_, data.size()};
  size_ += data.size();
  return extent;
}

std::vector<uint8_t> SpillFile::read(Extent extent) const {
  std::vector<uint8_t> data(extent.bytes);
  uint64_t done = 0;
  while (done < data.size()) {
    const ssize_t n = pread(fd_, data.data() + done, data.size() - done,
                            static_cast<off_t>(extent.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error("cannot read traces back from " + directory_ + ": " +
                  (n < 0 ? std::strerror(errno) : "it is too short"));
    done += static_cast<uint64_t>(n);
  }
  return data;
}

}  // namespace nearwarp::runtime
