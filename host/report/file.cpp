// Writing a file so that it is there whole or not at all.
#include "host/report/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/core/error.h"

namespace nearwarp::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error_number) {
  const char* advice = "choose a path that can be written";
  if (error_number == ENOSPC || error_number == EDQUOT) advice = "make room or choose another path";
  if (error_number == ENOENT || error_number == ENOTDIR) advice = "make the folder first";
  throw Error(fmt::format("cannot write '{}': {} - {}", path, std::strerror(error_number), advice));
}

/// Write everything and close; returns 0 or an error number.
int write_and_close(int file, std::string_view text, bool synchronise) {
  int error_number = 0;
  while (!text.empty() && error_number == 0) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) error_number = errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  // Some file systems report a full disk only here.
  if (error_number == 0 && synchronise && ::fsync(file) != 0) error_number = errno;
  if (::close(file) != 0 && error_number == 0) error_number = errno;
  return error_number;
}

bool is_special(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  return !failed && fs::exists(status) && !fs::is_regular_file(status);
}

/// The file that is really meant: links are followed, so that the rename does not replace them.
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

void write_file(const std::string& path, std::string_view text) {
  if (is_special(path)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) fail(path, errno);
    if (const int error_number = write_and_close(file, text, false)) fail(path, error_number);
    return;
  }
  const fs::path target = target_of(path);
  const fs::path temporary = temporary_beside(target);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(path, errno);
  int error_number = write_and_close(file, text, true);
  if (error_number == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error_number = errno;
  if (error_number != 0) {
    ::unlink(temporary.c_str());
    fail(path, error_number);
  }
}

void check_writable(const std::string& path) {
  if (is_special(path)) {
    if (fs::is_directory(path)) fail(path, EISDIR);
    if (::access(path.c_str(), W_OK) != 0) fail(path, errno);
    return;
  }
  const fs::path temporary = temporary_beside(target_of(path));
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail(path, errno);
  ::close(file);
  ::unlink(temporary.c_str());
}

}  // namespace nearwarp::report
