// Which groups of a warp's asynchronous loads are done, however many there were?
#include <gtest/gtest.h>

#include "device/sm/copies_state.h"

namespace nearwarp::sm {
namespace {

/// A segment ends, of which nothing is under way, and whose data are there at `ready`.
void end_segment(AsyncLoads& a, uint32_t ready) {
  a.ready[a.open % AsyncLoads::kSegments] = ready;
  a.open += 1;
  a.oldest = a.open;
}

void commit(AsyncLoads& a, uint32_t ready) {
  a.committed[a.groups % AsyncLoads::kSegments] = a.open;
  a.groups += 1;
  end_segment(a, ready);
}

TEST(AsyncLoads, AGroupThatIsDoneStaysDone) {
  AsyncLoads a;
  commit(a, 100);
  EXPECT_TRUE(a.all_but(0));
  EXPECT_EQ(a.ready_but(0), 100u);
  for (uint32_t i = 0; i < 1000; ++i) {
    end_segment(a, 200);
    EXPECT_TRUE(a.all_but(0)) << i;
  }
  EXPECT_EQ(a.ready_but(0), 0u);  // long ago
}

TEST(AsyncLoads, WhatIsUnderWayIsWaitedFor) {
  AsyncLoads a;
  for (uint32_t i = 0; i < 300; ++i) commit(a, i);
  a.loading[a.open % AsyncLoads::kSegments] = 1;
  a.committed[a.groups % AsyncLoads::kSegments] = a.open;
  a.groups += 1;
  a.open += 1;
  EXPECT_FALSE(a.all_but(0));
  EXPECT_FALSE(a.none_is_under_way());
  EXPECT_TRUE(a.all_but(1));
  EXPECT_EQ(a.ready_but(1), 299u);
  a.loading[a.oldest % AsyncLoads::kSegments] = 0;
  a.oldest += 1;
  EXPECT_TRUE(a.all_but(0));
  EXPECT_TRUE(a.none_is_under_way());
}

}  // namespace
}  // namespace nearwarp::sm
