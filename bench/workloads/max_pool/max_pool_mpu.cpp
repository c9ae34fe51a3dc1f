#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

class MaxPoolMpu final : public Workload {
 public:
  std::string name() const override { return "max-pool-mpu"; }
  std::string variant_of() const override { return "max-pool"; }
  std::string description() const override {
    return "largest of every 2 x 2 values, which lie in four planes";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "max_pool_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const size_t n = mpu_values(size) / 4;
    std::vector<float> planes(4 * n), expected(n);
    for (size_t i = 0; i < planes.size(); ++i) planes[i] = random_unit(148, i) - 0.5f;
    for (size_t i = 0; i < n; ++i)
      expected[i] = std::max({planes[i], planes[n + i], planes[2 * n + i], planes[3 * n + i]});
    const auto d_planes = device.upload(planes, "planes");
    const auto d_pooled = device.allocate(n * sizeof(float), "pooled");
    device.launch(module, "max_pool_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_planes, d_pooled, static_cast<int>(n)));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("pooled", device.download<float>(d_pooled, n), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_max_pool_mpu() { return std::make_unique<MaxPoolMpu>(); }

}  // namespace nearwarp::workloads
