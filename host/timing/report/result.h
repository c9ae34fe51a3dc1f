// Results of one simulation run: the numbers that the table and the JSON file are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/tables.h"
#include "host/timing/report/energy.h"
#include "host/timing/report/sample.h"
#include "host/timing/report/use.h"

namespace nearwarp::report {

/// One counter of the machine, summed over the components of its kind.
struct Counter {
  std::string name;  ///< dotted path from the component's kind, e.g. "sm.l1.read_hits"
  uint64_t value = 0;
  std::string unit;         ///< e.g. "accesses", "bytes", "core cycles"
  std::string description;  ///< one sentence: what is counted
};

/// One kernel launch, in launch order.
struct KernelRow {
  std::string kernel;
  uint64_t launch = 0;      ///< index over all launches of the program, from 0
  uint64_t alike = 0;       ///< the first launch that is the same: itself, if it is new
  uint64_t stands_for = 1;  ///< launches: itself and repetitions that were left out
  uint64_t stream = 0;      ///< 0: the default stream
  double weight = 1;        ///< of a sample: launches that it stands for
  uint64_t begin = 0;   ///< core cycle at which the last launch that it waits for had ended, or 0
  uint64_t cycles = 0;  ///< from there to its end
  uint64_t warp_instructions = 0;  ///< committed
  uint64_t thread_instructions = 0;
  uint32_t registers = 0;        ///< per thread, as its occupancy counts them
  std::string registers_source;  ///< who counted them, e.g. "cubin sm_75"
  std::string code;              ///< what its PTX was made for, e.g. "sm_90a"; empty for traces
};

/// One of several programs that ran at the same time.
struct ApplicationRow {
  std::string name;
  uint64_t cycles = 0;             ///< core cycles to the end of its last launch, so far
  uint64_t warp_instructions = 0;  ///< of the launches that have ended
  uint64_t thread_instructions = 0;
};

/// Off-chip traffic in bytes (packet headers included), by class of channel.
struct Traffic {
  uint64_t gpu_to_memory_bytes = 0;     ///< TX links, all stacks
  uint64_t memory_to_gpu_bytes = 0;     ///< RX links, all stacks
  uint64_t memory_to_memory_bytes = 0;  ///< cross-stack links, all pairs and directions

  uint64_t total_bytes() const {
    return gpu_to_memory_bytes + memory_to_gpu_bytes + memory_to_memory_bytes;
  }
};

/// How long the links between the GPU and its memory carried packets.
struct LinkUse {
  uint64_t gpu_to_memory_busy_ticks = 0;  ///< TX links: time in transfers, summed over links
  uint64_t memory_to_gpu_busy_ticks = 0;  ///< RX links, likewise
  uint64_t available_ticks = 0;           ///< of one direction: run time, times its links

  /// Shares of the bandwidth that were used, 0 to 1; 0 for an empty run.
  double gpu_to_memory() const { return share(gpu_to_memory_busy_ticks); }
  double memory_to_gpu() const { return share(memory_to_gpu_busy_ticks); }
  /// The share of the direction that is used more: a program is bound by the fuller one.
  double higher() const { return std::max(gpu_to_memory(), memory_to_gpu()); }

 private:
  double share(uint64_t busy) const {
    return available_ticks == 0 ? 0
                                : static_cast<double>(busy) / static_cast<double>(available_ticks);
  }
};

/// A division of the program's launches that was asked for and given up: all of them were simulated
/// in one go, exactly.
struct InOneGo {
  std::string tried;  ///< e.g. "a sample within 2 %"
  std::string why;    ///< it was given up, a clause
};

/// Which launches of its program a run reports, where that is not the whole program in one go
/// (docs/launches.md). Launches are counted from 1 on.
struct LaunchesReport {
  uint64_t of = 0;                   ///< launches of the program
  uint64_t first = 1, last = 0;      ///< that are reported
  std::vector<uint64_t> parts = {};  ///< first launch of each part that was simulated by itself
  uint64_t before = 0;               ///< launches simulated before a part, where there are so many
  uint64_t simulated = 0;            ///< launches, all parts and what came before them together
  /// Launches whose traces filled caches before those; of several parts, of the one with most.
  uint64_t warmed_by = 0;
  /// Launches, from the program's first on, in which the mapping was learnt that parts began with;
  /// they were simulated in order beforehand. 0: no part began with a mapping learnt.
  uint64_t learnt_by = 0;
  bool exact = false;  ///< no part began on a cold machine but the program's first
  /// For one part: the SM at which the dispatcher began, number from 0 on.
  uint64_t next_sm = 0;
  std::optional<BlocksReport> blocks;  ///< only these of the launch are reported
  std::optional<SampleReport> sample;  ///< the parts stand for the whole program
  std::optional<InOneGo> in_one_go = {};
};

/// One workload on one machine under one policy.
struct RunResult {
  std::string workload;
  std::string size;
  std::string machine;
  std::string policy;
  std::vector<std::string> overrides;  ///< "key=value", as given

