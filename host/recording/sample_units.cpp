// Divides programs into the units of samples, and computes their features.
#include "host/recording/sample_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "host/recording/launch_features.h"

namespace nearwarp::runtime {
namespace {

/// The costs of features in warp-instructions, so that large ones divide strata first (estimated).
constexpr double kSms = 70, kLaunchCosts = 50'000, kTransactionCosts = 4, kSectorCosts = 4,
                 kLineCosts = 8, kFreshLineCosts = 64, kBlockCosts = 50, kChainCosts = 500,
                 kLineBeforeCosts = 4, kLanesCount = 0.5;
/// A line from the far end of a grid, ten bits away, costs as much as two that were not used of
/// late (estimated; links between stacks would say ten, and then hardly any program is worth a
/// sample).
constexpr double kApartCosts = 12;

/// Constants of a divided launch, in thread blocks that a machine has at a time: the lead-in of a
/// unit, the launch's beginning and its end, which stand for themselves, a unit, and the least size
/// of a launch that is divided (estimated; docs/launches-measured.md has measurements).
constexpr uint64_t kWavesBefore = 8, kWavesAtEnds = 4, kWavesOfUnit = 4, kLeastWaves = 32;
/// Launches with a thread block of so many times the mean instructions are not divided: there the
/// dispatch of the next blocks tells little of how far the machine has come.
constexpr double kUneven = 8;

/// The costs of a launch, or of some of its thread blocks, by feature; kBefore is left 0.
SampleCosts costs_of(const LaunchFeatures& f) {
  // Few thread blocks keep few SMs busy.
  const double idle =
      std::max(1.0, kSms / static_cast<double>(std::max<uint64_t>(1, f.thread_blocks)));
  const auto instructions = static_cast<double>(f.warp_instructions);
  SampleCosts costs{};
  costs[kInstructions] = idle * instructions;
  costs[kTransactions] = idle * kTransactionCosts * static_cast<double>(f.transactions);
  costs[kSectors] = idle * kSectorCosts * static_cast<double>(f.sectors);
  costs[kLines] = kLineCosts * static_cast<double>(f.lines);
  costs[kFreshLines] = kFreshLineCosts * static_cast<double>(f.fresh_lines);
  costs[kBlocks] = kBlockCosts * static_cast<double>(f.thread_blocks);
  costs[kChain] = kChainCosts * instructions / static_cast<double>(std::max<uint64_t>(1, f.warps));
  costs[kLanes] = kLanesCount * static_cast<double>(f.thread_instructions) / 32;
  return costs;
}

double size_of(const SampleCosts& features, double launches) {
  return std::accumulate(features.begin(), features.end(), kLaunchCosts * launches) -
         features[kLanes] - features[kApart];
}

/// Do thread blocks of the kernel hand results to each other while they run?
bool communicates(const compiler::Kernel& kernel) {
  return std::ranges::any_of(kernel.instructions, [](const compiler::Instruction& in) {
    const bool global = in.mod.space == ptx::Space::kGlobal || in.mod.space == ptx::Space::kGeneric;
    return in.op == ptx::Opcode::kMembar || (in.op == ptx::Opcode::kAtom && global);
  });
}

/// The first thread block of each unit but the first, in a launch of `blocks` thread blocks.
std::vector<uint32_t> boundaries(uint64_t blocks, uint64_t resident) {
  const uint64_t ends = kWavesAtEnds * resident;
  const uint64_t units = (blocks - 2 * ends) / (kWavesOfUnit * resident);
  std::vector<uint32_t> at;
  for (uint64_t i = 0; i <= units; ++i)
    at.push_back(static_cast<uint32_t>(ends + (blocks - 2 * ends) * i / units));
  return at;
}

class Finder {
 public:
  Finder(const Recording& recording, const std::vector<bool>& cuts, uint32_t before,
         uint32_t together, const std::vector<uint64_t>& resident,
         const std::vector<uint64_t>& distances)
      : recording_(recording),
        cuts_(cuts),
        before_(before),
        resident_(resident),
        distances_(distances) {
    divide(together);
    features_ = features_of_pieces(recording, bounds_);
    work_.push_back(0);
    for (const LaunchRecord& l : recording.launches)
      work_.push_back(work_.back() + static_cast<double>(l.warp_instructions));
    const std::vector<bool> apart = cuts_after(cuts_, together);
    for (uint32_t first = 0, end = 0; first < recording.launches.size(); first = end) {
      do ++end;
      while (!apart[end]);
      if (end - first == 1 && !bounds_[first].empty() && is_even(first))
        add_blocks(first);
      else
        add_launches(first, end);
    }
  }

  SampleUnits found() { return std::move(found_); }

 private:
  /// Chooses the launches that are long enough, and the thread blocks at which they are divided.
  void divide(uint32_t together) {
    bounds_.resize(recording_.launches.size());
    for (uint32_t i = together; i < resident_.size(); ++i) {
      const LaunchRecord& l = recording_.launches[i];
      if (resident_[i] == 0 || l.blocks_recorded < kLeastWaves * resident_[i]) {
        // Short launches beside long ones need no reason.
        if (l.warp_instructions * 10 > recording_.warp_instructions)
          refuse(i, fmt::format("has {} thread blocks, of which {} run at a time",
                                l.blocks_recorded, resident_[i]));
      } else if (!cuts_[i] || !cuts_[i + 1]) {
        refuse(i, "may run at the same time as others");
      } else if (communicates(*recording_.kernels[l.kernel])) {
        refuse(i, "has thread blocks that may wait for each other (atomics with results, fences)");
      } else {
        bounds_[i] = boundaries(l.blocks_recorded, resident_[i]);
      }
    }
  }

