// Are parts of programs, simulated by themselves, right? Those that begin with the program are
// exact and add up to it, the others have all of their instructions; results do not depend on what
// steps them, and the dispatcher begins where it would.
#include "host/timing/run/launch_part.h"

#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/recording/divide.h"
#include "host/timing/report/parts.h"
#include "host/timing/run/divided_batch.h"
#include "host/timing/run/learning.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using runtime::LaunchPart;
using testing::counter;
using testing::numbers;

report::RunResult run(const runtime::Recording& r, const char* machine, const char* policy,
                      std::optional<LaunchPart> part, SimOptions options = {}) {
  options.part = part;
  return replay_on_cpu(r, config::load_machine(machine), config::load_policy(policy), options);
}

struct Case {
  const char *machine, *policy;
};
/// Among them a machine whose windows are lengthened, and one whose L2s are told of launches.
const Case kCases[] = {{"tom", "baseline"},
                       {"tom", "ndp-controlled-bmap"},
                       {"tom", "tom-oracle"},
                       {"gtx480", "baseline"},
                       {"coda", "coda"},
                       {"mpu", "mpu"},
                       {"opportunistic", "llc-compute"}};

TEST(LaunchPart, PartsAfterAllBeforeThemAddUpToTheRun) {
  for (const Case& c : kCases) {
    const bool offloads = std::string(c.machine) == "tom";
    const runtime::Recording& r = testing::workload(offloads ? "kmeans" : "fdtd");
    const auto n = static_cast<uint32_t>(r.launches.size());
    SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
    const report::RunResult whole = run(r, c.machine, c.policy, {});
    std::vector<report::RunResult> parts;
    for (const auto& [first, end] : {std::pair{0u, 3u}, {3u, 4u}, {4u, n - 1}, {n - 1, n}}) {
      parts.push_back(run(r, c.machine, c.policy, LaunchPart{0, first, end}));
      const report::RunResult& part = parts.back();
      ASSERT_EQ(part.kernels.size(), end - first);
      uint64_t cycles = 0;
      for (uint32_t i = first; i < end; ++i) {
        EXPECT_EQ(part.kernels[i - first].launch, i);
        EXPECT_EQ(part.kernels[i - first].begin, cycles);
        EXPECT_EQ(part.kernels[i - first].cycles, whole.kernels[i].cycles);
        cycles += whole.kernels[i].cycles;
      }
      EXPECT_EQ(part.cycles, cycles);
      ASSERT_TRUE(part.launches.has_value());
      EXPECT_EQ(part.launches->first, first + 1);
      EXPECT_EQ(part.launches->last, end);
      EXPECT_TRUE(part.launches->exact);
    }
    const report::RunResult sum = report::joined(config::load_machine(c.machine), parts);
    EXPECT_EQ(sum.cycles, whole.cycles);
    EXPECT_EQ(sum.warp_instructions, whole.warp_instructions);
    EXPECT_EQ(sum.thread_instructions, whole.thread_instructions);
    EXPECT_EQ(sum.offloaded_thread_instructions, whole.offloaded_thread_instructions);
    EXPECT_EQ(sum.traffic.total_bytes(), whole.traffic.total_bytes());
    for (const report::Counter& k : sum.counters)
      EXPECT_EQ(k.value, counter(whole, k.name)) << k.name;
    // Only what was the most of something is not known.
    for (const report::Counter& k : whole.counters) {
      const bool most = k.name.find("peak") != k.name.npos || k.name.find("busiest") != k.name.npos;
      EXPECT_EQ(report::find_counter(sum, k.name) == nullptr, most) << k.name;
    }
    EXPECT_EQ(sum.energy.total(), whole.energy.total());
    ASSERT_EQ(sum.utilisation.size(), whole.utilisation.size());
    for (size_t i = 0; i < sum.utilisation.size(); ++i) {
      EXPECT_EQ(sum.utilisation[i].available_ticks, whole.utilisation[i].available_ticks);
      EXPECT_EQ(sum.utilisation[i].busiest, whole.utilisation[i].busiest);
    }
    ASSERT_EQ(tom::candidates_of(sum).size(), tom::candidates_of(whole).size());
    for (size_t i = 0; i < tom::candidates_of(sum).size(); ++i)
      EXPECT_EQ(tom::candidates_of(sum)[i].offloaded, tom::candidates_of(whole)[i].offloaded);
    ASSERT_EQ(sum.sm_cycles.size(), whole.sm_cycles.size());
    for (size_t i = 0; i < sum.sm_cycles.size(); ++i)
      EXPECT_EQ(sum.sm_cycles[i].uses, whole.sm_cycles[i].uses);
  }
}

