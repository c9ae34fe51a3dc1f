// The passes of the study of mappings on the CPU.
#include <vector>

#include "kernels/analytics/bulk.h"
#include "kernels/analytics/study_passes.h"

#if NW_HAVE_THRUST
#include <thrust/host_vector.h>
#endif

namespace nearwarp::analytics {

namespace {

#if NW_HAVE_THRUST
using HostBulk = ThrustBulk<thrust::detail::host_t, thrust::host_vector>;
HostBulk host_bulk() { return {thrust::host}; }
#else
using HostBulk = SerialBulk;
HostBulk host_bulk() { return {}; }
#endif

class HostPasses final : public StudyPasses {
 public:
  HostPasses(const StudyTables& tables, uint32_t tile)
      : tables_(tables), passes_(host_bulk(), tile), touched_(tables.num_ranges, 0) {}

  uint64_t count(const TraceSpan& traces, size_t) override { return passes_.count(traces); }
  uint64_t study(const TraceSpan& traces, size_t, const MappingParams& params, uint64_t limit,
                 MappingTotals& totals) override {
    const RangeTable ranges{tables_.ranges, static_cast<uint32_t>(tables_.num_ranges),
                            touched_.data()};
    return passes_.study(traces, params, ranges, limit, totals);
  }
  void add_touched(uint8_t* by_range) const override {
    for (size_t i = 0; i < touched_.size(); ++i) by_range[i] |= touched_[i];
  }

 private:
  StudyTables tables_;
  MappingPasses<HostBulk> passes_;
  std::vector<uint8_t> touched_;
};

}  // namespace

std::unique_ptr<StudyPasses> make_host_passes(const StudyTables& tables, uint32_t tile) {
  return std::make_unique<HostPasses>(tables, tile);
}

}  // namespace nearwarp::analytics
