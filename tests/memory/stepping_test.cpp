// Does the whole memory side have the same state bytes under random traffic with any length of
// windows, any stepping order and any lane order? Under a sanitizer these tests take minutes.
#include <gtest/gtest.h>

#include "tests/memory/random_traffic.h"

namespace nearwarp::testing {
namespace {

/// The configuration with the least of every queue.
MemoryConfig with_single_slots(MemoryConfig c) {
  c.slots = 1;
  c.vault_queue = 2;
  c.dram.write_high = 2;
  c.dram.write_low = 1;
  c.mshrs = 2;
  return c;
}

Traffic for_slow_consumers() {
  Traffic t;
  t.spread = 1;
  t.requests = 100;
  t.consumer_period = 2000;
  return t;
}

TEST(MemorySystem, LightTrafficIsIndependentOfStepping) {
  Traffic t;
  t.spread = 2000000;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, HeavyTrafficIsIndependentOfStepping) {
  Traffic t;
  t.spread = 1;
  t.requests = 150;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, SingleSlotsAndSlowConsumersAreIndependentOfStepping) {
  expect_independent(with_single_slots(small_config()), for_slow_consumers());
}

TEST(MemorySystem, ShortHopsAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.hop = 60;
  Traffic t;
  t.spread = 20000;
  expect_independent(c, t);
}

TEST(MemorySystem, FrequentRefreshAndStarvationAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.dram.tREFI = 300;
  c.dram.tRFC = 50;
  c.dram.starvation_cycles = 100;
  Traffic t;
  t.spread = 100000;
  expect_independent(c, t);
}

class MemoryBySectors : public ::testing::TestWithParam<uint8_t> {};

TEST_P(MemoryBySectors, IsIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  Traffic t;
  t.spread = 20000;
  t.lines = 64;
  expect_independent(c, t);
  t.lines = 1 << 12;
  t.spread = 1;
  expect_independent(c, t);
}

TEST_P(MemoryBySectors, SingleSlotsAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  Traffic t = for_slow_consumers();
  t.lines = 128;
  expect_independent(with_single_slots(c), t);
}

INSTANTIATE_TEST_SUITE_P(WritePolicies, MemoryBySectors, ::testing::Values(0, 1),
                         [](const auto& test) { return test.param != 0 ? "back" : "through"; });

class MemoryOfDirtyLines : public ::testing::TestWithParam<L2WriteMiss> {};

TEST_P(MemoryOfDirtyLines, IsIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.write_back = 1;
  c.write_miss = GetParam();
  Traffic t;
  t.spread = 20000;
  t.lines = 64;
  expect_independent(c, t);
  t.lines = 1 << 12;
  t.spread = 1;
  expect_independent(c, t);
}

TEST_P(MemoryOfDirtyLines, SingleSlotsAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.write_back = 1;
  c.write_miss = GetParam();
  Traffic t = for_slow_consumers();
  t.lines = 128;
  expect_independent(with_single_slots(c), t);
}

INSTANTIATE_TEST_SUITE_P(WriteMisses, MemoryOfDirtyLines,
                         ::testing::Values(L2WriteMiss::kAllocate, L2WriteMiss::kThrough,
                                           L2WriteMiss::kFetch, L2WriteMiss::kFetchOnWrite));

TEST(MemorySystem, LaunchesThatEmptySlicesAreIndependentOfStepping) {
  for (const uint8_t write_back : {uint8_t{0}, uint8_t{1}})
    for (const L2AtLaunch at_launch : {L2AtLaunch::kRemote, L2AtLaunch::kAll}) {
      MemoryConfig c = small_config();
      c.write_back = write_back;
      c.write_miss = L2WriteMiss::kFetchOnWrite;
      c.at_launch = at_launch;
      c.atomics_in_memory = at_launch == L2AtLaunch::kAll ? 1 : 0;
      Traffic t;
      t.spread = 20000;
      t.lines = 64;
      expect_independent(c, t);
      expect_independent(with_single_slots(c), for_slow_consumers());
    }
}

}  // namespace
}  // namespace nearwarp::testing