TEST(LaunchPart, PiecesAreThePartsThatTheyWouldBe) {
  const runtime::Recording& r = testing::workload("fdtd");
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
    LaunchPart together{1, 2, 6};
    together.pieces = {{2, 3}, {4, 5}, {5, 6}};
    const report::RunResult whole = run(r, c.machine, c.policy, together);
    EXPECT_EQ(numbers(whole), numbers(run(r, c.machine, c.policy, LaunchPart{1, 2, 6})));
    ASSERT_EQ(whole.pieces.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      const auto& [first, end] = together.pieces[i];
      const report::RunResult alone = run(r, c.machine, c.policy, LaunchPart{1, first, end});
      EXPECT_EQ(whole.pieces[i].cycles, alone.cycles);
      EXPECT_EQ(whole.pieces[i].warp_instructions, alone.warp_instructions);
      EXPECT_EQ(whole.pieces[i].launches->first, first + 1);
      EXPECT_EQ(whole.pieces[i].launches->last, end);
      EXPECT_EQ(whole.pieces[i].kernels.size(), end - first);
      for (const report::Counter& k : alone.counters)
        EXPECT_EQ(counter(whole.pieces[i], k.name), k.value) << k.name;
    }
  }
}

TEST(LaunchPart, AColdBeginningHasAllInstructionsAndOtherCycles) {
  const runtime::Recording& r = testing::workload("kmeans");
  uint64_t instructions = 0;
  for (const uint32_t i : {5u, 6u}) instructions += r.launches[i].warp_instructions;
  const report::RunResult whole = run(r, "tom", "baseline", {});
  const uint64_t exact = whole.kernels[5].cycles + whole.kernels[6].cycles;
  for (const uint32_t begin : {5u, 4u, 3u}) {
    const report::RunResult part = run(r, "tom", "baseline", LaunchPart{begin, 5, 7});
    EXPECT_EQ(part.warp_instructions, instructions);
    ASSERT_EQ(part.kernels.size(), 2u);
    EXPECT_EQ(part.kernels[0].begin, 0u);
    EXPECT_EQ(part.cycles, part.kernels[0].cycles + part.kernels[1].cycles);
    EXPECT_FALSE(part.launches->exact);
    EXPECT_EQ(part.launches->before, 5 - begin);
    if (begin == 5) {
      EXPECT_GT(part.cycles, exact) << "its data is not there yet";
    }
  }
}

TEST(LaunchPart, WhateverStepsItFindsTheSame) {
  const runtime::Recording& r = testing::workload("fdtd");
  for (const Case& c : kCases) {
    if (std::string(c.machine) == "mpu") continue;
    SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
    const LaunchPart part{1, 2, 4};
    const auto expected = numbers(run(r, c.machine, c.policy, part));
    for (const Tick window : {3, 101}) {
      SimOptions o;
      o.window_ticks = window;
      o.order_seed = 5;
      testing::use_general_steps(o);
      o.threads = window == 3 ? 1 : 2;
      EXPECT_EQ(numbers(run(r, c.machine, c.policy, part, o)), expected) << window;
    }
  }
}

