// What does transparent data mapping learn on whole machines, when does the learning phase end, and
// what is moved?
#include <gtest/gtest.h>

#include <algorithm>

#include "host/functional/instructions/decoded.h"
#include "host/mechanisms/tom/data_placement.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/run/replay.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::PtxDevice;
using testing::simulate;
using testing::workload;

constexpr uint32_t kBlocks = 64, kWarps = 4;  // of one launch
constexpr uint64_t kArray = uint64_t{1} << 20;

/// c[x] = a[x] + b[x], `iterations` times per thread: x begins at `warp_stride` bytes per warp and
/// grows by `step` bytes. The arrays lie 2^20 bytes apart.
runtime::Recording walk(uint64_t warp_stride, uint64_t step, uint32_t iterations,
                        int launches = 1) {
  PtxDevice d(R"(
.visible .entry walk(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n,
                     .param .u32 warp_stride, .param .u32 step)
{
  .reg .pred %p<2>;
  .reg .b32 %r<14>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [warp_stride];
  ld.param.u32 %r3, [step];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mad.lo.s32 %r7, %r5, %r6, %r4;
  shr.u32 %r8, %r7, 5;
  and.b32 %r9, %r4, 31;
  shl.b32 %r10, %r9, 2;
  mad.lo.s32 %r11, %r8, %r2, %r10;
  cvt.u64.u32 %rd4, %r11;
  add.s64 %rd1, %rd1, %rd4;
  add.s64 %rd2, %rd2, %rd4;
  add.s64 %rd3, %rd3, %rd4;
  cvt.u64.u32 %rd5, %r3;
loop:
  ld.global.u32 %r12, [%rd1];
  ld.global.u32 %r13, [%rd2];
  add.s32 %r12, %r12, %r13;
  st.global.u32 [%rd3], %r12;
  add.s64 %rd1, %rd1, %rd5;
  add.s64 %rd2, %rd2, %rd5;
  add.s64 %rd3, %rd3, %rd5;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra loop;
  ret;
}
)");
  const runtime::DevicePtr a = d.device.allocate(kArray, "a"), b = d.device.allocate(kArray, "b"),
                           c = d.device.allocate(kArray, "c");
  d.device.allocate(kArray, "unused");
  EXPECT_EQ(b - a, kArray);
  EXPECT_EQ(c - b, kArray);
  runtime::KernelArgs args(a, b, c);
  for (const uint64_t n : {uint64_t{iterations}, warp_stride, step})
    args.add(static_cast<uint32_t>(n));
  for (int i = 0; i < launches; ++i)
    d.device.launch(d.module, "walk", {kBlocks}, {kWarps * 32}, 0, args);
  return d.record("walk");
}

/// Each warp's lines lie a power of two apart: 64 bytes x 128 = all warps' lines per iteration.
runtime::Recording powers_of_two(int launches = 1) {
  return walk(128, uint64_t{128} * kBlocks * kWarps, 16, launches);
}

TEST(DataPlacement, ArraysAPowerOfTwoApartComeTogether) {
  const runtime::Recording recording = powers_of_two(4);
  // Page walks would cross stacks; whole loops are instances.
  const std::vector<std::string> no_walks = {"tlb.entries=0", "offload.decide=entry"};
  const report::RunResult tmap = simulate(recording, "ndp-uncontrolled-tmap", no_walks);
  const report::RunResult bmap = simulate(recording, "ndp-uncontrolled-bmap", no_walks);
  ASSERT_TRUE(tom::mapping_of(tmap).has_value());
  EXPECT_TRUE(tom::mapping_of(tmap)->applied);
  EXPECT_EQ(tom::mapping_of(tmap)->scores[0].at_destination, tom::mapping_of(tmap)->seen_accesses);
  // All instances that began after the learning phase were offloaded, three lines at a time.
  const uint64_t offloaded = counter(tmap, "offload.offloaded");
  EXPECT_EQ(offloaded, 4 * kBlocks * kWarps - counter(tmap, "offload.learning"));
  EXPECT_GT(offloaded, 2 * kBlocks * kWarps);
  EXPECT_EQ(counter(tmap, "offload.local_lines"), offloaded * 16 * 3);
  EXPECT_EQ(counter(tmap, "offload.remote_lines"), 0u);
  EXPECT_EQ(tmap.traffic.memory_to_memory_bytes, 0u);
  EXPECT_GT(counter(bmap, "offload.remote_lines"), counter(bmap, "offload.local_lines"));
  EXPECT_GT(bmap.traffic.memory_to_memory_bytes, 0u);
}

