#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kTile = 32, kBlockRows = 8;  // in transpose.cu

struct Shape {
  int side, repeats;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {512, 1};
    case Size::kMedium:
      return {2048, 1};
    case Size::kLarge:
      return {4096, 1};
    case Size::kPaper:
      return {1024, 100};  // the sample's
  }
  return {};
}

class Transpose final : public Workload {
 public:
  std::string name() const override { return "transpose"; }
  std::string description() const override {
    return "matrix transpose through tiles in shared memory";
  }
  std::string source() const override { return "CUDA SDK, transpose (without bank conflicts)"; }
  std::string ptx_name() const override { return "transpose.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [side, repeats] = shape_of(size);
    std::vector<float> matrix(size_t(side) * side), expected(matrix.size());
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const size_t i = size_t(y) * side + x;
        expected[size_t(x) * side + y] = matrix[i] = random_unit(80, i);
      }
    }
    const auto d_in = device.upload(matrix, "in");
    const auto d_out = device.allocate(matrix.size() * sizeof(float), "out");
    const uint32_t tiles = side / kTile;
    for (int i = 0; i < repeats; ++i) {
      device.launch(module, "transpose_tiles", {tiles, tiles}, {kTile, kBlockRows}, 0,
                    runtime::KernelArgs(d_in, d_out, side, side));
      if (device.limit_reached()) return skipped_by_limit();
    }
    return check_bits("out", device.download<float>(d_out, expected.size()), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_transpose() { return std::make_unique<Transpose>(); }

}  // namespace nearwarp::workloads
