// Do CODA's equations give the results of the paper's own examples?
#include "host/mechanisms/coda/equations.h"

#include <gtest/gtest.h>

namespace nearwarp::coda {
namespace {

TEST(CodaEquations, AffinityOfTheTextsExample) {
  // Section 4.3.1: four SMs of six blocks each in a stack are 24 blocks.
  EXPECT_EQ(affinity(0, 24, 4), 0u);
  EXPECT_EQ(affinity(23, 24, 4), 0u);
  EXPECT_EQ(affinity(24, 24, 4), 1u);
  EXPECT_EQ(affinity(95, 24, 4), 3u);
  EXPECT_EQ(affinity(96, 24, 4), 0u);
}

TEST(CodaEquations, EachStackHasItsShareOfTheBlocks) {
  // "When N is the number of memory stacks and T is the total number of thread-blocks, T/N
  // thread-blocks have the same affinity."
  uint32_t of_stack[4] = {};
  for (uint64_t block = 0; block < 960; ++block) of_stack[affinity(block, 24, 4)] += 1;
  for (const uint32_t blocks : of_stack) EXPECT_EQ(blocks, 240u);
}

TEST(CodaEquations, ChunksOfTheKmeansExample) {
  // Section 4.3.2: B = blockDim.x * nfeatures * sizeof(float).
  constexpr uint64_t b = 256 * 34 * 4;
  EXPECT_EQ(chunk_bytes(b, 24, 4096, ChunkRule::kBlocks), b * 24);
  EXPECT_EQ(chunk_bytes(b, 24, 4096, ChunkRule::kRounded), b * 24);  // 204 pages
  EXPECT_EQ(chunk_bytes(b, 24, 4096, ChunkRule::kPage), 4096u);      // as it is written
  for (const ChunkRule rule : {ChunkRule::kBlocks, ChunkRule::kRounded, ChunkRule::kPage})
    EXPECT_EQ(chunk_bytes(100, 24, 4096, rule), 4096u);
  EXPECT_EQ(chunk_bytes(200, 24, 4096, ChunkRule::kBlocks), 4800u);
  EXPECT_EQ(chunk_bytes(200, 24, 4096, ChunkRule::kRounded), 8192u);
}

TEST(CodaEquations, ABlocksDataIsWhereTheBlockIs) {
  // Eq. (1) and (3), a page being where its first byte is: of a chunk of 24 * 1088 bytes, 6.4
  // pages, no more than the last page is the next stack's neighbour.
  constexpr uint64_t b = 1088, per_stack = 24, page = 4096;
  const auto share_at_home = [&](ChunkRule rule) {
    const uint64_t chunk = chunk_bytes(b, per_stack, page, rule);
    uint32_t home = 0;
    for (uint64_t block = 0; block < 10'000; ++block)
      home += stack_of(block * b / page * page, chunk, 4) == affinity(block, per_stack, 4) ? 1 : 0;
    return home / 100;  // percent
  };
  EXPECT_GE(share_at_home(ChunkRule::kBlocks), 90u);
  EXPECT_LE(share_at_home(ChunkRule::kRounded), 30u);  // they drift
  EXPECT_LE(share_at_home(ChunkRule::kPage), 30u);
}

}  // namespace
}  // namespace nearwarp::coda
