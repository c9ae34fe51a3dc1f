#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

/// The tiles of `in`, each for itself.
std::vector<float> blurred(const std::vector<float>& in, int tiles) {
  std::vector<float> out(in.size());
  for (int t = 0; t < tiles; ++t) {
    const auto at = [&](int row, int column) { return in[mpu_tile_index(tiles, t, row, column)]; };
    for (int y = 0; y < kMpuTile; ++y) {
      for (int x = 0; x < kMpuTile; ++x) {
        const auto sum = [&](int of) {
          const int row = std::clamp(of, 0, kMpuTile - 1);
          return at(row, std::max(x - 1, 0)) + at(row, x) + at(row, std::min(x + 1, kMpuTile - 1));
        };
        out[mpu_tile_index(tiles, t, y, x)] = (sum(y - 1) + sum(y) + sum(y + 1)) * (1.0f / 9.0f);
      }
    }
  }
  return out;
}

class BlurMpu final : public Workload {
 public:
  std::string name() const override { return "blur-mpu"; }
  std::string variant_of() const override { return "blur"; }
  std::string description() const override {
    return "3 x 3 blur of tiles, each for itself, that lie in slices";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "blur_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int tiles = mpu_tiles(size);
    std::vector<float> image(mpu_values(size));
    for (size_t i = 0; i < image.size(); ++i) image[i] = random_unit(144, i);
    const auto d_image = device.upload(image, "image");
    const auto d_blurred = device.allocate(image.size() * sizeof(float), "blurred");
    device.launch(module, "blur_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_image, d_blurred, tiles));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("blurred", device.download<float>(d_blurred, image.size()),
                      blurred(image, tiles));
  }
};

}  // namespace

std::unique_ptr<Workload> make_blur_mpu() { return std::make_unique<BlurMpu>(); }

}  // namespace nearwarp::workloads
