// Recognises chunks of traces that are the same: launches of a loop often repeat each other
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// 128 bits of a chunk's contents: that two different chunks of a recording with 10^6 of them have
/// the same is less likely than 10^-25.
struct ChunkKey {
  uint64_t low = 0, high = 0;
  bool operator==(const ChunkKey&) const = default;
};
ChunkKey chunk_key(const TraceChunk& chunk);

/// Numbers chunks in the order of their first appearance.
class ChunkIds {
 public:
  struct Id {
    uint32_t number = 0;
    bool is_new = false;
  };
  Id of(const TraceChunk& chunk) {
    const auto next = static_cast<uint32_t>(known_.size());
    const auto [it, is_new] = known_.try_emplace(chunk_key(chunk), next);
    return {it->second, is_new};
  }

 private:
  struct Hash {
    size_t operator()(const ChunkKey& key) const { return key.low; }
  };
  std::unordered_map<ChunkKey, uint32_t, Hash> known_;
};

}  // namespace nearwarp::runtime
