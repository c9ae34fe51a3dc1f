// Are the SM's loads, merges, stores, fences, accesses to shared memory and stalls right to the
// cycle?
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm::sm_memory_test {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

constexpr uint32_t kMemory = 50;  ///< from a request's arrival at the mock network to its reply
/// From a load's issue to a dependent instruction: a cycle to the load-store unit, there and back,
/// a cycle to write the registers.
constexpr uint32_t kMissLatency = 1 + kLatency + kMemory + kLatency + 1;
constexpr uint32_t kHitLatency = 1 + 35;

/// One block of warps that all run `instrs`; `records` adds a warp's records.
template <class F>
void run_warps(SmBench& b, uint32_t warps, const std::vector<ImageInstr>& instrs, F&& records,
               Tick end = 3000) {
  const uint32_t block = b.program.block(instrs);
  b.program.launch(1, warps);
  b.traces.begin_block();
  for (uint32_t i = 0; i < warps; ++i) {
    b.traces.warp().run(block);
    records(i);
    b.traces.end();
  }
  b.start();
  b.run_logged(end);
  EXPECT_EQ(b.state().free_warps, WarpSet<1>::lowest(48));
  EXPECT_EQ(b.state().free_loads, low_bits(64));
  EXPECT_EQ(b.state().lsu_count, 0u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(SmMemory, MissThenHit) {
  SmBench b;
  run_warps(b, 1, {load(1), alu(2, {1}), load(3), alu(4, {3})},
            [&](uint32_t) { b.traces.at(0, 4).at(0, 4); });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], kMissLatency);
  EXPECT_EQ(c[2] - c[1], 1u);
  EXPECT_EQ(c[3] - c[2], kHitLatency);
  EXPECT_EQ(b.counters().loads, 2u);
  EXPECT_EQ(b.counters().load_lines, 2u);
  EXPECT_EQ(b.counters().miss_latency, kMissLatency - 2);
  ASSERT_EQ(b.network->got.size(), 1u);
  const Packet& p = b.network->got[0].packet;
  EXPECT_EQ(p.kind, PacketKind::kRead);
  EXPECT_EQ(p.bytes, 8);
  EXPECT_EQ(p.src, kSmEndpoint);
}

TEST(SmMemory, RequestsGoToTheSliceOfTheirLine) {
  SmBench b;
  run_warps(b, 1, {load(1)}, [&](uint32_t) { b.traces.at(0, 128 * 5); });
  ASSERT_EQ(b.network->got.size(), 32u);
  const AddressMap map;
  for (uint32_t i = 0; i < 32; ++i) {
    const LineAddr line = i * 5;
    EXPECT_EQ(b.network->got[i].packet.line, line);
    EXPECT_EQ(b.network->got[i].packet.dst,
              kSliceEndpoint + map.stack_of(line) * 4 + map.vault_of(line) % 4);
  }
}

TEST(SmMemory, OneLinePerCycle) {
  SmBench b;
  run_warps(b, 1, {load(1), load(2), alu(3, {1, 2})},
            [&](uint32_t) { b.traces.at(0, 128).at(32 * 128, 4); });
  ASSERT_EQ(b.network->got.size(), 33u);
  const Tick first = b.network->got[0].at;
  for (uint32_t i = 0; i < 33; ++i) EXPECT_EQ(b.network->got[i].at, first + i);
  // The last of 33 lines leaves 32 cycles after the first.
  EXPECT_EQ(b.cycles(0)[2] - b.cycles(0)[0], kMissLatency + 32);
}

TEST(SmMemory, SecondLoadOfALineMerges) {
  SmBench b;
  run_warps(b, 2, {load(1), alu(2, {1})}, [&](uint32_t) { b.traces.at(0, 4); });
  EXPECT_EQ(b.network->got.size(), 1u);
  EXPECT_EQ(b.state().l1.counters.read_merges, 1u);
  // One reply serves both.
  EXPECT_EQ(b.cycles(0)[1], 1 + kMissLatency);
  EXPECT_EQ(b.cycles(1)[1], 1 + kMissLatency);
}

TEST(SmMemory, PartlyHitLoadWaitsForItsMiss) {
  SmBench b;
  run_warps(b, 1, {load(1), alu(2, {1}), load(3), alu(4, {3})},
            [&](uint32_t) { b.traces.at(0, 4).at(64, 4); });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[3] - c[2], kMissLatency + 1);  // the missing line is the second
}

TEST(SmMemory, LoadsOverlap) {
  SmBench b;
  run_warps(b, 1, {load(1), load(2), alu(3, {1}), alu(4, {2})},
            [&](uint32_t) { b.traces.at(0, 4).at(128, 4); });
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 1 + kMissLatency, 2 + kMissLatency}));
}

