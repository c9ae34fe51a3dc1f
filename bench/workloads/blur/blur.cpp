#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kRows = 8;  // of a thread, in blur.cu; divides the sides

int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 512;
    case Size::kMedium:
      return 2048;
    case Size::kLarge:
      return 4096;
    case Size::kPaper:
      return 8192;
  }
  return 0;
}

std::vector<float> blurred(const std::vector<float>& image, int side) {
  std::vector<float> sums(image.size()), result(image.size());
  const auto inside = [side](int i) { return static_cast<size_t>(std::clamp(i, 0, side - 1)); };
  for (int y = 0; y < side; ++y) {
    const float* row = &image[size_t(y) * side];
    for (int x = 0; x < side; ++x)
      sums[size_t(y) * side + x] = row[inside(x - 1)] + row[x] + row[inside(x + 1)];
  }
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const auto sum = [&](int of) { return sums[inside(of) * side + x]; };
      result[size_t(y) * side + x] = (sum(y - 1) + sum(y) + sum(y + 1)) * (1.0f / 9.0f);
    }
  }
  return result;
}

class Blur final : public Workload {
 public:
  std::string name() const override { return "blur"; }
  std::string description() const override {
    return "3 x 3 blur of an image, eight pixels of a column per thread";
  }
  std::string source() const override { return "Halide, blur"; }
  std::string ptx_name() const override { return "blur.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int side = side_of(size);
    std::vector<float> image(size_t(side) * side);
    for (size_t i = 0; i < image.size(); ++i) image[i] = random_unit(144, i);
    const auto d_image = device.upload(image, "image");
    const auto d_blurred = device.allocate(image.size() * sizeof(float), "blurred");
    device.launch(module, "blur", {blocks_for(side, kBlock).x, blocks_for(side, kRows).x}, {kBlock},
                  0, runtime::KernelArgs(d_image, d_blurred, side, side));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("blurred", device.download<float>(d_blurred, image.size()),
                      blurred(image, side));
  }
};

}  // namespace

std::unique_ptr<Workload> make_blur() { return std::make_unique<Blur>(); }

}  // namespace nearwarp::workloads
