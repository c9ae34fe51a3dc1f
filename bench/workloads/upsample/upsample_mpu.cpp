#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

class UpsampleMpu final : public Workload {
 public:
  std::string name() const override { return "upsample-mpu"; }
  std::string variant_of() const override { return "upsample"; }
  std::string description() const override {
    return "an image of twice the width and height in four planes, nearest neighbours";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "upsample_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const size_t n = mpu_values(size) / 4;
    std::vector<float> image(n), expected(4 * n);
    for (size_t i = 0; i < n; ++i) image[i] = random_unit(149, i);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = image[i % n];
    const auto d_image = device.upload(image, "image");
    const auto d_planes = device.allocate(expected.size() * sizeof(float), "planes");
    device.launch(module, "upsample_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_image, d_planes, static_cast<int>(n)));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("planes", device.download<float>(d_planes, expected.size()), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_upsample_mpu() { return std::make_unique<UpsampleMpu>(); }

}  // namespace nearwarp::workloads
