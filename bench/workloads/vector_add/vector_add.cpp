#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

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

class VectorAdd final : public Workload {
 public:
  std::string name() const override { return "vector-add"; }
  std::string description() const override {
    return "c = a + b, one element per thread; streams through memory";
  }
  std::string source() const override { return "synthetic"; }
  std::string ptx_name() const override { return "vector_add.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size);
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) {
      a[i] = random_unit(1, i);
      b[i] = random_unit(2, i);
    }
    const auto d_a = device.upload(a, "a");
    const auto d_b = device.upload(b, "b");
    const auto d_c = device.allocate(n * sizeof(float), "c");
    device.launch(module, "vector_add", blocks_for(n, 256), {256}, 0,
                  runtime::KernelArgs(d_a, d_b, d_c, n));
    if (device.limit_reached()) return skipped_by_limit();
    for (int i = 0; i < n; ++i) a[i] += b[i];
    return check_bits("c", device.download<float>(d_c, n), a);
  }
};

}  // namespace

std::unique_ptr<Workload> make_vector_add() { return std::make_unique<VectorAdd>(); }

}  // namespace nearwarp::workloads
