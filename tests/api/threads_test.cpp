// Do simulations in several threads give the results that they give alone?
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
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

TEST(ApiThreads, ASimulationIsOneThreadsAtATime) {
  Simulation alone = begin("kmeans", "tom", "tom");
  ASSERT_TRUE(alone.run());
  std::vector<std::string> refused;
  uint64_t inside = 0;
  bool is_first = true;
  Simulation* self = nullptr;
  const auto progress = [&](const Progress&) {
    if (!is_first) return true;
    is_first = false;
    const auto note = [&](const auto& made) {
      refused.push_back(made ? "not refused" : made.failure().message);
    };
    note(self->run());
    std::thread([&] {
      note(self->run());
      note(self->run_to_cycle(1));
      note(self->run_to_launch(1));
      note(self->counter("run.cycles"));
      note(self->now());
      note(self->save());
      EXPECT_THROW(static_cast<void>(self->result()), std::logic_error);
      EXPECT_GT(self->cycles(), 0u);
      EXPECT_FALSE(self->ended());
    }).join();
    inside = self->counter("run.cycles").value();
    EXPECT_EQ(self->result().cycles, inside);
    EXPECT_EQ(self->cycles(), inside);
    return true;
  };
  Simulation run = begin("kmeans", "tom", "tom", {.progress = progress});
  self = &run;
  ASSERT_TRUE(run.run());
  ASSERT_EQ(refused.size(), 7u);
  for (const std::string& message : refused)
    EXPECT_TRUE(message.starts_with("the simulation is running")) << message;
  EXPECT_GT(inside, 0u);
  EXPECT_EQ(lasting(run.result()), lasting(alone.result()));
}

TEST(ApiThreads, ThreadsThatLookWhileARunGoesOnHarmNothing) {
  Simulation alone = begin("kmeans", "tom", "tom");
  ASSERT_TRUE(alone.run());
  Simulation run = begin("kmeans", "tom", "tom");
  std::atomic<bool> over = false;
  std::thread looks([&] {
    uint64_t before = 0;
    while (!over) {
      static_cast<void>(run.counter("run.cycles"));
      static_cast<void>(run.now());
      EXPECT_GE(run.cycles(), before);
      before = run.cycles();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that the run gets its turn
    }
  });
  for (uint64_t at = 1000; !run.ended(); at += 1000) ASSERT_TRUE(run.run_to_cycle(at));
  over = true;
  looks.join();
  EXPECT_EQ(lasting(run.result()), lasting(alone.result()));
}

TEST(ApiThreads, ManyThreadsAreNoMoreThanThereIsToStep) {
  Simulation run = begin("vector-add", "tom", "baseline", {.threads = 100'000});
  ASSERT_TRUE(run.run_to_cycle(100));
  EXPECT_EQ(run.cycles(), 100u);
}

}  // namespace
}  // namespace nearwarp::testing
