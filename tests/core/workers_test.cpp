// Do threads that share a list work on every item once, end when they are told to, and hand on what
// was thrown?
#include "host/core/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nearwarp {
namespace {

TEST(Workers, WorkOnEveryItemOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    std::vector<int> times(1000);
    Workers workers(times.size(), threads);
    ASSERT_EQ(workers.threads(), std::max(1u, threads));
    std::vector<uint64_t> sums(workers.threads());  // each thread uses its own element
    workers.run([&](size_t item, unsigned thread) {
      ++times[item];
      sums.at(thread) += item;
    });
    EXPECT_EQ(times, std::vector<int>(times.size(), 1));
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), uint64_t{0}), 999u * 1000 / 2);
    EXPECT_FALSE(workers.stopped());
  }
}

TEST(Workers, AreNoMoreThanThereAreItems) {
  EXPECT_EQ(Workers(3, 8).threads(), 3u);
  Workers none(0, 8);
  EXPECT_EQ(none.threads(), 1u);
  none.run([](size_t, unsigned) { FAIL() << "there is no item"; });
}

TEST(Workers, TheCallersThreadIsTheFirst) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<size_t> done{0};
  Workers workers(2, 2);
  workers.run([&](size_t, unsigned thread) {
    EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller);
    // The two items wait for each other, so that each thread gets one.
    ++done;
    while (done < 2) std::this_thread::yield();
  });
}

TEST(Workers, TakeNothingMoreOnceTheyAreStopped) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<size_t> begun{0};
    Workers workers(1000, threads);
    workers.run([&](size_t item, unsigned) {
      ++begun;
      if (item == 3) workers.stop();
      while (item > 3 && !workers.stopped()) std::this_thread::yield();
    });
    EXPECT_TRUE(workers.stopped());
    EXPECT_GE(begun, 4u);
    EXPECT_LE(begun, 3u + threads);
  }
}

TEST(Workers, WhatIsThrownFirstIsThrownWhereTheyWereCalled) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<size_t> begun{0};
    Workers workers(1000, threads);
    try {
      workers.run([&](size_t item, unsigned) {
        ++begun;
        if (item == 2) throw std::out_of_range("the third");
        while (item > 2 && !workers.stopped()) std::this_thread::yield();
        if (item > 2) throw std::runtime_error("a later one");
      });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "the third");
    }
    EXPECT_LE(begun, 2u + threads);
  }
}

TEST(Workers, AFailureThatTheWorkCatchesItselfIsThrownAsWell) {
  std::vector<size_t> begun;
  Workers workers(10, 1);
  const auto work = [&](size_t item, unsigned) {
    begun.push_back(item);
    try {
      if (item == 1) throw std::runtime_error("the second");
    } catch (...) {
      workers.fail();
    }
  };
  EXPECT_THROW(workers.run(work), std::runtime_error);
  EXPECT_EQ(begun, (std::vector<size_t>{0, 1}));
}

}  // namespace
}  // namespace nearwarp
