#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kWeights = 9;

/// The tiles of `in`, each for itself.
std::vector<float> convolved(const std::vector<float>& in, const std::vector<float>& weights,
                             int tiles) {
  std::vector<float> out(in.size());
  for (int t = 0; t < tiles; ++t) {
    const auto at = [&](int row, int column) { return in[mpu_tile_index(tiles, t, row, column)]; };
    for (int y = 0; y < kMpuTile; ++y) {
      for (int x = 0; x < kMpuTile; ++x) {
        float sum = 0.0f;
        for (int i = 0; i < kWeights; ++i) {
          const int row = y + i / 3 - 1, column = x + i % 3 - 1;
          const bool inside = row >= 0 && row < kMpuTile && column >= 0 && column < kMpuTile;
          sum += weights[i] * (inside ? at(row, column) : 0.0f);
        }
        out[mpu_tile_index(tiles, t, y, x)] = sum;
      }
    }
  }
  return out;
}

class ConvMpu final : public Workload {
 public:
  std::string name() const override { return "conv-mpu"; }
  std::string variant_of() const override { return "conv"; }
  std::string description() const override {
    return "3 x 3 convolution of tiles, each for itself, that lie in slices";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "conv_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int tiles = mpu_tiles(size);
    std::vector<float> maps(mpu_values(size)), weights(kWeights);
    for (size_t i = 0; i < maps.size(); ++i) maps[i] = random_unit(145, i);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = random_unit(146, i) - 0.5f;
    const auto d_maps = device.upload(maps, "maps");
    const auto d_weights = device.upload(weights, "weights");
    const auto d_out = device.allocate(maps.size() * sizeof(float), "out");
    device.launch(module, "conv_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_maps, d_weights, d_out, tiles));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("out", device.download<float>(d_out, maps.size()),
                      convolved(maps, weights, tiles));
  }
};

}  // namespace

std::unique_ptr<Workload> make_conv_mpu() { return std::make_unique<ConvMpu>(); }

}  // namespace nearwarp::workloads
