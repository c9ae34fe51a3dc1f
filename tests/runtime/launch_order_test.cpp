// Does each launch wait for what CUDA's rules say, and are recordings told of no more than needed?
#include "host/recording/launch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace nearwarp::runtime {
namespace {

using Kind = LaunchStream::Kind;
using Indices = std::vector<uint32_t>;
using Stream = std::shared_ptr<LaunchStream>;

struct Program {
  Stream legacy = std::make_shared<LaunchStream>(Kind::kLegacy);
  Stream a = std::make_shared<LaunchStream>(Kind::kBlocking, 1);
  Stream b = std::make_shared<LaunchStream>(Kind::kBlocking, 2);
  Stream free = std::make_shared<LaunchStream>(Kind::kNonBlocking, 3);
  LaunchOrder order;
  uint32_t launches = 0;

  /// The launches that the next one waits for.
  Indices launch(const Stream& stream) {
    const LaunchOrder::Work work(order, stream);
    return launch();
  }
  Indices launch() {
    LaunchRecord record;
    order.launched(record);
    const uint32_t index = launches++;
    if (!record.after_all) return record.after;
    EXPECT_TRUE(record.after.empty());
    Indices all(index);
    for (uint32_t i = 0; i < index; ++i) all[i] = i;
    return all;
  }
  LaunchSet record(const Stream& stream) {
    const LaunchOrder::Work work(order, stream);
    return order.now();
  }
  void wait(const Stream& stream, const LaunchSet& event) {
    const LaunchOrder::Work work(order, stream);
    order.now().join(event);
  }
};

TEST(LaunchOrder, OneStreamWaitsForAllBefore) {
  for (const Kind kind : {Kind::kLegacy, Kind::kBlocking, Kind::kNonBlocking}) {
    LaunchOrder order;
    const auto stream = std::make_shared<LaunchStream>(kind, 7);
    for (int i = 0; i < 5; ++i) {
      const LaunchOrder::Work work(order, stream);
      LaunchRecord record;
      order.launched(record);
      EXPECT_TRUE(record.after_all);
      EXPECT_TRUE(record.after.empty());
      EXPECT_EQ(record.stream, 7u);
    }
  }
}

TEST(LaunchOrder, StreamsAreIndependent) {
  Program p;
  EXPECT_EQ(p.launch(p.a), (Indices{}));  // 0
  EXPECT_EQ(p.launch(p.b), (Indices{}));
  EXPECT_EQ(p.launch(p.a), (Indices{0}));
  EXPECT_EQ(p.launch(p.free), (Indices{}));
  EXPECT_EQ(p.launch(p.b), (Indices{1}));
  EXPECT_EQ(p.launch(p.free), (Indices{3}));
}

TEST(LaunchOrder, TheLegacyStreamIsInOrderWithBlockingOnesAlone) {
  Program p;
  p.launch(p.a);                                   // 0
  p.launch(p.b);                                   // 1
  p.launch(p.free);                                // 2
  EXPECT_EQ(p.launch(p.legacy), (Indices{0, 1}));  // 3
  EXPECT_EQ(p.launch(p.free), (Indices{2}));       // 4
  EXPECT_EQ(p.launch(p.a), (Indices{3}));          // 5
  EXPECT_EQ(p.launch(p.b), (Indices{3}));          // 6
  EXPECT_EQ(p.launch(p.legacy), (Indices{5, 6}));  // 7
  EXPECT_EQ(p.launch(p.legacy), (Indices{7}));     // 8
  p.order.host_waited();
  EXPECT_EQ(p.launch(p.free), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8}));  // 9
}

TEST(LaunchOrder, WorkOfTheLegacyStreamWithoutLaunchesOrdersStreamsToo) {
  Program p;
  p.launch(p.a);  // 0
  p.launch(p.free);
  p.record(p.legacy);
  EXPECT_EQ(p.launch(p.b), (Indices{0}));
}