TEST(DataPlacement, ChunksOfAWarpAskForHighBits) {
  // 16 consecutive lines per warp: address bits 11:12 are the lowest that are the same in all.
  const runtime::Recording recording = walk(16 * 128, 128, 16, 4);
  for (const char* policy : {"tom", "tom-oracle"}) {
    SCOPED_TRACE(policy);
    const report::RunResult r = simulate(recording, policy, {"offload.decide=entry"});
    ASSERT_TRUE(tom::mapping_of(r).has_value() && tom::mapping_of(r)->applied);
    EXPECT_EQ(tom::mapping_of(r)->first_bit, 11u);
    EXPECT_EQ(tom::mapping_of(r)->last_bit, 12u);
    EXPECT_EQ(counter(r, "offload.remote_lines"), 0u);
  }
}

TEST(DataPlacement, OnlyTouchedRangesMove) {
  const report::RunResult r = simulate(powers_of_two(), "tom");
  ASSERT_TRUE(tom::mapping_of(r).has_value());
  std::vector<std::pair<std::string, bool>> ranges;
  for (const tom::MappedRange& m : tom::mapping_of(r)->ranges)
    ranges.emplace_back(m.name, m.remapped);
  const std::vector<std::pair<std::string, bool>> expected = {
      {"a", true}, {"b", true}, {"c", true}, {"unused", false}};
  EXPECT_EQ(ranges, expected);
}

/// The map of every page of the arrays and of the one before them, after the oracle's placement.
std::string maps_of_pages(const runtime::Recording& recording, const std::string& page_bytes) {
  const std::vector<std::string> keys = {"memory.page_bytes=" + page_bytes};
  const auto machine = config::load_machine("tom", keys);
  const auto policy = config::load_policy("tom-oracle");
  Replay run({&recording, &machine, &policy}, 0);
  run.begin();
  System& system = run.system();
  const uint32_t page = machine.memory.page_bytes;
  const uint64_t first = recording.allocations.front().address - exec::kDeviceBase,
                 end = recording.allocations.back().address + recording.allocations.back().bytes -
                       exec::kDeviceBase;
  std::string maps;
  for (uint64_t at = first / page - 1; at <= (end - 1) / page; ++at) {
    const PageEntry e = page_entry(system.page_tables.translation, system.arena.base(), 0,
                                   static_cast<uint32_t>(at));
    EXPECT_EQ(e.first_line() & (kMaxMappedLines - 1), at * page / 128);  // frames stay
    maps += static_cast<char>('0' + e.map());
  }
  return maps;
}

TEST(DataPlacement, RangesTakeWholePages) {
  // Arrays a, b, c and one that nobody touches, of 1 MB each.
  const runtime::Recording recording = powers_of_two();
  const std::string four_kb = maps_of_pages(recording, "4096");
  EXPECT_EQ(four_kb, "0" + std::string(3 * 256, '1') + std::string(256, '0'));
  EXPECT_EQ(maps_of_pages(recording, "1048576"), "01110");
  EXPECT_EQ(maps_of_pages(recording, "2097152"), "011");  // it shares a page with c
}

TEST(DataPlacement, MemoryBeyondTheLinesOfAMapIsRefused) {
  runtime::Recording recording = powers_of_two();
  recording.allocations.back().bytes = uint64_t{64} << 30;
  try {
    simulate(recording, "tom-oracle");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("it may have 68719476736 with lines of 128 bytes"),
              std::string::npos)
        << e.what();
  }
  EXPECT_GT(simulate(recording, "baseline").cycles, 0u);  // without maps there is no limit
}

