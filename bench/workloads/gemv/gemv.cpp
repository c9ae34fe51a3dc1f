#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;  // in gemv.cu
constexpr int kLanes = 32;

struct Shape {
  int rows, columns;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1024, 1024};
    case Size::kMedium:
      return {4096, 4096};
    case Size::kLarge:
      return {8192, 8192};
    case Size::kPaper:
      return {16384, 8192};
  }
  return {};
}

/// A row times x in the device's order: sums of 32 lanes, then pairs of halves of the lanes.
float product(const float* row, const std::vector<float>& x) {
  float sums[kLanes] = {};
  for (size_t i = 0; i < x.size(); ++i) sums[i % kLanes] += row[i] * x[i];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

class Gemv final : public Workload {
 public:
  std::string name() const override { return "gemv"; }
  std::string description() const override {
    return "product of a matrix and a vector, a warp per row";
  }
  std::string source() const override { return "cuBLAS, gemv"; }
  std::string ptx_name() const override { return "gemv.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [rows, columns] = shape_of(size);
    std::vector<float> a(size_t(rows) * columns), x(columns), expected(rows);
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_unit(142, i);
    for (int i = 0; i < columns; ++i) x[i] = random_unit(143, i);
    const auto d_a = device.upload(a, "A");
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.allocate(rows * sizeof(float), "y");
    device.launch(module, "gemv", blocks_for(uint64_t(rows) * kLanes, kBlock), {kBlock}, 0,
                  runtime::KernelArgs(d_a, d_x, d_y, rows, columns));
    if (device.limit_reached()) return skipped_by_limit();
    for (int row = 0; row < rows; ++row) expected[row] = product(&a[size_t(row) * columns], x);
    return check_bits("y", device.download<float>(d_y, rows), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_gemv() { return std::make_unique<Gemv>(); }

}  // namespace nearwarp::workloads
