// The file that a sweep appends its results to.
#include "host/timing/sweep/results_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "host/core/error_parts.h"
#include "host/timing/sweep/places.h"

namespace nearwarp::sweep {
namespace {

/// Lines that place() reads, in a tenth of a second, between two questions whether to go on.
constexpr uint64_t kLinesPerQuestion = 256;

[[noreturn]] void fail(const std::string& path, const char* what, int error_number) {
  const char* advice = "choose another file";
  if (error_number == ENOSPC || error_number == EDQUOT) {
    advice = "make room and run the same command again; what is written stays";
  } else if (error_number == ENOENT || error_number == ENOTDIR) {
    advice = "make the folder first";
  }
  throw ErrorWithParts<>(
      {.what = fmt::format("cannot {} '{}': {}", what, path, std::strerror(error_number)),
       .right = advice,
       .file = path});
}

}  // namespace

uint64_t for_each_line(
    const std::string& path,
    const std::function<void(uint64_t number, uint64_t offset, std::string_view text)>& visit,
    std::string& rest) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw ErrorWithParts<>({.what = fmt::format("cannot read '{}'", path),
                            .right = "is it a readable file?",
                            .file = path});
  std::string line;
  uint64_t offset = 0;
  for (uint64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) {  // the line has no line feed
      rest = line;
      return offset;
    }
    visit(number, offset, line);
    offset += line.size() + 1;
  }
  if (file.bad())
    throw file_error(path, fmt::format("cannot read '{}'", path), "is the disk all right?");
  rest.clear();
  return offset;
}

ResultsFile::ResultsFile(const std::string& path) : path_(path) {
  open();
  try {
    std::string rest;
    bytes_ = for_each_line(
        path_,
        [&](uint64_t number, uint64_t, std::string_view text) {
          take(read_line(text, fmt::format("{}:{}", path_, number)), true);
        },
        rest);
    if (rest.empty()) return;
    if (!is_torn_line(rest)) {
      throw ErrorWithParts<>(
          {.what = fmt::format("'{}' holds something else than a sweep's results", path_),
           .right = "choose another file",
           .file = path_});
    }
    if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) fail(path_, "mend", errno);
    dropped_ = true;
  } catch (...) {
    close(fd_);
    throw;
  }
}

ResultsFile::~ResultsFile() { close(fd_); }

void ResultsFile::open() {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(path_, "write", errno);
  struct stat status = {};
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd_);
    throw ErrorWithParts<>({.what = fmt::format("'{}' is not a regular file", path_),
                            .right = "sweeps append to one and read it again",
                            .file = path_});
  }
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd_);
    throw Error(
        fmt::format("another sweep is writing '{}' - wait for it, or have every part write a file "
                    "of its own and merge them",
                    path_));
  }
}

void ResultsFile::take(Record record, bool overwrites) {
  const auto [at, is_new] = done_.try_emplace(std::move(record.id), record.summary);
  if (!is_new && (overwrites || at->second.failed())) at->second = std::move(record.summary);
  places_[record.sweep][record.index] = &*at;  // entries of an unordered_map do not move
}

const ResultsFile::Entry* ResultsFile::find(const std::string& id) const {
  const auto at = done_.find(id);
  return at == done_.end() ? nullptr : &*at;
}

const ResultsFile::Entry* ResultsFile::find(const std::string& sweep, uint64_t index) const {
  const auto of_sweep = places_.find(sweep);
  if (of_sweep == places_.end()) return nullptr;
  const auto at = of_sweep->second.find(index);
  return at == of_sweep->second.end() ? nullptr : at->second;
}

bool ResultsFile::is_of(const std::string& sweep) const {
  return places_.empty() || (places_.size() == 1 && places_.contains(sweep));
}

const ResultsFile::Entry* find_point(const Plan& plan, const ResultsFile& file, size_t index) {
  const ResultsFile::Entry* own = file.find(plan.id, index);
  if (own != nullptr || file.is_of(plan.id) || file.is_placed(plan.id)) return own;
  return file.find(plan.points[index].id);
}

void ResultsFile::place(std::span<const Plan* const> plans, const std::function<bool()>& goes_on) {
  std::vector<std::pair<const Plan*, Places>> looked_for;
  for (const Plan* plan : plans) {
    placed_.insert(plan->id);
    if (!is_of(plan->id)) looked_for.emplace_back(plan, *plan);
  }
  if (looked_for.empty()) return;
  uint64_t lines = 0;
  const auto look = [&](const std::string& path) {
    std::string torn;
    for_each_line(
        path,
        [&](uint64_t number, uint64_t, std::string_view text) {
          if (++lines % kLinesPerQuestion == 0 && goes_on && !goes_on())
            throw Interrupted(
                "interrupted while the points that are there were looked for - none ran");
          const Record record = read_line(text, fmt::format("{}:{}", path, number));
          for (auto& [plan, places] : looked_for) {
            if (record.sweep == plan->id) continue;
            if (const auto at = places.of(record)) places_[plan->id][*at] = find(record.id);
          }
        },
        torn);
  };
  look(path_);
  for (const std::string& path : also_) look(path);
}

void ResultsFile::read_also(const std::string& path) {
  also_.push_back(path);
  std::string torn;  // the last line may just be written
  for_each_line(
      path,
      [&](uint64_t number, uint64_t, std::string_view text) {
        take(read_line(text, fmt::format("{}:{}", path, number)), false);
      },
      torn);
}

void ResultsFile::append(const std::string& line) {
  for (size_t written = 0; written < line.size();) {
    const ssize_t n = write(fd_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error_number = errno;
      if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) {
        // The torn line is dropped by the next sweep.
      }
      fail(path_, "write", error_number);
    }
    written += static_cast<size_t>(n);
  }
  bytes_ += line.size();
  take(read_line(std::string_view(line).substr(0, line.size() - 1), path_), true);
}

}  // namespace nearwarp::sweep
