// In which cycles are pages placed by their first touch: who was first, where does the page lie
// then, how long does moving it take, and how do others wait for it?
#include <gtest/gtest.h>

#include "device/core/page_tables.h"
#include "device/mechanisms/coda/mechanism.h"
#include "tests/support/sm_bench.h"

namespace nearwarp::coda::first_touch_test {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kPageShift = 5, kPageLines = 1u << kPageShift;  // 4 KB of 128-byte lines
constexpr uint64_t kPage = 4096;
constexpr uint32_t kRound = kLatency + 50 + kLatency;
constexpr uint32_t kMissLatency = 1 + kRound + 1;
constexpr uint32_t kFirstGroup = 100, kFirstFgpFrame = 800, kSeen = 20;
constexpr uint32_t kMap = 1;

/// The line with which page `page` begins when it lies in stack `stack`.
constexpr LineAddr in_stack(uint32_t page, uint32_t stack) {
  return kMap << kMapShift | ((kFirstGroup + page) * 4 + stack) << kPageShift;
}

/// An SM of stack 0 and a warp that loads a word of page 3 and one of page 2.
struct TouchBench : SmBenchOf<1, sm::MechanismList<Mechanism>> {
  PageTables tables;
  FirstTouch rule;
  Ref<OnSm::State<1>> own;

