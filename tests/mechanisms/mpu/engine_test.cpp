// Where does the offload engine want an instruction and its registers, and which have to move?
#include <gtest/gtest.h>

#include "device/mechanisms/mpu/mechanism.h"
#include "tests/support/program.h"

namespace nearwarp::mpu {
namespace {

using testing::alu;
using testing::load;
using testing::store;

/// The part of a core that these decisions read: nothing.
struct NoCore {};

constexpr uint32_t bits(std::initializer_list<uint32_t> of) {
  uint32_t b = 0;
  for (const uint32_t k : of) b |= 1u << k;
  return b;
}

/// A warp's row of the track table.
struct Row {
  uint32_t near[2] = {}, far[2] = {};
  Track track{near, far};
  Row(std::initializer_list<uint32_t> in_near, std::initializer_list<uint32_t> in_far) {
    for (const uint32_t r : in_near) near[r / 32] |= 1u << r % 32;
    for (const uint32_t r : in_far) far[r / 32] |= 1u << r % 32;
  }
};

InstrPlace place(Kind kind, Hint hint, std::initializer_list<uint32_t> reads,
                 std::initializer_list<uint32_t> stored = {}) {
  InstrPlace p;
  p.kind = kind;
  p.hint = hint;
  p.reads = static_cast<uint16_t>(bits(reads));
  p.stored = static_cast<uint16_t>(bits(stored));
  return p;
}

/// Steps 1 and 2, and which registers have to move.
struct Decision {
  Wanted wanted;
  uint32_t moves = 0;
};
Decision decide(const Row& row, const sm::ImageInstr& in, const InstrPlace& p, bool partial = false,
                bool near_access = false) {
  NoCore core;
  Decision d;
  d.wanted = wanted_of(core, row.track, in, p, partial, near_access);
  d.moves = misplaced(core, row.track, in, d.wanted);
  return d;
}

TEST(OffloadEngine, ARegisterOfTheTrackTable) {
  const Row row({1, 40}, {2, 40});
  EXPECT_TRUE(row.track.is_near(1) && !row.track.is_far(1));
  EXPECT_TRUE(!row.track.is_near(2) && row.track.is_far(2));
  EXPECT_TRUE(row.track.is_near(40) && row.track.is_far(40));
  EXPECT_FALSE(row.track.is_near(8) || row.track.is_far(8));  // 40 mod 32
  row.track.set(40, false, true);
  EXPECT_TRUE(!row.track.is_near(40) && row.track.is_far(40));
}

// %2 = %0 + %1; slots: 0 is %2, 1 is %0, 2 is %1.
const sm::ImageInstr kSum = alu(2, {0, 1});

TEST(OffloadEngine, TheOpcodeComesFirst) {
  const Row row({0, 1}, {});
  const Decision d = decide(row, kSum, place(Kind::kFar, Hint::kNear, {1, 2}));
  EXPECT_FALSE(d.wanted.near);
  EXPECT_EQ(d.moves, bits({1, 2}));  // both are near the banks alone
}

TEST(OffloadEngine, ThenTheHint) {
  const Row row({0}, {1});
  const Decision near = decide(row, kSum, place(Kind::kAny, Hint::kNear, {1, 2}));
  EXPECT_TRUE(near.wanted.near && near.wanted.results_near);
  EXPECT_EQ(near.moves, bits({2}));
  const Decision far = decide(row, kSum, place(Kind::kAny, Hint::kFar, {1, 2}));
  EXPECT_FALSE(far.wanted.near || far.wanted.results_near);
  EXPECT_EQ(far.moves, bits({1}));
}

TEST(OffloadEngine, ThenTheTrackTable) {
  const InstrPlace p = place(Kind::kAny, Hint::kNone, {1, 2});
  EXPECT_TRUE(decide(Row({0, 1}, {0}), kSum, p).wanted.near);  // valid copies of all sources
  const Decision mixed = decide(Row({0}, {1}), kSum, p);
  EXPECT_FALSE(mixed.wanted.near);
  EXPECT_EQ(mixed.moves, bits({1}));
  // Without sources there is nothing to save.
  EXPECT_FALSE(decide(Row({}, {}), alu(2, {}), place(Kind::kAny, Hint::kNone, {})).wanted.near);
}

TEST(OffloadEngine, AHitMovesNothing) {
  const Row row({0, 1}, {0, 1});
  for (const Hint hint : {Hint::kNear, Hint::kFar})
    EXPECT_EQ(decide(row, kSum, place(Kind::kAny, hint, {1, 2})).moves, 0u);
  // Neither does what has never been written.
  EXPECT_EQ(decide(Row({}, {}), kSum, place(Kind::kAny, Hint::kNear, {1, 2})).moves, 0u);
}

TEST(OffloadEngine, WhatKeepsOldLanesNeedsThem) {
  const InstrPlace p = place(Kind::kAny, Hint::kNear, {1, 2});
  const Row row({0, 1}, {2});  // the result's old value is on the logic die
  EXPECT_EQ(decide(row, kSum, p, false).moves, 0u);
  EXPECT_EQ(decide(row, kSum, p, true).moves, bits({0}));
}

TEST(OffloadEngine, AddressesAreFarAndDataNear) {
  // %1 = [%0]
  const Decision l = decide(Row({0}, {}), load(1, {0}), place(Kind::kLoad, Hint::kNear, {1}));
  EXPECT_TRUE(!l.wanted.near && l.wanted.results_near);
  EXPECT_EQ(l.moves, bits({1}));
  // [%0] = %1: what is stored stays if the access is offloaded, and comes down if not.
  const sm::ImageInstr st = store({1, 0});
  const InstrPlace p = place(Kind::kStore, Hint::kNone, {0, 1}, {0});
  EXPECT_EQ(decide(Row({1}, {0}), st, p, false, true).moves, 0u);
  EXPECT_EQ(decide(Row({1}, {0}), st, p, false, false).moves, bits({0}));
  EXPECT_EQ(decide(Row({}, {0, 1}), st, p, false, true).moves, bits({0}));  // and goes up
  // The operand of an atomic is sent by the load-store unit; its result is written near the banks.
  const Decision a = decide(Row({1}, {0}), testing::memory(sm::Action::kAtomic, 2, {1, 0}),
                            place(Kind::kAtomic, Hint::kNone, {1, 2}, {1}));
  EXPECT_TRUE(a.wanted.results_near);
  EXPECT_EQ(a.moves, bits({1}));
}

TEST(OffloadEngine, SharedMemoryHasAllNear) {
  const Decision d = decide(Row({}, {0, 1}), testing::memory(sm::Action::kSharedStore, -1, {1, 0}),
                            place(Kind::kShared, Hint::kNone, {0, 1}, {0}));
  EXPECT_TRUE(d.wanted.near);
  EXPECT_EQ(d.moves, bits({0, 1}));
}

}  // namespace
}  // namespace nearwarp::mpu
