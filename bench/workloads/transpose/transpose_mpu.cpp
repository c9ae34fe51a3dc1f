#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

/// The tiles of `in`, each for itself.
std::vector<float> transposed(const std::vector<float>& in, int tiles) {
  std::vector<float> out(in.size());
  for (int t = 0; t < tiles; ++t) {
    const auto at = [&](int row, int column) { return in[mpu_tile_index(tiles, t, row, column)]; };
    for (int y = 0; y < kMpuTile; ++y) {
      for (int x = 0; x < kMpuTile; ++x) {
        out[mpu_tile_index(tiles, t, y, x)] = at(x, y);
      }
    }
  }
  return out;
}

class TransposeMpu final : public Workload {
 public:
  std::string name() const override { return "transpose-mpu"; }
  std::string variant_of() const override { return "transpose"; }
  std::string description() const override {
    return "transposition of tiles, each for itself, that lie in slices";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "transpose_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int tiles = mpu_tiles(size);
    std::vector<float> in(mpu_values(size));
    for (size_t i = 0; i < in.size(); ++i) in[i] = random_unit(80, i);
    const auto d_in = device.upload(in, "in");
    const auto d_out = device.allocate(in.size() * sizeof(float), "out");
    device.launch(module, "transpose_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_in, d_out, tiles));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("out", device.download<float>(d_out, in.size()), transposed(in, tiles));
  }
};

}  // namespace

std::unique_ptr<Workload> make_transpose_mpu() { return std::make_unique<TransposeMpu>(); }

}  // namespace nearwarp::workloads
