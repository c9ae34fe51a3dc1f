// The passes of the study of mappings on a GPU: the functors of the CPU's passes, under Thrust's
// CUDA system.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/system_error.h>

#include <new>

#include "kernels/analytics/bulk.h"
#include "kernels/analytics/study_passes.h"
#include "kernels/cuda_check.h"

namespace nearwarp::analytics {

namespace {

using DeviceBulk = ThrustBulk<thrust::cuda_cub::par_t, thrust::device_vector>;

/// The instances that are evaluated at a time are enough threads to fill a large GPU.
constexpr uint32_t kDeviceTile = uint32_t{1} << 20;

template <class T>
const T* pointer(const thrust::device_vector<T>& v) {
  return thrust::raw_pointer_cast(v.data());
}

template <class T>
thrust::device_vector<T> copy_of(const T* from, size_t n) {
  return thrust::device_vector<T>(from, from + n);
}

/// Call f(), and turn exceptions of Thrust into a DeviceError.
template <class F>
auto checked(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc& error) {
    throw kernels::OutOfDeviceMemory(error.what());
  } catch (const thrust::system_error& error) {
    throw kernels::DeviceError(error.what());
  }
}

class CudaPasses final : public StudyPasses {
 public:
  CudaPasses(int device, const StudyTables& tables) : device_(device) {
    NW_CUDA_CHECK(cudaSetDevice(device));
    instrs_ = copy_of(tables.instrs, tables.num_instrs);
    blocks_ = copy_of(tables.blocks, tables.num_blocks);
    facts_ = copy_of(tables.facts, tables.num_blocks);
    memory_ = copy_of(tables.memory, tables.num_memory);
    candidates_ = copy_of(tables.candidates, tables.num_candidates);
    candidate_of_ = copy_of(tables.candidate_of, tables.num_instrs);
    weight_ = copy_of(tables.weight, tables.num_blocks);
    begins_round_ =
        copy_of(tables.begins_round, tables.begins_round == nullptr ? 0 : tables.num_instrs);
    inner_of_ = copy_of(tables.inner_of, tables.inner_of == nullptr ? 0 : tables.num_instrs);
    ranges_ = copy_of(tables.ranges, tables.num_ranges);
    touched_.assign(tables.num_ranges, 0);
  }

  uint64_t count(const TraceSpan& traces, size_t num_words) override {
    return checked([&] { return passes_.count(upload(traces, num_words)); });
  }

  uint64_t study(const TraceSpan& traces, size_t num_words, const MappingParams& params,
                 uint64_t limit, MappingTotals& totals) override {
    return checked([&] {
      const RangeTable ranges{pointer(ranges_), static_cast<uint32_t>(ranges_.size()),
                              thrust::raw_pointer_cast(touched_.data())};
      return passes_.study(upload(traces, num_words), params, ranges, limit, totals);
    });
  }

  void add_touched(uint8_t* by_range) const override {
    checked([&] {
      const thrust::host_vector<uint8_t> touched = touched_;
      for (size_t i = 0; i < touched.size(); ++i) by_range[i] |= touched[i];
      return 0;
    });
  }

 private:
  /// Copy a span, with everything that it points to, to the device.
  TraceSpan upload(const TraceSpan& host, size_t num_words) {
    NW_CUDA_CHECK(cudaSetDevice(device_));  // each thread has a current device of its own
    words_.assign(host.words, host.words + num_words);
    warp_offset_.assign(host.warp_offset, host.warp_offset + host.num_warps);
    TraceSpan t = host;
    t.words = pointer(words_);
    t.warp_offset = pointer(warp_offset_);
    t.image = {};
    t.image.instrs = pointer(instrs_);
    t.image.blocks = pointer(blocks_);
    t.program = {pointer(candidates_), pointer(candidate_of_), pointer(weight_),
                 begins_round_.empty() ? nullptr : pointer(begins_round_),
                 inner_of_.empty() ? nullptr : pointer(inner_of_)};
    t.blocks = pointer(facts_);
    t.memory = pointer(memory_);
    return t;
  }

  int device_ = 0;
  MappingPasses<DeviceBulk> passes_{DeviceBulk{thrust::cuda_cub::par}, kDeviceTile};
  thrust::device_vector<sm::ImageInstr> instrs_;
  thrust::device_vector<sm::ImageBlock> blocks_;
  thrust::device_vector<tom::Candidate> candidates_;
  thrust::device_vector<uint16_t> candidate_of_, weight_, inner_of_;
  thrust::device_vector<uint8_t> begins_round_;
  thrust::device_vector<BlockFacts> facts_;
  thrust::device_vector<MemoryInstr> memory_;
  thrust::device_vector<LineRange> ranges_;
  thrust::device_vector<uint8_t> touched_;
  thrust::device_vector<uint64_t> words_;
  thrust::device_vector<uint32_t> warp_offset_;
};

}  // namespace

std::unique_ptr<StudyPasses> make_cuda_passes(int device, const StudyTables& tables) {
  return checked([&]() -> std::unique_ptr<StudyPasses> {
    return std::make_unique<CudaPasses>(device, tables);
  });
}

}  // namespace nearwarp::analytics
