#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr float kA = 1.75f;

class AxpyMpu final : public Workload {
 public:
  std::string name() const override { return "axpy-mpu"; }
  std::string variant_of() const override { return "axpy"; }
  std::string description() const override { return "axpy in strides of the grid"; }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "axpy_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = mpu_values(size);
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
      x[i] = random_unit(140, i);
      y[i] = random_unit(141, i);
    }
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.upload(y, "y");
    device.launch(module, "axpy_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(n, kA, d_x, d_y));
    if (device.limit_reached()) return skipped_by_limit();
    for (int i = 0; i < n; ++i) y[i] = kA * x[i] + y[i];
    return check_bits("y", device.download<float>(d_y, n), y);
  }
};

}  // namespace

std::unique_ptr<Workload> make_axpy_mpu() { return std::make_unique<AxpyMpu>(); }

}  // namespace nearwarp::workloads
