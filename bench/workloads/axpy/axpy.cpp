#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;
constexpr float kA = 1.75f;

int elements(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 19;
    case Size::kMedium:
      return 1 << 22;
    case Size::kLarge:
      return 1 << 25;
    case Size::kPaper:
      return 1 << 26;
  }
  return 0;
}

class Axpy final : public Workload {
 public:
  std::string name() const override { return "axpy"; }
  std::string description() const override {
    return "y = a x + y, one element per thread, in place";
  }
  std::string source() const override { return "cuBLAS, axpy"; }
  std::string ptx_name() const override { return "axpy.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size);
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
      x[i] = random_unit(140, i);
      y[i] = random_unit(141, i);
    }
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.upload(y, "y");
    device.launch(module, "axpy", blocks_for(n, kBlock), {kBlock}, 0,
                  runtime::KernelArgs(n, kA, d_x, d_y));
    if (device.limit_reached()) return skipped_by_limit();
    for (int i = 0; i < n; ++i) y[i] = kA * x[i] + y[i];
    return check_bits("y", device.download<float>(d_y, n), y);
  }
};

}  // namespace

std::unique_ptr<Workload> make_axpy() { return std::make_unique<Axpy>(); }

}  // namespace nearwarp::workloads
