// Many systems of a device that end at the same time: is every one of them told of, once, whatever
// fails?
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "host/core/error.h"
#include "kernels/deal.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sim {
namespace {

using kernels::EmulatedDevice;
using testing::Configs;
using testing::numbers;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFew = {"sm.warps=8"};

/// More than threads that work out their results.
size_t many() { return 3 * std::max(1u, std::thread::hardware_concurrency()) + 2; }

/// Counts what it is told; throws at the one that is the `throw_at`-th.
struct Counting final : BatchObserver {
  explicit Counting(size_t systems) : outcomes(systems), times(systems) {}
  void finished(size_t system, BatchOutcome outcome) override {
    times.at(system) += 1;
    if (++ends == throw_at) throw Error("the disk is full");
    outcomes.at(system) = std::move(outcome);
  }
  bool progress(uint64_t) override { return true; }

  std::vector<BatchOutcome> outcomes;
  std::vector<size_t> times;
  size_t ends = 0, throw_at = 0;
};

TEST(EndsOnADevice, ManyAtOnce) {
  const runtime::Recording& recording = workload("kmeans", 20'000);
  const Configs configs(std::vector<std::string>(many(), "baseline"), kFew);
  const auto expected = numbers(simulate(recording, "baseline", kFew));
  EmulatedDevice device({});
  Counting observer(many());
  AcceleratorBatch(device, {}).run(configs.systems(recording), observer);
  for (size_t i = 0; i < many(); ++i) {
    EXPECT_EQ(observer.times[i], 1u);
    ASSERT_TRUE(observer.outcomes[i].result.has_value());
    EXPECT_EQ(numbers(*observer.outcomes[i].result), expected);
  }
}

TEST(EndsOnADevice, AnObserverThatThrowsEndsTheBatch) {
  const runtime::Recording& recording = workload("kmeans", 20'000);
  const Configs configs(std::vector<std::string>(many(), "baseline"), kFew);
  EmulatedDevice device({});
  for (const size_t at : {size_t{1}, many() / 2, many()}) {
    Counting observer(many());
    observer.throw_at = at;
    try {
      AcceleratorBatch(device, {}).run(configs.systems(recording), observer);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "the disk is full");
    }
    EXPECT_EQ(observer.ends, at);
    for (const BatchOutcome& o : observer.outcomes) EXPECT_EQ(o.error, nullptr);
  }
}

TEST(EndsOnADevice, ADeviceThatBreaksTakesNoResultsWithIt) {
  const runtime::Recording& short_one = workload("kmeans", 5'000);
  const runtime::Recording& long_one = workload("kmeans", 50'000);
  const Configs configs({"baseline"}, kFew);
  // The long run goes on alone when the others have ended, until the device breaks.
  std::vector<ReplayJob> systems = {{&short_one, &configs.machine, &configs.policies[0]},
                                    {&long_one, &configs.machine, &configs.policies[0]}};
  const report::RunResult first = simulate(short_one, "baseline", kFew);
  Replay layout(systems[0], 0);
  kernels::EmulationOptions emulation;
  emulation.blocks_at_once = 1;
  emulation.fault_at = (first.cycles + 1000) * layout.system().core_period;
  emulation.fault_in = kernels::deal_components(layout.system().components(), 1).order.back();
  EmulatedDevice device(emulation);
  Counting observer(systems.size());
  // The component that breaks is one of a team's.
  AcceleratorBatchOptions teams;
  teams.way = DeviceWay::kTeams;
  EXPECT_THROW(AcceleratorBatch(device, teams).run(systems, observer), Error);
  EXPECT_EQ(observer.times, (std::vector<size_t>{1, 0}));
  ASSERT_TRUE(observer.outcomes[0].result.has_value());
  EXPECT_EQ(observer.outcomes[0].result->cycles, first.cycles);

  // A batch whose last launch breaks loses no results either.
  AcceleratorBatchOptions batch;
  batch.way = DeviceWay::kBatch;
  kernels::EmulationOptions short_launches;
  EmulatedDevice whole(short_launches);
  Counting all(systems.size());
  AcceleratorBatch(whole, batch).run(systems, all);
  ASSERT_GT(whole.launches_of_batches(), 2u);
  short_launches.fault_in_launch = whole.launches_of_batches();
  EmulatedDevice broken(short_launches);
  Counting until_then(systems.size());
  EXPECT_THROW(AcceleratorBatch(broken, batch).run(systems, until_then), Error);
  EXPECT_EQ(until_then.times, (std::vector<size_t>{1, 0}));
  ASSERT_TRUE(until_then.outcomes[0].result.has_value());
  EXPECT_EQ(until_then.outcomes[0].result->cycles, first.cycles);
}

}  // namespace
}  // namespace nearwarp::sim
