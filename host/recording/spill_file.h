// Files of compressed traces: a temporary file without a name, which vanishes with the process,
// however that ends; or an existing one, for reading.
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
  /// A file that exists, for reading. Throws nearwarp::Error.
  static SpillFile open_existing(const std::string& path);
  SpillFile(SpillFile&& other) noexcept;
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Throws nearwarp::Error if the disk is full.
  Extent append(const std::vector<uint8_t>& data);
  uint64_t size() const { return size_; }
  /// Thread-safe.
  std::vector<uint8_t> read(Extent extent) const;

 private:
  SpillFile() = default;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::string directory_;
};

}  // namespace nearwarp::runtime
