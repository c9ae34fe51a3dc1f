#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;
constexpr int kSide = 256;  // of a map

int num_maps(Size size) {
  switch (size) {
    case Size::kSmall:
      return 16;
    case Size::kMedium:
      return 4 * 64;  // images of 64 maps
    case Size::kLarge:
      return 16 * 64;
    case Size::kPaper:
      return 32 * 64;
  }
  return 0;
}

std::vector<float> pooled(const std::vector<float>& maps) {
  std::vector<float> result;
  result.reserve(maps.size() / 4);
  for (size_t row = 0; row < maps.size(); row += 2 * kSide) {
    for (size_t i = row; i < row + kSide; i += 2)
      result.push_back(std::max({maps[i], maps[i + 1], maps[i + kSide], maps[i + kSide + 1]}));
  }
  return result;
}

class MaxPool final : public Workload {
 public:
  std::string name() const override { return "max-pool"; }
  std::string description() const override {
    return "largest of every 2 x 2 values of a neural network's maps";
  }
  std::string source() const override { return "TensorFlow, max_pool2d"; }
  std::string ptx_name() const override { return "max_pool.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    std::vector<float> maps(size_t(num_maps(size)) * kSide * kSide);
    for (size_t i = 0; i < maps.size(); ++i) maps[i] = random_unit(148, i) - 0.5f;
    const int n = static_cast<int>(maps.size() / 4);
    const auto d_maps = device.upload(maps, "maps");
    const auto d_pooled = device.allocate(n * sizeof(float), "pooled");
    device.launch(module, "max_pool", blocks_for(n, kBlock), {kBlock}, 0,
                  runtime::KernelArgs(d_maps, d_pooled, kSide / 2, n));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("pooled", device.download<float>(d_pooled, n), pooled(maps));
  }
};

}  // namespace

std::unique_ptr<Workload> make_max_pool() { return std::make_unique<MaxPool>(); }

}  // namespace nearwarp::workloads
