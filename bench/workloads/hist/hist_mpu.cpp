#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBins = 256, kBlocks = 128;  // a block for each core

class HistMpu final : public Workload {
 public:
  std::string name() const override { return "hist-mpu"; }
  std::string variant_of() const override { return "hist"; }
  std::string description() const override {
    return "histogram of low bytes in strides of the grid, counters of each block in shared memory";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "hist_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = mpu_values(size);
    std::vector<uint32_t> words(n);
    std::vector<int32_t> expected(kBins, 0);
    for (int i = 0; i < n; ++i) {
      words[i] = static_cast<uint32_t>(random_bits(79, i) >> 32);
      ++expected[words[i] & 0xff];
    }
    const auto d_words = device.upload(words, "words");
    const auto d_partial = device.allocate(kBlocks * kBins * sizeof(uint32_t), "partial");
    const auto d_histogram = device.allocate(kBins * sizeof(uint32_t), "histogram");
    device.launch(module, "hist_mpu", {kBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_words, d_partial, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "hist_merge_mpu", {kBins / kMpuThreads}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_partial, d_histogram, static_cast<int>(kBlocks)));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("histogram", device.download<int32_t>(d_histogram, kBins), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_hist_mpu() { return std::make_unique<HistMpu>(); }

}  // namespace nearwarp::workloads