TEST(SmMemory, MshrsRunOut) {
  SmBench b;
  b.params.l1.mshrs = 2;
  run_warps(b, 1, {load(1), alu(2, {1})}, [&](uint32_t) { b.traces.at(0, 128); });
  ASSERT_EQ(b.network->got.size(), 32u);
  // Two at a time; a reply frees an MSHR in the cycle in which it arrives.
  const Tick round = kLatency + kMemory + kLatency;
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(b.network->got[i].at, b.network->got[0].at + i / 2 * round + i % 2);
}

TEST(SmMemory, FullNetworkHoldsTheUnit) {
  SmBench b;
  b.network_slots = 1;
  run_warps(b, 1, {store(), alu(1, {})}, [&](uint32_t) { b.traces.at(0, 128); });
  ASSERT_EQ(b.network->got.size(), 32u);
  for (uint32_t i = 0; i < 32; ++i)  // there and the credit back
    EXPECT_EQ(b.network->got[i].at, b.network->got[0].at + i * 2 * kLatency);
  EXPECT_EQ(b.cycles(0)[1], 2u);  // the warp does not wait
}

TEST(SmMemory, LoadStoreQueueIsBounded) {
  SmBench b;
  b.params.lsu_queue = 2;
  run_warps(b, 1, {store(), store(), store(), store(), alu(1, {})}, [&](uint32_t) {
    for (uint32_t i = 0; i < 4; ++i) b.traces.at(i * 4096, 128);
  });
  // The first is in the unit from cycle 2 to 33, the second until 65; one may wait behind it.
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 33, 65, 66}));
}

TEST(SmMemory, StoresCarryTheirSectors) {
  SmBench b;
  run_warps(b, 1, {store()}, [&](uint32_t) { b.traces.at(96, 4); });
  ASSERT_EQ(b.network->got.size(), 2u);
  EXPECT_EQ(b.network->got[0].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(b.network->got[0].packet.bytes, 8 + 32);
  EXPECT_EQ(b.network->got[0].packet.sectors, 8u);
  EXPECT_EQ(b.network->got[1].packet.bytes, 8 + 96);
  EXPECT_EQ(b.counters().store_lines, 2u);
}

TEST(SmMemory, BlockEndsWithItsLastAcknowledgement) {
  SmBench b;
  run_warps(b, 1, {store(), exit_instr()}, [&](uint32_t) { b.traces.at(0, 4); });
  const auto done = b.heard(PacketKind::kBlockDone);
  ASSERT_EQ(done.size(), 1u);
  // Leaves in cycle 2, acknowledged in 2 + 58; the front end hears it a channel later.
  EXPECT_EQ(done[0].at, kLatency + 2 + kLatency + kMemory + kLatency + kLatency);
}

TEST(SmMemory, FenceWaitsForStoresInTheUnitAndOnTheirWay) {
  SmBench b;
  run_warps(b, 1, {store(), store(), control(Action::kFence), alu(1, {})},
            [&](uint32_t) { b.traces.at(0, 128).at(4096, 128); });
  // 64 lines leave in cycles 2 to 65; the last one's acknowledgement is 58 cycles later.
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 3, 65 + kLatency + kMemory + kLatency + 1}));
}

TEST(SmMemory, FenceWaitsForAStoreBehindAnotherWarps) {
  SmBench b;
  b.params.num_schedulers = 1;
  const uint32_t first = b.program.block({store()});
  const uint32_t second = b.program.block({store(), control(Action::kFence), alu(1, {})});
  b.program.launch(1, 2);
  b.traces.begin_block();
  b.traces.warp().run(first).at(0, 128).end();
  b.traces.warp().run(second).at(4096, 4).end();
  b.start();
  b.run_logged(1000);
  // The other warp's 32 lines go first, in cycles 2 to 33.
  EXPECT_EQ(b.cycles(1), (Cycles{2, 3, 34 + kLatency + kMemory + kLatency + 1}));
}

TEST(SmMemory, FenceWithoutMemoryOperationsPasses) {
  SmBench b;
  run_warps(b, 1, {control(Action::kFence), alu(1, {})}, [](uint32_t) {});
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2}));
}

TEST(SmMemory, AtomicsGoToMemoryAndDropTheLine) {
  SmBench b;
  run_warps(
      b, 1,
      {load(1), alu(2, {1}), memory(Action::kAtomic, 3, {}), alu(4, {3}), load(5), alu(6, {5})},
      [&](uint32_t) { b.traces.at(0, 4).at(0, 0).at(0, 4); });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[3] - c[2], kMissLatency);
  EXPECT_EQ(c[5] - c[4], kMissLatency);  // not a hit any more
  EXPECT_EQ(b.network->of(PacketKind::kAtomic).size(), 1u);
  EXPECT_EQ(b.network->of(PacketKind::kAtomic)[0].packet.bytes, 8 + 32);
  EXPECT_EQ(b.counters().atomics, 1u);
}

