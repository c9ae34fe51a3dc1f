// Bytes of a file, plain or compressed, in a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace nearwarp::sass {

/// A file that is read from its beginning to its end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `bytes` decompressed bytes; 0 at the end. Throws nearwarp::Error for a file that cannot
  /// be read, is damaged, or ends in the middle of compressed data.
  virtual size_t read(char* to, size_t bytes) = 0;
  /// Bytes of the file itself that have been read, for progress.
  virtual uint64_t position() const = 0;
};

/// Open a file; whether it is plain, xz or zstd is seen from its first bytes. Throws
/// nearwarp::Error if it cannot be opened or is compressed otherwise.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace nearwarp::sass
