// Hashes of contents (not cryptographic): XXH3 of libxxhash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nearwarp {

/// Names a content: that two different ones of 10^6 have the same is less likely than 10^-25. The
/// same on every run and machine.
struct Hash128 {
  uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
  /// 32 hexadecimal digits.
  std::string hex() const;
};

Hash128 content_hash(std::string_view bytes);

/// The hash of pieces one after the other; where one ends and the next begins is not in it.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  void add(std::span<const std::byte> bytes);
  Hash128 result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Tells damaged data: 64 bits.
uint64_t checksum(std::string_view bytes, uint64_t seed = 0);

}  // namespace nearwarp
