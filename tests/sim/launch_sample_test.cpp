// Are programs' cycles, and speed-ups, where samples of their launches say that they are?
#include "host/recording/launch_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/timing/report/kernels.h"
#include "host/timing/report/launches.h"
#include "host/timing/run/divided_batch.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;

runtime::Division sample(const runtime::Recording& r, double error, uint64_t seed = 0) {
  runtime::Division d = sample_launches(r, error, 2, 0, {}, seed);
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
  // On this machine launches mostly spread by more than their traces say.
  expect_held(run(r, "coda", {"fgp-only", "coda"}, 0.1), 0.3, 0.1);
  // The first half takes longer than the second, of which traces say nothing.
  const runtime::Recording& halves =
      testing::workload("needleman-wunsch", 0, workloads::Size::kMedium);
  expect_held(run(halves, "tom", {"baseline", "ndp-controlled-bmap"}, 0.05), 0.125, 0.05);
}

TEST(LaunchSample, IntervalsHoldWithNineteenOfTwentyChoices) {
  constexpr size_t kSeeds = 20;
  const runtime::Recording& r = testing::workload("gaussian");
  const config::MachineConfig m = config::load_machine("gtx480");
  const config::PolicyConfig p = config::load_policy("baseline");
  std::vector<runtime::Division> divisions;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) divisions.push_back(sample(r, 0.1, seed));
  const DividedJob whole = {.whole = {.recording = &r, .machine = &m, .policy = &p}};
  std::vector<DividedJob> jobs(kSeeds + 1, whole);
  for (size_t i = 0; i < kSeeds; ++i) jobs[i].division = &divisions[i];
  testing::KeepingObserver observer(jobs.size());
  CpuBatch runner(2);
  run_divided(runner, jobs, observer);
  const auto cycles = static_cast<double>(observer.outcomes[kSeeds].result.value().cycles);
  size_t held = 0;
  double errors = 0, offs = 0;
  for (size_t i = 0; i < kSeeds; ++i) {
    const report::RunResult& one = observer.outcomes[i].result.value();
    const double error = cycles_error(*one.launches->sample);
    held += off(cycles, static_cast<double>(one.cycles)) <= error ? 1 : 0;
    errors += error / kSeeds;
    offs += (static_cast<double>(one.cycles) / cycles - 1) / kSeeds;
  }
  EXPECT_GE(held, 19u);
  // Launches that are taken at random spread by more than was expected here.
  EXPECT_LE(errors, 0.12);
  EXPECT_LT(std::abs(offs), 0.015) << "in the mean";
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

/// A batch whose second halves of thread blocks inside launches take half as long as they do, as if
/// the machine had not been warm.
class GettingFaster final : public BatchRunner {
 public:
  void run(std::span<const ReplayJob> jobs, BatchObserver& observer) override {
    struct Change final : BatchObserver {
      explicit Change(BatchObserver& o) : observer(o) {}
      void finished(size_t job, BatchOutcome outcome) override {
        if (outcome.result.has_value() && outcome.result->pieces.size() == 2)
          outcome.result->pieces[1].cycles /= 2;
        observer.finished(job, std::move(outcome));
      }
      bool progress(uint64_t warp_instructions) override {
        return observer.progress(warp_instructions);
      }
      void progress_of_each(std::span<const uint64_t> warp_instructions) override {
        observer.progress_of_each(warp_instructions);
      }
      BatchObserver& observer;
    } change(observer);
    CpuBatch(2).run(jobs, change);
  }
};

/// Keeps what it was told last.
struct LastTold final : BatchObserver {
  explicit LastTold(size_t jobs) : outcomes(jobs) {}
  void finished(size_t job, BatchOutcome outcome) override { outcomes[job] = std::move(outcome); }
  bool progress(uint64_t warp_instructions) override {
    done = warp_instructions;
    return true;
  }
  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    each.assign(warp_instructions.begin(), warp_instructions.end());
  }
  void work_of_each(std::span<const uint64_t> warp_instructions) override {
    work.assign(warp_instructions.begin(), warp_instructions.end());
  }
  std::vector<BatchOutcome> outcomes;
  uint64_t done = 0;
  std::vector<uint64_t> each, work;
};

TEST(LaunchSample, OneThatIsGivenUpSaysWhatWasTriedAndWhy) {
  const runtime::Recording& r = testing::workload("vector-add");
  const config::MachineConfig m = config::load_machine("gtx480");
  const config::PolicyConfig p = config::load_policy("baseline");
  runtime::Division d = sample_launches(r, 0.1, 2, 0, {r.launches[0].blocks_recorded / 200});
  ASSERT_TRUE(d.sample.has_value());
  for (runtime::LaunchPart& part : d.parts) part.warm = part.blocks->begin != 0;
  const std::vector<DividedJob> jobs = {
      {{.recording = &r, .machine = &m, .policy = &p}, &d},
      {{.recording = &r, .machine = &m, .policy = &p}, nullptr},
  };
  LastTold observer(jobs.size());
  GettingFaster runner;
  run_divided(runner, jobs, observer);
  // A job that is simulated in one go counts what had been done in parts, too.
  EXPECT_EQ(observer.work,
            (std::vector<uint64_t>{work_of(jobs[0]) + work_of(jobs[0].whole), work_of(jobs[1])}));
  EXPECT_EQ(observer.each, observer.work);
  EXPECT_EQ(observer.done, observer.work[0] + observer.work[1]);
  const report::RunResult &given_up = observer.outcomes[0].result.value(),
                          &whole = observer.outcomes[1].result.value();
  EXPECT_EQ(numbers(given_up), numbers(whole));
  EXPECT_FALSE(whole.launches.has_value());
  ASSERT_TRUE(given_up.launches.has_value());
  EXPECT_TRUE(given_up.launches->exact);
  ASSERT_TRUE(given_up.launches->in_one_go.has_value());
  const auto json = report::launches_json(*given_up.launches)["in_one_go"];
  EXPECT_NE(json["tried"].get<std::string>().find("a sample within 10 %, of 0 launches and"),
            std::string::npos)
      << json;
  EXPECT_NE(json["why"].get<std::string>().find("% faster than the first"), std::string::npos)
      << json;
  const std::string text = report::format_launches(std::span(&given_up, 1), 80);
  EXPECT_NE(text.find("in one go, exactly (baseline)"), std::string::npos) << text;
}

}  // namespace
}  // namespace nearwarp::sim
