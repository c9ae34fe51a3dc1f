// TOM's driver and runtime on the host (TOM, section 4.3): keep the memory allocation
// table, choose a mapping from what the memory map analyzer has seen, place the data with it.
//
// Copies to the device are delayed until the learning phase is over, so placing the data costs no
// copy that the baseline would not make before its first kernel; neither is part of the cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "device/mechanisms/tom/analyzer_state.h"
#include "host/mechanisms/tom/mapping_study.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/recording/archive.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

/// The memory allocation table of a program. Allocations that overlap (memory was freed and used
/// again) share a range.
struct AllocationTable {
  struct Range {
    uint64_t address = 0, bytes = 0;
    std::vector<uint32_t> allocations;  ///< indices into Recording::allocations
  };
  std::vector<Range> ranges;  ///< by address, disjoint
  uint32_t left_out = 0;      ///< allocations beyond the table's entries: never mapped anew

  AllocationTable() = default;
  AllocationTable(const std::vector<runtime::Allocation>& allocations, uint32_t entries);
};

/// The data to be placed, and the length of the learning phase.
struct DataPlan {
  std::vector<tom::LineRange> ranges;  ///< memory allocation table, by address, disjoint
  uint64_t memory_bytes = 0;           ///< up to the end of the last allocation
  uint64_t learning_instances = 0;     ///< the learning phase ends with this one; 0: none
};

/// Chooses and applies the mapping of one simulated system, on which TOM is mechanism `number`.
class DataPlacement {
 public:
  /// Counts the program's candidate instances (tmap), or studies them all (oracle).
  DataPlacement(const runtime::Recording& recording, const config::MachineConfig& machine,
                const config::PolicyConfig& policy, const ImageTables& image,
                const tom::OffloadTables& offload);

  const DataPlan& plan() const { return plan_; }
  /// Before the first window: place the data if the mapping is known beforehand.
  void begin(System& system, uint32_t number);
  /// When the learning phase has come to its standstill: choose a mapping and place the data.
  void watch(System& system, uint32_t number);
  /// Is the mapping found out in the run's beginning?
  bool learns() const { return plan_.learning_instances != 0; }
  /// The mapping learnt, where it is applied, and what was seen; empty before.
  std::string learnt(System& system, uint32_t number) const;
  /// In place of begin(): the learning phase is over, as learnt() of another run says.
  void begin_learnt(System& system, uint32_t number, std::string_view bytes);
  /// For the result; nothing under mappings that are neither learnt nor known beforehand.
  std::optional<tom::MappingReport> report(System& system, uint32_t number) const;
  /// Writes or reads the decisions, to and from a checkpoint.
  template <class A>
  void io(A& a) {
    runtime::io_all(a, placed_, mapping_, touched_);
  }

 private:
  void place(System& system, uint32_t mapping, const std::vector<uint8_t>& touched);
  void keep_in_host_memory(System& system) const;
  void copy_from_host(System& system) const;

  const runtime::Recording& recording_;
  AllocationTable table_;
  DataPlan plan_;
  uint64_t total_instances_ = 0;
  bool learns_ = false, knows_ = false, placed_ = false;
  uint32_t mapping_ = 0;          ///< the one placed
  std::vector<uint8_t> touched_;  ///< by range of the table
  uint32_t stack_bits_ = 0, line_shift_ = 0;
  MappingStudy study_;  ///< oracle: of all instances
};

}  // namespace nearwarp::sim
