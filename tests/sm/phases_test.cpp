// When phases of an mbarrier are over in time, whatever the order in which their events come.
#include "device/sm/phases.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nearwarp::sm {
namespace {

TEST(Phases, AreOverOneAfterTheOther) {
  MbarrierState m;
  // Loads that are due later end the first one; something arrives for the next one before that.
  take_event(m, {0, 0, 1}, 1000);
  ASSERT_EQ(m.phase, 1u);
  EXPECT_EQ(were_over_at(m, 1), 1000u);
  take_event(m, {0, 1, 1}, 500);
  ASSERT_EQ(m.phase, 2u);
  EXPECT_EQ(were_over_at(m, 1), 1000u);
  EXPECT_EQ(were_over_at(m, 2), 1000u);
  take_event(m, {0, 2, 2}, 1200);
  take_event(m, {0, 2, 0}, 1100);
  ASSERT_EQ(m.phase, 3u);
  EXPECT_EQ(were_over_at(m, 3), 1200u);
}

TEST(Phases, AreNotOverLaterForTheNextOne) {
  MbarrierState m;
  take_event(m, {0, 0, 1}, 100);
  take_event(m, {0, 1, 1}, 900);
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
  for (uint32_t i = 1; i < 1u << 20; ++i) take_event(m, {0, 0, 0}, i);
  EXPECT_EQ(m.phase, 0u);
  take_event(m, last, 1u << 20);
  EXPECT_EQ(m.phase, 1u);
  EXPECT_EQ(were_over_at(m, 1), 1u << 20);
}

}  // namespace
}  // namespace nearwarp::sm
