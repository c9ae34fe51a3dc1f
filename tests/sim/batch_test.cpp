// Is a batch of systems its systems, whoever runs it, and does it do what its observer says?
#include <gtest/gtest.h>

#include <stdexcept>

#include "host/core/error.h"
#include "host/timing/run/replay_batch.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

/// Keeps outcomes; stops or throws when told to.
struct Observer final : BatchObserver {
  explicit Observer(size_t systems) : outcomes(systems), times(systems) {}

  void finished(size_t system, BatchOutcome outcome) override {
    const Inside inside(*this);
    ends += 1;
    times.at(system) += 1;
    if (ends == throw_at) throw std::runtime_error("the disk is full");
    outcomes.at(system) = std::move(outcome);
  }
  bool progress(uint64_t warp_instructions) override {
    const Inside inside(*this);
    EXPECT_GE(warp_instructions, last);
    last = warp_instructions;
    return ends < stop_at;
  }

  std::vector<BatchOutcome> outcomes;
  std::vector<size_t> times;
  size_t ends = 0, stop_at = 1000, throw_at = 1000;
  uint64_t last = 0;

 private:
  /// Expects calls to come one at a time; the thread sanitizer checks this, too.
  struct Inside {
    explicit Inside(Observer& o) : observer(o) { EXPECT_FALSE(std::exchange(o.inside_, true)); }
    ~Inside() { observer.inside_ = false; }
    Observer& observer;
  };
  bool inside_ = false;
};

TEST(BatchThreads, AllAreUsedAndNoneTwice) {
  for (const unsigned threads : {1u, 2u, 3u, 7u, 16u})
    for (size_t left = 1; left < 20; ++left) {
      unsigned all = 0;
      for (size_t before = 0; before < left; ++before) {
        const unsigned own = threads_of_system(threads, left, before);
        EXPECT_GE(own, 1u);
        // A system loses no thread when another system ends.
        if (left > 1) {
          EXPECT_GE(threads_of_system(threads, left - 1, before), own);
        }
        if (before > 0) {
          EXPECT_GE(threads_of_system(threads, left - 1, before - 1), own);
        }
        all += own;
      }
      EXPECT_EQ(all, std::max<unsigned>(threads, static_cast<unsigned>(left)));
    }
}

/// Systems of two programs on two machines under two policies.
class Batch : public ::testing::TestWithParam<unsigned> {
 protected:
  Batch() {
    for (const char* overrides : {"sm.warps=48", "sm.warps=8"})
      machines_.push_back(config::load_machine("tom", std::vector<std::string>{overrides}));
    for (const char* name : {"baseline", "ndp-controlled-bmap"})
      policies_.push_back(config::load_policy(name));
    for (const char* name : {"kmeans", "fma"})
      for (const auto& machine : machines_)
        for (const auto& policy : policies_)
          systems_.push_back({&testing::workload(name, 30'000), &machine, &policy});
  }
  CpuBatch runner_{GetParam()};
  std::vector<config::MachineConfig> machines_;
  std::vector<config::PolicyConfig> policies_;
  std::vector<ReplayJob> systems_;
};

TEST_P(Batch, EverySystemOnceWithItsOwnResult) {
  Observer observer(systems_.size());
  runner_.run(systems_, observer);
  for (size_t i = 0; i < systems_.size(); ++i) {
    EXPECT_EQ(observer.times[i], 1u);
    EXPECT_FALSE(observer.outcomes[i].stopped);
    ASSERT_TRUE(observer.outcomes[i].result.has_value()) << i;
    const ReplayJob& s = systems_[i];
    const report::RunResult alone = replay_on_cpu(*s.recording, *s.machine, *s.policy, {});
    EXPECT_EQ(testing::numbers(*observer.outcomes[i].result), testing::numbers(alone)) << i;
    EXPECT_EQ(observer.outcomes[i].result->policy, s.policy->name);
  }
}

TEST_P(Batch, AFailureIsThatOfItsSystem) {
  config::MachineConfig small = machines_[0];
  small.sm.threads = 32;  // no thread block fits
  systems_[2].machine = &small;
  Observer observer(systems_.size());
  runner_.run(systems_, observer);
  for (size_t i = 0; i < systems_.size(); ++i) {
    EXPECT_EQ(observer.outcomes[i].result.has_value(), i != 2);
    EXPECT_EQ(observer.outcomes[i].error != nullptr, i == 2);
  }
  EXPECT_THROW(std::rethrow_exception(observer.outcomes[2].error), Error);
}

TEST_P(Batch, NothingBeginsAfterAStop) {
  Observer observer(systems_.size());
  observer.stop_at = 1;
  runner_.run(systems_, observer);
  EXPECT_GE(observer.ends, 1u);
  EXPECT_LE(observer.ends, GetParam());  // those that were running
  Observer none(systems_.size());
  none.stop_at = 0;
  runner_.run(systems_, none);
  EXPECT_EQ(none.ends, 0u);
}

TEST_P(Batch, TheObserversErrorsEndIt) {
  Observer observer(systems_.size());
  observer.throw_at = 2;
  EXPECT_THROW(runner_.run(systems_, observer), std::runtime_error);
  EXPECT_LE(observer.ends, 1 + GetParam());  // those that were running
}

TEST_P(Batch, MayBeEmpty) {
  Observer observer(0);
  runner_.run({}, observer);
  EXPECT_EQ(observer.ends, 0u);
}

INSTANTIATE_TEST_SUITE_P(Threads, Batch, ::testing::Values(1u, 3u, 20u));

/// A run that takes seconds ends partially, and says so.
TEST(BatchStop, RunningSystemsAreCutShort) {
  struct Stop final : BatchObserver {
    void finished(size_t, BatchOutcome o) override { outcome = std::move(o); }
    bool progress(uint64_t warp_instructions) override { return warp_instructions == 0; }
    BatchOutcome outcome;
  } observer;
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("baseline");
  const ReplayJob system{&testing::workload("kmeans"), &machine, &policy};
  CpuBatch(1).run({&system, 1}, observer);
  ASSERT_TRUE(observer.outcome.result.has_value());
  EXPECT_TRUE(observer.outcome.stopped);
  EXPECT_TRUE(observer.outcome.result->partial);
  EXPECT_LT(observer.outcome.result->warp_instructions, system.recording->warp_instructions);
}

}  // namespace
}  // namespace nearwarp::sim
