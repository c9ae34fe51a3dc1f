// Does a warp find its way through its trace?
#include "device/sm/trace_cursor.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/program.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;

struct Step {
  uint32_t pc, mask;
  bool operator==(const Step&) const = default;
};

/// Every instruction that the warp at `pos` passes, skipping memory records as issuing does.
std::vector<Step> walk(const Program& p, const std::vector<uint64_t>& words, uint32_t pos = 0) {
  std::vector<Step> steps;
  const ProgramImage image = p.view();
  Cursor c;
  c.trace_pos = pos;
  fetch_first(c, words.data(), image, 0);
  while (c.pc != kEndOfTrace && steps.size() < 1000) {
    steps.push_back({c.pc, c.mask});
    const ImageInstr& in = image.instrs[c.pc];
    if ((in.flags & kHasRecord) != 0)
      c.trace_pos = read_access(words.data(), c.trace_pos, c.mask, in.flags & kGuarded).next;
    advance(c, words.data(), image, 0);
  }
  return steps;
}

TEST(TraceCursor, BlocksAndRepeats) {
  Program p;
  const uint32_t a = p.block({alu(0, {}), alu(1, {})});
  const uint32_t b = p.block({load(2)});
  Traces t;
  t.warp().run(a).run(b, 0xff, 3).at(0, 4).at(128, 4).at(256, 4).run(a, 0x3).end();
  const std::vector<Step> expected{{0, kFull}, {1, kFull}, {2, 0xff}, {2, 0xff},
                                   {2, 0xff},  {0, 3},     {1, 3}};
  EXPECT_EQ(walk(p, t.words), expected);
}

TEST(TraceCursor, LongestRun) {
  Program p;
  const uint32_t a = p.block({alu(0, {})});
  Traces t;
  t.warp().run(a, kFull, trace::kMaxRepeats).end();
  const ProgramImage image = p.view();
  Cursor c;
  fetch_first(c, t.words.data(), image, 0);
  uint32_t n = 0;
  for (; c.pc != kEndOfTrace; ++n) advance(c, t.words.data(), image, 0);
  EXPECT_EQ(n, 4096u);
}

TEST(TraceCursor, EmptyBlocksAreLeftAtOnce) {
  Program p;
  const uint32_t empty = p.block({});
  const uint32_t a = p.block({alu(0, {})});
  Traces t;
  t.warp().run(empty).run(empty, kFull, 7).run(a).run(empty, 1, 4000).end();
  EXPECT_EQ(walk(p, t.words), (std::vector<Step>{{0, kFull}}));
  Traces nothing;
  nothing.warp().run(empty).end();
  EXPECT_TRUE(walk(p, nothing.words).empty());
  Traces ended;
  ended.warp().end();
  EXPECT_TRUE(walk(p, ended.words).empty());
}

TEST(TraceCursor, SecondKernelsBlocksHaveTheirOwnOffset) {
  Program p;
  p.block({alu(0, {})});
  p.block({alu(1, {})});
  Traces t;
  t.warp().run(0).end();
  Cursor c;
  const ProgramImage image = p.view();
  fetch_first(c, t.words.data(), image, 1);
  EXPECT_EQ(c.pc, 1u);
}

TEST(TraceCursor, RecordsOfEveryForm) {
  Program p;
  const uint32_t b =
      p.block({memory(Action::kLoad, 0, {}, 4, true), memory(Action::kLoad, 0, {}, 4, true),
               load(1), memory(Action::kLoad, 0, {}, 4, true), alu(2, {})});
  uint64_t scattered[32], far[32];
  for (uint32_t i = 0; i < 32; ++i) {
    scattered[i] = kBase + i * i * 4;
    far[i] = kBase + (uint64_t{i * i} << 33);
  }
  Traces t;
  t.warp().run(b, 0xff);
  t.guard(0);  // nobody: no record
  t.guard(0x55).addresses(0x55, scattered);
  t.addresses(0xff, far);
  t.guard(0x10).at(64, 4);
  t.run(b, 1).guard(0).guard(1).at(0, 0).at(0, 0).guard(0).end();
  const std::vector<Step> steps = walk(p, t.words);
  ASSERT_EQ(steps.size(), 10u);
  EXPECT_EQ(steps[5], (Step{0, 1}));

  const Access none = read_access(t.words.data(), 1, 0xff, true);
  EXPECT_EQ(none.mask, 0u);
  EXPECT_EQ(none.next, 2u);
  const Access four = read_access(t.words.data(), 2, 0xff, true);
  EXPECT_EQ(four.mask, 0x55u);
  EXPECT_EQ(four.record, 3u);
  EXPECT_EQ(four.next, 3u + 1 + 2);  // four lanes' distances in two words
  const Access eight = read_access(t.words.data(), four.next, 0xff, false);
  EXPECT_EQ(eight.next, eight.record + 1 + 8);  // an address each
}

struct Loop {
  Program p;
  uint32_t before, body, latch, after;
  Loop() {
    before = p.block({alu(0, {})});
    body = p.block({load(1), alu(2, {1})}, 1);
    latch = p.block({branch()});
    after = p.block({exit_instr()});
    p.candidate({body, latch}, {});
  }
  uint32_t ahead(const Traces& t, uint32_t enough) {
    const ProgramImage image = p.view();
    Cursor c;
    fetch_first(c, t.words.data(), image, 0);
    while (p.candidate_of[c.pc] != 0) advance(c, t.words.data(), image, 0);
    const Cursor was = c;
    const uint32_t n = tom::iterations_ahead(c, {t.words.data(), image, 0}, p.tables(), 0, enough);
    EXPECT_EQ(was.trace_pos, c.trace_pos);
    return n;
  }
};

TEST(TraceCursor, CountsIterationsAhead) {
  for (const uint32_t iterations : {1u, 3u, 7u}) {
    Loop l;
    Traces t;
    t.warp().run(l.before);
    for (uint32_t i = 0; i < iterations; ++i) t.run(l.body).at(i * 128, 4).run(l.latch);
    t.run(l.after).end();
    EXPECT_EQ(l.ahead(t, 100), iterations);
    EXPECT_EQ(l.ahead(t, 2), std::min(2u, iterations));  // counting stops when it is enough
  }
}

TEST(TraceCursor, CountsRepeatedBlocksWithAndWithoutRecords) {
  for (const bool records : {false, true}) {
    Program p;
    const uint32_t body = p.block({records ? load(1) : alu(1, {}), branch()}, 4);
    const uint32_t after = p.block({exit_instr()});
    p.candidate({body}, {});
    Traces t;
    t.warp().run(body, kFull, 5);
    for (int i = 0; records && i < 5; ++i) t.at(0, 4);
    t.run(body, 1, 2);
    for (int i = 0; records && i < 2; ++i) t.at(0, 4);
    t.run(after).end();
    const ProgramImage image = p.view();
    Cursor c;
    fetch_first(c, t.words.data(), image, 0);
    EXPECT_EQ(tom::iterations_ahead(c, {t.words.data(), image, 0}, p.tables(), 0, 1000),
              28u);  // 7 of weight 4
    EXPECT_GE(tom::iterations_ahead(c, {t.words.data(), image, 0}, p.tables(), 0, 10), 10u);
  }
}

}  // namespace
}  // namespace nearwarp::sm
