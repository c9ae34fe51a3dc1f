#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kLanes = 32;
constexpr int kColumns = 2048;  // 64 lines: offloading a row takes one way there and back

int rows_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 10;
    case Size::kMedium:
      return 1 << 13;
    case Size::kLarge:
      return 1 << 15;
    case Size::kPaper:
      return 1 << 16;
  }
  return 0;
}

class RowSum final : public Workload {
 public:
  std::string name() const override { return "row-sum"; }
  std::string description() const override {
    return "sums of the rows of a matrix; every warp streams a row in a loop";
  }
  std::string source() const override { return "synthetic"; }
  std::string ptx_name() const override { return "row_sum.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int rows = rows_of(size);
    std::vector<int32_t> matrix(static_cast<size_t>(rows) * kColumns);
    std::vector<int32_t> expected(static_cast<size_t>(rows) * kLanes);
    for (size_t i = 0; i < matrix.size(); ++i) {
      matrix[i] = static_cast<int32_t>(random_below(5, i, 1000));
      expected[i / kColumns * kLanes + i % kLanes] += matrix[i];
    }
    const auto d_matrix = device.upload(matrix, "matrix");
    const auto d_out = device.allocate(expected.size() * sizeof(int32_t), "out");
    device.launch(module, "row_sum", blocks_for(rows * kLanes, 256), {256}, 0,
                  runtime::KernelArgs(d_matrix, d_out, rows, kColumns));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("out", device.download<int32_t>(d_out, expected.size()), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_row_sum() { return std::make_unique<RowSum>(); }

}  // namespace nearwarp::workloads