TEST(DataPlacement, LearningEndsExactlyWithTheConfiguredInstance) {
  const runtime::Recording recording = powers_of_two(4);
  constexpr uint64_t kInstances = 4 * kBlocks * kWarps;
  for (const uint32_t permille : {1u, 5u, 10u, 500u, 1000u}) {
    SCOPED_TRACE(permille);
    const report::RunResult r =
        simulate(recording, "tom",
                 {"mapping.learning_permille=" + std::to_string(permille), "offload.decide=entry"});
    const tom::MappingReport& m = *tom::mapping_of(r);
    EXPECT_EQ(m.total_instances, kInstances);
    EXPECT_EQ(m.wanted_instances, (kInstances * permille + 999) / 1000);
    EXPECT_EQ(m.seen_instances, m.wanted_instances);
    EXPECT_EQ(m.seen_accesses, m.seen_instances * 48);
    EXPECT_TRUE(m.applied);
    EXPECT_LT(m.interrupt_cycle, m.standstill_cycle);
    EXPECT_LT(m.standstill_cycle, m.resume_cycle);
    EXPECT_LE(m.resume_cycle, r.cycles + 100'000);
    // Whoever was not seen while learning was decided upon afterwards.
    EXPECT_EQ(counter(r, "offload.learning") + counter(r, "offload.instances"), kInstances);
    EXPECT_GE(counter(r, "offload.learning"), m.seen_instances);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
  }
}

TEST(DataPlacement, WhereRoundsAreDecidedOnEachIsAnInstance) {
  // Rounds with enough ahead, out of 16, count, with three accesses each.
  const runtime::Recording recording = powers_of_two(4);
  const uint64_t loops = 4 * kBlocks * kWarps;
  for (const uint32_t permille : {1u, 10u, 1000u}) {
    SCOPED_TRACE(permille);
    const report::RunResult r =
        simulate(recording, "tom", {"mapping.learning_permille=" + std::to_string(permille)});
    const tom::MappingReport& m = *tom::mapping_of(r);
    EXPECT_EQ(m.total_instances % loops, 0u);
    EXPECT_GT(m.total_instances, 10 * loops);
    EXPECT_LE(m.total_instances, 16 * loops);
    EXPECT_EQ(m.seen_instances, m.wanted_instances);
    EXPECT_EQ(m.seen_accesses, m.seen_instances * 3);
    EXPECT_TRUE(m.applied);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
  }
  // An offload takes the rest of a loop: a warp whose first rounds have stayed may go later.
  const report::RunResult rounds = simulate(recording, "ndp-controlled-bmap"),
                          entry =
                              simulate(recording, "ndp-controlled-bmap", {"offload.decide=entry"});
  EXPECT_GT(counter(rounds, "offload.instances"), counter(entry, "offload.instances"));
  EXPECT_GE(counter(rounds, "offload.offloaded"), counter(entry, "offload.offloaded"));
  EXPECT_LE(counter(rounds, "offload.offloaded"), loops);
}

TEST(DataPlacement, CountingBeginningsEndsTheLearningPhaseSooner) {
  const runtime::Recording recording = powers_of_two(4);
  for (const uint32_t permille : {1u, 10u, 500u}) {
    SCOPED_TRACE(permille);
    std::vector<std::string> keys = {"mapping.learning_permille=" + std::to_string(permille),
                                     "offload.decide=entry"};
    const report::RunResult end = simulate(recording, "tom", keys);
    keys.push_back("mapping.counts_at=begin");
    const report::RunResult begin = simulate(recording, "tom", keys);
    const tom::MappingReport &m = *tom::mapping_of(begin), &e = *tom::mapping_of(end);
    EXPECT_TRUE(m.applied);
    EXPECT_GE(m.seen_instances, m.wanted_instances);
    EXPECT_GT(m.seen_accesses, 0u);
    EXPECT_LE(m.seen_accesses, m.seen_instances * 48);  // some are cut short
    EXPECT_LT(m.interrupt_cycle, e.interrupt_cycle);
    EXPECT_EQ(m.first_bit, e.first_bit);
    EXPECT_EQ(begin.warp_instructions, recording.warp_instructions);
    EXPECT_EQ(counter(begin, "offload.learning") + counter(begin, "offload.instances"),
              m.total_instances);
  }
}

TEST(DataPlacement, TheLearningPhasePaysForPcie) {
  const runtime::Recording recording = powers_of_two(2);
  const std::vector<std::string> half = {"mapping.learning_permille=500"};
  const report::RunResult fast = simulate(recording, "tom", half);
  std::vector<std::string> slow = half;
  slow.push_back("pcie.round_trip_ns=4000");
  const report::RunResult late = simulate(recording, "tom", slow);
  EXPECT_GT(counter(fast, "pcie.bytes"), 0u);
  EXPECT_GT(tom::mapping_of(late)->interrupt_cycle, 2 * tom::mapping_of(fast)->interrupt_cycle);
  const report::RunResult oracle = simulate(recording, "tom-oracle");
  EXPECT_EQ(counter(oracle, "pcie.bytes"), 0u);
  EXPECT_LT(oracle.cycles, fast.cycles);
  // A narrow bus makes the phase longer, too.
  std::vector<std::string> narrow = half;
  narrow.push_back("pcie.limited=true");
  narrow.push_back("pcie.mbps=1000");
  EXPECT_GT(tom::mapping_of(simulate(recording, "tom", narrow))->interrupt_cycle,
            tom::mapping_of(fast)->interrupt_cycle);
}

TEST(DataPlacement, TheHostTakesItsTime) {
  const runtime::Recording recording = powers_of_two();
  for (const uint64_t ns : {uint64_t{2000}, uint64_t{1'000'000'000}}) {  // more than 2^32 ticks
    const report::RunResult r = simulate(
        recording, "tom",
        {"pcie.remap_latency_ns=" + std::to_string(ns), "run.no_progress_cycles=10000000000"});
    const uint64_t cycles = ns * r.core_mhz / 1000;
    EXPECT_GE(tom::mapping_of(r)->resume_cycle - tom::mapping_of(r)->standstill_cycle, cycles);
    EXPECT_LE(tom::mapping_of(r)->resume_cycle - tom::mapping_of(r)->standstill_cycle, cycles + 1);
  }
}

TEST(DataPlacement, WithoutInstancesNothingIsLearnt) {
  const report::RunResult r = simulate(workload("fma", 2'000'000), "tom");
  ASSERT_TRUE(tom::mapping_of(r).has_value());
  EXPECT_FALSE(tom::mapping_of(r)->applied);
  EXPECT_EQ(tom::mapping_of(r)->total_instances, 0u);
  EXPECT_EQ(counter(r, "pcie.bytes"), 0u);
}

TEST(DataPlacement, AMachineMayHaveOtherStacksAndLines) {
  const runtime::Recording recording = powers_of_two(2);
  for (const std::vector<std::string>& change :
       {std::vector<std::string>{"stack.count=2"}, std::vector<std::string>{"stack.count=8"},
        std::vector<std::string>{"l1.line_bytes=64", "l1.set_function=linear"},
        std::vector<std::string>{"stack.count=1"}}) {
    SCOPED_TRACE(change[0]);
    const report::RunResult r = simulate(recording, "tom", change);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
    EXPECT_TRUE(tom::mapping_of(r)->applied);
    EXPECT_GE(tom::mapping_of(r)->last_bit, tom::mapping_of(r)->first_bit);
    EXPECT_EQ(counter(r, "offload.remote_lines"), 0u);
  }
}

TEST(DataPlacement, IdealOffloadingCostsNothingOffChip) {
  const runtime::Recording recording = powers_of_two(4);
  const report::RunResult r = simulate(recording, "ndp-ideal");
  EXPECT_GT(counter(r, "offload.offloaded"), 0u);
  EXPECT_EQ(counter(r, "offload.request_bytes"), 0u);
  EXPECT_EQ(counter(r, "offload.ack_bytes"), 0u);
  EXPECT_EQ(counter(r, "offload.dirty_lines"), 0u);
  EXPECT_EQ(counter(r, "offload.remote_lines"), 0u);
  EXPECT_EQ(counter(r, "offload.redundant"), 0u);
  EXPECT_EQ(r.traffic.memory_to_memory_bytes, 0u);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

TEST(AllocationTable, OverlappingAllocationsShareARange) {
  constexpr uint64_t kAt = exec::kDeviceBase;
  const std::vector<runtime::Allocation> all = {{kAt + 4096, 1000, "second"},
                                                {kAt, 1000, "first"},
                                                {kAt + 4096 + 512, 2000, "again"},
                                                {kAt + 9000, 0, "empty"},
                                                {kAt + 16384, 8, "third"}};
  const AllocationTable table(all, 100);
  ASSERT_EQ(table.ranges.size(), 3u);
  EXPECT_EQ(table.ranges[0].allocations, (std::vector<uint32_t>{1}));
  EXPECT_EQ(table.ranges[1].allocations, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(table.ranges[1].address, kAt + 4096);
  EXPECT_EQ(table.ranges[1].bytes, 2512u);
  EXPECT_EQ(table.left_out, 0u);
  const AllocationTable small(all, 2);
  EXPECT_EQ(small.ranges.size(), 2u);
  EXPECT_EQ(small.left_out, 3u);
}

}  // namespace
}  // namespace nearwarp::sim
