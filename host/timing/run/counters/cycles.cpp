// Uses of the cycles of SMs, by class of SMs and by kernel.
#include <map>

#include "host/timing/run/counters/sm_cycles.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using report::kCycleUses;
using report::SmCycles;
static_assert(kCycleUses.size() == sm::kNumCycleUses);
static_assert(static_cast<size_t>(sm::CycleUse::kIssued) == report::kIssued);
static_assert(static_cast<size_t>(sm::CycleUse::kNoWarp) == report::kNoWarp);

void add(const CycleUses& from, SmCycles& to) {
  for (size_t i = 0; i < from.size(); ++i) to.uses[i] += from[i];
}

/// Cycles of a kernel's launches, on so many SMs: those that its thread blocks and guests did not
/// take are without a warp of it.
void add_empty(uint64_t available, SmCycles& cycles) {
  cycles.uses[report::kNoWarp] = 0;
  const uint64_t taken = cycles.total();
  cycles.uses[report::kNoWarp] = available > taken ? available - taken : 0;
}

void append_counters(const SmCycles& cycles, report::RunResult& result) {
  for (size_t i = 0; i < kCycleUses.size(); ++i)
    result.counters.push_back({cycles.sms + ".cycles." + kCycleUses[i].name, cycles.uses[i],
                               "SM cycles", kCycleUses[i].text});
  result.counters.push_back({cycles.sms + ".warp_cycles", cycles.warp_cycles, "warps x SM cycles",
                             "Warps that were there, summed over cycles"});
}

}  // namespace

void collect_cycles(const runtime::Recording& recording, System& system,
                    report::RunResult& result) {
  const Tick end = result.cycles * system.core_period;
  // Kernels of one name are one; in the order in which they were launched first.
  std::map<std::string, uint64_t> core_cycles;
  std::vector<std::string> names;
  for (const report::KernelRow& row : result.kernels) {
    const auto [it, is_new] = core_cycles.try_emplace(row.kernel, 0);
    if (is_new) names.push_back(row.kernel);
    it->second += row.cycles;
  }
  for (const ComponentClass& c : system.classes) {
    if (!is_sm_class(system, c)) continue;
    const auto& p = system.params<sm::SmParams>(c.members[0]);
    SmCycles all{c.name, "", c.members.size(), p.num_warps, 0, {}};
    std::map<std::string, SmCycles> by_kernel;
    for (const std::string& name : names)
      by_kernel[name] = {c.name, name, c.members.size(), p.num_warps, 0, {}};
    std::vector<SmCycles*> rows;  // by kernel of the recording; null: it was not launched
    for (const auto& kernel : recording.kernels) {
      const auto it = by_kernel.find(kernel->name);
      rows.push_back(it == by_kernel.end() ? nullptr : &it->second);
    }
    for (const uint16_t endpoint : c.members) {
      const CyclesSoFar so_far = cycles_so_far(system, endpoint, end);
      all.warp_cycles += so_far.warp_cycles;
      add(so_far.all(), all);
      for (size_t k = 0; k < so_far.by_kernel.size() && k < rows.size(); ++k)
        if (rows[k] != nullptr) add(so_far.by_kernel[k], *rows[k]);
    }
    append_counters(all, result);
    result.sm_cycles.push_back(all);
    for (const std::string& name : names) {
      SmCycles& kernel = by_kernel[name];
      add_empty(core_cycles[name] * system.core_period / p.period * kernel.count, kernel);
      result.kernel_cycles.push_back(kernel);
    }
  }
}

}  // namespace nearwarp::sim