// Lines of one set beyond its ways wait for a way, or, where it is taken on fill, for
// none.
TEST(SmMemory, MissesThatTakeTheirWayOnFillDoNotWaitForOne) {
  for (const uint8_t on_fill : {0, 1}) {
    SmBench b;
    b.params.l1.index = {1, 0, cache::SetFunction::kLinear};
    b.params.l1.ways = 1;
    b.params.l1.plain = false;
    b.params.l1.all_sectors = 15;
    b.params.l1.on_fill = on_fill;
    run_warps(b, 1, {load(1), alu(2, {1}), load(3), alu(4, {3})},
              [&](uint32_t) { b.traces.at(0, 128).at(31 * 128, 0); });
    ASSERT_EQ(b.network->got.size(), 32u);
    const uint32_t apart = on_fill != 0 ? 1 : kMissLatency - 2;
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(b.network->got[i].at, b.network->got[0].at + i * apart);
    const Cycles c = b.cycles(0);
    EXPECT_EQ(c[1] - c[0], 31 * apart + kMissLatency);
    EXPECT_EQ(c[3] - c[2], kHitLatency);  // the last one that came is there
  }
}

// One packet leaves per cycle, and the result is there with the last reply.
TEST(SmMemory, AtomicsByLanesLeaveOneByOne) {
  SmBench b;
  b.params.atomic_packets = AtomicPackets::kLanes;
  run_warps(b, 1, {memory(Action::kAtomic, 1, {}), alu(2, {1})},
            [&](uint32_t) { b.traces.at(256, 0); });
  const auto atomics = b.network->of(PacketKind::kAtomic);
  ASSERT_EQ(atomics.size(), 32u);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(atomics[i].at, atomics[0].at + i);
    EXPECT_EQ(atomics[i].packet.line, 2u);
    EXPECT_EQ(atomics[i].packet.sectors, 1u);
    EXPECT_EQ(atomics[i].packet.extra, 1u);
    EXPECT_EQ(atomics[i].packet.bytes, 8 + 32);
  }
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], 31 + kMissLatency);
  EXPECT_EQ(b.counters().atomics, 1u);
  EXPECT_EQ(b.counters().atomic_lines, 32u);
}

TEST(SmMemory, AtomicsBySectorsLeaveOneByOne) {
  SmBench b;
  b.params.atomic_packets = AtomicPackets::kSectors;
  run_warps(b, 1, {memory(Action::kAtomic, 1, {}), alu(2, {1}), memory(Action::kReduce, -1, {})},
            [&](uint32_t) { b.traces.at(0, 4).at(0, 0); });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], 3 + kMissLatency);
  EXPECT_EQ(c[2] - c[1], 1u);
  EXPECT_EQ(b.network->of(PacketKind::kAtomic).size(), 4u + 32u);
}

// A packet that has to wait for a credit is neither lost nor sent twice.
TEST(SmMemory, AtomicsByLanesWaitForCredits) {
  SmBench b;
  b.params.atomic_packets = AtomicPackets::kLanes;
  b.network_slots = 2;
  run_warps(b, 2, {memory(Action::kAtomic, 1, {}), alu(2, {1})},
            [&](uint32_t warp) { b.traces.at(128 * warp, 4); });
  const auto atomics = b.network->of(PacketKind::kAtomic);
  ASSERT_EQ(atomics.size(), 64u);
  for (uint32_t i = 2; i < 64; ++i) EXPECT_EQ(atomics[i].at - atomics[i - 2].at, 2 * kLatency);
  uint32_t of[2] = {};
  for (const auto& a : atomics) of[a.packet.line] += 1;
  EXPECT_EQ(of[0], 32u);
  EXPECT_EQ(of[1], 32u);
}

TEST(SmMemory, ReductionsReturnNothing) {
  SmBench b;
  run_warps(b, 1, {memory(Action::kReduce, -1, {}), alu(1, {})},
            [&](uint32_t) { b.traces.at(0, 0); });
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2}));
}

