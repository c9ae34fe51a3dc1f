// Reads the lines of a text file that may be far larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/byte_source.h"

namespace nearwarp::sass {

/// The beginning of a text for a message: in quotation marks, with '?' for unprintable characters.
std::string quoted(std::string_view text);

class LineReader {
 public:
  explicit LineReader(const std::string& path);
  /// Reads lines from `source`; `path` names it in messages.
  LineReader(const std::string& path, std::unique_ptr<ByteSource> source);

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Throws nearwarp::Error as ByteSource does, and for a line of more than a mebibyte.
  bool next(std::string_view* line);
  /// Throws nearwarp::Error "what (file:line) - right" about the line that was read last.
  [[noreturn]] void fail(const std::string& what, const std::string& right) const;

  const std::string& path() const { return path_; }
  uint64_t line_number() const { return line_; }
  /// Bytes of the file itself, maybe compressed, that have been read.
  uint64_t position() const { return source_->position(); }

 private:
  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // the bytes in the buffer that are not part of returned lines
  uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace nearwarp::sass