  explicit TouchBench(FirstTouchMode mode, uint32_t touched_pages = 16) {
    ArenaBuilder& a = rig.arena;
    params.map.others = a.allocate<AddressMap>(1);
    *a.get(params.map.others) = consecutive_bits_map(params.map.baseline, kPageShift);
    a.get(params.map.others)->line_mask = kMaxMappedLines - 1;
    tables = make_page_tables(a, 1, 64 * kPageLines, kPageShift, kPageShift);
    const Ref<PageTouch> pages = a.allocate<PageTouch>(touched_pages);
    for (uint32_t i = 0; i < touched_pages; ++i) a.get(pages)[i] = {};
    rule = {mode, 2, kMap, kSeen, a.allocate<FirstTouchPages>(1)};
    *a.get(rule.spaces) = {pages, kFirstGroup, kFirstFgpFrame};
    params.translation = tables.translation;
    params.tlb.entries = 8;
    params.tlb.page_shift = kPageShift;
    params.tlb.walk_accesses = 1;
    attach_own = [this](State& s) {
      own = rig.arena.allocate<OnSm::State<1>>(1);
      *rig.arena.get(own) = {};
      const Ref<FirstTouch> of_all = rig.arena.allocate<FirstTouch>(1);
      *rig.arena.get(of_all) = rule;
      s.attached = s.places_pages = 1;
      s.mechanism_state[0] = own.offset;
      s.mechanism_params[0] = of_all.offset;
    };
  }
  PageTouch& touch(uint32_t page) { return rig.arena.get(rig.arena.get(rule.spaces)->pages)[page]; }
  const FirstTouchCounters& moved() { return rig.arena.get(own)->counters; }
  uint64_t repeats() { return state().tlb.counters.repeats; }
  /// Loads from these pages, one after the other.
  void run_loads(const std::vector<uint32_t>& pages) {
    std::vector<sm::ImageInstr> instrs;
    for (uint32_t i = 0; i < pages.size(); ++i) {
      const auto slot = static_cast<uint16_t>(2 * i + 1);
      instrs.push_back(load(slot));
      instrs.push_back(alu(static_cast<uint16_t>(slot + 1), {slot}));
    }
    const uint32_t block = program.block(instrs);
    program.launch(1, 1);
    traces.begin_block();
    traces.warp().run(block);
    for (const uint32_t page : pages) traces.at(page * kPage + 128, 4);
    traces.end();
    start();
    run_logged(4000);
    EXPECT_EQ(state().tlb.free_walkers, low_bits(params.tlb.walkers));
    EXPECT_EQ(state().tlb.unsent, 0u);
    EXPECT_TRUE(rig.drained());
  }
  /// Lines of packets of a kind whose tags are in a range.
  std::vector<LineAddr> lines(PacketKind kind, uint32_t from, uint32_t below) const {
    std::vector<LineAddr> found;
    for (const auto& i : network->got)
      if (i.packet.kind == kind && i.packet.tag >= from && i.packet.tag < below)
        found.push_back(i.packet.line);
    return found;
  }
  std::vector<LineAddr> loaded() const { return lines(PacketKind::kRead, 0, sm::kWalkTag); }
  uint32_t latency(uint32_t of_load) { return cycles(0)[2 * of_load + 1] - cycles(0)[2 * of_load]; }
};

TEST(FirstTouch, TheEarliestIsFirstAndTiesSpread) {
  const auto who = [](Tick key, uint32_t page) {
    const Toucher t = Toucher::of(key, page, 2);
    return std::pair<uint32_t, uint32_t>(t.stack, t.sm);
  };
  const Toucher a{0, 3}, b{1, 5}, c{1, 6}, d{3, 15};
  for (uint32_t page = 0; page < 8; ++page)
    for (const Toucher& t : {a, b, c, d})
      EXPECT_EQ(who(t.key(77, page, 2), page), std::pair(t.stack, t.sm));
  EXPECT_LT(d.key(76, 0, 2), a.key(77, 0, 2));  // time before all else
  EXPECT_LT(a.key(77, 0, 2), b.key(77, 0, 2));
  EXPECT_LT(b.key(77, 1, 2), a.key(77, 1, 2));  // from stack (page mod 4) on
  EXPECT_LT(d.key(77, 2, 2), a.key(77, 2, 2));
  EXPECT_LT(b.key(77, 1, 2), c.key(77, 1, 2));
  EXPECT_LT(Toucher({3, 1023}).key((Tick{1} << 44) - 1, 4, 2), kNever);
}

TEST(FirstTouch, AWordThatIsLoweredKeepsTheLeast) {
  Tick word = kNever;
  for (const Tick t : {Tick{9}, Tick{12}, Tick{4}, Tick{5}}) lower_shared_tick(&word, t);
  EXPECT_EQ(word, 4u);
}

TEST(FirstTouch, APageLiesWithTheSmThatWalksForItFirstAtNoCost) {
  TouchBench b(FirstTouchMode::kPlaced);
  b.touch(2).first = Toucher{2, 9}.key(0, 2, 2);      // another SM was there before
  b.touch(5).first = Toucher{3, 12}.key(3999, 5, 2);  // another one comes later
  b.run_loads({3, 2, 5, 3, 20});
  EXPECT_EQ(b.loaded(), (std::vector<LineAddr>{in_stack(3, 0) + 1, in_stack(2, 2) + 1,
                                               in_stack(5, 0) + 1, 20 * kPageLines + 1}));
  for (const uint32_t i : {0u, 1u, 2u, 4u}) EXPECT_EQ(b.latency(i), kMissLatency + kRound);
  EXPECT_EQ(Toucher::of(b.touch(2).first, 2, 2).sm, 9u);
  EXPECT_EQ(Toucher::of(b.touch(3).first, 3, 2).sm, 0u);
  EXPECT_EQ(b.touch(7).first, kNever);
  EXPECT_EQ(b.state().tlb.counters.walks, 4u);
  EXPECT_EQ(b.state().tlb.counters.walk_reads, 4u);
  EXPECT_EQ(b.moved().moves + b.repeats() + b.moved().move_reads + b.moved().move_writes, 0u);
}

TEST(FirstTouch, APageIsMovedByWhoTouchesItFirst) {
  static_assert(sm::with_all_hooks(sm::MechanismList<Mechanism>()) == 0);
  // By the code of an SM without mechanisms, and by that of one that may have any.
  for (const auto& [spread, in_general] : std::vector<std::pair<bool, bool>>{
           {false, false}, {true, false}, {false, true}, {true, true}}) {
    SCOPED_TRACE(::testing::Message() << "spread " << spread << ", in general " << in_general);
    TouchBench b(spread ? FirstTouchMode::kMovedFromFgp : FirstTouchMode::kMovedFromCgp);
    b.in_general = in_general;
    b.run_loads({3, 3, 4});
    // Entry; reads of its lines, one per cycle; each is written in the cycle in which it comes.
    EXPECT_EQ(b.latency(0), kMissLatency + 3 * kRound + kPageLines - 1);
    const std::vector<LineAddr> reads = b.lines(PacketKind::kRead, sm::kHeldWalkTag, ~0u),
                                writes = b.lines(PacketKind::kWrite, sm::kHeldWalkTag, ~0u);
    const bool two = spread;  // page 4 is in stack 0 already, unless it is spread
    ASSERT_EQ(reads.size(), kPageLines * (two ? 2 : 1));
    ASSERT_EQ(writes.size(), reads.size());
    const LineAddr from = spread ? (kFirstFgpFrame + 3) << kPageShift : in_stack(3, 3);
    for (uint32_t i = 0; i < kPageLines; ++i) {
      EXPECT_EQ(reads[i], from + i);
      EXPECT_EQ(writes[i], in_stack(3, 0) + i);
    }
    for (const auto& i : b.network->of(PacketKind::kWrite)) {
      EXPECT_EQ(i.packet.bytes, 8 + 128);
      EXPECT_EQ(i.packet.sectors, 0xfu);
    }
    EXPECT_EQ(b.latency(2), kMissLatency + kRound + (two ? 2 * kRound + kPageLines - 1 : 0));
    EXPECT_EQ(b.loaded(), (std::vector<LineAddr>{in_stack(3, 0) + 1, in_stack(4, 0) + 1}));
    EXPECT_NE(b.touch(3).moved, kNever);
    EXPECT_EQ(b.touch(4).moved != kNever, two);
    EXPECT_EQ(b.moved().moves, two ? 2u : 1u);
    EXPECT_EQ(b.moved().move_reads, reads.size());
    EXPECT_EQ(b.moved().move_writes, reads.size());
    EXPECT_EQ(b.repeats(), 0u);
  }
}

TEST(FirstTouch, OthersReadTheEntryAgainUntilThePageIsThere) {
  // Moved so that it may be used in the cycle after the second read's reply: a third read finds it.
  for (const Tick more : {Tick{0}, Tick{1}}) {
    SCOPED_TRACE(more);
    TouchBench b(FirstTouchMode::kMovedFromCgp);
    b.touch(3).first = Toucher{2, 9}.key(0, 3, 2);
    TouchBench probe(FirstTouchMode::kPlaced);
    probe.run_loads({3});
    const Tick walked = probe.network->got.front().at - kLatency;  // the first read left
    b.touch(3).moved = walked + 2 * kRound + more;
    b.run_loads({3});
    const uint32_t repeats = more == 0 ? 1 : 2;
    EXPECT_EQ(b.repeats(), repeats);
    EXPECT_EQ(b.latency(0), kMissLatency + kRound * (1 + repeats));
    EXPECT_EQ(b.loaded(), (std::vector<LineAddr>{in_stack(3, 2) + 1}));
    EXPECT_EQ(b.moved().moves, 0u);
    EXPECT_TRUE(b.network->of(PacketKind::kWrite).empty());
  }
}

}  // namespace
}  // namespace nearwarp::coda::first_touch_test
