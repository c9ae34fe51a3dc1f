// Are programs' cycles, and speed-ups, where samples of their launches say that they are?
#include "host/recording/launch_sample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "host/timing/report/kernels.h"
#include "host/timing/run/divided_batch.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;

runtime::Division sample(const runtime::Recording& r, double error) {
  runtime::Division d = sample_launches(r, error, 2);
  for (runtime::LaunchPart& part : d.parts) part.warm = part.begin != 0;
  return d;
}

struct Runs {
  std::vector<report::RunResult> sampled, whole;  ///< by policy
};

Runs run(const runtime::Recording& r, const char* machine, const std::vector<std::string>& policies,
         double error, unsigned threads = 2) {
  const config::MachineConfig m = config::load_machine(machine);
  std::vector<config::PolicyConfig> p;
  for (const std::string& name : policies) p.push_back(config::load_policy(name));
  const runtime::Division d = sample(r, error);
  EXPECT_TRUE(d.sample.has_value());
  std::vector<DividedJob> jobs(2 * p.size());
  for (size_t i = 0; i < jobs.size(); ++i)
    jobs[i].whole = {.recording = &r, .machine = &m, .policy = &p[i / 2]};
  for (size_t i = 0; i < jobs.size(); i += 2) jobs[i].division = &d;
  testing::KeepingObserver observer(jobs.size());
  CpuBatch runner(threads);
  run_divided(runner, jobs, observer);
  Runs runs;
  for (size_t i = 0; i < jobs.size(); ++i)
    (i % 2 == 0 ? runs.sampled : runs.whole).push_back(observer.outcomes[i].result.value());
  return runs;
}

double off(double a, double b) { return std::abs(a / b - 1); }

/// Cycles of each policy, and the second one's speed-up, within what is said of them, and that is
/// no more than so much.
void expect_held(const Runs& r, double most, double most_of_speedup = 0) {
  for (size_t i = 0; i < r.whole.size(); ++i) {
    const report::SampleReport& s = *r.sampled[i].launches->sample;
    const auto cycles = static_cast<double>(r.sampled[i].cycles);
    EXPECT_LE(off(static_cast<double>(r.whole[i].cycles), cycles), cycles_error(s));
    EXPECT_LE(cycles_error(s), most);
    EXPECT_EQ(r.sampled[i].warp_instructions, r.whole[i].warp_instructions);
    EXPECT_EQ(r.sampled[i].thread_instructions, r.whole[i].thread_instructions);
  }
  if (r.whole.size() < 2) return;
  const auto speedup = [](const std::vector<report::RunResult>& of) {
    return static_cast<double>(of[0].cycles) / static_cast<double>(of[1].cycles);
  };
  const auto error = ratio_error(&*r.sampled[0].launches->sample, &*r.sampled[1].launches->sample);
  ASSERT_TRUE(error.has_value());
  EXPECT_LE(off(speedup(r.whole), speedup(r.sampled)), *error);
  EXPECT_LE(*error, most_of_speedup);
}

TEST(LaunchSample, CyclesAndSpeedupsAreWithinTheirIntervals) {
  const runtime::Recording& r = testing::workload("gaussian");
  expect_held(run(r, "tom", {"baseline", "ndp-controlled-bmap"}, 0.05), 0.06, 0.1);
  expect_held(run(r, "gtx480", {"baseline"}, 0.05), 0.06);
  expect_held(run(r, "gtx480", {"baseline"}, 0.1), 0.12);
  // Launches of this machine differ more than their traces say.
  expect_held(run(r, "coda", {"fgp-only", "coda"}, 0.1), 0.3, 0.1);
}

TEST(LaunchSample, CountersAndKernelsAreOfAllLaunches) {
  const runtime::Recording& r = testing::workload("gaussian");
  const Runs runs = run(r, "tom", {"baseline"}, 0.1);
  const report::RunResult &s = runs.sampled[0], &w = runs.whole[0];
  for (const char* name : {"sm.issued", "l2.reads", "dram.reads"}) {
    const auto sampled = static_cast<double>(testing::counter(s, name));
    EXPECT_LT(off(sampled, static_cast<double>(testing::counter(w, name))), 0.15) << name;
  }
  EXPECT_EQ(s.launches->first, 1u);
  EXPECT_EQ(s.launches->last, r.launches.size());
  EXPECT_FALSE(s.launches->exact);
  EXPECT_LT(s.kernels.size(), r.launches.size() / 4);
  auto kernels = summarize_kernels(s), all = summarize_kernels(w);
  ASSERT_EQ(kernels.size(), all.size());
  // They are in the order of their first launches.
  if (kernels[0].kernel != all[0].kernel) std::swap(kernels[0], kernels[1]);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(kernels[i].kernel, all[i].kernel);
    EXPECT_NEAR(static_cast<double>(kernels[i].launches), static_cast<double>(all[i].launches), 1);
    EXPECT_LT(off(static_cast<double>(kernels[i].cycles), static_cast<double>(all[i].cycles)),
              0.15);
  }
}

TEST(LaunchSample, DoesNotDependOnThreads) {
  const runtime::Recording& r = testing::workload("gaussian");
  const Runs one = run(r, "tom", {"ndp-controlled-bmap"}, 0.2, 1),
             five = run(r, "tom", {"ndp-controlled-bmap"}, 0.2, 5);
  EXPECT_EQ(numbers(one.sampled[0]), numbers(five.sampled[0]));
}

}  // namespace
}  // namespace nearwarp::sim
