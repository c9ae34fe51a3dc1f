// The passes of the study of mappings on the CPU: by Thrust's host system where Thrust is
// installed, else by plain loops.
#pragma once

#include <memory>

#include "kernels/analytics/mapping_passes.h"

namespace nearwarp::analytics {

/// MappingPasses for one CPU thread; several may work at the same time, an object each.
class HostPasses {
 public:
  /// `tile`: instances that are evaluated at a time; results do not depend on it.
  explicit HostPasses(uint32_t tile);
  HostPasses() : HostPasses(uint32_t{1} << 13) {}
  ~HostPasses();
  HostPasses(HostPasses&&) noexcept;

  uint64_t count(const TraceSpan& traces);
  uint64_t study(const TraceSpan& traces, const MappingParams& params, const RangeTable& ranges,
                 uint64_t limit, MappingTotals& totals);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::analytics
