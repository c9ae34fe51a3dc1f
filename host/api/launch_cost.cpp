// The cost of a launch for the host that simulates it, and its spread over the instructions.
#include "host/api/launch_cost.h"

#include <algorithm>

#include "host/timing/probe/bounds.h"

namespace nearwarp {
namespace {

// All estimated, fitted to runs at size medium on a clock of counted steps (docs/commands.md,
// "Watching a run", first row); twice or half of any changes the mean error of kernels' shares by
// a tenth.

/// Cycles of an SM for a warp-instruction, and more for each transaction.
constexpr double kIssueCycles = 2, kLineCycles = 4;
/// Shares of what wires and buses could carry that they do carry.
constexpr double kL2Used = 0.33, kMemoryUsed = 0.75;
/// Cycles that a warp by itself takes for an instruction, and for an access to memory.
constexpr double kInstructionCycles = 8, kAccessCycles = 60;
/// A cycle of a machine costs the host as much as this many SMs, beside those that are busy.
constexpr double kMachineAsSms = 16;
constexpr double kLineBytes = 1u << runtime::kFeatureLineShift;
/// How far warps keep step with each other: of a launch that is so spread, the rest evenly.
constexpr double kInStep = 0.4;
/// Turns of the warps that are executed together; any such number would do.
constexpr uint64_t kTurns = 64;

/// Bytes per core cycle; practically unlimited for a way of which nothing is known.
double bytes_per_cycle(const probe::Way& way, const config::MachineConfig& machine) {
  const double gigabytes = way.bound(probe::Flow::kRead).gigabytes_per_second;
  return gigabytes == 0 ? 1e9 : 1e3 * gigabytes / machine.clocks.core_mhz;
}

/// SMs that have thread blocks of the launch.
double busy_sms(const runtime::LaunchFeatures& launch, const config::MachineConfig& machine) {
  return std::min<double>(machine.gpu.sms,
                          static_cast<double>(std::max<uint64_t>(launch.thread_blocks, 1)));
}

/// The cost of a warp-instruction by its issue alone, on so many busy SMs.
double issue_cost(double sms) { return kIssueCycles * (sms + kMachineAsSms) / sms; }

/// All warps' progress together: those of the sample stand for all, and those under way are at the
/// same instruction, unless they began later.
class Turns {
 public:
  Turns(const LaunchWork& work, const config::MachineConfig& m) : work_(work) {
    const runtime::LaunchFeatures& f = work.features;
    const auto blocks = static_cast<double>(std::max<uint64_t>(f.thread_blocks, 1));
    const auto transactions = static_cast<double>(std::max<uint64_t>(f.transactions, 1));
    sms_ = busy_sms(f, m);
    const double machine = sms_ + kMachineAsSms;
    instruction_ = issue_cost(sms_);
    line_ = machine *
            (kLineCycles / sms_ +
             work.bytes_beyond_l1 / kL2Used / bytes_per_cycle(probe::way_to_l2(m, m.gpu.sms), m) +
             kLineBytes * static_cast<double>(f.fresh_lines) / transactions / kMemoryUsed /
                 bytes_per_cycle(probe::way_to_memory(m, m.gpu.sms), m));
    stands_for_ = static_cast<double>(f.warps) / static_cast<double>(work.warps.size());
    const double resident = std::min(1.0, static_cast<double>(work.resident_blocks) / blocks) *
                            static_cast<double>(work.warps.size());
    at_a_time_ = std::max<size_t>(static_cast<size_t>(resident), 1);
    // Less than one of the sample at a time is one, which is then executed so much faster.
    latency_ = static_cast<double>(at_a_time_) / std::max(resident, 1e-9);
    uint64_t all = 0;
    for (const WarpCurve& warp : work.warps) all += warp.instructions();
    step_ = std::max<uint64_t>(all / at_a_time_ / kTurns, 1);
  }

