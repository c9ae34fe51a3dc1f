// Recognises chunks of traces that are the same.
#include "host/recording/chunk_ids.h"

#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace nearwarp::runtime {
namespace {

/// Every chunk that is recorded passes through here: four independent lanes keep the multipliers
/// busy, 32 bytes in about the time of one multiplication. Each lane has 64 bits for its words; the
/// two halves of the result see all lanes.
class WideHash {
 public:
  void add(std::span<const std::byte> bytes) {
    const std::byte* p = bytes.data();
    size_t left = bytes.size();
    for (; left >= sizeof(Block); left -= sizeof(Block), p += sizeof(Block)) {
      Block words;
      std::memcpy(words.data(), p, sizeof(words));
      mix(words);
    }
    Block tail = {0, 0, 0, bytes.size()};  // tells parts of other lengths apart
    if (left != 0) {
      mix(tail);
      tail = {};
      std::memcpy(tail.data(), p, left);
    }
    mix(tail);
  }
  ChunkKey key() const {
    ChunkKey key{0x243f6a8885a308d3u, 0x13198a2e03707344u};
    for (const uint64_t lane : lanes_) {
      key.low = finish(key.low ^ lane);
      key.high = finish(key.high + std::rotl(lane, 23) * kOdd);
    }
    return key;
  }

 private:
  using Block = std::array<uint64_t, 4>;
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;

  void mix(const Block& words) {
    // Both halves of the product: a bit of a word reaches those above it by the low one and those
    // below it by the high one. (Of one half and a rotation, bit 63 of a word would move a single
    // bit, which the lane's next word could take back.)
    for (size_t i = 0; i < words.size(); ++i) {
      const auto product = static_cast<Wide>(lanes_[i] ^ words[i]) * kOdd;
      lanes_[i] = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }
  }
  static uint64_t finish(uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
  }

  Block lanes_ = {1, 2, 3, 4};
};

}  // namespace

ChunkKey chunk_key(const TraceChunk& chunk) {
  WideHash hash;
  const std::array<uint32_t, 3> shape = {chunk.first_block, chunk.num_blocks,
                                         chunk.warps_per_block};
  hash.add(std::as_bytes(std::span(shape)));
  hash.add(std::as_bytes(std::span(chunk.warp_offset)));
  hash.add(std::as_bytes(std::span(chunk.words)));
  return hash.key();
}

}  // namespace nearwarp::runtime
