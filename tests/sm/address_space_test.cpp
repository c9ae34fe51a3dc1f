// Do packets that leave an SM have the right addresses once pages have frames, maps and address
// spaces? Translation loads and stores, TLB entries, offload requests.
#include <gtest/gtest.h>

#include <utility>

#include "device/core/page_tables.h"
#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::sm::address_space_test {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kPageShift = 5, kPageLines = 1u << kPageShift;  // 4 KB of 128-byte lines
constexpr uint64_t kPage = 4096;

/// Gives the bench's SM page tables of 64 pages, under two maps: the baseline and lines in whole
/// pages per stack.
PageTables use_tables(SmBench& b, uint32_t spaces, uint32_t run_shift = kPageShift) {
  ArenaBuilder& a = b.rig.arena;
  b.params.map.others = a.allocate<AddressMap>(1);
  AddressMap& own = *a.get(b.params.map.others);
  own = consecutive_bits_map(b.params.map.baseline, kPageShift);
  own.line_mask = kMaxMappedLines - 1;
  const PageTables t = make_page_tables(a, spaces, 64 * kPageLines, kPageShift, run_shift);
  b.params.translation = t.translation;
  return t;
}

void use_tlb(SmBench& b, uint32_t page_shift = kPageShift) {
  b.params.tlb.entries = 4;
  b.params.tlb.page_shift = page_shift;
  b.params.tlb.walk_accesses = 1;
}

std::vector<Packet> memory_requests(const SmBench& b) {
  std::vector<Packet> all;
  for (const auto& i : b.network->got)
    if (i.packet.kind <= PacketKind::kAtomic && i.packet.tag < kWalkTag) all.push_back(i.packet);
  return all;
}
std::vector<LineAddr> walked(const SmBench& b) {
  std::vector<LineAddr> lines;
  for (const auto& i : b.network->got)
    if (i.packet.kind == PacketKind::kRead && i.packet.tag >= kWalkTag)
      lines.push_back(i.packet.line);
  return lines;
}

/// Launches of one warp each, in the given spaces one after the other, that run the same block.
void run_in_spaces(SmBench& b, const std::vector<ImageInstr>& instrs, uint64_t offset,
                   const std::vector<uint8_t>& spaces) {
  const uint32_t block = b.program.block(instrs);
  for (const uint8_t space : spaces) {
    b.program.launch(1, 1);
    b.program.launches.back().space = space;
    b.traces.begin_block();
    b.traces.warp().run(block);
    for (const ImageInstr& in : instrs)
      if ((in.flags & kHasRecord) != 0) b.traces.at(offset, 4);
    b.traces.end();
  }
  b.build();
  for (uint32_t i = 0; i < spaces.size(); ++i) b.launch(i, Tick{i} * 400, i);
  b.run_logged(spaces.size() * 400 + 400);
  EXPECT_TRUE(b.rig.drained());
}

TEST(AddressSpaces, ALineGoesWhereItsPagesMapPutsIt) {
  for (const bool tlb : {false, true}) {
    SCOPED_TRACE(tlb);
    SmBench b;
    const PageTables t = use_tables(b, 1);
    if (tlb) use_tlb(b);
    t.map_pages(b.rig.arena.base(), 0, 3, 1, 3 * kPageLines, 1);
    run_in_spaces(b, {load(1), alu(2, {1}), store({2})}, 3 * kPage + 128, {0});
    const std::vector<Packet> got = memory_requests(b);
    ASSERT_EQ(got.size(), 2u);
    for (const Packet& p : got) {
      EXPECT_EQ(p.line, 1u << 29 | (3 * kPageLines + 1));
      EXPECT_EQ(p.dst, kSliceEndpoint + 3 * 4 + 1);  // stack 3, vault 1
    }
  }
}

TEST(AddressSpaces, OneVirtualLineIsTwoPhysicalOnes) {
  for (const bool tlb : {false, true}) {
    SCOPED_TRACE(tlb);
    SmBench b;
    const PageTables t = use_tables(b, 2);
    if (tlb) use_tlb(b);
    t.map_pages(b.rig.arena.base(), 1, 0, 32, 32 * kPageLines, 0);
    run_in_spaces(b, {load(1), alu(2, {1}), store({2})}, 5 * kPage, {0, 1, 0});
    std::vector<LineAddr> lines;
    for (const Packet& p : memory_requests(b)) lines.push_back(p.line);
    const LineAddr own = 5 * kPageLines, other = 37 * kPageLines;
    EXPECT_EQ(lines, (std::vector<LineAddr>{own, own, other, other, own, own}));
    if (!tlb) continue;
    // A walk for each space, in tables of their own; the third launch finds its entry.
    EXPECT_EQ(walked(b), (std::vector<LineAddr>{0xf0000000u, 0xf0100000u}));
    EXPECT_EQ(b.state().tlb.counters.walks, 2u);
  }
}

