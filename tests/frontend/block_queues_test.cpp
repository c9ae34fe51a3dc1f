// Does every thread block stand in one queue, once, and in the right order?
#include "device/frontend/block_queues.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearwarp::frontend {
namespace {

TEST(BlockQueues, EveryBlockStandsInOneQueueOnce) {
  for (const uint32_t groups : {1u, 2u, 3u, 4u, 7u})
    for (const uint32_t row : {1u, 2u, 5u, 24u})
      for (const uint32_t blocks : {1u, 2u, 23u, 24u, 96u, 97u, 250u}) {
        const BlockQueues q{blocks, row, groups};
        std::vector<uint32_t> seen(blocks);
        uint32_t total = 0;
        for (uint32_t g = 0; g < groups; ++g) {
          total += q.length(g);
          for (uint32_t place = 0; place < q.length(g); ++place) {
            const uint32_t block = q.at(g, place);
            ASSERT_LT(block, blocks) << groups << " " << row << " " << g << " " << place;
            seen[block] += 1;
            EXPECT_EQ(q.group_of(block), g);
            EXPECT_EQ(q.place_of(block), place);
            if (place != 0) {
              EXPECT_GT(block, q.at(g, place - 1));
            }
          }
        }
        EXPECT_EQ(total, blocks);
        EXPECT_EQ(seen, std::vector<uint32_t>(blocks, 1)) << groups << " " << row;
      }
}

/// Launches that may run on some groups only: the others' queues are empty, and blocks are dealt to
/// those as to all of a machine that has no others.
TEST(BlockQueues, OfSomeGroupsAreAsThoseOfAMachineOfThese) {
  for (const std::vector<uint32_t>& members :
       {std::vector<uint32_t>{0}, {3}, {1, 2}, {0, 3}, {0, 1, 3}, {0, 1, 2, 3}})
    for (const uint32_t row : {1u, 5u, 24u})
      for (const uint32_t blocks : {1u, 24u, 97u, 250u}) {
        uint32_t bits = 0;
        for (const uint32_t g : members) bits |= 1u << g;
        const BlockQueues q{blocks, row, 4, bits};
        const BlockQueues alone{blocks, row, static_cast<uint32_t>(members.size())};
        uint32_t total = 0;
        for (uint32_t g = 0; g < 4; ++g) {
          if ((bits >> g & 1) == 0) {
            EXPECT_EQ(q.length(g), 0u);
          }
          total += q.length(g);
        }
        EXPECT_EQ(total, blocks);
        for (uint32_t i = 0; i < members.size(); ++i) {
          ASSERT_EQ(q.length(members[i]), alone.length(i));
          for (uint32_t place = 0; place < q.length(members[i]); ++place) {
            const uint32_t block = q.at(members[i], place);
            EXPECT_EQ(block, alone.at(i, place));
            EXPECT_EQ(q.group_of(block), members[i]);
            EXPECT_EQ(q.place_of(block), place);
          }
        }
      }
}

/// CODA, section 4.3.1: four SMs of six blocks each make rows of 24; Eq. (1) gives the stack.
TEST(BlockQueues, AffinityIsThatOfCoda) {
  const BlockQueues q{1000, 24, 4};
  for (uint32_t block = 0; block < 1000; ++block) EXPECT_EQ(q.group_of(block), block / 24 % 4);
}

}  // namespace
}  // namespace nearwarp::frontend
