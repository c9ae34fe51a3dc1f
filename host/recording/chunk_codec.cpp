// Compresses and decompresses trace chunks: a header, the warps' offsets, the words.
#include "host/recording/chunk_codec.h"

#include <zstd.h>

#include <cstring>

#include "host/core/error.h"

namespace nearwarp::runtime {

namespace {

constexpr int kLevel = 1;
constexpr uint64_t kMaxWords = uint64_t{1} << 32;

struct Header {
  uint32_t first_block = 0, num_blocks = 0, warps_per_block = 0, unused = 0;
  uint64_t num_offsets = 0, num_words = 0;
};

[[noreturn]] void corrupted() { throw Error("a compressed trace chunk is corrupted"); }

}  // namespace

std::vector<uint8_t> compress_chunk(const TraceChunk& chunk) {
  const Header header{chunk.first_block,        chunk.num_blocks,  chunk.warps_per_block, 0,
                      chunk.warp_offset.size(), chunk.words.size()};
  std::vector<uint8_t> plain(sizeof(Header) + chunk.warp_offset.size() * 4 +
                             chunk.words.size() * 8);
  uint8_t* p = plain.data();
  std::memcpy(p, &header, sizeof(Header));
  p += sizeof(Header);
  if (!chunk.warp_offset.empty())
    std::memcpy(p, chunk.warp_offset.data(), chunk.warp_offset.size() * 4);
  p += chunk.warp_offset.size() * 4;
  if (!chunk.words.empty()) std::memcpy(p, chunk.words.data(), chunk.words.size() * 8);
  std::vector<uint8_t> out(ZSTD_compressBound(plain.size()));
  const size_t n = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), kLevel);
  if (ZSTD_isError(n)) throw Error(std::string("cannot compress traces: ") + ZSTD_getErrorName(n));
  out.resize(n);
  return out;
}

bool is_possible_chunk(std::span<const uint8_t> data, uint64_t words, uint64_t memory_bytes,
                       uint64_t blocks) {
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR &&
         size >= sizeof(Header) && size <= kMaxWords * 12 && words <= size / sizeof(uint64_t) &&
         memory_bytes <= size + sizeof(TraceChunk) && blocks <= UINT32_MAX;
}

TraceChunk decompress_chunk(const std::vector<uint8_t>& data) {
  if (!is_possible_chunk(data, 0, 0, 0)) corrupted();
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  std::vector<uint8_t> plain(size);
  const size_t n = ZSTD_decompress(plain.data(), plain.size(), data.data(), data.size());
  if (ZSTD_isError(n) || n != size) corrupted();
  Header header;
  std::memcpy(&header, plain.data(), sizeof(Header));
  if (header.num_offsets > kMaxWords || header.num_words > kMaxWords ||
      sizeof(Header) + header.num_offsets * 4 + header.num_words * 8 != size ||
      header.num_offsets != uint64_t{header.num_blocks} * header.warps_per_block + 1)
    corrupted();
  TraceChunk chunk;
  chunk.first_block = header.first_block;
  chunk.num_blocks = header.num_blocks;
  chunk.warps_per_block = header.warps_per_block;
  chunk.warp_offset.resize(header.num_offsets);
  chunk.words.resize(header.num_words);
  const uint8_t* p = plain.data() + sizeof(Header);
  std::memcpy(chunk.warp_offset.data(), p, header.num_offsets * 4);
  if (header.num_words != 0)
    std::memcpy(chunk.words.data(), p + header.num_offsets * 4, header.num_words * 8);
  uint32_t before = 0;
  for (const uint32_t offset : chunk.warp_offset) {
    if (offset < before || offset > header.num_words) corrupted();
    before = offset;
  }
  if (before != header.num_words) corrupted();
  return chunk;
}

}  // namespace nearwarp::runtime
