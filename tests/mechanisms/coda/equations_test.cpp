// CODA's equations, on the text's own examples.
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
  EXPECT_EQ(chunk_bytes(b, 24, 4096, false), b * 24);   // 51 pages * 4 exactly
  EXPECT_EQ(chunk_bytes(b, 24, 4096, true), 4096u);     // Eq. (2) as it is written
  EXPECT_EQ(chunk_bytes(100, 24, 4096, false), 4096u);  // rounded up to a page
  EXPECT_EQ(chunk_bytes(200, 24, 4096, false), 8192u);
}

TEST(CodaEquations, ABlocksDataIsWhereTheBlockIs) {
  // Eq. (1) and (3) agree wherever chunks are whole pages as they come.
  constexpr uint64_t b = 4096, per_stack = 24;
  const uint64_t chunk = chunk_bytes(b, per_stack, 4096, false);
  for (uint64_t block = 0; block < 500; ++block)
    EXPECT_EQ(stack_of(block * b, chunk, 4), affinity(block, per_stack, 4)) << block;
}

}  // namespace
}  // namespace nearwarp::coda
