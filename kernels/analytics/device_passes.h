// The passes of the study of mappings on a GPU.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/analytics/mapping_passes.h"

namespace nearwarp::analytics {

/// Tables in the host's memory, which are copied to the device once.
struct DeviceTables {
  const sm::ImageInstr* instrs = nullptr;
  size_t num_instrs = 0;
  const sm::ImageBlock* blocks = nullptr;
  const BlockFacts* facts = nullptr;
  size_t num_blocks = 0;  ///< of `blocks` and of `facts`
  const MemoryInstr* memory = nullptr;
  size_t num_memory = 0;
  const sm::Candidate* candidates = nullptr;
  size_t num_candidates = 0;
  const LineRange* ranges = nullptr;
  size_t num_ranges = 0;
};

/// MappingPasses on the current CUDA device. Spans have their words in the host's memory and are
/// copied; the tables that a span points to are those of the constructor.
class DevicePasses {
 public:
  explicit DevicePasses(const DeviceTables& tables);
  ~DevicePasses();

  uint64_t count(const TraceSpan& traces, size_t num_words);
  uint64_t study(const TraceSpan& traces, size_t num_words, const MappingParams& params,
                 uint64_t limit, MappingTotals& totals);
  /// By range: some instance studied so far accessed it.
  void touched(uint8_t* by_range) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::analytics
