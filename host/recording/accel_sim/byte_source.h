// Reads a file, plain or compressed, as a stream of bytes.
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
  /// Reads up to `bytes` decompressed bytes; returns their number, 0 at the end. Throws
  /// nearwarp::Error if the file cannot be read, is damaged, or ends inside compressed data.
  virtual size_t read(char* to, size_t bytes) = 0;
  /// Number of bytes of the file itself that have been read, for progress.
  virtual uint64_t position() const = 0;
};

/// Open a file. Its first bytes tell whether it is plain, xz or zstd. Throws nearwarp::Error if it
/// cannot be opened or is compressed by gzip.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace nearwarp::sass
