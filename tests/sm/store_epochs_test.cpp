// Does waiting for all earlier stores agree with a list of which warp waits for which store?
#include "device/sm/store_epochs.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace nearwarp::sm {
namespace {

TEST(StoreEpochs, NothingInFlightIsDrainedAtOnce) {
  SmState s;
  EXPECT_TRUE(drained(s, begin_drain(s)));
  const uint32_t e = add_store(s) % kEpochs;
  EXPECT_FALSE(drained(s, begin_drain(s)));
  remove_store(s, e);
  EXPECT_TRUE(drained(s, begin_drain(s)));
}

TEST(StoreEpochs, LaterStoresDoNotDelay) {
  SmState s;
  const uint32_t first = add_store(s) % kEpochs;
  const uint32_t wait = begin_drain(s);
  const uint32_t second = add_store(s) % kEpochs;
  EXPECT_NE(first, second);
  EXPECT_FALSE(drained(s, wait));
  remove_store(s, first);
  EXPECT_TRUE(drained(s, wait));
  const uint32_t wait_second = begin_drain(s);
  EXPECT_FALSE(drained(s, wait_second));
  remove_store(s, second);
  EXPECT_TRUE(drained(s, wait_second));
}

TEST(StoreEpochs, LinesKeepTheirStoresEpoch) {
  SmState s;
  const uint32_t e = add_store(s) % kEpochs;
  const uint32_t wait = begin_drain(s);
  s.epoch_stores[e] += 1;  // its line leaves
  remove_store(s, e);      // and the store is out of the load-store unit
  EXPECT_FALSE(drained(s, wait));
  remove_store(s, e);  // acknowledged
  EXPECT_TRUE(drained(s, wait));
}

TEST(StoreEpochs, RandomStoresAndWaits) {
  std::mt19937 random(17);
  for (int round = 0; round < 50; ++round) {
    SmState s;
    s.epoch = s.oldest_epoch = 0xfffffff0u;  // numbers wrap
    struct InFlight {
      uint32_t id, epoch;
    };
    struct Wait {
      uint32_t epoch;
      std::set<uint32_t> stores;
      bool crowded;  ///< began when all epochs were taken: may last longer
    };
    std::vector<InFlight> in_flight;
    std::vector<Wait> waits;
    uint32_t id = 0, exact = 0;
    const uint32_t most = round % 2 == 0 ? 4 : 40;
    for (int step = 0; step < 2000; ++step) {
      const uint32_t what = random() % 8;
      if (what < 3 && in_flight.size() < most) {
        in_flight.push_back({id++, add_store(s) % kEpochs});
      } else if (what < 6 && !in_flight.empty()) {
        const size_t at = random() % in_flight.size();
        s.awaits_stores = waits.empty() ? 0 : 1;
        remove_store(s, in_flight[at].epoch);
        for (Wait& w : waits) w.stores.erase(in_flight[at].id);
        in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (what == 6 && waits.size() < 48) {
        Wait w;
        const bool full = s.epoch - s.oldest_epoch + 1 >= kEpochs;
        w.epoch = begin_drain(s);
        w.crowded = full;
        for (const InFlight& f : in_flight) w.stores.insert(f.id);
        waits.push_back(w);
      }
      for (size_t i = 0; i < waits.size();) {
        const bool done = drained(s, waits[i].epoch);
        if (done) {
          ASSERT_TRUE(waits[i].stores.empty()) << "a store of an earlier time is in flight";
        }
        if (waits[i].stores.empty() && !waits[i].crowded) {
          ASSERT_TRUE(done) << "waits for stores of a later time";
          ++exact;
        }
        if (done) {
          waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
    }
    while (!in_flight.empty()) {
      remove_store(s, in_flight.back().epoch);
      in_flight.pop_back();
    }
    for (const Wait& w : waits) EXPECT_TRUE(drained(s, w.epoch));
    EXPECT_GT(exact, 10u);
  }
}

}  // namespace
}  // namespace nearwarp::sm
