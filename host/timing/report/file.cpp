// Writing a file so that it is there whole or not at all.
#include "host/timing/report/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "host/core/error_parts.h"

namespace nearwarp::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path, int error_number) {
  const char* advice = "choose a path that can be written";
  if (error_number == ENOSPC || error_number == EDQUOT) advice = "make room or choose another path";
  if (error_number == ENOENT || error_number == ENOTDIR) advice = "make the folder first";
  throw ErrorWithParts<>(
      {.what = fmt::format("cannot write '{}': {}", path, std::strerror(error_number)),
       .right = advice,
       .file = path});
}

bool is_special(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  return !failed && fs::exists(status) && !fs::is_regular_file(status);
}

/// The file that a path leads to. Symbolic links are followed, so that the rename in commit() does
/// not replace them.
fs::path target_of(const std::string& path) {
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(path, failed);
  return failed ? fs::path(path) : target;
}

fs::path temporary_beside(const fs::path& target) {
  fs::path temporary = target;
  temporary += fmt::format(".{}.tmp", ::getpid());
  return temporary;
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path) {
  if (is_special(path)) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    target_ = target_of(path);
    temporary_ = temporary_beside(target_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (file_ < 0) fail_to_write(path, errno);
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileWriter::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail(errno);
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

void FileWriter::commit() {
  // Some file systems report a full disk only when data is synchronised.
  if (!temporary_.empty() && ::fsync(file_) != 0) fail(errno);
  if (::close(std::exchange(file_, -1)) != 0) fail(errno);
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
}

void FileWriter::fail(int error_number) {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  fail_to_write(path_, error_number);
}

void write_file(const std::string& path, std::string_view text) {
  FileWriter writer(path);
  writer.write(text);
  writer.commit();
}

void check_writable(const std::string& path) {
  if (is_special(path)) {
    if (fs::is_directory(path)) fail_to_write(path, EISDIR);
    if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno);
    return;
  }
  const fs::path temporary = temporary_beside(target_of(path));
  int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool is_left = file < 0 && errno == EEXIST;  // by a killed process of the same number
  if (is_left) file = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail_to_write(path, errno);
  ::close(file);
  if (!is_left) ::unlink(temporary.c_str());
}

}  // namespace nearwarp::report
