// Do simulations in several threads give the results that they give alone?
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/api/results.h"

namespace nearwarp::testing {
namespace {

TEST(ApiThreads, ManyPointsSideBySide) {
  std::vector<Point> points;
  const Program fwt = program("fwt"), add = program("vector-add");
  const Policy baseline = Policy::load("baseline").value();
  for (const char* sms : {"gpu.sms=32", "gpu.sms=64"})
    for (const Program& p : {fwt, add})
      points.push_back({p, Machine::load("tom", std::vector<std::string>{sms}).value(), baseline});
  points.push_back({add, Machine::load("gtx480").value(), Policy::load("tom").value()});
  std::vector<int> told(points.size());
  const auto results = run_all(
      points, {.threads = 2, .finished = [&](size_t at, const Expected<Result>&) { ++told[at]; }});
  ASSERT_EQ(results.size(), points.size());
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    auto alone = Simulation::begin(points[i].program, points[i].machine, points[i].policy);
    ASSERT_TRUE(alone->run());
    EXPECT_EQ(lasting(results[i].value()), lasting(alone->result())) << i;
  }
  EXPECT_FALSE(results.back()) << "a point that cannot be run hurts no other";
  EXPECT_EQ(told, std::vector<int>(points.size(), 1));
  const auto none =
      run_all(points, {.threads = 1, .progress = [](const Progress&) { return false; }});
  for (const auto& r : none) EXPECT_FALSE(r);
  for (const auto& r : run_all(points, {.backend = "gpu"})) EXPECT_FALSE(r);
}

TEST(ApiThreads, SimulationsKnowNothingOfEachOther) {
  Simulation alone = begin("fwt", "tom", "tom");
  ASSERT_TRUE(alone.run());
  // In turns, in one thread.
  Simulation a = begin("fwt", "tom", "tom"), b = begin("vector-add", "coda", "coda");
  for (uint64_t at = 1000; !a.ended() || !b.ended(); at += 5000) {
    ASSERT_TRUE(a.run_to_cycle(at));
    ASSERT_TRUE(b.run_to_cycle(at));
  }
  EXPECT_EQ(lasting(a.result()), lasting(alone.result()));
  // At the same time, in two.
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      Simulation mine = begin("fwt", "tom", "tom");
      if (mine.run() && lasting(mine.result()) == lasting(alone.result())) ++equal;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(equal, 2);
}

}  // namespace
}  // namespace nearwarp::testing
