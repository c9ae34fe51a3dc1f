// A 64-bit content hash (not cryptographic), for caches and determinism checks.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace nearwarp {

/// Hash of `bytes`: the same on every run and machine of one byte order.
inline uint64_t content_hash(std::string_view bytes, uint64_t seed = 0) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const auto mix = [](uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
  };
  uint64_t hash = mix(seed ^ bytes.size() * kMultiplier);
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = mix(hash ^ word) * kMultiplier;
  }
  uint64_t tail = 0;
  if (i < bytes.size()) std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  return mix(hash ^ tail);
}

}  // namespace nearwarp
