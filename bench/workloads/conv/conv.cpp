#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;  // in conv.cu
constexpr int kMaps = 4;          // in conv.cu, in and out

struct Shape {
  int width, height;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {256, 64};
    case Size::kMedium:
      return {512, 512};
    case Size::kLarge:
      return {1024, 1024};
    case Size::kPaper:
      return {2048, 2048};
  }
  return {};
}

std::vector<float> convolved(const Shape& s, const std::vector<float>& maps,
                             const std::vector<float>& weights, const std::vector<float>& bias) {
  const auto [width, height] = s;
  std::vector<float> out;
  out.reserve(maps.size());
  const auto at = [&, w = width, h = height](int c, int x, int y) {
    return x < 0 || x >= w || y < 0 || y >= h ? 0.0f : maps[(size_t(c) * h + y) * w + x];
  };
  for (int k = 0; k < kMaps; ++k) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        float sum = bias[k];
        for (int c = 0; c < kMaps; ++c) {
          for (int i = 0; i < 9; ++i)
            sum += weights[(c * kMaps + k) * 9 + i] * at(c, x + i % 3 - 1, y + i / 3 - 1);
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

class Conv final : public Workload {
 public:
  std::string name() const override { return "conv"; }
  std::string description() const override {
    return "3 x 3 convolution of a neural network's layer, four maps in and out";
  }
  std::string source() const override { return "TensorFlow, conv2d"; }
  std::string ptx_name() const override { return "conv.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape shape = shape_of(size);
    std::vector<float> maps(size_t(shape.width) * shape.height * kMaps);
    std::vector<float> weights(kMaps * kMaps * 9), bias(kMaps);
    for (size_t i = 0; i < maps.size(); ++i) maps[i] = random_unit(145, i);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = random_unit(146, i) - 0.5f;
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = random_unit(147, i);
    const auto d_maps = device.upload(maps, "maps");
    const auto d_weights = device.upload(weights, "weights");
    const auto d_bias = device.upload(bias, "bias");
    const auto d_out = device.allocate(maps.size() * sizeof(float), "out");
    const auto rows = static_cast<uint32_t>(shape.height);
    device.launch(module, "conv", {blocks_for(shape.width, kBlock).x, rows}, {kBlock}, 0,
                  runtime::KernelArgs(d_maps, d_weights, d_bias, d_out, shape.width, shape.height));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("out", device.download<float>(d_out, maps.size()),
                      convolved(shape, maps, weights, bias));
  }
};

}  // namespace

std::unique_ptr<Workload> make_conv() { return std::make_unique<Conv>(); }

}  // namespace nearwarp::workloads