TEST(SmMemory, SharedMemoryConflicts) {
  SmBench b;
  const auto shared = [](int dst) { return memory(Action::kSharedLoad, dst, {}); };
  run_warps(b, 1,
            {shared(1), alu(2, {1}), shared(3), alu(4, {3}), shared(5), shared(6), alu(7, {6})},
            [&](uint32_t) {
              b.traces.at_shared(0, 4).at_shared(0, 16).at_shared(0, 128).at_shared(0, 4);
            });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], 1u + 26);      // no conflict
  EXPECT_EQ(c[3] - c[2], 1u + 26 + 3);  // four cycles instead of one
  EXPECT_EQ(c[6] - c[5], 26 + 32u);     // behind 32 cycles of the one before
  EXPECT_EQ(b.counters().shared_accesses, 4u);
  EXPECT_EQ(b.counters().shared_cycles, 1u + 4 + 32 + 1);
  EXPECT_TRUE(b.network->got.empty());
}

TEST(SmMemory, GenericAccessesToSharedMemory) {
  SmBench b;
  run_warps(b, 1, {load(1), alu(2, {1})},
            [&](uint32_t) { b.traces.at_shared(trace::kSharedWindow + 64, 4); });
  EXPECT_EQ(b.cycles(0)[1] - b.cycles(0)[0], 27u);
  EXPECT_TRUE(b.network->got.empty());
}

TEST(SmMemory, GuardedByNobody) {
  SmBench b;
  run_warps(
      b, 1,
      {memory(Action::kLoad, 1, {}, 4, true), alu(2, {1}), memory(Action::kStore, -1, {}, 4, true),
       memory(Action::kLoad, 3, {}, 4, true), alu(4, {3})},
      [&](uint32_t) { b.traces.guard(0).guard(0).guard(0xff).at(0, 128); });
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], 1u);  // it takes an issue slot and nothing more
  EXPECT_EQ(b.network->got.size(), 8u);
  EXPECT_EQ(c[4] - c[3], kMissLatency + 7);
  EXPECT_EQ(b.counters().issued(), 5u);
}

TEST(SmMemory, NewKernelFindsAnEmptyCache) {
  SmBench b;
  const uint32_t block = b.program.block({load(1), alu(2, {1})});
  b.program.launch(2, 1);
  b.program.launch(1, 1);
  for (int i = 0; i < 3; ++i) {
    b.traces.begin_block();
    b.traces.warp().run(block).at(0, 4).end();
  }
  b.build();
  b.launch(0, 0, 0);
  b.launch(1, 200, 0);
  b.launch(2, 400, 1);
  b.run_logged(1000);
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], kMissLatency);
  EXPECT_EQ(c[3] - c[2], kHitLatency);  // the same kernel
  EXPECT_EQ(c[5] - c[4], kMissLatency);
  EXPECT_EQ(b.state().l1.counters.flushes, 2u);
}

/// Equal counters whatever the window, the order of stepping and the lanes' order.
TEST(SmMemory, IndependentOfWindowsAndOrders) {
  struct Result {
    std::vector<uint64_t> counters;
    std::vector<std::pair<Tick, LineAddr>> requests;
    bool operator==(const Result&) const = default;
  };
  const auto run = [](Tick window, uint32_t seed, bool general, bool skip) {
    SmBench b;
    b.in_general = general;
    b.network_slots = 2;
    b.params.lsu_queue = 2;
    b.params.l1.mshrs = 4;
    const uint32_t block = b.program.block({alu(0, {}), load(1), alu(2, {1}, 7), store({2}),
                                            control(Action::kBarrier), load(3), branch({3})});
    b.program.launch(4, 5);
    for (uint32_t k = 0; k < 4; ++k) {
      b.traces.begin_block();
      for (uint32_t i = 0; i < 5; ++i) {
        b.traces.warp().run(block, kFull, 3);
        for (uint32_t r = 0; r < 3; ++r)
          b.traces.at(k * 4096 + i * 128, 4 * (1 + (i + r) % 40)).at(i * 512, 8).at(r * 256, 12);
        b.traces.end();
      }
    }
    b.start();
    RunOptions o;
    o.window = window, o.order_seed = seed, o.skip = skip;
    b.rig.run(o, 100'000);
    EXPECT_EQ(b.counters().blocks_finished, 4u);
    EXPECT_TRUE(b.rig.drained());
    Result r;
    const SmCounters& c = b.counters();
    const auto* words = reinterpret_cast<const uint64_t*>(&c);
    r.counters.assign(words, words + sizeof(c) / sizeof(uint64_t));
    for (const auto& i : b.network->got) r.requests.emplace_back(i.at, i.packet.line);
    return r;
  };
  const Result plain = run(kLatency, 0, false, true);
  EXPECT_EQ(run(1, 0, false, true), plain);
  EXPECT_EQ(run(1, 0, false, false), plain);
  EXPECT_EQ(run(3, 5, false, true), plain);
  EXPECT_EQ(run(2, 9, true, true), plain);
  EXPECT_EQ(run(kLatency, 77, true, true), plain);
}

}  // namespace
}  // namespace nearwarp::sm::sm_memory_test
