// Is what a progress bar says of the remaining time right? Of whole programs, on a clock that
// counts what is simulated: a machine that does something else meanwhile has no influence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/api/cost_scale.h"
#include "host/api/time_left.h"
#include "host/timing/run/cpu_run.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/counted_steps.h"
#include "tests/support/general_steps.h"

namespace nearwarp::cli {
namespace {

struct WatchedRun {
  std::string program, machine, policy;
  /// By what factor an estimate may be wrong from a tenth of the run on.
  double limit = 1.8;
  workloads::Size size = workloads::Size::kMedium;
  uint64_t look_cycles() const { return size == workloads::Size::kSmall ? 100 : 1000; }
};
/// A run at size small, which is as hard to estimate and takes a tenth of the time.
WatchedRun small(WatchedRun run) {
  run.size = workloads::Size::kSmall;
  return run;
}

/// The factors by which the worst estimates of the whole run's time were off.
struct Worst {
  double from_a_tenth = 1, from_three_tenths = 1;  ///< after a tenth, or three, of the run
  size_t looks = 0, without_estimate = 0;  ///< looks from a tenth on, and those without an estimate
  double first = 0;                        ///< the estimate at a tenth, as a share of the whole
};

Worst watch(const WatchedRun& watched) {
  const runtime::Recording& recording = testing::workload(watched.program, 0, watched.size);
  const config::MachineConfig machine = config::load_machine(watched.machine, {});
  const config::PolicyConfig policy = config::Loader().policy(watched.policy, {});
  sim::SimOptions options;
  options.family = testing::kGeneralSteps;
  sim::CpuRun run({.recording = &recording, .machine = &machine, .policy = &policy}, options);
  TimeLeft left(std::make_shared<const CostScale>(recording, machine));
  struct Look {
    double at;
    std::optional<double> left;
  };
  std::vector<Look> looks;
  testing::start_counting();
  left.update(0, 0, recording.warp_instructions);
  const uint64_t every = watched.look_cycles();
  for (uint64_t cycle = every; run.step({.tick = run.tick_of(cycle)}) != sim::Stepped::kEnded;
       cycle += every) {
    const double at = testing::counted_seconds();
    left.update(at, run.progress().warp_instructions_done, recording.warp_instructions);
    looks.push_back({at, left.seconds()});
  }
  run.end();
  const double end = testing::counted_seconds();
  Worst worst;
  for (const Look& look : looks) {
    if (look.at < end / 10) continue;
    worst.looks += 1;
    worst.without_estimate += look.left.has_value() ? 0 : 1;
    if (!look.left.has_value()) continue;
    const double all = look.at + *look.left, factor = std::max(all / end, end / all);
    if (worst.first == 0) worst.first = all / end;
    worst.from_a_tenth = std::max(worst.from_a_tenth, factor);
    if (look.at >= 0.3 * end) worst.from_three_tenths = std::max(worst.from_three_tenths, factor);
  }
  return worst;
}

/// Kernels of different cost one after the other, phases in which a mapping is learnt, tails with
/// few thread blocks, networks of routers: runs that the estimate was made with.
const std::vector<WatchedRun> kRuns = {
    {"vector-add", "bench80", "baseline"},
    small({"kmeans", "gtx480", "baseline"}),
    small({"kmeans", "tom", "baseline"}),
    {"kmeans", "tom", "tom"},
    small({"libor", "tom", "tom"}),
    {"bfs-rmat", "tom", "ndp-controlled-bmap"},
    small({"cfd", "tom", "tom"}),
    small({"reduction", "tom", "ndp-controlled-bmap"}),
    {"triad", "opportunistic", "llc-compute"},
    {"fdtd", "opportunistic", "omni-compute"},
    {"kmeans", "coda", "cgp-only"},
    {"kmeans", "coda", "coda-steal"},
    small({"kmeans", "pim-tuning", "tuned"}),
    {"hist", "pim-tuning", "tuned-shared"},
    {"kmeans", "discrete16", "baseline"},
    {"kmeans", "h100", "baseline"},
    {"scalarprod", "tom", "tom"},
    {"heartwall", "tom", "baseline"},
    small({"fwt", "tom", "tom"}),
    {"backprop", "tom", "tom"},
    // Its first kernels are a hundredth of the run and tell nothing of the others.
    {"hybridsort", "gtx480", "baseline", 2.4},
    // Warps of one launch have different lengths, of which the beginning says little.
    small({"mummer", "tom", "baseline", 3}),
    {"spmv", "v100", "baseline"},
};
/// Others, of other programs, which were run when it was done.
const std::vector<WatchedRun> kOthers = {
    small({"bfs-uniform", "tom", "tom"}),
    // The first launches meet cold caches that are large enough to keep the rest.
    {"bfs-uniform", "v100", "baseline", 2},
    {"row-sum", "gtx480", "baseline"},
    small({"row-sum", "pim-tuning", "tuned"}),
    // The first accesses miss in an L2 that then keeps what is gathered from.
    {"gather", "a100", "baseline", 2},
    {"transpose", "bench80", "baseline"},
    {"nearest-neighbour", "tom", "ndp-controlled-bmap"},
    {"compare", "opportunistic", "llc-compute"},
    {"density", "opportunistic", "omni-compute"},
    {"axpy", "coda-host", "baseline"},
    {"max-pool-mpu", "mpu", "mpu"},
    small({"hist-mpu", "mpu", "mpu"}),
    {"needleman-wunsch-mpu", "mpu-sim", "mpu"},
    {"streamcluster-global", "gtx480", "baseline"},
    {"decode-attention", "h100", "baseline"},
    small({"cfd-restructured", "pim-tuning", "tuned"}),
    {"copy-strided", "opportunistic", "omni-compute"},
    small({"libor-original", "qv100", "baseline"}),
};

/// Watches all of them; how many were within a factor of 1.5 from a tenth on.
size_t good_ones(const std::vector<WatchedRun>& runs) {
  size_t good = 0;
  for (const WatchedRun& run : runs) {
    const Worst worst = watch(run);
    const std::string name = run.program + " on " + run.machine + " under " + run.policy;
    std::printf(
        "%-50s %4zu looks, %zu without an estimate; off by at most %.2f, later %.2f; at first "
        "%.2f\n",
        name.c_str(), worst.looks, worst.without_estimate, worst.from_a_tenth,
        worst.from_three_tenths, worst.first);
    EXPECT_GE(worst.looks, 20u) << name;
    EXPECT_LE(10 * worst.without_estimate, worst.looks) << name;
    EXPECT_LE(worst.from_a_tenth, run.limit) << name;
    EXPECT_LE(worst.from_three_tenths, 1.75) << name;
    good += worst.from_a_tenth <= 1.5 ? 1 : 0;
  }
  return good;
}

TEST(Progress, EstimatesAreRightFromATenthOfTheRunOn) {
  EXPECT_GE(4 * good_ones(kRuns), 3 * kRuns.size()) << "three in four by a factor of 1.5 at most";
}

TEST(Progress, EstimatesOfOtherProgramsAreRightToo) {
  EXPECT_GE(5 * good_ones(kOthers), 4 * kOthers.size()) << "four in five";
}

}  // namespace
}  // namespace nearwarp::cli
