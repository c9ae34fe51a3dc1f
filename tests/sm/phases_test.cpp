// When are phases of an mbarrier complete, whatever the order in which their events come?
#include "device/sm/phases.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nearwarp::sm {
namespace {

TEST(Phases, AreOverOneAfterTheOther) {
  MbarrierState m;
  // Loads that are due later end the first one; something arrives for the next one before that.
  take_event(m, {0, 0, 1}, 1000, false);
  ASSERT_EQ(m.phase, 1u);
  EXPECT_EQ(were_over_at(m, 1), 1000u);
  take_event(m, {0, 1, 1}, 500, false);
  ASSERT_EQ(m.phase, 2u);
  EXPECT_EQ(were_over_at(m, 1), 1000u);
  EXPECT_EQ(were_over_at(m, 2), 1000u);
  take_event(m, {0, 2, 2}, 1200, false);
  take_event(m, {0, 2, 0}, 1100, false);
  ASSERT_EQ(m.phase, 3u);
  EXPECT_EQ(were_over_at(m, 3), 1200u);
}

TEST(Phases, AreNotOverLaterForTheNextOne) {
  MbarrierState m;
  take_event(m, {0, 0, 1}, 100, false);
  take_event(m, {0, 1, 1}, 900, false);
  EXPECT_EQ(were_over_at(m, 0), 0u);
  EXPECT_EQ(were_over_at(m, 1), 100u);
  EXPECT_EQ(were_over_at(m, 2), 900u);
}

TEST(Phases, WithMoreEventsThanAreToldEndAllTheSame) {
  for (const uint32_t events : {1u, 70'000u, 1u << 20, (1u << 20) + 1, ~0u}) {
    const trace::PhaseEvent e = trace::phase_event(trace::phase_word({3, 7, events}));
    EXPECT_EQ(e.mbarrier, 3u);
    EXPECT_EQ(e.phase, 7u);
    EXPECT_EQ(e.events, std::min(events, trace::kMostPhaseEvents));
  }
  MbarrierState m;
  const trace::PhaseEvent last = trace::phase_event(trace::phase_word({0, 0, 1u << 20}));
  for (uint32_t i = 1; i < 1u << 20; ++i) take_event(m, {0, 0, 0}, i, false);
  EXPECT_EQ(m.phase, 0u);
  take_event(m, last, 1u << 20, false);
  EXPECT_EQ(m.phase, 1u);
  EXPECT_EQ(were_over_at(m, 1), 1u << 20);
}

TEST(Phases, OfOthersAreOverByTheNextOneWhereTheseAreNotHeard) {
  const trace::PhaseEvent next =
      trace::phase_event(trace::phase_word({2, 1, trace::kMostPhaseEvents, 16, true}));
  EXPECT_EQ(next.block, 16u);
  EXPECT_TRUE(next.others);
  EXPECT_EQ(next.events, trace::kMostPhaseEvents);
  EXPECT_FALSE(trace::phase_event(trace::phase_word({2, 1, 5, 1})).others);
  for (const bool alone : {false, true}) {
    MbarrierState m;
    take_event(m, next, 100, alone);
    EXPECT_EQ(m.phase, alone ? 1u : 0u);
    // Nobody else has a part in the second one.
    take_event(m, {2, 1, 2}, 200, alone);
    EXPECT_EQ(m.phase, alone ? 2u : 0u);
    take_event(m, {2, 0, 1}, 300, alone);
    EXPECT_EQ(m.phase, 2u);
    EXPECT_EQ(were_over_at(m, 2), alone ? 200u : 300u);
  }
}

}  // namespace
}  // namespace nearwarp::sm
