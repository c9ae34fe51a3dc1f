#include <algorithm>
#include <utility>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kThreads = 256, kPerThread = 8;  // in hybridsort.cu
constexpr uint32_t kMergeThreads = 256;
constexpr int kMaxBuckets = 1024;  // Rodinia's

struct Shape {
  int keys, buckets;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1 << 14, 64};
    case Size::kMedium:
      return {1 << 17, kMaxBuckets};
    case Size::kLarge:
      return {1 << 20, kMaxBuckets};
    case Size::kPaper:
      return {1 << 22, kMaxBuckets};
  }
  return {};
}

/// The limits of buckets of about equal size, if the elements of each of the histogram's bins are
/// spread evenly.
std::vector<float> limits_of(const std::vector<uint32_t>& histogram, uint32_t count, float least,
                             float width) {
  const size_t buckets = histogram.size();
  std::vector<float> limits(buckets);
  size_t bin = 0;
  uint64_t before = 0;  // elements of the bins before `bin`
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const uint64_t wanted = uint64_t{count} * bucket / buckets;
    while (before + histogram[bin] < wanted) before += histogram[bin++];
    const float part = histogram[bin] == 0 ? 0.0f
                                           : static_cast<float>(wanted - before) /
                                                 static_cast<float>(histogram[bin]);
    limits[bucket] = least + width * (static_cast<float>(bin) + part);
  }
  return limits;
}

class HybridSort final : public Workload {
 public:
  std::string name() const override { return "hybridsort"; }
  std::string description() const override {
    return "sorting by buckets, then by merging in each bucket";
  }
  std::string source() const override { return "Rodinia, hybridsort"; }
  std::string ptx_name() const override { return "hybridsort.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [count, buckets] = shape_of(size);
    std::vector<float> keys(count);
    for (int i = 0; i < count; ++i) keys[i] = random_normal(127, i);
    const auto [least, greatest] = std::minmax_element(keys.begin(), keys.end());
    const float width = (*greatest - *least) / static_cast<float>(buckets);
    const uint32_t blocks = blocks_for(count, kThreads * kPerThread).x;

    const auto d_keys = device.upload(keys, "keys");
    const auto histogram = device.upload(std::vector<uint32_t>(buckets, 0), "histogram");
    device.launch(module, "sort_histogram", {blocks}, {kThreads}, 0,
                  runtime::KernelArgs(d_keys, histogram, count, buckets, *least, 1.0f / width));
    if (device.limit_reached()) return skipped_by_limit();
    const auto limits = device.upload(
        limits_of(device.download<uint32_t>(histogram, buckets), count, *least, width), "limits");

    const auto counts = device.allocate(uint64_t{blocks} * buckets * sizeof(uint32_t), "counts");
    const auto d_sizes = device.allocate(buckets * sizeof(uint32_t), "sizes");
    device.launch(module, "sort_count", {blocks}, {kThreads}, 0,
                  runtime::KernelArgs(d_keys, limits, counts, count, buckets));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "sort_places", blocks_for(buckets, kThreads), {kThreads}, 0,
                  runtime::KernelArgs(counts, d_sizes, buckets, static_cast<int>(blocks)));
    if (device.limit_reached()) return skipped_by_limit();

    std::vector<uint32_t> starts{0};
    uint32_t longest = 0;
    for (uint32_t bucket_size : device.download<uint32_t>(d_sizes, buckets)) {
      longest = std::max(longest, bucket_size);
      starts.push_back(starts.back() + bucket_size);
    }
    const auto d_starts = device.upload(starts, "starts");
    auto from = device.allocate(count * sizeof(float), "sorted");
    auto to = device.allocate(count * sizeof(float), "sorted 2");
    device.launch(module, "sort_scatter", {blocks}, {kThreads}, 0,
                  runtime::KernelArgs(d_keys, limits, counts, d_starts, from, count, buckets));
    if (device.limit_reached()) return skipped_by_limit();
    const auto grid = [&](uint32_t of_thread) {
      return runtime::Dim3{blocks_for((longest + of_thread - 1) / of_thread, kMergeThreads).x,
                           static_cast<uint32_t>(buckets)};
    };
    device.launch(module, "sort_fours", grid(4), {kMergeThreads}, 0,
                  runtime::KernelArgs(from, d_starts));
    for (uint32_t length = 4; length < longest; length *= 2) {
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "sort_merge", grid(2 * length), {kMergeThreads}, 0,
                    runtime::KernelArgs(from, to, d_starts, length));
      std::swap(from, to);
    }
    if (device.limit_reached()) return skipped_by_limit();
    std::sort(keys.begin(), keys.end());
    return check_bits("keys", device.download<float>(from, count), keys);
  }
};

}  // namespace

std::unique_ptr<Workload> make_hybridsort() { return std::make_unique<HybridSort>(); }

}  // namespace nearwarp::workloads
