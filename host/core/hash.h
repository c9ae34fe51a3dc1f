// Hashes of contents (not cryptographic): XXH3 of libxxhash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nearwarp {

/// A hash that identifies contents: among 10^6 different ones, two have the same hash with a
/// probability below 10^-25. It is the same on every run and machine.
struct Hash128 {
  uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
  /// 32 hexadecimal digits.
  std::string hex() const;
};

Hash128 content_hash(std::string_view bytes);

/// Computes the content_hash() of concatenated pieces; their boundaries do not matter.
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

/// A 64-bit checksum, by which damaged data are recognised.
uint64_t checksum(std::string_view bytes, uint64_t seed = 0);

}  // namespace nearwarp
