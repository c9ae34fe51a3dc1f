// Remembers which bytes of a range of memory have been written: a bit for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nearwarp::racecheck {

/// Bytes are named by their offsets. Takes an eighth of the range as address space, and as memory
/// where something was marked.
class WrittenBytes {
 public:
  /// A range of `bytes`, of which nothing is written. Throws nearwarp::Error for lack of address
  /// space.
  explicit WrittenBytes(uint64_t bytes);
  ~WrittenBytes();
  WrittenBytes(const WrittenBytes&) = delete;
  WrittenBytes& operator=(const WrittenBytes&) = delete;

  uint64_t size() const { return bytes_; }
  void mark(uint64_t offset, uint64_t bytes);
  void unmark(uint64_t offset, uint64_t bytes);
  /// The bytes at `to` are as those at `from` now; the ranges may overlap.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Is one of [offset, offset + bytes) written? `bytes` is from 1 to 32.
  bool any(uint64_t offset, uint32_t bytes) const {
    uint64_t word;  // what lies 64 bits further is there too, unused
    std::memcpy(&word, bits_ + offset / 8, sizeof(word));
    return (word >> offset % 8 & ((uint64_t{1} << bytes) - 1)) != 0;
  }
  /// mark() for as few bytes as one access has.
  void mark_access(uint64_t offset, uint32_t bytes) {
    uint64_t word;
    std::memcpy(&word, bits_ + offset / 8, sizeof(word));
    word |= ((uint64_t{1} << bytes) - 1) << offset % 8;
    std::memcpy(bits_ + offset / 8, &word, sizeof(word));
  }

 private:
  bool at(uint64_t offset) const { return (bits_[offset / 8] >> offset % 8 & 1) != 0; }
  uint32_t bits_at(uint64_t offset, uint64_t count) const;  // up to 32
  void set(uint64_t offset, bool value);
  void set_range(uint64_t offset, uint64_t bytes, bool value);

  uint8_t* bits_ = nullptr;
  uint64_t bytes_, mapped_;
};

}  // namespace nearwarp::racecheck
