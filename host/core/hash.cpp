// Hashes of contents: XXH3 of libxxhash.
#include "host/core/hash.h"

// The code in the header is compiled for the instructions of this build. The library's code is for
// the oldest processors, and slower; chunks of traces are hashed as they are made.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <new>

namespace nearwarp {

namespace {

Hash128 of(const XXH128_hash_t& hash) { return {hash.low64, hash.high64}; }

}  // namespace

struct Hasher::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr || XXH3_128bits_reset(xxh) != XXH_OK) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(xxh); }
  XXH3_state_t* xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
void Hasher::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}
Hash128 Hasher::result() const { return of(XXH3_128bits_digest(state_->xxh)); }

Hash128 content_hash(std::string_view bytes) {
  return of(XXH3_128bits(bytes.data(), bytes.size()));
}

uint64_t checksum(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string Hash128::hex() const {
  std::array<char, 33> digits = {};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(high), static_cast<unsigned long long>(low));
  return digits.data();
}

}  // namespace nearwarp
