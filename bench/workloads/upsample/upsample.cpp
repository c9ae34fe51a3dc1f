#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;

int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 256;
    case Size::kMedium:
      return 1024;
    case Size::kLarge:
      return 2048;
    case Size::kPaper:
      return 4096;
  }
  return 0;
}

std::vector<float> upsampled(const std::vector<float>& image, int side) {
  std::vector<float> larger;
  larger.reserve(4 * image.size());
  const auto far = [side](int i) { return std::clamp(i / 2 + (i % 2 == 0 ? -1 : 1), 0, side - 1); };
  for (int y = 0; y < 2 * side; ++y) {
    for (int x = 0; x < 2 * side; ++x) {
      const auto along_row = [&](int row) {
        const float* values = &image[size_t(row) * side];
        return 0.75f * values[x / 2] + 0.25f * values[far(x)];
      };
      larger.push_back(0.75f * along_row(y / 2) + 0.25f * along_row(far(y)));
    }
  }
  return larger;
}

class Upsample final : public Workload {
 public:
  std::string name() const override { return "upsample"; }
  std::string description() const override {
    return "an image of twice the width and height, bilinear, a pixel per thread";
  }
  std::string source() const override { return "Halide, local_laplacian's upsample"; }
  std::string ptx_name() const override { return "upsample.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int side = side_of(size);
    std::vector<float> image(size_t(side) * side);
    for (size_t i = 0; i < image.size(); ++i) image[i] = random_unit(149, i);
    const auto d_image = device.upload(image, "image");
    const auto d_larger = device.allocate(4 * image.size() * sizeof(float), "larger");
    const auto rows = static_cast<uint32_t>(2 * side);
    device.launch(module, "upsample", {blocks_for(rows, kBlock).x, rows}, {kBlock}, 0,
                  runtime::KernelArgs(d_image, d_larger, side, side));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("larger", device.download<float>(d_larger, 4 * image.size()),
                      upsampled(image, side));
  }
};

}  // namespace

std::unique_ptr<Workload> make_upsample() { return std::make_unique<Upsample>(); }

}  // namespace nearwarp::workloads
