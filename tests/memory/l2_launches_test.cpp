// Which lines do the stacks' L2 slices give up when launches begin, and which do they write back
// then?
#include "tests/memory/slice_rig.h"

namespace nearwarp::testing::l2_launches_test {
namespace {

constexpr uint64_t kAll = 0xffffffff;  // words of a line

/// A slice of stack 0 of two, with lines of both: those with an odd number are stack 1's.
SliceRig slice(L2AtLaunch at_launch, uint8_t write_back) {
  return SliceRig([=](L2SliceParams& p) {
    p.at_launch = at_launch;
    p.write_back = write_back;
    p.write_miss = L2WriteMiss::kFetchOnWrite;
    p.index = folded(1);
    p.ways = 4;
    p.map.baseline.stack_bits = 1;
    p.map.baseline.vault_bits = 1;
    p.homes.per_stack = 2;
  });
}

/// A launch begins; the word arrives in `cycle`.
void launch(SliceRig& r, uint32_t cycle) {
  r.invalidations->items.push_back(
      {cycle * kPeriod - kHop, make_packet(PacketKind::kNewLaunch, 9, 50, 0), 0});
}

/// Another stack has written a line: the word of the vault arrives in `cycle`.
void written(SliceRig& r, uint32_t cycle, uint32_t line) {
  r.memory_out->items.push_back(
      {cycle * kPeriod - kHop, make_packet(PacketKind::kLineWritten, 100, 50, 8, 0, line), 0});
}

TEST(L2Launches, GiveUpLinesOfOtherStacks) {
  for (const auto& [at_launch, own, other] : {std::tuple{L2AtLaunch::kKeep, true, true},
                                              {L2AtLaunch::kRemote, true, false},
                                              {L2AtLaunch::kAll, false, false}}) {
    SliceRig r = slice(at_launch, 0);
    r.read(10, 2);
    r.read(11, 3);
    r.fill(100, 0);
    r.fill(101, 1);
    launch(r, 150);
    r.read(200, 2);
    r.read(201, 3);
    if (!own) r.fill(300, 1);
    if (!other) r.fill(301, own ? 1 : 0);
    r.run();
    EXPECT_EQ(r.counters().read_hits, (own ? 1u : 0u) + (other ? 1u : 0u));
    EXPECT_EQ(r.counters().lines_given_up, 2 - r.counters().read_hits);
    EXPECT_EQ(r.counters().launches, 1u);
    EXPECT_EQ(r.counters().launch_cycles, 0u);  // nothing is written back
  }
}

TEST(L2Launches, ALineOfWhichAnotherStackSaysThatItIsWrittenGoes) {
  SliceRig r = slice(L2AtLaunch::kRemote, 0);
  r.read(10, 2);
  r.fill(100, 0);
  written(r, 150, 2);
  written(r, 151, 4);  // not there
  r.read(200, 2);
  r.fill(300, 0);
  r.rig.run({kHop}, 100000);
  EXPECT_EQ(r.counters().read_misses, 2u);
  EXPECT_EQ(r.counters().invalidations, 2u);
  EXPECT_EQ(r.counters().lines_invalidated, 1u);
}

TEST(L2Launches, DirtyLinesAreWrittenBackASetOrALinePerCycle) {
  SliceRig r = slice(L2AtLaunch::kRemote, 1);
  r.write(10, 0, kAll);  // set 0
  r.write(11, 1, kAll);  // of stack 1
  r.write(12, 8, kAll);
  launch(r, 100);
  r.read(100, 0);  // comes with the word and waits
  r.read(101, 1);
  for (uint32_t k = 0; k < 3; ++k) r.acknowledge(200 + k);
  r.fill(300, 0);
  r.run();
  EXPECT_EQ(r.counters().launch_write_backs, 3u);
  EXPECT_EQ(r.counters().write_backs, 3u);
  EXPECT_EQ(r.counters().lines_given_up, 1u);
  EXPECT_EQ(r.counters().read_hits, 1u);  // of 0, which is clean now
  EXPECT_EQ(r.counters().read_misses, 1u);
  const uint64_t cycles = r.counters().launch_cycles;
  EXPECT_GE(cycles, 3u);
  EXPECT_LE(cycles, 4u);  // two sets, one of them perhaps empty
  for (uint32_t k = 0; k < 3; ++k) {
    EXPECT_EQ(r.memory_in->items.at(k).packet.kind, PacketKind::kWrite);
    EXPECT_EQ(r.memory_in->items.at(k).packet.src, 50u);
    EXPECT_EQ(r.memory_in->items.at(k).packet.bytes, 8u + 128);
  }
  EXPECT_EQ(r.asked(0), 100u + kLatency);
  EXPECT_EQ(r.replied(3), 100u + cycles + kLatency);  // the read of 0
}

TEST(L2Launches, ADirtyLineThatAnotherStackHasWrittenGoesWhenItIsWrittenBack) {
  SliceRig r = slice(L2AtLaunch::kRemote, 1);
  r.write(10, 2, kAll);
  written(r, 20, 2);
  r.read(50, 2);  // its own stack sees what it wrote
  launch(r, 100);
  r.acknowledge(200);
  r.read(300, 2);
  r.fill(400, 0);
  r.rig.run({kHop}, 100000);
  EXPECT_EQ(r.counters().read_hits, 1u);
  EXPECT_EQ(r.counters().launch_write_backs, 1u);
  EXPECT_EQ(r.counters().lines_given_up, 1u);
  EXPECT_EQ(r.counters().read_misses, 1u);
}

TEST(L2Launches, LinesUnderWayAnswerWhoWaitsAndAreNotKept) {
  SliceRig r = slice(L2AtLaunch::kAll, 1);
  r.read(10, 2, 7);
  r.write(11, 4, 1, 8);  // partial: waits for its line, and stays dirty
  launch(r, 50);
  r.fill(100, 0);
  r.fill(101, 1);
  r.read(200, 2);
  r.read(201, 4);
  r.fill(300, 1);  // the MSHR that was given back last
  r.run();
  EXPECT_EQ(r.replied(0), 100u);
  EXPECT_EQ(r.replied(1), 101u);
  EXPECT_EQ(r.counters().read_hits, 1u);
  EXPECT_EQ(r.counters().launch_write_backs, 0u);
}

TEST(L2Launches, ADirtyLineThatWasUnderWayIsWrittenBackForTheNextLaunch) {
  SliceRig r = slice(L2AtLaunch::kAll, 1);
  r.write(10, 4, 1);
  launch(r, 50);
  r.fill(100, 0);
  launch(r, 200);
  r.acknowledge(300);
  r.run();
  EXPECT_EQ(r.counters().launch_write_backs, 1u);
}

TEST(L2Launches, AtomicsPassOnToMemoryAndTheirLineGoes) {
  SliceRig r([](L2SliceParams& p) {
    p.write_back = 1;
    p.atomics_in_memory = 1;
  });
  r.write(10, 6, kAll);
  r.request(PacketKind::kAtomic, 20, 6, 7, 3, 5);
  r.request(PacketKind::kAtomic, 21, 6, 8, 4, 1);
  r.acknowledge(60);
  r.read(100, 6);
  r.fill(200, 0);
  r.rig.run({kHop}, 100000);
  ASSERT_EQ(r.memory_in->items.size(), 4u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind,
            PacketKind::kWrite);  // first what was written before
  EXPECT_EQ(r.memory_in->items[0].packet.src, 50u);
  for (const auto& [at, tag, src, sectors] : {std::tuple{1u, 7u, 3u, 5u}, {2u, 8u, 4u, 1u}}) {
    const Packet& atomic = r.memory_in->items[at].packet;
    EXPECT_EQ(atomic.kind, PacketKind::kAtomic);
    EXPECT_EQ(atomic.tag, tag);
    EXPECT_EQ(atomic.src, src);  // whom memory answers
    EXPECT_EQ(atomic.sectors, sectors);
    EXPECT_EQ(atomic.bytes, 40u);
  }
  EXPECT_EQ(r.memory_in->items[3].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.counters().atomics_passed, 2u);
  EXPECT_EQ(r.counters().atomics, 0u);
  EXPECT_EQ(r.counters().read_misses, 1u);
}

TEST(L2Launches, NothingIsDoneIfNothingHasComeSinceTheLast) {
  SliceRig r = slice(L2AtLaunch::kAll, 1);
  r.write(10, 2, kAll);
  launch(r, 100);
  launch(r, 200);
  r.acknowledge(150);
  r.run();
  EXPECT_EQ(r.counters().launches, 2u);
  EXPECT_LE(r.counters().launch_cycles, 2u);
}

}  // namespace
}  // namespace nearwarp::testing::l2_launches_test
