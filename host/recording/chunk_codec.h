// Compresses and decompresses trace chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// Compresses a chunk with zstd, at its fastest level.
std::vector<uint8_t> compress_chunk(const TraceChunk& chunk);

/// The inverse of compress_chunk(). Throws nearwarp::Error if `data` is damaged.
TraceChunk decompress_chunk(const std::vector<uint8_t>& data);

}  // namespace nearwarp::runtime
