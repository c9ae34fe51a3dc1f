// What one simulation run found: the numbers that the table and the JSON file are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// One offloading candidate block of a kernel, summed over the kernel's launches.
struct CandidateRow {
  std::string kernel;
  uint32_t id = 0;           ///< position in the kernel's candidate list
  std::string source_lines;  ///< e.g. "libor.cu:41-57"; empty without line information
  uint64_t instances = 0;    ///< times that a warp reached the candidate on the main GPU
  uint64_t offloaded = 0;
  // Why the other instances stayed on the main GPU.
  uint64_t refused_condition = 0;  ///< the trip count was below the threshold
  uint64_t refused_busy = 0;       ///< the channel busy monitor reported the channel as busy
  uint64_t refused_pending = 0;    ///< the destination's warp slots were all spoken for
  uint64_t no_memory_access = 0;   ///< the warp left the block before its first memory access
  uint64_t learning = 0;  ///< begun while the mapping was being learnt; not among `instances`
  // Lines that stack SMs sent to memory for it, by where they lie.
  uint64_t local_lines = 0, remote_lines = 0;
  // Core cycles from the decision until the warp was beyond the block, summed over `kept` instances
  // that stayed at home though their condition held, and over `returned` ones that were offloaded.
  // In a partial run some are under way.
  uint64_t kept = 0, kept_cycles = 0;
  uint64_t returned = 0, offloaded_cycles = 0;
  // Tuned offloading, which offers loops round by round; 0 else.
  uint64_t entries = 0;      ///< times that a warp came to it
  uint64_t sent_back = 0;    ///< of `returned`: before the end, by the memory traffic monitor
  uint64_t home_rounds = 0;  ///< loop rounds executed on the main GPU
  uint64_t home_cycles = 0;  ///< core cycles that the block took there, summed over warps
  uint64_t near_rounds = 0;  ///< loop rounds executed on stack SMs
  // And whose warps take a shared array along.
  std::string shared = {};      ///< "accumulator", "table"; empty: they take none
  uint64_t shared_bytes = 0;    ///< of it, for each instance
  uint64_t refused_shared = 0;  ///< kept: the stack SM's shared memory was all spoken for
  uint64_t table_bytes = 0;     ///< sent along
  uint64_t merged_bytes = 0;    ///< come back
  uint64_t merge_cycles = 0;    ///< core cycles that acknowledged warps waited for that
  // Warps that can execute it at a time: of stack SMs, and of the kernel on main SMs.
  uint64_t stack_slots = 0, home_warps = 0;

  /// Time of an instance at home over that of one offloaded; 0: one of them is not known.
  double advantage() const;
  /// Share of the instances that a steady state would offload: while every warp at home asks again
  /// and again, and stack SMs take `advantage` times as many instances in a slot as a warp at home.
  double steady_share() const;
  /// Share of the instances that were offloaded, of those whose condition held.
  double offloaded_share() const;
};

/// What one candidate mapping would have done for the instances seen.
struct MappingScore {
  uint32_t first_bit = 0;       ///< of the address; the stack index begins there
  uint64_t at_destination = 0;  ///< accesses to the stack that their instance's first one goes to
  uint64_t one_stack = 0;       ///< instances all of whose accesses go to one stack
};

/// A range of the memory allocation table.
struct MappedRange {
  std::string name;  ///< the program's; may be empty
  uint64_t address = 0, bytes = 0;
  bool remapped = false;  ///< candidates accessed it: it has the chosen mapping
};

/// Fewer instances than this say little about those that follow (estimated).
inline constexpr uint64_t kFewInstances = 32;

