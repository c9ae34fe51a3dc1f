#include <algorithm>
#include <cstdlib>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

// Constants of sad.cu.
constexpr int kRange = 16, kRow = 2 * kRange + 1, kDisplacements = kRow * kRow, kSums = 41;
constexpr uint32_t kThreads = 61;

struct Frame {
  int width, height;  // multiples of 16
};

Frame frame_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {64, 32};
    case Size::kMedium:
      return {176, 144};  // QCIF, Parboil's default
    case Size::kLarge:
      return {352, 288};
    case Size::kPaper:
      return {1920, 1072};  // Parboil's large
  }
  return {};
}

/// The shapes of blocks in a macroblock, by size in pixels, in the order of sad.cu. Blocks smaller
/// than 8 x 8 are ordered by the quarter that has them.
struct Shape {
  int first, width, height;
};
constexpr Shape kShapes[] = {{0, 4, 4},   {16, 8, 4},  {24, 4, 8},  {32, 8, 8},
                             {36, 16, 8}, {38, 8, 16}, {40, 16, 16}};

/// Place of block `number` of a shape in its macroblock.
std::pair<int, int> place_of(const Shape& shape, int number) {
  if (shape.width * shape.height == 32) {  // two in each quarter, beside or below one another
    const int quarter = number / 2, second = number % 2 * 4;
    return {quarter % 2 * 8 + (shape.width == 4 ? second : 0),
            quarter / 2 * 8 + (shape.height == 4 ? second : 0)};
  }
  const int in_row = 16 / shape.width;
  return {number % in_row * shape.width, number / in_row * shape.height};
}

using Pixels = std::vector<uint16_t>;

/// All sums, each computed from pixels.
std::vector<int32_t> reference_sums(const Frame& f, const Pixels& frame, const Pixels& before) {
  std::vector<int32_t> sums;
  for (int macroblock = 0; macroblock < f.width * f.height / 256; ++macroblock) {
    const int left = macroblock % (f.width / 16) * 16, top = macroblock / (f.width / 16) * 16;
    for (const Shape& shape : kShapes) {
      for (int number = 0; number < 256 / (shape.width * shape.height); ++number) {
        const auto [x0, y0] = place_of(shape, number);
        for (int d = 0; d < kDisplacements; ++d) {
          int sum = 0;
          for (int y = top + y0; y < top + y0 + shape.height; ++y) {
            const int other_y = std::clamp(y + d / kRow - kRange, 0, f.height - 1);
            for (int x = left + x0; x < left + x0 + shape.width; ++x) {
              const int other_x = std::clamp(x + d % kRow - kRange, 0, f.width - 1);
              sum += std::abs(frame[y * f.width + x] - before[other_y * f.width + other_x]);
            }
          }
          sums.push_back(sum);
        }
      }
    }
  }
  return sums;
}

class Sad final : public Workload {
 public:
  std::string name() const override { return "sad"; }
  std::string description() const override {
    return "sums of absolute differences of blocks of pixels for a motion search";
  }
  std::string source() const override { return "Parboil, sad"; }
  std::string ptx_name() const override { return "sad.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Frame f = frame_of(size);
    // Texture that moved by three pixels and one, with noise.
    Pixels before(size_t(f.width) * f.height), frame(before);
    const auto texture = [&](int x, int y) {
      return static_cast<int>(random_below(125, uint64_t(y + 8) * 4096 + uint64_t(x + 8), 224));
    };
    for (int y = 0; y < f.height; ++y) {
      for (int x = 0; x < f.width; ++x) {
        const size_t i = size_t(y) * f.width + x;
        before[i] = static_cast<uint16_t>(texture(x, y));
        frame[i] = static_cast<uint16_t>(texture(x + 3, y + 1) +
                                         static_cast<int>(random_below(126, i, 32)));
      }
    }
    const auto macroblocks = static_cast<uint32_t>(f.width * f.height / 256);
    const size_t num_sums = size_t(macroblocks) * kSums * kDisplacements;
    const auto d_frame = device.upload(frame, "frame"),
               d_before = device.upload(before, "reference");
    const auto d_sums = device.allocate(num_sums * sizeof(uint16_t), "sums");
    device.launch(module, "sad_4x4", {uint32_t(f.width) / 4, uint32_t(f.height) / 4}, {kThreads}, 0,
                  runtime::KernelArgs(d_frame, d_before, d_sums, f.width, f.height));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "sad_8x8", {macroblocks}, {32, 4}, 0, runtime::KernelArgs(d_sums));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "sad_16x16", {macroblocks}, {32}, 0, runtime::KernelArgs(d_sums));
    if (device.limit_reached()) return skipped_by_limit();
    const auto sums = device.download<uint16_t>(d_sums, num_sums);
    return check_equal("sums", {sums.begin(), sums.end()}, reference_sums(f, frame, before));
  }
};

}  // namespace

std::unique_ptr<Workload> make_sad() { return std::make_unique<Sad>(); }

}  // namespace nearwarp::workloads