TEST(LaunchPart, DoesNotDependOnHowManyRunAtATime) {
  const runtime::Recording& r = testing::workload("fdtd");
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("ndp-controlled-bmap");
  const runtime::Division division{runtime::divide(r, 3, 1)};
  ASSERT_EQ(division.parts.size(), 3u);
  // The second one is all of the program in one go.
  DividedJob jobs[2];
  for (DividedJob& job : jobs)
    job.whole = {.recording = &r, .machine = &machine, .policy = &policy};
  jobs[0].division = &division;
  EXPECT_GT(work_of(jobs[0]), work_of(jobs[1]));
  EXPECT_EQ(work_of(jobs[1]), r.warp_instructions);
  std::vector<std::pair<std::string, uint64_t>> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    testing::KeepingObserver observer(2);
    CpuBatch runner(threads);
    run_divided(runner, jobs, observer);
    for (const BatchOutcome& o : observer.outcomes) ASSERT_TRUE(o.result.has_value());
    EXPECT_FALSE(observer.outcomes[1].result->launches.has_value());
    const report::RunResult& all = *observer.outcomes[0].result;
    EXPECT_EQ(all.kernels.size(), r.launches.size());
    EXPECT_EQ(all.warp_instructions, r.warp_instructions);
    EXPECT_EQ(all.launches->parts.size(), 3u);
    EXPECT_EQ(all.launches->last, r.launches.size());
    uint64_t at = 0;
    for (const report::KernelRow& k : all.kernels) {
      EXPECT_EQ(k.begin, at);
      at += k.cycles;
    }
    EXPECT_EQ(all.cycles, at);
    if (first.empty()) first = numbers(all);
    EXPECT_EQ(numbers(all), first) << threads;
  }
}

TEST(LaunchPart, PartsOfAProgramAreAnalysedOnce) {
  const runtime::Recording& r = testing::workload("fwt");  // of no other test here
  const config::MachineConfig machine = config::load_machine("tom");
  const runtime::Division division{runtime::divide(r, 3, 1)};
  ASSERT_EQ(division.parts.size(), 3u);
  std::vector<config::PolicyConfig> policies;
  for (const char* name : {"tom-oracle", "tom"}) policies.push_back(config::load_policy(name));
  std::vector<DividedJob> jobs(2);
  for (size_t i = 0; i < 2; ++i)
    jobs[i].whole = {.recording = &r, .machine = &machine, .policy = &policies[i]};
  jobs[0].division = &division;
  testing::KeepingObserver observer(2);
  CpuBatch runner(2);
  run_divided(runner, jobs, observer);
  for (const BatchOutcome& o : observer.outcomes) ASSERT_TRUE(o.result.has_value());
  // The mappings, the number of instances, launches alike, and what launches cost.
  EXPECT_EQ(r.studies->made(), 4u);
  EXPECT_EQ(numbers(*observer.outcomes[1].result), numbers(run(r, "tom", "tom", {})));
  EXPECT_EQ(r.studies->made(), 4u);
  // A machine with another map asks something else.
  config::MachineConfig other = config::load_machine("tom");
  other.stack.count = 2;
  replay_on_cpu(r, other, policies[0], {});
  EXPECT_EQ(r.studies->made(), 5u);
}

TEST(LaunchPart, LaunchesBesideEachOtherAreOnePart) {
  runtime::Recording r = [] {
    runtime::VirtualDevice device{runtime::VirtualDevice::Options{}};
    workloads::find("fdtd")->run(device, workloads::Size::kSmall);
    return device.take_recording("fdtd");
  }();
  ASSERT_EQ(r.launches.size(), 6u);
  for (const uint32_t i : {3u, 4u}) {
    r.launches[i].after_all = false;
    r.launches[i].after = {1};  // beside 2
  }
  const std::vector<bool> cuts = runtime::launch_cuts(r);
  EXPECT_EQ(cuts, (std::vector<bool>{true, true, true, false, false, true, true}));
  const report::RunResult whole = run(r, "tom", "baseline", {});
  std::vector<report::RunResult> parts;
  for (const auto& [first, end] : {std::pair{0u, 2u}, {2u, 5u}, {5u, 6u}})
    parts.push_back(run(r, "tom", "baseline", LaunchPart{0, first, end}));
  const report::RunResult sum = report::joined(config::load_machine("tom"), parts);
  EXPECT_EQ(sum.cycles, whole.cycles);
  for (const report::Counter& k : sum.counters)
    EXPECT_EQ(k.value, counter(whole, k.name)) << k.name;
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(sum.kernels[i].begin, whole.kernels[i].begin);
}

