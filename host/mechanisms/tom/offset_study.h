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

/// The paper does not say how it measures offsets. Here an execution of a static memory instruction
/// j is compared with the most recent execution of a static memory instruction i (any, j itself as
/// well) in the same instance of the candidate: the offset is the difference of the addresses of
/// their first active lanes. The expected offset of (j, i) is the one that comes first in the order
/// of the traces. The predecessor of j is the i for which the greatest share of the executions
/// compared has the expected offset; of equals the one with the most executions compared, then the
/// first in the program (deviation 44 in tests/validation/DEVIATIONS.md).
struct InstructionOffsets {
  uint32_t pc = 0;              ///< index into ImageTables::instrs
  uint64_t executions = 0;      ///< with at least one lane, in instances that count
  uint64_t not_first = 0;       ///< of these, not the first access of their instance
  uint32_t predecessor_pc = 0;  ///< valid if compared != 0
  uint64_t compared = 0;        ///< executions that had this predecessor
  uint64_t fixed = 0;           ///< of these, with the expected offset
};

enum class OffsetCategory : uint8_t {
  kAll,          ///< every instruction at its expected offset, always
  kFrom75,       ///< share in [75, 100) %
  kFrom50,       ///< [50, 75) %
  kFrom25,       ///< [25, 50) %
  kBelow25,      ///< less, but not none
  kNone,         ///< no expected offset came a second time
  kSingleAccess  ///< no instance has a second access: nothing to compare
};
inline constexpr uint32_t kNumOffsetCategories = 7;
const char* category_text(OffsetCategory category);  ///< e.g. "75-100 %"

struct CandidateOffsets {
  uint64_t instances = 0;  ///< that count, see mapping_study.h
  std::vector<InstructionOffsets> instructions;

  /// Share of the executions with a predecessor that are at a fixed offset: each instruction's
  /// fixed / compared, weighted by not_first. 0 if there are none.
  double share() const;
  OffsetCategory category() const;
};

/// By candidate of the image. The order of the traces matters, so one thread reads them.
std::vector<CandidateOffsets> study_offsets(
    const runtime::Recording& recording, const ImageTables& image,
    const tom::OffloadTables& offload,
    const std::function<bool(uint64_t done, uint64_t total)>& progress = {});

}  // namespace nearwarp::sim
