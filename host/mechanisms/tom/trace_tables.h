// Tables with which analyses walk a recording's traces, and the parts to walk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"
#include "kernels/analytics/study_passes.h"

namespace nearwarp::sim {

/// Facts of every basic block of an image that are known beforehand.
class TraceTables {
 public:
  TraceTables(const ImageTables& image, const tom::OffloadTables& offload);

  /// The warps of a chunk of `launch` (an index into ImageTables::launches).
  analytics::TraceSpan span(const runtime::TraceChunk& chunk, uint32_t launch) const;
  /// The tables that all spans point to.
  analytics::StudyTables study_tables() const;
  /// A name of all that analyses find in the tables, as 32 hexadecimal digits.
  std::string identity() const;
  /// Does any candidate begin in the kernel?
  bool has_candidates(uint32_t kernel) const { return has_candidates_[kernel]; }

 private:
  const ImageTables& image_;
  const tom::OffloadTables& offload_;
  std::vector<analytics::BlockFacts> blocks_;
  std::vector<analytics::MemoryInstr> memory_;
  std::vector<bool> has_candidates_;
};

/// A chunk of traces of a launch whose kernel has candidates.
struct TracePart {
  uint32_t chunk = 0;   ///< index into the trace store
  uint32_t launch = 0;  ///< index into ImageTables::launches
};

/// The parts in the order of launches and thread blocks.
std::vector<TracePart> parts_with_candidates(const runtime::Recording& recording,
                                             const ImageTables& image, const TraceTables& tables);

/// Warp-instructions of a part, for progress: its launch's in equal shares.
uint64_t warp_instructions(const runtime::Recording& recording, const ImageTables& image,
                           const TracePart& part);

}  // namespace nearwarp::sim