TEST(LaunchOrder, AStreamThatIsGoneStillHasItsLaunches) {
  Program p;
  p.launch(p.a);
  p.launch(p.free);
  p.a.reset();
  EXPECT_EQ(p.launch(p.legacy), (Indices{0}));
}

TEST(LaunchOrder, EventsJoinStreams) {
  Program p;
  p.launch(p.a);  // 0
  LaunchSet event = p.record(p.a);
  p.launch(p.a);  // 1
  p.launch(p.b);  // 2
  p.wait(p.b, event);
  EXPECT_EQ(p.launch(p.b), (Indices{0, 2}));  // 3
  p.wait(p.free, event);
  EXPECT_EQ(p.launch(p.free), (Indices{0}));  // 4
  event = p.record(p.b);                      // what waited before does not know
  EXPECT_EQ(p.launch(p.free), (Indices{4}));  // 5
  p.wait(p.free, event);
  EXPECT_EQ(p.launch(p.free), (Indices{3, 5}));                                          // 6
  EXPECT_EQ(p.launch(std::make_shared<LaunchStream>(Kind::kNonBlocking)), (Indices{}));  // 7
  EXPECT_EQ(p.launch(p.legacy), (Indices{1, 3}));  // 8: 0 and 2 come before these
  p.wait(p.a, p.record(p.free));
  p.wait(p.a, event);                         // before 6
  EXPECT_EQ(p.launch(p.a), (Indices{6, 8}));  // 9
}

TEST(LaunchOrder, WhatTheHostWaitedForIsBeforeAllThatFollows) {
  Program p;
  p.launch(p.a);  // 0
  p.launch(p.b);  // 1
  const LaunchSet event = p.record(p.b);
  p.launch(p.b);  // 2
  p.order.host_waited(event);
  EXPECT_EQ(p.launch(p.free), (Indices{1}));  // 3
  EXPECT_EQ(p.launch(p.a), (Indices{0, 1}));  // 4
  p.order.host_waited(*p.legacy);             // not for 3
  EXPECT_EQ(p.launch(p.b), (Indices{2, 4}));  // 5
  p.order.host_waited(*p.free);
  EXPECT_EQ(p.launch(p.free), (Indices{2, 3, 4}));
}

TEST(LaunchOrder, WorkWithinWorkHasItsOwnPlace) {
  Program p;
  p.launch(p.a);  // 0
  {
    const LaunchOrder::Work outer(p.order, p.a);
    EXPECT_EQ(p.launch(p.b), (Indices{}));  // 1
    EXPECT_EQ(p.launch(), (Indices{0}));    // 2
  }
  EXPECT_EQ(p.launch(p.a), (Indices{2}));
  EXPECT_EQ(p.launch(p.b), (Indices{1}));
}

/// Against plain sets of all that comes before.
TEST(LaunchOrder, RandomProgramsSayExactlyWhatIsNeeded) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    LaunchHistory history;
    constexpr size_t kPlaces = 6;
    LaunchSet sets[kPlaces];
    std::set<uint32_t> plain[kPlaces];
    std::vector<std::set<uint32_t>> before;  // by launch
    for (int step = 0; step < 120; ++step) {
      const size_t to = random() % kPlaces, from = random() % kPlaces;
      if (random() % 3 == 0) {
        sets[to].join(sets[from]);
        plain[to].insert(plain[from].begin(), plain[from].end());
      } else if (random() % 8 == 0) {
        sets[to] = sets[from];
        plain[to] = plain[from];
      } else {
        LaunchRecord record;
        history.add(sets[to], record);
        EXPECT_EQ(record.after_all, plain[to].size() == before.size());
        Indices needed;
        for (const uint32_t candidate : plain[to])
          if (std::none_of(plain[to].begin(), plain[to].end(),
                           [&](uint32_t other) { return before[other].contains(candidate); }))
            needed.push_back(candidate);
        EXPECT_EQ(record.after, record.after_all ? Indices{} : needed) << seed;
        before.push_back(plain[to]);
        plain[to].insert(static_cast<uint32_t>(before.size() - 1));
      }
    }
  }
}

}  // namespace
}  // namespace nearwarp::runtime
