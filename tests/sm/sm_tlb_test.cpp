// Is translation in front of the load-store unit right to the cycle: walks, merging, walkers, look-
// ahead, and walks of a stack SM?
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

/// From a read's sending to the cycle in which its reply is there.
constexpr uint32_t kRound = kLatency + 50 + kLatency;
constexpr uint32_t kMissLatency = 1 + kRound + 1;
constexpr uint32_t kHitLatency = 1 + 35;
constexpr uint32_t kPage = 4096;
constexpr int kNextPage =
    kPage + 128;  ///< a stride from page to page, and to another set of the L1

void use_tlb(SmBench& b, uint32_t entries, uint32_t walkers, uint32_t walk_accesses) {
  b.params.tlb.entries = entries;
  b.params.tlb.page_shift = 5;  // 4 KB
  b.params.tlb.walkers = walkers;
  b.params.tlb.walk_accesses = walk_accesses;
}

/// One warp that runs `instrs`; `records` adds its records.
template <class F>
void run_warp(SmBench& b, const std::vector<ImageInstr>& instrs, F&& records, Tick end = 6000) {
  const uint32_t block = b.program.block(instrs);
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block);
  records();
  b.traces.end();
  b.start();
  b.run_logged(end);
  EXPECT_EQ(b.state().free_loads, low_bits(64));
  EXPECT_EQ(b.state().tlb.free_walkers, low_bits(b.params.tlb.walkers));
  EXPECT_EQ(b.state().tlb.unsent, 0u);
  EXPECT_EQ(b.state().lsu_count, 0u);
  EXPECT_TRUE(b.rig.drained());
}

bool is_walk(const Packet& p) { return p.kind == PacketKind::kRead && p.tag >= kWalkTag; }

/// Times at which walk reads (or else all other packets) left, from the first packet on.
Cycles sent(const SmBench& b, bool walks) {
  Cycles c;
  for (const auto& i : b.network->got)
    if (is_walk(i.packet) == walks)
      c.push_back(static_cast<uint32_t>(i.at - b.network->got.front().at));
  return c;
}

TEST(SmTlb, EveryReadOfAWalkIsARound) {
  for (uint32_t n = 1; n <= kMaxWalkAccesses; ++n) {
    SmBench b;
    use_tlb(b, 32, 4, n);
    run_warp(b, {load(1), alu(2, {1}), load(3), alu(4, {3}), load(5), alu(6, {5})},
             [&] { b.traces.at(0, 4).at(128, 4).at(128, 4); });
    const Cycles c = b.cycles(0);
    EXPECT_EQ(c[1] - c[0], kMissLatency + n * kRound);
    EXPECT_EQ(c[3] - c[2], kMissLatency);  // the page is known
    EXPECT_EQ(c[5] - c[4], kHitLatency);
    const TlbCounters& t = b.state().tlb.counters;
    EXPECT_EQ(t.walks, 1u);
    EXPECT_EQ(t.walk_reads, n);
    EXPECT_EQ(t.walk_cycles, n * kRound);
    EXPECT_EQ(t.wait_cycles, n * kRound);
    EXPECT_EQ(t.misses, 1u);
    EXPECT_EQ(t.hits, 2u);
  }
}

TEST(SmTlb, WalksAreReadsOfTheTablesLinesBesideTheL1) {
  SmBench b;
  use_tlb(b, 32, 4, 2);
  run_warp(b, {load(1)}, [&] { b.traces.at(uint64_t{5000} * kPage, 4); });
  ASSERT_EQ(b.network->got.size(), 3u);
  const LineAddr lines[] = {kPageTableBase + kPageTableLines + (5000u >> 9) / 16,
                            kPageTableBase + 5000 / 16, 5000 * 32};
  const AddressMap map;
  for (uint32_t i = 0; i < 3; ++i) {
    const Packet& p = b.network->got[i].packet;
    EXPECT_EQ(p.kind, PacketKind::kRead);
    EXPECT_EQ(p.line, lines[i]);
    EXPECT_EQ(p.src, kSmEndpoint);
    EXPECT_EQ(p.bytes, 8);
    EXPECT_EQ(p.dst, kSliceEndpoint + map.stack_of(lines[i]) * 4 + map.vault_of(lines[i]) % 4);
  }
  EXPECT_EQ(b.state().l1.counters.read_misses, 1u);
  EXPECT_EQ(b.counters().miss_latency, kRound);
  const LineAddr* tags = b.rig.arena.get(b.state().l1.tags);
  EXPECT_EQ(std::count_if(tags, tags + 256, [](LineAddr t) { return t != kNoLine; }), 1);
}

TEST(SmTlb, LinesOfOnePageShareAWalk) {
  SmBench b;
  use_tlb(b, 32, 4, 2);
  run_warp(b, {load(1), load(2)}, [&] { b.traces.at(0, 128).at(32, 64); });
  EXPECT_EQ(sent(b, true), (Cycles{0, kRound}));
  const Cycles data = sent(b, false);
  ASSERT_EQ(data.size(), 32u);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(data[i], 2 * kRound + i);
}

