// Do several threads that step one machine get equal counters, and is there nothing for a thread
// sanitizer to find?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

TEST(Threads, AnyNumberCountsTheSame) {
  const runtime::Recording& recording = testing::workload("kmeans", 100'000);
  for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
    const auto expected = testing::numbers(testing::simulate(recording, policy));
    for (const unsigned threads : {2u, 3u, 4u}) {
      SimOptions o;
      o.threads = threads;
      EXPECT_EQ(testing::numbers(testing::simulate(recording, policy, {}, o)), expected)
          << policy << " " << threads;
    }
  }
}

TEST(Threads, OthersMayHelpAtAnyTime) {
  const runtime::Recording& recording = testing::workload("kmeans", 200'000);
  for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
    unsigned asked = 0;
    SimOptions o;
    o.window_ticks = 112;  // many short windows: it is asked once in a thousand
    o.threads_now = [&] { return ++asked % 4 + 1; };
    EXPECT_EQ(testing::numbers(testing::simulate(recording, policy, {}, o)),
              testing::numbers(testing::simulate(recording, policy)))
        << policy;
    EXPECT_GT(asked, 2u);
  }
}

TEST(Threads, MoreThanThereAreComponentsOfAKind) {
  const runtime::Recording& recording = testing::workload("kmeans", 20'000);
  const std::vector<std::string> tiny = {"gpu.sms=4", "gpu.sms_with_ndp=4"};
  SimOptions o;
  o.threads = 7;
  o.order_seed = 3;
  EXPECT_EQ(testing::numbers(testing::simulate(recording, "ndp-controlled-bmap", tiny, o)),
            testing::numbers(testing::simulate(recording, "ndp-controlled-bmap", tiny)));
}

}  // namespace
}  // namespace nearwarp::sim
