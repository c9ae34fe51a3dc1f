// A trace chunk as compressed bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// Compressed with zstd at its fastest level.
std::vector<uint8_t> compress_chunk(const TraceChunk& chunk);

/// The inverse. Throws nearwarp::Error if `data` is no such chunk.
TraceChunk decompress_chunk(const std::vector<uint8_t>& data);

}  // namespace nearwarp::runtime