/// How the data mapping came about (TOM, section 4.3).
struct MappingReport {
  bool learnt = false;   ///< from the first instances; else known beforehand from all
  bool applied = false;  ///< false: the program ended first, or has no candidate instance
  uint32_t first_bit = 0, last_bit = 0;  ///< the chosen address bits
  uint64_t total_instances = 0;          ///< candidate instances of the whole program
  uint64_t wanted_instances = 0;         ///< the learning phase ends with this one
  uint64_t seen_instances = 0, seen_accesses = 0;
  std::vector<MappingScore> scores;  ///< by first bit
  // Learnt mappings, in core cycles since the beginning: the last instance was seen, all SMs stood
  // still, they went on.
  uint64_t interrupt_cycle = 0, standstill_cycle = 0, resume_cycle = 0;
  std::vector<MappedRange> ranges;
  uint64_t ranges_left_out = 0;  ///< allocations beyond the table's entries

  /// The mapping was chosen after so few that the choice is luck.
  bool by_few() const { return learnt && applied && seen_instances < kFewInstances; }
  /// Of a run's core cycles, those that went by until SMs had the mapping and went on.
  uint64_t learning_cycles(uint64_t run_cycles) const {
    if (!learnt || wanted_instances == 0) return 0;
    return applied ? std::min(resume_cycle, run_cycles) : run_cycles;
  }
};

/// A memory object and how its pages were placed (CODA, section 4.3).
struct PlacedObject {
  std::string name;  ///< the program's; may be empty
  uint64_t address = 0, bytes = 0;
  bool localised = false;      ///< its pages stay in stacks each; else they are spread over all
  uint64_t block_bytes = 0;    ///< B: from one thread block's part to the next one's; 0: none
  bool from_code = false;      ///< B is of the kernel's code, not of traces
  bool constant = false;       ///< that distance is the same for nearly all blocks
  uint64_t chunk_bytes = 0;    ///< Eq. (2): consecutive bytes in a stack
  uint64_t accesses = 0;       ///< of lanes, of the first kernel that touches it
  uint64_t local = 0;          ///< of these, those that are local if it is localised
  uint64_t unit_bytes = 0;     ///< in a row behind one near-bank unit; 0: it was not chosen
  uint64_t warp_accesses = 0;  ///< of whole warps to bytes in a row, of that kernel
  uint64_t near_unit = 0;      ///< of these, those behind the unit of their warp
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
  /// Of the direction that is used more: a program is bound by the fuller one.
  double higher() const { return std::max(gpu_to_memory(), memory_to_gpu()); }

 private:
  double share(uint64_t busy) const {
    return available_ticks == 0 ? 0
                                : static_cast<double>(busy) / static_cast<double>(available_ticks);
  }
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
  /// Of one part: the SM at which the dispatcher began, number from 0 on.
  uint64_t next_sm = 0;
  std::optional<BlocksReport> blocks;  ///< only these of the launch are reported
  std::optional<SampleReport> sample;  ///< the parts stand for the whole program
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
  std::vector<RouterNetwork> networks;  ///< of routers; empty: the machine has none
  std::vector<KernelRow> kernels;
  std::vector<ApplicationRow> applications;  ///< of several programs at once; else empty
  std::vector<CandidateRow> candidates;
  std::optional<MappingReport> mapping;    ///< policies with a mapping of their own
  std::vector<PlacedObject> placed;        ///< policies that place objects; else empty
  std::optional<LaunchesReport> launches;  ///< of a part of a program, or one in parts; else empty
  EnergyReport energy;                     ///< an estimate; see docs/energy.md
  std::vector<RunResult> pieces;           ///< of a part of a program that is reported in several

  /// Thread-instructions per core cycle, the paper's IPC; 0 for an empty run.
  double ipc() const { return ratio(thread_instructions, cycles); }
  /// Share of thread-instructions that stack SMs executed, 0 to 1.
  double offloaded_fraction() const {
    return ratio(offloaded_thread_instructions, thread_instructions);
  }
  /// Share of the run in which the data mapping was being learnt, the standstill included, 0 to 1.
  double learning_share() const {
    return mapping.has_value() ? ratio(mapping->learning_cycles(cycles), cycles) : 0;
  }
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
/// Its value; 0 if the run does not have it.
inline uint64_t counter_value(const RunResult& run, std::string_view name) {
  const Counter* c = find_counter(run, name);
  return c == nullptr ? 0 : c->value;
}

}  // namespace nearwarp::report