TEST(SmTlb, WalksOverlap) {
  SmBench b;
  use_tlb(b, 32, 32, 1);
  run_warp(b, {load(1), alu(2, {1})}, [&] { b.traces.at(0, kNextPage); });
  const Cycles walks = sent(b, true), data = sent(b, false);
  ASSERT_EQ(walks.size(), 32u);
  ASSERT_EQ(data.size(), 32u);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(walks[i], i);  // one look-up per cycle
    EXPECT_EQ(data[i], kRound + i);
  }
  EXPECT_EQ(b.cycles(0)[1] - b.cycles(0)[0], kMissLatency + kRound + 31);
  const TlbCounters& t = b.state().tlb.counters;
  // The first waits a round; every other line's page comes in the cycle in which its turn comes.
  EXPECT_EQ(t.wait_cycles, kRound);
  EXPECT_EQ(t.misses, 1u);
  EXPECT_EQ(t.hits, 31u);
  EXPECT_EQ(t.walk_cycles, 32 * kRound);
}

TEST(SmTlb, WalkersRunOut) {
  SmBench b;
  use_tlb(b, 32, 2, 1);
  run_warp(b, {load(1)}, [&] { b.traces.at(0, kNextPage); });
  const Cycles walks = sent(b, true), data = sent(b, false);
  ASSERT_EQ(walks.size(), 32u);
  ASSERT_EQ(data.size(), 32u);
  // In pairs: a round for both, their lines go, then the next two are looked up.
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(walks[i], i / 2 * (kRound + 2) + i % 2);
    EXPECT_EQ(data[i], walks[i] + kRound);
  }
}

TEST(SmTlb, WalksUnderWaySendTheirReadsBeforeOthersBegin) {
  SmBench b;
  b.network_slots = 1;  // a packet every 2 x kLatency cycles
  use_tlb(b, 32, 8, 2);
  run_warp(b, {load(1)}, [&] { b.traces.at(0, kNextPage); });
  const Cycles walks = sent(b, true);
  ASSERT_EQ(walks.size(), 64u);
  ASSERT_EQ(sent(b, false).size(), 32u);
  // Eight begin; the first one's second read comes before a ninth could.
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(walks[i], i * 2 * kLatency);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(b.network->got[i].packet.tag, kWalkTag + i);
  for (uint32_t i = 8; i < 16; ++i) EXPECT_EQ(b.network->got[i].packet.tag, kWalkTag + i - 8);
}

