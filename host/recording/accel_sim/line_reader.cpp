// Reads the lines of a text file through a buffer that grows up to the longest line.
#include "host/recording/accel_sim/line_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "host/core/error.h"

namespace nearwarp::sass {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr size_t kLongestLine = size_t{1} << 20;

}  // namespace

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return "'" + shown + (text.size() > kShown ? "...'" : "'");
}

LineReader::LineReader(const std::string& path) : LineReader(path, open_bytes(path)) {}

LineReader::LineReader(const std::string& path, std::unique_ptr<ByteSource> source)
    : path_(path), source_(std::move(source)) {
  buffer_.resize(kBufferBytes);
}

void LineReader::fail(const std::string& what, const std::string& right) const {
  throw Error(fmt::format("{} ({}:{}) - {}", what, path_, line_, right));
}

bool LineReader::next(std::string_view* line) {
  size_t searched = 0;
  for (;;) {
    const char* first = buffer_.data() + begin_;
    const auto* found =
        static_cast<const char*>(std::memchr(first + searched, '\n', end_ - begin_ - searched));
    if (found == nullptr && !ended_) {
      searched = end_ - begin_;
      std::memmove(buffer_.data(), first, searched);
      begin_ = 0;
      end_ = searched;
      if (searched > kLongestLine) {
        ++line_;
        fail("a line is longer than a mebibyte",
             "give a text file as Accel-Sim's tracer writes it");
      }
      if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
      const size_t n = source_->read(buffer_.data() + end_, buffer_.size() - end_);
      ended_ = n == 0;
      end_ += n;
      continue;
    }
    if (found == nullptr && begin_ == end_) return false;
    size_t length = found != nullptr ? static_cast<size_t>(found - first) : end_ - begin_;
    begin_ += length + (found != nullptr ? 1 : 0);
    if (length != 0 && first[length - 1] == '\r') --length;
    *line = {first, length};
    ++line_;
    return true;
  }
}

}  // namespace nearwarp::sass
