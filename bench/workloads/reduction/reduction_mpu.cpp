#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

/// Sums that a launch of so many blocks leaves: of each thread in order, then of halves of blocks.
std::vector<float> block_sums(const std::vector<float>& in, uint32_t blocks) {
  const uint32_t threads = blocks * kMpuThreads;
  std::vector<float> sums(threads, 0.0f), result;
  for (size_t i = 0; i < in.size(); ++i) sums[i % threads] += in[i];
  for (uint32_t b = 0; b < blocks; ++b) {
    float* of = &sums[size_t(b) * kMpuThreads];
    for (uint32_t half = kMpuThreads / 2; half > 0; half /= 2) {
      for (uint32_t t = 0; t < half; ++t) of[t] += of[t + half];
    }
    result.push_back(of[0]);
  }
  return result;
}

class ReductionMpu final : public Workload {
 public:
  std::string name() const override { return "reduction-mpu"; }
  std::string variant_of() const override { return "reduction"; }
  std::string description() const override {
    return "sum in strides of the grid, then of the blocks' sums";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "reduction_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = mpu_values(size);
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = random_unit(150, i);
    const auto d_in = device.upload(in, "in");
    const auto d_partial = device.allocate(kMpuBlocks * sizeof(float), "partial");
    const auto d_sum = device.allocate(sizeof(float), "sum");
    device.launch(module, "reduction_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_in, d_partial, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "reduction_mpu", {1}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_partial, d_sum, static_cast<int>(kMpuBlocks)));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("sum", device.download<float>(d_sum, 1),
                      block_sums(block_sums(in, kMpuBlocks), 1));
  }
};

}  // namespace

std::unique_ptr<Workload> make_reduction_mpu() { return std::make_unique<ReductionMpu>(); }

}  // namespace nearwarp::workloads