TEST(LaunchPart, TheDispatcherGoesOnWithTheNextSm) {
  runtime::Recording r;
  for (const uint64_t blocks : {5, 7, 70}) r.launches.emplace_back().blocks_recorded = blocks;
  config::PolicyConfig policy = config::load_policy("baseline");
  EXPECT_EQ(next_sm_of(r, policy, {0, 0, 1}, 68), 0u);
  EXPECT_EQ(next_sm_of(r, policy, {1, 2, 3}, 68), 5u);
  EXPECT_EQ(next_sm_of(r, policy, {2, 2, 3}, 68), 12u);
  EXPECT_EQ(next_sm_of(r, policy, {3, 3, 3}, 68), 14u);
  LaunchPart inside{2, 2, 3};
  inside.blocks = runtime::BlockRange{60, 65, 70};
  EXPECT_EQ(next_sm_of(r, policy, inside, 68), 4u);
  policy.dispatch.first_sm = "first";
  EXPECT_EQ(next_sm_of(r, policy, {2, 2, 3}, 68), 0u);
  // And so it is in a run: an SM's only thread block is where it was.
  const runtime::Recording& real = testing::workload("fdtd");
  ReplayJob job;
  const config::MachineConfig machine = config::load_machine("tom");
  policy = config::load_policy("baseline");
  job.recording = &real;
  job.machine = &machine;
  job.policy = &policy;
  job.part = LaunchPart{2, 2, 3};
  Replay part(job, 0);
  part.begin();
  EXPECT_EQ(part.system().front_end().dispatch.next_sm, next_sm_of(real, policy, *job.part, 68));
}

/// The sum of an array's words goes to another one: launches that read the same and write the same.
runtime::Recording readers(uint32_t launches, uint32_t blocks) {
  testing::PtxDevice d(R"(
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<6>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r5;
  ret;
})");
  const uint64_t from = d.device.allocate(uint64_t{blocks} * 128 * 4);
  const uint64_t to = d.device.allocate(uint64_t{blocks} * 128 * 4);
  for (uint32_t i = 0; i < launches; ++i)
    d.device.launch(d.module, "copy", {blocks}, {128}, 0, runtime::KernelArgs(from, to));
  return d.record();
}

TEST(LaunchPart, FilledCachesHoldWhatTheLaunchBeforeHasRead) {
  const runtime::Recording r = readers(3, 64);  // 256 lines read, 256 written past the L2
  LaunchPart part{0, 2, 3};
  const report::RunResult exact = run(r, "tom", "baseline", part);
  part.begin = 2;
  const report::RunResult cold = run(r, "tom", "baseline", part);
  part.warm = true;
  const report::RunResult warm = run(r, "tom", "baseline", part);
  EXPECT_EQ(counter(exact, "l2.reads"), 256u);
  EXPECT_EQ(counter(exact, "l2.read_hits"), 256u);
  EXPECT_EQ(counter(exact, "sm.tlb.walks"), 0u);
  EXPECT_GT(counter(cold, "sm.tlb.walks"), 0u);
  EXPECT_GT(counter(cold, "dram.reads"), 256u) << "and lines of page tables";
  for (const char* name : {"l2.reads", "l2.read_hits", "l2.writes", "l2.write_hits", "dram.reads",
                           "dram.writes", "sm.tlb.walks", "sm.issued"})
    EXPECT_EQ(counter(warm, name), counter(exact, name)) << name;
  EXPECT_NEAR(static_cast<double>(warm.cycles), static_cast<double>(exact.cycles),
              0.03 * static_cast<double>(exact.cycles))
      << "stores of the launch before are still under way";
  EXPECT_GT(cold.cycles, exact.cycles * 5 / 4);
  EXPECT_GE(warm.launches->warmed_by, 1u);
  EXPECT_EQ(cold.launches->warmed_by, 0u);
}