TEST(AddressSpaces, AnEntryOfTheTlbServesPagesThatDiffer) {
  SmBench b;
  const PageTables t = use_tables(b, 1, kPageShift + 2);
  use_tlb(b, kPageShift + 2);
  t.map_pages(b.rig.arena.base(), 0, 2, 1, 9 * kPageLines, 1);  // the third of four pages
  const uint32_t block = b.program.block({load(1), load(2), load(3), load(4)});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block);
  for (uint32_t page = 0; page < 4; ++page) b.traces.at(page * kPage + 256, 4);
  b.traces.end();
  b.start();
  b.run_logged(600);
  std::vector<LineAddr> lines;
  for (const Packet& p : memory_requests(b)) lines.push_back(p.line);
  EXPECT_EQ(lines, (std::vector<LineAddr>{2, kPageLines + 2, 1u << 29 | (9 * kPageLines + 2),
                                          3 * kPageLines + 2}));
  EXPECT_EQ(b.state().tlb.counters.walks, 1u);
}

TEST(AddressSpaces, LinesUnderTwoMapsAreTwoInTheL1) {
  SmBench b;
  const PageTables t = use_tables(b, 2);
  t.map_pages(b.rig.arena.base(), 1, 5, 1, 5 * kPageLines, 1);
  run_in_spaces(b, {load(1), alu(2, {1})}, 5 * kPage, {0});
  const LineAddr* tags = b.rig.arena.get(b.state().l1.tags);
  const uint32_t set = 5 * kPageLines % b.params.l1.index.sets;
  EXPECT_EQ(tags[set * b.params.l1.ways], 5 * kPageLines);
  uint32_t mshr = 0;
  const auto look_up = [&](LineAddr line) {
    return cache::l1_load(b.params.l1, b.state().l1, b.rig.arena.base(),
                          {.line = line, .credits = 1}, mshr);
  };
  EXPECT_EQ(look_up(5 * kPageLines), cache::L1Result::kHit);
  // Another line of the same set.
  EXPECT_EQ(look_up(1u << 29 | 5 * kPageLines), cache::L1Result::kMiss);
  EXPECT_EQ(tags[set * b.params.l1.ways + 1], 1u << 29 | 5 * kPageLines);
}

TEST(AddressSpaces, AnOffloadGoesToTheStackOfThePhysicalLine) {
  OffloadBench b;
  const PageTables t = use_tables(b, 2);
  t.map_pages(b.rig.arena.base(), 1, 0, 64, 0, 1);
  const uint32_t head = b.program.block({alu(0, {})});
  const uint32_t body = b.program.block({load(1)}, 1);
  b.program.candidate({body}, tom::Candidate{});
  b.program.launch(1, 1);
  b.program.launches.back().space = 1;
  b.traces.begin_block();
  b.traces.warp().run(head).run(body).at(6 * kPage, 4).end();
  b.start();
  b.run_logged(600);
  ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
  EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].packet.line, 6u % 4);
  const auto requests = b.network->of(tom::kOffloadRequest);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].packet.dst, kStackSmEndpoint + 2);
  EXPECT_EQ(requests[0].packet.tag >> 24, 1u);
}

TEST(AddressSpaces, AnOffloadedWarpKeepsItsSpace) {
  SmBench b;
  b.params.in_stack = true;
  b.offload.enabled = true;
  const PageTables t = use_tables(b, 2);
  t.map_pages(b.rig.arena.base(), 1, 0, 64, 0, 1);
  const uint32_t head = b.program.block({alu(0, {})});
  const uint32_t body = b.program.block({load(1), alu(2, {1}), store({2})}, 1);
  b.program.candidate({body}, tom::Candidate{});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(head).run(body).at(7 * kPage, 4).at(7 * kPage, 4).end();
  b.build();
  Packet p = make_packet(tom::kOffloadRequest, kSmEndpoint, kStackSmEndpoint, 32, 5);
  p.tag |= 1u << 24;
  tom::pack_cursor(find_candidate(b.program, b.traces, 0, 0), p);
  b.network->send_at(0, p);
  b.run_logged(600);
  const LineAddr line = 1u << 29 | 7 * kPageLines;
  const std::vector<Packet> got = memory_requests(b);
  ASSERT_EQ(got.size(), 2u);
  for (const Packet& q : got) {
    EXPECT_EQ(q.line, line);
    EXPECT_EQ(q.dst,
              kVaultEndpoint + 3 * 16 + b.params.map.of(line, b.rig.arena.base()).vault_of(line));
  }
  const auto dirty = b.network->of(tom::kOffloadDirty);
  ASSERT_EQ(dirty.size(), 1u);
  EXPECT_EQ(dirty[0].packet.line, line);  // the requester finds it in its L1 and L2 as it is
}

}  // namespace
}  // namespace nearwarp::sm::address_space_test
