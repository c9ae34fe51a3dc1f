// The passes of the study of mappings on a GPU: the functors of the CPU's passes, under Thrust's
// CUDA system.
#include <thrust/device_vector.h>

#include "kernels/analytics/bulk.h"
#include "kernels/analytics/device_passes.h"

namespace nearwarp::analytics {

namespace {

using DeviceBulk = ThrustBulk<thrust::cuda_cub::par_t, thrust::device_vector>;

/// Instances that are evaluated at a time: enough threads to fill a large GPU.
constexpr uint32_t kDeviceTile = uint32_t{1} << 20;

template <class T>
const T* pointer(const thrust::device_vector<T>& v) {
  return thrust::raw_pointer_cast(v.data());
}

template <class T>
thrust::device_vector<T> copy_of(const T* from, size_t n) {
  return thrust::device_vector<T>(from, from + n);
}

}  // namespace

struct DevicePasses::Impl {
  MappingPasses<DeviceBulk> passes{DeviceBulk{thrust::cuda_cub::par}, kDeviceTile};
  thrust::device_vector<sm::ImageInstr> instrs;
  thrust::device_vector<sm::ImageBlock> blocks;
  thrust::device_vector<sm::Candidate> candidates;
  thrust::device_vector<BlockFacts> facts;
  thrust::device_vector<MemoryInstr> memory;
  thrust::device_vector<LineRange> ranges;
  thrust::device_vector<uint8_t> touched;
  thrust::device_vector<uint64_t> words;
  thrust::device_vector<uint32_t> warp_offset;

  /// The span with everything it points to on the device.
  TraceSpan upload(const TraceSpan& host, size_t num_words) {
    words.assign(host.words, host.words + num_words);
    warp_offset.assign(host.warp_offset, host.warp_offset + host.num_warps);
    TraceSpan t = host;
    t.words = pointer(words);
    t.warp_offset = pointer(warp_offset);
    t.image = {};
    t.image.instrs = pointer(instrs);
    t.image.blocks = pointer(blocks);
    t.image.candidates = pointer(candidates);
    t.blocks = pointer(facts);
    t.memory = pointer(memory);
    return t;
  }
};

DevicePasses::DevicePasses(const DeviceTables& tables) : impl_(std::make_unique<Impl>()) {
  impl_->instrs = copy_of(tables.instrs, tables.num_instrs);
  impl_->blocks = copy_of(tables.blocks, tables.num_blocks);
  impl_->facts = copy_of(tables.facts, tables.num_blocks);
  impl_->memory = copy_of(tables.memory, tables.num_memory);
  impl_->candidates = copy_of(tables.candidates, tables.num_candidates);
  impl_->ranges = copy_of(tables.ranges, tables.num_ranges);
  impl_->touched.assign(tables.num_ranges, 0);
}
DevicePasses::~DevicePasses() = default;

uint64_t DevicePasses::count(const TraceSpan& traces, size_t num_words) {
  return impl_->passes.count(impl_->upload(traces, num_words));
}

uint64_t DevicePasses::study(const TraceSpan& traces, size_t num_words, const MappingParams& params,
                             uint64_t limit, MappingTotals& totals) {
  const RangeTable ranges{pointer(impl_->ranges), static_cast<uint32_t>(impl_->ranges.size()),
                          thrust::raw_pointer_cast(impl_->touched.data())};
  return impl_->passes.study(impl_->upload(traces, num_words), params, ranges, limit, totals);
}

void DevicePasses::touched(uint8_t* by_range) const {
  thrust::copy(impl_->touched.begin(), impl_->touched.end(), by_range);
}

}  // namespace nearwarp::analytics