TEST(SmTlb, StoresAndAtomicsAreTranslatedToo) {
  SmBench b;
  use_tlb(b, 32, 4, 2);
  run_warp(b, {store(), memory(Action::kAtomic, 1, {}), alu(2, {1})},
           [&] { b.traces.at(0, 4).at(kPage, 0); });
  // The store waits beside the queue from cycle 1 on, so the atomic's walk begins in cycle 2.
  EXPECT_EQ(sent(b, true), (Cycles{0, 2, kRound, kRound + 2}));
  EXPECT_EQ(sent(b, false), (Cycles{2 * kRound, 2 * kRound + 2}));
  EXPECT_EQ(b.network->got[4].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(b.network->got[5].packet.kind, PacketKind::kAtomic);
  EXPECT_EQ(b.cycles(0)[2] - b.cycles(0)[0], 1 + 2 * kRound + 2 + kRound + 1);
}

TEST(SmTlb, HitsPassAMiss) {
  SmBench b;
  use_tlb(b, 32, 4, 1);
  // The first load brings page 0; of the next two the one that misses comes first.
  run_warp(b, {load(1), alu(9, {1}), load(2), load(3)},
           [&] { b.traces.at(0, 4).at(kPage, 4).at(256, 4); });
  const Cycles reads = sent(b, false);
  ASSERT_EQ(reads.size(), 3u);
  ASSERT_EQ(sent(b, true).size(), 2u);
  const uint32_t walk = sent(b, true)[1];
  EXPECT_EQ(reads[1], walk + 2);       // page 0 is there
  EXPECT_EQ(reads[2], walk + kRound);  // and page 1 when its walk has ended
}

TEST(SmTlb, WaitingOperationsKeepTheirPlaces) {
  SmBench b;
  b.params.lsu_queue = 2;
  use_tlb(b, 32, 4, 1);
  run_warp(b, {load(1), load(2), load(3)},
           [&] { b.traces.at(0, 4).at(kPage, 4).at(2 * kPage, 4); });
  // The third load finds no place until the first has gone on.
  const Cycles walks = sent(b, true);
  ASSERT_EQ(walks.size(), 3u);
  EXPECT_LT(walks[1], kRound);
  EXPECT_GE(walks[2], walks[0] + kRound);
}

TEST(SmTlb, SharedMemoryIsNotTranslated) {
  SmBench b;
  use_tlb(b, 32, 4, 2);
  run_warp(b, {memory(Action::kSharedLoad, 1, {}), alu(2, {1})}, [&] { b.traces.at_shared(0, 4); });
  EXPECT_EQ(b.cycles(0)[1] - b.cycles(0)[0], 1u + 26);
  EXPECT_TRUE(b.network->got.empty());
  EXPECT_EQ(b.state().tlb.counters.hits, 0u);
}

TEST(SmTlb, OneEntryIsEnoughToGetOn) {
  SmBench b;
  use_tlb(b, 1, 4, 3);
  b.params.l1.mshrs = 2;
  b.network_slots = 1;
  run_warp(
      b, {load(1), store(), alu(2, {1})}, [&] { b.traces.at(0, kPage).at(64, kPage); }, 100'000);
  EXPECT_EQ(b.counters().load_lines, 32u);
  EXPECT_EQ(b.counters().store_lines, 32u);
  const TlbCounters& t = b.state().tlb.counters;
  EXPECT_EQ(t.hits + t.misses, 64u);
  EXPECT_EQ(t.walk_reads, 3 * t.walks);
  EXPECT_GE(t.walks, 63u);
}

TEST(SmTlb, NewKernelFindsItsPages) {
  SmBench b;
  use_tlb(b, 32, 4, 2);
  const uint32_t block = b.program.block({load(1), alu(2, {1})});
  for (int i = 0; i < 2; ++i) {
    b.program.launch(1, 1);
    b.traces.begin_block();
    b.traces.warp().run(block).at(0, 4).end();
  }
  b.build();
  b.launch(0, 0, 0);
  b.launch(1, 400, 1);
  b.run_logged(1000);
  const Cycles c = b.cycles(0);
  EXPECT_EQ(c[1] - c[0], kMissLatency + 2 * kRound);
  EXPECT_EQ(c[3] - c[2], kMissLatency);  // caches are emptied, page tables stand
}

/// A stack SM gets a block that loads from `page`.
void run_in_stack(SmBench& b, uint32_t page) {
  b.params.in_stack = true;
  b.offload.enabled = true;
  use_tlb(b, 32, 4, 2);
  const uint32_t head = b.program.block({alu(0, {})});
  const uint32_t body = b.program.block({load(1), alu(2, {1})}, 1);
  b.program.candidate({body}, tom::Candidate{});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(head).run(body).at(uint64_t{page} * kPage, 4).end();
  b.build();
  Packet p = make_packet(tom::kOffloadRequest, kSmEndpoint, kStackSmEndpoint, 32, 5);
  tom::pack_cursor(find_candidate(b.program, b.traces, 0, 0), p);
  b.network->send_at(0, p);
  b.run_logged(300);
  EXPECT_TRUE(b.rig.drained());
}

TEST(SmTlb, StackSmsReadTablesInAnyStack) {
  const AddressMap map;
  uint32_t seen = 0;
  for (uint32_t page = 0; page < 512 * 512; page += 512 * 7 + 16) {
    SmBench b;
    run_in_stack(b, page);
    ASSERT_EQ(sent(b, true).size(), 2u);
    uint32_t remote = 0;
    for (const auto& i : b.network->got) {
      if (!is_walk(i.packet)) continue;
      const uint32_t stack = map.stack_of(i.packet.line);
      EXPECT_EQ(i.packet.dst, kVaultEndpoint + stack * 16 + map.vault_of(i.packet.line));
      remote += stack != 0 ? 1 : 0;  // the bench's SM is that of stack 0
    }
    EXPECT_EQ(b.state().tlb.counters.walk_reads_remote, remote);
    EXPECT_EQ(b.cycles(0)[1] - b.cycles(0)[0], kMissLatency + 2 * kRound);
    seen |= 1u << remote;
  }
  EXPECT_EQ(seen, 7u);  // none, one and both were there
}

/// Equal counters whatever the window, the order of stepping and the lanes' order.
TEST(SmTlb, IndependentOfWindowsAndOrders) {
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
    use_tlb(b, 2, 3, 2);
    const uint32_t block = b.program.block({alu(0, {}), load(1), alu(2, {1}, 7), store({2}),
                                            control(Action::kBarrier), load(3), branch({3})});
    b.program.launch(4, 5);
    for (uint32_t k = 0; k < 4; ++k) {
      b.traces.begin_block();
      for (uint32_t i = 0; i < 5; ++i) {
        b.traces.warp().run(block, kFull, 3);
        for (uint32_t r = 0; r < 3; ++r)
          b.traces.at(k * kPage + i * 128, 4 * (1 + (i + r) % 40))
              .at(i * 512, 1000)
              .at(r * 256, static_cast<int>(1024 * (1 + i % 4)));
        b.traces.end();
      }
    }
    b.start();
    RunOptions o;
    o.window = window, o.order_seed = seed, o.skip = skip;
    b.rig.run(o, 1'000'000);
    EXPECT_EQ(b.counters().blocks_finished, 4u);
    EXPECT_TRUE(b.rig.drained());
    EXPECT_GT(b.state().tlb.counters.walks, 100u);
    Result r;
    const auto add = [&r](const auto& counters) {
      const auto* words = reinterpret_cast<const uint64_t*>(&counters);
      r.counters.insert(r.counters.end(), words, words + sizeof(counters) / sizeof(uint64_t));
    };
    add(b.counters());
    add(b.state().tlb.counters);
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
}  // namespace nearwarp::sm