TEST(LaunchPart, FilledTlbsHaveThePagesOfTheirOwnSms) {
  const runtime::Recording r = readers(2, 8);  // thread blocks go to eight other SMs each time
  const report::RunResult exact = run(r, "tom", "baseline", LaunchPart{0, 1, 2}),
                          warm = run(r, "tom", "baseline", LaunchPart{1, 1, 2, true});
  EXPECT_GT(counter(exact, "sm.tlb.walks"), 0u);
  EXPECT_EQ(counter(warm, "sm.tlb.walks"), counter(exact, "sm.tlb.walks"));
}

TEST(LaunchPart, FilledCachesKeepTheLinesUsedLast) {
  // Three times as many lines as the L2 has: those that a launch reads last stay.
  const runtime::Recording r = readers(2, 12288);
  const auto part = [&](LaunchPart p) { return run(r, "tom", "baseline", p); };
  const report::RunResult exact = part({0, 1, 2, false}), warm = part({1, 1, 2, true});
  const auto misses = static_cast<double>(counter(exact, "dram.reads"));
  EXPECT_GT(misses, 20000);
  EXPECT_NEAR(static_cast<double>(counter(warm, "dram.reads")) / misses, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(warm.cycles) / static_cast<double>(exact.cycles), 1, 0.02);
}

TEST(LaunchPart, WhatIsLearntIsWhatPartsBeginWith) {
  const runtime::Recording& r = testing::workload("kmeans");
  const config::MachineConfig machine = config::load_machine("tom");
  const auto n = static_cast<uint32_t>(r.launches.size());
  for (const char* name : {"tom", "ndp-uncontrolled-tmap", "tuned-tmap"}) {
    SCOPED_TRACE(name);
    const config::PolicyConfig policy = config::load_policy(name);
    const report::RunResult whole = run(r, "tom", name, {});
    DividedJob job;
    job.whole = {.recording = &r, .machine = &machine, .policy = &policy};
    const auto learnt = learnt_by(job.whole, [] { return true; });
    ASSERT_GE(learnt->launches, 1u);
    ASSERT_LT(learnt->launches, n - 2);
    EXPECT_EQ(learnt_by(job.whole, [] { return false; }), learnt) << "learns once";
    // For the launches in which it learns, the whole run's results are those of a part.
    const report::RunResult first = run(r, "tom", name, LaunchPart{0, 0, learnt->launches});
    EXPECT_TRUE(tom::mapping_of(first)->applied);
    EXPECT_EQ(tom::mapping_of(first)->resume_cycle, tom::mapping_of(whole)->resume_cycle);
    runtime::Division division{runtime::divide(r, 3, 1, learnt->launches)};
    ASSERT_GE(division.parts.size(), 2u);
    EXPECT_GE(division.parts[0].end, learnt->launches);
    for (LaunchPart& part : division.parts) part.warm = part.begin != 0;
    job.division = &division;
    std::vector<std::pair<std::string, uint64_t>> same;
    for (const unsigned threads : {1u, 3u}) {
      testing::KeepingObserver observer(1);
      CpuBatch runner(threads);
      run_divided(runner, std::span(&job, 1), observer);
      ASSERT_TRUE(observer.outcomes[0].result.has_value()) << observer.error(0);
      const report::RunResult& all = *observer.outcomes[0].result;
      EXPECT_EQ(all.warp_instructions, whole.warp_instructions);
      EXPECT_EQ(all.launches->learnt_by, learnt->launches);
      EXPECT_EQ(tom::mapping_of(all)->first_bit, tom::mapping_of(whole)->first_bit);
      EXPECT_EQ(tom::mapping_of(all)->seen_instances, tom::mapping_of(whole)->seen_instances);
      EXPECT_EQ(tom::mapping_of(all)->resume_cycle, tom::mapping_of(whole)->resume_cycle);
      for (size_t i = 0; i < tom::mapping_of(all)->ranges.size(); ++i)
        EXPECT_EQ(tom::mapping_of(all)->ranges[i].remapped,
                  tom::mapping_of(whole)->ranges[i].remapped);
      EXPECT_NEAR(static_cast<double>(all.cycles) / static_cast<double>(whole.cycles), 1, 0.05);
      if (same.empty()) same = numbers(all);
      EXPECT_EQ(numbers(all), same) << threads;
    }
  }
}

