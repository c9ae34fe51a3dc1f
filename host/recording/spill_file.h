// Files of compressed traces: a temporary file without a name, which the system removes when the
// process ends in any way; or an existing file that is only read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::runtime {

class SpillFile {
 public:
  struct Extent {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  /// Create the file in `directory` (empty: $TMPDIR or /tmp). Throws nearwarp::Error.
  explicit SpillFile(const std::string& directory);
  /// Open an existing file for reading. Throws nearwarp::Error.
  static SpillFile open_existing(const std::string& path);
  SpillFile(SpillFile&& other) noexcept;
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends bytes and returns their place. Throws nearwarp::Error if they cannot be written.
  Extent append(const std::vector<uint8_t>& data);
  uint64_t size() const { return size_; }
  /// Reads the bytes of an extent. Thread-safe. Throws nearwarp::Error.
  std::vector<uint8_t> read(Extent extent) const;

 private:
  SpillFile() = default;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::string directory_;  ///< for messages; the path of an existing file
};

}  // namespace nearwarp::runtime
