// The passes of the study of mappings as their user sees them, whatever they run on.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/analytics/mapping_passes.h"

namespace nearwarp::analytics {

/// The tables that all spans of a program's traces point to, in the host's memory.
struct StudyTables {
  const sm::ImageInstr* instrs = nullptr;
  size_t num_instrs = 0;
  const sm::ImageBlock* blocks = nullptr;
  const BlockFacts* facts = nullptr;
  size_t num_blocks = 0;  ///< of `blocks` and of `facts`
  const MemoryInstr* memory = nullptr;
  size_t num_memory = 0;
  const tom::Candidate* candidates = nullptr;
  size_t num_candidates = 0;
  const uint16_t* candidate_of = nullptr;  ///< by instruction
  const uint16_t* weight = nullptr;        ///< by block
  const uint8_t* begins_round = nullptr;   ///< by instruction; nullptr: no instance is a round
  const uint16_t* inner_of = nullptr;      ///< by instruction; nullptr: no candidate is in another
  const LineRange* ranges = nullptr;
  size_t num_ranges = 0;
};

/// For one thread of the host; several may work at the same time, an object each.
class StudyPasses {
 public:
  virtual ~StudyPasses() = default;
  /// Instances of the span that count. Spans have their words in the host's memory.
  virtual uint64_t count(const TraceSpan& traces, size_t num_words) = 0;
  /// Add the first `limit` instances of the span to `totals`; returns how many there were.
  virtual uint64_t study(const TraceSpan& traces, size_t num_words, const MappingParams& params,
                         uint64_t limit, MappingTotals& totals) = 0;
  /// Sets by_range[r] if some instance studied so far accessed range r.
  virtual void add_touched(uint8_t* by_range) const = 0;
};

/// On the CPU: by Thrust's host system where Thrust is installed, else by plain loops. `tile`:
/// instances that are evaluated at a time; results do not depend on it.
std::unique_ptr<StudyPasses> make_host_passes(const StudyTables& tables,
                                              uint32_t tile = uint32_t{1} << 13);

/// On CUDA device `device`, by Thrust. All of it throws kernels::DeviceError.
std::unique_ptr<StudyPasses> make_cuda_passes(int device, const StudyTables& tables);

}  // namespace nearwarp::analytics
