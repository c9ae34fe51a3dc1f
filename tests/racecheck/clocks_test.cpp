// Times of many blocks: are they joined rightly, and shared where they are equal?
#include "host/functional/racecheck/clocks.h"

#include <gtest/gtest.h>

#include "host/functional/racecheck/shadow.h"
#include "host/functional/racecheck/warp_order.h"

namespace nearwarp::racecheck {
namespace {

Times at(uint32_t warp, uint32_t time) {
  Times t{};
  t[warp] = time;
  return t;
}

TEST(Clocks, JoinIsTheLaterOfBoth) {
  for (const uint64_t blocks : {uint64_t{1}, uint64_t{16}, uint64_t{17}, uint64_t{1} << 32}) {
    const ClockSpace space(blocks);
    const uint64_t last = blocks - 1;
    EXPECT_EQ(space.find(nullptr, last), nullptr);
    const Clocks a = space.with(space.with(nullptr, 0, at(1, 5)), last, at(2, 7));
    const Clocks b = space.with(nullptr, last, at(2, 9));
    const Clocks both = space.join(a, b);
    EXPECT_EQ((*space.find(both, last))[2], 9u);
    if (last != 0) {
      EXPECT_EQ((*space.find(both, 0))[1], 5u);
      EXPECT_EQ(space.find(b, 0), nullptr);
    }
    EXPECT_EQ((*space.find(a, last))[2], 7u);  // unchanged
    EXPECT_EQ(space.join(both, b), both);      // nothing new: the same tree
    EXPECT_EQ(space.join(b, both), both);
    EXPECT_EQ(space.join(nullptr, b), b);
  }
}

TEST(WarpOrder, LanesKnowWhomTheyHaveMet) {
  WarpOrder order;
  const uint32_t then = order.time;
  EXPECT_TRUE(order.lane_ordered(3, then, 3));
  EXPECT_FALSE(order.lane_ordered(3, then, 4));
  order.meet(0b11000, 0);  // 3 and 4
  EXPECT_TRUE(order.lane_ordered(3, then, 4));
  EXPECT_FALSE(order.lane_ordered(3, then, 5));
  EXPECT_FALSE(order.lane_ordered(3, order.time, 4));  // what comes now is later
  order.meet(0b110000, 0);                             // 4 has heard of 3 and tells 5
  EXPECT_TRUE(order.lane_ordered(3, then, 5));
  EXPECT_FALSE(order.lane_ordered(5, then, 3));
  order.meet(0x0000ffff, 0xffff0000);  // all that are left
  EXPECT_TRUE(order.lane_ordered(5, then, 3));
}

TEST(Shadow, WordsBecomeBytes) {
  Shadow shadow(1 << 20);
  int cells = 0;
  const auto count = [&](Cell&, uint64_t) { ++cells; };
  shadow.each(0x1000, 16, [&](Cell& cell, uint64_t) { cell.write[0].lanes = 1; });
  shadow.each(0x1000, 16, count);
  EXPECT_EQ(cells, 4);
  shadow.each(0x1013, 1, count);
  EXPECT_EQ(cells, 5);
  uint64_t written = 0;
  shadow.each(0x1008, 16, [&](Cell& cell, uint64_t address) {
    if (cell.write[0].lanes != 0) written = address;
    ++cells;
  });
  EXPECT_EQ(cells, 21);
  EXPECT_EQ(written, 0x100fu);
  shadow.forget(0x100c, 2);
  shadow.each(0x100d, 1, [&](Cell& cell, uint64_t) { EXPECT_EQ(cell.write[0].lanes, 0u); });
  shadow.each(0x100e, 1, [&](Cell& cell, uint64_t) { EXPECT_EQ(cell.write[0].lanes, 1u); });
  shadow.clear();
  shadow.each(0x1000, 1, [&](Cell& cell, uint64_t) { EXPECT_EQ(cell.write[0].lanes, 0u); });
}

}  // namespace
}  // namespace nearwarp::racecheck