  LaunchCost run() {
    size_t next = 0;
    for (;;) {
      while (under_way_.size() < at_a_time_ && next < work_.warps.size())
        under_way_.push_back({&work_.warps[next++], 0});
      if (under_way_.empty()) break;
      turn();
    }
    return spread();
  }

 private:
  struct UnderWay {
    const WarpCurve* warp = nullptr;
    uint64_t at = 0;
  };
  struct Point {
    double instructions = 0, cost = 0;
  };

  void turn() {
    double lines = 0, accesses = 0;
    uint64_t instructions = 0, longest = 0;
    const auto warps = static_cast<double>(under_way_.size());
    for (UnderWay& u : under_way_) {
      const uint64_t n = std::min(step_, u.warp->instructions() - u.at);
      const WarpCurve::Asked asked = u.warp->between(u.at, u.at + n);
      lines += asked.lines;
      accesses += asked.accesses;
      instructions += n;
      longest = std::max(longest, n);
      u.at += n;
    }
    std::erase_if(under_way_, [](const UnderWay& u) { return u.at >= u.warp->instructions(); });
    const double busy = std::min(sms_, warps * stands_for_);
    now_.instructions += static_cast<double>(instructions);
    now_.cost +=
        stands_for_ * (instruction_ * static_cast<double>(instructions) + line_ * lines) +
        latency_ * (busy + kMachineAsSms) *
            (kInstructionCycles * static_cast<double>(longest) + kAccessCycles * accesses / warps);
    points_.push_back(now_);
  }

  LaunchCost spread() const {
    LaunchCost cost;
    if (now_.instructions == 0) return cost;
    cost.whole = now_.cost * static_cast<double>(work_.features.warp_instructions) /
                 (stands_for_ * now_.instructions);
    Point before;
    size_t at = 0;
    for (size_t part = 0; part < LaunchCost::kParts; ++part) {
      const double wanted = now_.instructions * static_cast<double>(part + 1) / LaunchCost::kParts;
      while (at + 1 < points_.size() && points_[at].instructions < wanted) before = points_[at++];
      const Point& after = points_[at];
      const double share =
          std::min(1.0, (wanted - before.instructions) /
                            std::max(after.instructions - before.instructions, 1.0));
      const double in_step = (before.cost + share * (after.cost - before.cost)) / now_.cost;
      const double evenly = static_cast<double>(part + 1) / LaunchCost::kParts;
      cost.spread[part] = static_cast<float>(kInStep * in_step + (1 - kInStep) * evenly);
    }
    cost.spread.back() = 1;
    return cost;
  }

  const LaunchWork& work_;
  double sms_ = 1;                     ///< SMs that have thread blocks
  double instruction_ = 0, line_ = 0;  ///< cost of one, of all warps together
  double stands_for_ = 1, latency_ = 1;
  size_t at_a_time_ = 1;
  uint64_t step_ = 1;  ///< instructions of a turn
  std::vector<UnderWay> under_way_;
  Point now_;
  std::vector<Point> points_;
};

}  // namespace

double LaunchCost::of_first(double share) const {
  const double at = std::clamp(share, 0.0, 1.0) * kParts;
  const auto part = std::min(static_cast<size_t>(at), kParts - 1);
  const double before = part == 0 ? 0 : spread[part - 1];
  return whole * (before + (at - static_cast<double>(part)) * (spread[part] - before));
}

LaunchCost cost_in_sm_cycles(const LaunchWork& work, const config::MachineConfig& machine) {
  if (work.warps.empty() || work.features.warps == 0) {
    LaunchCost cost{.whole = issue_cost(busy_sms(work.features, machine)) *
                             static_cast<double>(work.features.warp_instructions)};
    for (size_t part = 0; part < LaunchCost::kParts; ++part)
      cost.spread[part] = static_cast<float>(part + 1) / LaunchCost::kParts;
    return cost;
  }
  return Turns(work, machine).run();
}

}  // namespace nearwarp