  bool partial = false;  ///< the run stopped before the program's end; all numbers are up to there
  std::string partial_reason;  ///< e.g. "interrupted", "max_cycles reached"

  uint64_t core_mhz = 0;                       ///< core clock, to turn cycles into time
  uint64_t cycles = 0;                         ///< core cycles
  uint64_t warp_instructions = 0;              ///< committed, main and stack SMs
  uint64_t thread_instructions = 0;            ///< committed, main and stack SMs
  uint64_t offloaded_thread_instructions = 0;  ///< the part committed by stack SMs
  Traffic traffic;
  LinkUse link_use;
  double wall_seconds = 0;  ///< time that the timing simulation took on the host

  MachineParts parts;
  std::vector<Counter> counters;
  std::vector<SmCycles> sm_cycles;      ///< by class of SMs
  std::vector<SmCycles> kernel_cycles;  ///< the same of each kernel
  std::vector<Utilisation> utilisation;
  std::vector<WayTime> way;             ///< that packets went, place by place
  std::vector<RouterNetwork> networks;  ///< of routers; empty: the machine has none
  std::vector<KernelRow> kernels;
  std::vector<ApplicationRow> applications;  ///< of several programs at once; else empty
  /// Sections of mechanisms beside counters, by types of their own folders.
  config::Tables sections;
  /// Core cycles, from the beginning on, until a mechanism had learnt what holds for the rest;
  /// kToTheEnd: it learnt all the time.
  uint64_t learning_cycles = 0;
  static constexpr uint64_t kToTheEnd = UINT64_MAX;
  std::optional<LaunchesReport> launches;  ///< of a part of a program, or one in parts; else empty
  EnergyReport energy;                     ///< an estimate; see docs/energy.md
  std::vector<RunResult> pieces;           ///< of a part of a program that is reported in several

  /// Thread-instructions per core cycle, the paper's IPC; 0 for an empty run.
  double ipc() const { return ratio(thread_instructions, cycles); }
  /// Share of thread-instructions that stack SMs executed, 0 to 1.
  double offloaded_fraction() const {
    return ratio(offloaded_thread_instructions, thread_instructions);
  }
  /// Share of the run in which a mechanism learnt, 0 to 1.
  double learning_share() const { return ratio(std::min(learning_cycles, cycles), cycles); }
  /// Simulated time in seconds.
  double seconds() const { return ratio(cycles, core_mhz) / 1e6; }
  /// Energy times simulated time.
  double energy_delay_joule_seconds() const { return joules(energy.total()) * seconds(); }
  /// Simulated warp-instructions per second of host time.
  double warp_instructions_per_second() const {
    return wall_seconds > 0 ? static_cast<double>(warp_instructions) / wall_seconds : 0;
  }
  /// Simulated core cycles per second of host time.
  double cycles_per_second() const {
    return wall_seconds > 0 ? static_cast<double>(cycles) / wall_seconds : 0;
  }

 private:
  static double ratio(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// A counter by its name; null if the run does not have it.
inline const Counter* find_counter(const RunResult& run, std::string_view name) {
  for (const Counter& c : run.counters)
    if (c.name == name) return &c;
  return nullptr;
}
/// The value of the counter with this name; 0 if the run does not have it.
inline uint64_t counter_value(const RunResult& run, std::string_view name) {
  const Counter* c = find_counter(run, name);
  return c == nullptr ? 0 : c->value;
}

}  // namespace nearwarp::report