TEST(LaunchPart, PartsThatBeginWhereSomethingIsLearntBeginWithTheProgram) {
  const runtime::Recording& r = testing::workload("kmeans");
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  const runtime::Division inside{{LaunchPart{0, 0, 1}, LaunchPart{1, 1, 4}}};
  const runtime::Division later{{LaunchPart{4, 5, 7, true}}};
  std::vector<DividedJob> jobs(2);
  for (DividedJob& job : jobs)
    job.whole = {.recording = &r, .machine = &machine, .policy = &policy};
  jobs[0].division = &inside;
  jobs[1].division = &later;
  const uint32_t launches = learnt_by(jobs[0].whole, [] { return true; })->launches;
  ASSERT_LE(launches, 4u);
  testing::KeepingObserver observer(2);
  CpuBatch runner(2);
  run_divided(runner, jobs, observer);
  for (size_t i = 0; i < 2; ++i)
    ASSERT_TRUE(observer.outcomes[i].result.has_value()) << observer.error(i);
  const report::RunResult& part = *observer.outcomes[1].result;
  EXPECT_EQ(part.launches->learnt_by, launches);
  EXPECT_TRUE(tom::mapping_of(part)->applied);
  EXPECT_EQ(tom::mapping_of(part)->resume_cycle, 0u);
  const report::RunResult exact = run(r, "tom", "tom", LaunchPart{0, 5, 7});
  EXPECT_EQ(part.warp_instructions, exact.warp_instructions);
  EXPECT_NEAR(static_cast<double>(part.cycles) / static_cast<double>(exact.cycles), 1, 0.05);
  EXPECT_NEAR(static_cast<double>(part.offloaded_thread_instructions),
              static_cast<double>(exact.offloaded_thread_instructions),
              0.1 * static_cast<double>(exact.offloaded_thread_instructions));
}

TEST(LaunchPart, AStopWhileSomethingIsLearntLeavesNothing) {
  const runtime::Recording& r = testing::workload("hybridsort");  // of no other test here
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  const ReplayJob job{.recording = &r, .machine = &machine, .policy = &policy};
  EXPECT_THROW(learnt_by(job, [] { return false; }), Interrupted);
  EXPECT_GT(learnt_by(job, [] { return true; })->launches, 0u);
}

TEST(LaunchPart, WithoutAnythingToLearnPoliciesAreDividedAsOthers) {
  const runtime::Recording& r = testing::workload("needleman-wunsch");
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  const ReplayJob job{.recording = &r, .machine = &machine, .policy = &policy};
  EXPECT_EQ(learnt_by(job, [] { return true; })->launches, 0u);
  EXPECT_EQ(learning_launches(std::span(&job, 1), [] { return true; }), 0u);
}

TEST(LaunchPart, PoliciesWhoseStateIsMadeByAllLaunchesAreRefused) {
  for (const std::string& name : config::policy_names()) {
    const config::PolicyConfig policy = config::load_policy(name);
    EXPECT_EQ(why_no_parts(policy).empty(), policy.mapping != "fta") << name;
    EXPECT_EQ(learns(policy), policy.mapping == "tmap") << name;
  }
}

TEST(LaunchPart, WhereTheSmDecidesWhatIsFarAwayItHasToBeKnown) {
  const runtime::Recording& r = testing::workload("kmeans");
  const config::MachineConfig machine = config::load_machine("coda");
  const auto all = static_cast<uint32_t>(r.launches.size());
  const config::PolicyConfig cgp = config::load_policy("cgp-only");
  for (const char* other : {"fgp-only", "coda"})
    EXPECT_FALSE(first_unknown_sm(r, machine, config::load_policy(other), all).has_value());
  config::MachineConfig small = machine, large = machine;
  small.gpu.sms = 1;
  large.gpu.sms = 1 << 16;
  EXPECT_FALSE(first_unknown_sm(r, small, cgp, 0).has_value()) << "the first launch's is known";
  EXPECT_EQ(first_unknown_sm(r, small, cgp, all), 0u);
  EXPECT_FALSE(first_unknown_sm(r, large, cgp, all).has_value()) << "all thread blocks fit";
  config::MachineConfig tight = machine;
  tight.sm.registers = 1024;
  EXPECT_EQ(first_unknown_sm(r, tight, cgp, all), 0u) << "no SM has room for a thread block";
}

