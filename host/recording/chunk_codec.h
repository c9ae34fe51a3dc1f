// Compresses and decompresses trace chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// Compresses a chunk with zstd, at its fastest level.
std::vector<uint8_t> compress_chunk(const TraceChunk& chunk);

/// Whether a chunk with these sizes may be in `data`, as far as one sees without decompressing it.
bool is_possible_chunk(std::span<const uint8_t> data, uint64_t words, uint64_t memory_bytes,
                       uint64_t blocks);

/// The inverse of compress_chunk(). Throws nearwarp::Error if `data` is damaged.
TraceChunk decompress_chunk(const std::vector<uint8_t>& data);

}  // namespace nearwarp::runtime
