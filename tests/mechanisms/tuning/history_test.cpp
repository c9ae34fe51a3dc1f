// When is a warp's traffic over the last rounds above the threshold?
#include <gtest/gtest.h>

#include "device/mechanisms/tuning/rounds.h"

namespace nearwarp::tuning {
namespace {

/// One round of a warp: requests to its own stack, and to others.
void round(TrafficHistory& h, uint32_t intra, uint32_t inter, uint32_t window = 3) {
  for (uint32_t i = 0; i < intra; ++i) note_request(h, true);
  for (uint32_t i = 0; i < inter; ++i) note_request(h, false);
  begin_round(h, window);
}

TuningParams threshold(uint32_t percent) {
  TuningParams p;
  p.threshold_percent = percent;
  return p;
}

TEST(TrafficHistory, TheFirstHeadEndsNoRound) {
  TrafficHistory h;
  note_request(h, false);  // in front of the loop
  EXPECT_FALSE(begin_round(h, 3));
  EXPECT_EQ(h.rounds, 0u);
  EXPECT_FALSE(exceeds(h, threshold(0)));
  note_request(h, true);
  EXPECT_TRUE(begin_round(h, 3));
  EXPECT_EQ(h.rounds, 1u);
  EXPECT_EQ(h.past[0].intra, 1u);
  EXPECT_EQ(h.past[0].inter, 0u);  // what was in front is forgotten
}

TEST(TrafficHistory, EqualIsNotAbove) {
  TrafficHistory h;
  begin_round(h, 3);
  round(h, 4, 4);
  EXPECT_FALSE(exceeds(h, threshold(100)));
  EXPECT_TRUE(exceeds(h, threshold(99)));
  round(h, 4, 5);  // 9 over 8
  EXPECT_TRUE(exceeds(h, threshold(100)));
  EXPECT_TRUE(exceeds(h, threshold(112)));
  EXPECT_FALSE(exceeds(h, threshold(113)));
}

TEST(TrafficHistory, WithoutOwnRequestsAnyOtherIsTooMuch) {
  TrafficHistory h;
  begin_round(h, 3);
  round(h, 0, 0);
  EXPECT_FALSE(exceeds(h, threshold(0)));
  round(h, 0, 1);
  EXPECT_TRUE(exceeds(h, threshold(1'000'000)));
}

TEST(TrafficHistory, ThreeRoundsAndNoMore) {
  TrafficHistory h;
  begin_round(h, 3);
  round(h, 0, 6);
  round(h, 3, 0);
  round(h, 3, 0);  // 6 over 6
  EXPECT_FALSE(exceeds(h, threshold(100)));
  EXPECT_TRUE(exceeds(h, threshold(99)));
  round(h, 1, 0);  // the first one is out: 0 over 7
  EXPECT_FALSE(exceeds(h, threshold(0)));
  EXPECT_EQ(h.rounds, 3u);
  round(h, 0, 5);  // 5 over 4
  EXPECT_TRUE(exceeds(h, threshold(124)));
  EXPECT_FALSE(exceeds(h, threshold(125)));
}

TEST(TrafficHistory, AWindowOfOneRound) {
  TrafficHistory h;
  begin_round(h, 1);
  round(h, 0, 2, 1);
  EXPECT_TRUE(exceeds(h, threshold(100)));
  round(h, 1, 1, 1);
  EXPECT_FALSE(exceeds(h, threshold(100)));
}

TEST(TrafficHistory, MayWaitUntilItIsFull) {
  TuningParams p = threshold(100);
  p.full_history = true;
  TrafficHistory h;
  begin_round(h, 3);
  round(h, 0, 2);
  EXPECT_FALSE(exceeds(h, p));
  round(h, 0, 2);
  EXPECT_FALSE(exceeds(h, p));
  round(h, 0, 2);
  EXPECT_TRUE(exceeds(h, p));
}

}  // namespace
}  // namespace nearwarp::tuning