TEST(LaunchPart, WhereTheSmIsNotKnownAllIsSimulatedInOneGo) {
  const runtime::Recording& r = testing::workload("dwt2d");
  const config::MachineConfig machine = config::load_machine("coda");
  const config::PolicyConfig policy = config::load_policy("cgp-only");
  const runtime::Division whole{runtime::divide(r, 2, 1)};
  const runtime::Division asked_for{{LaunchPart{1, 2, 3}}};
  ASSERT_TRUE(first_unknown_sm(r, machine, policy, whole.parts.back().begin).has_value());
  std::vector<DividedJob> jobs(2);
  for (DividedJob& job : jobs)
    job.whole = {.recording = &r, .machine = &machine, .policy = &policy};
  jobs[0].division = &whole;
  jobs[1].division = &asked_for;
  testing::KeepingObserver observer(2);
  CpuBatch runner(2);
  run_divided(runner, jobs, observer);
  for (size_t i = 0; i < 2; ++i)
    ASSERT_TRUE(observer.outcomes[i].result.has_value()) << observer.error(i);
  const report::LaunchesReport& all = *observer.outcomes[0].result->launches;
  EXPECT_TRUE(all.exact);
  ASSERT_TRUE(all.in_one_go.has_value());
  EXPECT_NE(all.in_one_go->why.find("depends on time"), std::string::npos) << all.in_one_go->why;
  const report::LaunchesReport& part = *observer.outcomes[1].result->launches;
  EXPECT_FALSE(part.in_one_go.has_value());
  EXPECT_EQ(part.last, 3u);
}

TEST(LaunchPart, AcceleratorsRefuseParts) {
  const runtime::Recording& r = testing::workload("fdtd");
  const testing::Configs configs({"baseline"}, {});
  std::vector<ReplayJob> jobs = configs.systems(r);
  jobs[0].part = LaunchPart{0, 1, 2};
  kernels::EmulatedDevice device({});
  testing::KeepingObserver observer(1);
  EXPECT_THROW(AcceleratorBatch(device, {}).run(jobs, observer), Error);
}

TEST(LaunchPart, BeginsAnywhereInTheIntervalsOfMonitors) {
  const runtime::Recording& r = testing::workload("kmeans");
  const config::MachineConfig machine =
      config::load_machine("tom", std::vector<std::string>{"dram.tREFI=0"});
  const auto after = [&](const char* policy, uint32_t begin, uint32_t spread) {
    SimOptions options;
    options.part = LaunchPart{begin, 3, 5};
    options.part->refresh = spread;
    return numbers(replay_on_cpu(r, machine, config::load_policy(policy), options));
  };
  // Nothing but what monitors have measured is left that depends on it.
  EXPECT_EQ(after("baseline", 1, 0), after("baseline", 1, 1u << 31));
  EXPECT_NE(after("ndp-controlled-bmap", 1, 0), after("ndp-controlled-bmap", 1, 1u << 31));
  EXPECT_EQ(after("ndp-controlled-bmap", 0, 0), after("ndp-controlled-bmap", 0, 1u << 31))
      << "a program's beginning is as it is";
}

TEST(LaunchPart, OneLaunchBeforeIsEnoughWhereNothingButQueuesAndRowsIsLeftOut) {
  const auto before = [](const char* machine, const char* policy) {
    return launches_before(config::load_machine(machine), config::load_policy(policy));
  };
  EXPECT_EQ(before("tom", "baseline"), 1u);
  EXPECT_EQ(before("v100", "baseline"), 1u);
  EXPECT_EQ(before("tom", "ndp-controlled-bmap"), 4u) << "monitors of channels";
  EXPECT_EQ(before("gtx480", "baseline"), 2u) << "instruction caches";
  EXPECT_EQ(before("coda", "fgp-only"), 2u) << "SMs with L2s of their own";
}

}  // namespace
}  // namespace nearwarp::sim
