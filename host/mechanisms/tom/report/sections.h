// Sections of TOM and tuned offloading in a run's report: candidate blocks, and how a mapping
// of data came about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/timing/report/section.h"

namespace nearwarp::tom {

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
  // Members for candidates whose warps take a shared array along.
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

/// The effect that one candidate mapping would have had for the instances seen.
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
  bool by_few() const { return learnt && applied && seen_instances < report::kFewInstances; }
  /// RunResult::learning_cycles: those that went by until SMs had the mapping and went on.
  uint64_t learning_cycles() const {
    if (!learnt || wanted_instances == 0) return 0;
    return applied ? resume_cycle : report::RunResult::kToTheEnd;
  }
};

/// In RunResult::sections.
struct Sections {
  std::vector<CandidateRow> candidates;
  std::optional<MappingReport> mapping;  ///< policies with a mapping of their own
};
inline std::vector<CandidateRow>& candidates_of(report::RunResult& run) {
  return run.sections.of<Sections>().candidates;
}
inline const std::vector<CandidateRow>& candidates_of(const report::RunResult& run) {
  return run.sections.of<Sections>().candidates;
}
inline std::optional<MappingReport>& mapping_of(report::RunResult& run) {
  return run.sections.of<Sections>().mapping;
}
inline const std::optional<MappingReport>& mapping_of(const report::RunResult& run) {
  return run.sections.of<Sections>().mapping;
}

/// One run's candidate blocks side by side: instances, what became of them, where their accesses
/// went, how long they took at home and offloaded. Empty for a run without candidates.
std::string format_candidates(const report::RunResult& run, size_t width);
std::span<const report::Legend> candidate_legends();

/// The runs that have a mapping of their own, side by side: what each mapping would have done for
/// the instances seen, the one chosen, how long learning took, what was remapped. Empty if there is
/// no such run.
std::string format_mapping(std::span<const report::RunResult> runs, size_t width = 80);
/// "Only 1 of 1,024 instances decided: the choice is luck, not learning"; for mappings by few.
std::string few_instances_text(const MappingReport& mapping);

/// Members `candidates` and `mapping` of a run.
void add_members(const report::RunResult& run, report::Json& json);
report::NearLines near_lines(const report::Json& run, const std::string& kernel);
/// Its sections of an experiment's page.
void add_to_page(const report::Json& run, report::Json& sections);

}  // namespace nearwarp::tom