  void refuse(uint32_t launch, const std::string& why) {
    found_.undivided.push_back(
        fmt::format("launch {} ({}) {}", launch + 1,
                    recording_.kernels[recording_.launches[launch].kernel]->name, why));
  }

  bool is_even(uint32_t launch) {
    const LaunchRecord& l = recording_.launches[launch];
    const double mean =
        static_cast<double>(l.warp_instructions) / static_cast<double>(l.blocks_recorded);
    uint64_t most = 0;
    for (const LaunchFeatures& f : features_[launch]) most = std::max(most, f.longest_block);
    if (static_cast<double>(most) <= kUneven * mean) return true;
    refuse(launch, fmt::format("has a thread block with {:.0f} times the instructions of the mean",
                               static_cast<double>(most) / mean));
    return false;
  }

  uint32_t group(std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> kind) {
    return groups_.try_emplace(std::move(kind), static_cast<uint32_t>(groups_.size()))
        .first->second;
  }

  double lines_of(uint32_t launch) const {
    double sum = 0;
    for (const LaunchFeatures& f : features_[launch]) sum += static_cast<double>(f.lines);
    return sum;
  }

  void add_launches(uint32_t first, uint32_t end) {
    Unit unit;
    unit.first = first;
    unit.end = end;
    std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> kind;
    for (uint32_t i = first; i < end; ++i) {
      const LaunchRecord& l = recording_.launches[i];
      kind.emplace_back(l.kernel, l.block.x, l.block.y, l.block.z);
      for (const LaunchFeatures& piece : features_[i]) {
        const SampleCosts costs = costs_of(piece);
        for (size_t f = 0; f < kSampleFeatures; ++f) unit.features[f] += costs[f];
      }
      if (!distances_.empty())
        unit.features[kApart] += kApartCosts * static_cast<double>(distances_[i]);
    }
    unit.group = group(std::move(kind));
    unit.launches = end - first;
    unit.begin = part_of(cuts_, first, end, before_).begin;
    unit.work = work_[end] - work_[unit.begin];
    unit.instructions = work_[end] - work_[first];
    if (first != 0) unit.features[kBefore] = kLineBeforeCosts * lines_of(first - 1);
    unit.size = size_of(unit.features, unit.launches);
    found_.units.push_back(unit);
  }

  void add_blocks(uint32_t launch) {
    const LaunchRecord& l = recording_.launches[launch];
    const auto blocks = static_cast<uint32_t>(l.blocks_recorded);
    const auto warming = static_cast<uint32_t>(kWavesBefore * resident_[launch]);
    const std::vector<LaunchFeatures>& pieces = features_[launch];
    for (size_t i = 0; i < pieces.size(); ++i) {
      Unit unit;
      unit.first = launch;
      unit.end = launch + 1;
      const uint32_t first = i == 0 ? 0 : bounds_[launch][i - 1];
      const uint32_t end = i + 1 == pieces.size() ? blocks : bounds_[launch][i];
      unit.blocks = BlockRange{first - std::min(first, warming), first, end};
      const uint32_t where = i == 0 ? 1 : i + 1 == pieces.size() ? 2 : 3;
      unit.group = group({{l.kernel, l.block.x, l.block.y, l.block.z}, {where, ~0u, ~0u, ~0u}});
      unit.launches = i == 0 ? 1 : 0;
      unit.features = costs_of(pieces[i]);
      // Warps of the next thread blocks run beside these.
      if (i != 0) unit.features[kChain] = 0;
      if (i == 0 && launch != 0) unit.features[kBefore] = kLineBeforeCosts * lines_of(launch - 1);
      unit.instructions = static_cast<double>(pieces[i].warp_instructions);
      unit.share = unit.instructions / static_cast<double>(l.warp_instructions);
      unit.size = size_of(unit.features, unit.launches);
      unit.begin =
          unit.blocks->begin == 0 ? part_of(cuts_, launch, launch + 1, before_).begin : launch;
      unit.work = work_[launch] - work_[unit.begin] +
                  static_cast<double>(l.warp_instructions) / static_cast<double>(blocks) *
                      static_cast<double>(end - unit.blocks->begin);
      found_.units.push_back(unit);
    }
    found_.divided += 1;
  }

  const Recording& recording_;
  const std::vector<bool>& cuts_;
  uint32_t before_;
  const std::vector<uint64_t>& resident_;
  const std::vector<uint64_t>& distances_;
  std::vector<std::vector<uint32_t>> bounds_;          // by launch
  std::vector<std::vector<LaunchFeatures>> features_;  // by launch and piece of it
  std::vector<double> work_;                           // of launches before each
  std::map<std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>>, uint32_t> groups_;
  SampleUnits found_;
};

}  // namespace

SampleUnits sample_units(const Recording& recording, const std::vector<bool>& cuts, uint32_t before,
                         uint32_t together, const std::vector<uint64_t>& resident,
                         const std::vector<uint64_t>& distances) {
  return Finder(recording, cuts, before, together, resident, distances).found();
}

}  // namespace nearwarp::runtime
