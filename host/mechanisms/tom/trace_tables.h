// Tables by which analyses walk a recording's traces, and the list of chunks to be walked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"
#include "kernels/analytics/study_passes.h"

namespace nearwarp::sim {

/// Facts about the basic blocks of an image that analyses of traces need.
class TraceTables {
 public:
  TraceTables(const ImageTables& image, const tom::OffloadTables& offload);

  /// A chunk of `launch` (an index into ImageTables::launches) for analyses. It points into the
  /// chunk and into these tables.
  analytics::TraceSpan span(const runtime::TraceChunk& chunk, uint32_t launch) const;
  /// The tables that all spans point to.
  analytics::StudyTables study_tables() const;
  /// A hash of everything that analyses read in the tables, as 32 hexadecimal digits.
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

/// The chunks of launches whose kernels have candidates, in the order of launches and thread
/// blocks.
std::vector<TracePart> parts_with_candidates(const runtime::Recording& recording,
                                             const ImageTables& image, const TraceTables& tables);

/// The warp-instructions of a part, estimated for progress as an equal share of its launch's.
uint64_t warp_instructions(const runtime::Recording& recording, const ImageTables& image,
                           const TracePart& part);

}  // namespace nearwarp::sim
