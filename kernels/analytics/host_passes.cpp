// The passes of the study of mappings on the CPU.
#include "kernels/analytics/host_passes.h"

#include "kernels/analytics/bulk.h"

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

}  // namespace

struct HostPasses::Impl {
  MappingPasses<HostBulk> passes;
};

HostPasses::HostPasses(uint32_t tile)
    : impl_(new Impl{MappingPasses<HostBulk>(host_bulk(), tile)}) {}
HostPasses::~HostPasses() = default;
HostPasses::HostPasses(HostPasses&&) noexcept = default;

uint64_t HostPasses::count(const TraceSpan& traces) { return impl_->passes.count(traces); }

uint64_t HostPasses::study(const TraceSpan& traces, const MappingParams& params,
                           const RangeTable& ranges, uint64_t limit, MappingTotals& totals) {
  return impl_->passes.study(traces, params, ranges, limit, totals);
}

}  // namespace nearwarp::analytics
