// How many of the accesses of offloading candidates lie at a fixed offset from an earlier one (TOM,
// section 3.2.1 and Figure 5).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/mechanisms/tom/mapping_study.h"
#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// Offsets of a static memory instruction from its predecessor.
///
/// The paper does not say how it measures offsets. Here an execution of a static memory instruction
/// j is compared with the most recent execution of a static memory instruction i (any, including j)
/// in the same instance of the candidate: the offset is the difference of the addresses of their
/// first active lanes. The expected offset of (j, i) is the one that comes first in the order of
/// the traces. The predecessor of j is the i for which the greatest share of compared executions
/// has the expected offset; of several, the one with the most compared executions, then the first
/// in the program (deviation 44 in tests/validation/DEVIATIONS.md).
struct InstructionOffsets {
  uint32_t pc = 0;              ///< index into ImageTables::instrs
  uint64_t executions = 0;      ///< with at least one lane, in instances that count
  uint64_t not_first = 0;       ///< executions that were not the first access of their instance
  uint32_t predecessor_pc = 0;  ///< valid if compared != 0
  uint64_t compared = 0;        ///< executions with an earlier execution of the predecessor
  uint64_t fixed = 0;           ///< compared executions that had the expected offset
};

enum class OffsetCategory : uint8_t {
  kAll,          ///< every execution had its expected offset
  kFrom75,       ///< CandidateOffsets::share() in [75, 100) %
  kFrom50,       ///< share in [50, 75) %
  kFrom25,       ///< share in [25, 50) %
  kBelow25,      ///< share below 25 %, but some offsets are fixed
  kNone,         ///< no expected offset came a second time
  kSingleAccess  ///< no instance has a second access to compare
};
inline constexpr uint32_t kNumOffsetCategories = 7;
const char* category_text(OffsetCategory category);  ///< e.g. "75-100 %"

struct CandidateOffsets {
  uint64_t instances = 0;  ///< instances that count (mapping_study.h)
  std::vector<InstructionOffsets> instructions;

  /// Share of the executions with a predecessor that are at a fixed offset: each instruction's
  /// fixed / compared, weighted by not_first. 0 if there are none.
  double share() const;
  OffsetCategory category() const;
};

/// Memory for pairs of memory instructions of the same candidate, 24 bytes each.
inline constexpr uint64_t kBytesOfPairs = 128 << 20;

/// Study the offsets of all candidates, in the order of the image's. The order of the traces
/// matters, so one thread reads them, and as often as it takes for pairs of `bytes_of_pairs`, which
/// makes no difference to the result. `progress` is told the warp-instructions that were read and
/// all that will be; if it returns false, Interrupted is thrown.
std::vector<CandidateOffsets> study_offsets(
    const runtime::Recording& recording, const ImageTables& image,
    const tom::OffloadTables& offload,
    const std::function<bool(uint64_t done, uint64_t total)>& progress = {},
    uint64_t bytes_of_pairs = kBytesOfPairs);

}  // namespace nearwarp::sim
