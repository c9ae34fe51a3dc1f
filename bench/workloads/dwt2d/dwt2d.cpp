#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockX = 64, kBlockY = 4;
constexpr int kLevels = 3, kColours = 3;  // Rodinia's

int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 256;
    case Size::kMedium:
      return 1024;  // Rodinia's image
    case Size::kLarge:
      return 2048;
    case Size::kPaper:
      return 4096;
  }
  return 0;
}

/// One colour of a picture: slopes, discs and noise of a few bits, minus 128 as in JPEG 2000.
std::vector<int32_t> make_picture(int side, int colour) {
  std::vector<int32_t> picture(size_t(side) * side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int64_t across = x % 96 - 48, down = y % 96 - 48;
      const int slope = 160 * (colour == 0 ? x : colour == 1 ? y : x / 2 + y / 2) / side;
      const int disc = across * across + down * down < 1600 ? 64 : 0;
      const auto noise = static_cast<int>(random_below(
          124, (uint64_t(y) * side + x) * kColours + static_cast<uint64_t>(colour), 32));
      picture[size_t(y) * side + x] = slope + disc + noise - 128;
    }
  }
  return picture;
}

/// Transforms a line by lifting: first all differences, then all averages.
void lift(int32_t* line, int stride, int length) {
  std::vector<int32_t> v(length);
  for (int i = 0; i < length; ++i) v[i] = line[size_t(i) * stride];
  for (int i = 1; i < length; i += 2) v[i] -= (v[i - 1] + v[i + 1 < length ? i + 1 : i - 1]) >> 1;
  for (int i = 0; i < length; i += 2) v[i] += (v[i > 0 ? i - 1 : 1] + v[i + 1] + 2) >> 2;
  for (int i = 0; i < length; ++i) line[size_t(i % 2 * (length / 2) + i / 2) * stride] = v[i];
}

class Dwt2d final : public Workload {
 public:
  std::string name() const override { return "dwt2d"; }
  std::string description() const override {
    return "wavelet transform (5/3) of an image of three colours, three levels";
  }
  std::string source() const override { return "Rodinia, dwt2d"; }
  std::string ptx_name() const override { return "dwt2d.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int side = side_of(size);
    std::vector<std::vector<int32_t>> pictures;
    std::vector<runtime::DevicePtr> images;
    for (int colour = 0; colour < kColours; ++colour) {
      pictures.push_back(make_picture(side, colour));
      images.push_back(device.upload(pictures.back(), "image"));
    }
    const auto half_done = device.allocate(pictures[0].size() * sizeof(int32_t), "half done");
    for (int colour = 0; colour < kColours; ++colour) {
      for (int part = side; part > side >> kLevels; part /= 2) {
        device.launch(module, "dwt2d_rows",
                      {blocks_for(part / 2, kBlockX).x, blocks_for(part, kBlockY).x},
                      {kBlockX, kBlockY}, 0,
                      runtime::KernelArgs(images[colour], half_done, part, part, side));
        if (device.limit_reached()) return skipped_by_limit();
        device.launch(module, "dwt2d_columns",
                      {blocks_for(part, kBlockX).x, blocks_for(part / 2, kBlockY).x},
                      {kBlockX, kBlockY}, 0,
                      runtime::KernelArgs(half_done, images[colour], part, part, side));
        if (device.limit_reached()) return skipped_by_limit();
      }
    }
    std::vector<int32_t> expected, transformed;
    for (int colour = 0; colour < kColours; ++colour) {
      std::vector<int32_t>& picture = pictures[colour];
      for (int part = side; part > side >> kLevels; part /= 2) {
        for (int y = 0; y < part; ++y) lift(picture.data() + size_t(y) * side, 1, part);
        for (int x = 0; x < part; ++x) lift(picture.data() + x, side, part);
      }
      expected.insert(expected.end(), picture.begin(), picture.end());
      const auto image = device.download<int32_t>(images[colour], picture.size());
      transformed.insert(transformed.end(), image.begin(), image.end());
    }
    return check_equal("coefficients", transformed, expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_dwt2d() { return std::make_unique<Dwt2d>(); }

}  // namespace nearwarp::workloads
