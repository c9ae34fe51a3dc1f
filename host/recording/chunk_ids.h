// Recognises equal chunks of traces, which are frequent, since launches in a loop often repeat each
// other exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "host/core/hash.h"
#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// A hash of a chunk's contents, which identifies it.
Hash128 chunk_key(const TraceChunk& chunk);

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
    size_t operator()(const Hash128& key) const { return key.low; }
  };
  std::unordered_map<Hash128, uint32_t, Hash> known_;
};

}  // namespace nearwarp::runtime
