// A group whose lanes are threads, which meet as they would on a GPU, steps the whole memory side
// to the same state bytes; and there is nothing for a thread sanitizer to find.
#include <gtest/gtest.h>

#include "tests/memory/random_traffic.h"

namespace nearwarp::testing {
namespace {

void expect_same_in_threads(MemoryConfig c) {
  c.vaults = 2;
  Traffic t;
  t.requests = 60;
  t.spread = 20000;
  t.lines = 64;
  expect_same(run_system<HostGroup>(c, t, {448}), run_system<SpmdTeam>(c, t, {448}), "threads");
}

TEST(MemoryLanes, AreThreads) {
  MemoryConfig c = small_config();
  c.dram.tREFI = 700;
  c.dram.starvation_cycles = 100;
  expect_same_in_threads(c);
}

class MemoryLanesBySectors : public ::testing::TestWithParam<uint8_t> {};

TEST_P(MemoryLanesBySectors, AreThreads) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  expect_same_in_threads(c);
}

TEST(MemoryLanes, OfDirtyLinesAreThreads) {
  for (const L2WriteMiss miss :
       {L2WriteMiss::kAllocate, L2WriteMiss::kFetch, L2WriteMiss::kFetchOnWrite}) {
    MemoryConfig c = small_config();
    c.at_launch = L2AtLaunch::kAll;
    c.write_back = 1;
    c.write_miss = miss;
    expect_same_in_threads(c);
  }
}

INSTANTIATE_TEST_SUITE_P(WritePolicies, MemoryLanesBySectors, ::testing::Values(0, 1),
                         [](const auto& test) { return test.param != 0 ? "back" : "through"; });

}  // namespace
}  // namespace nearwarp::testing
