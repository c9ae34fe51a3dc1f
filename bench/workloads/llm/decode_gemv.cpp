// Products of a weight matrix and one token's vector, with weights of 16 and of 4 bits.
#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/embedded.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

struct Shape {
  int rows, columns;
};
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1024, 1024};
    case Size::kMedium:
      return {4096, 4096};
    case Size::kLarge:
      return {8192, 8192};
    case Size::kPaper:
      return {14336, 4096};  // a feed-forward matrix of Llama 3 8B
  }
  return {};
}

class DecodeGemv final : public Workload {
 public:
  std::string name() const override { return "decode-gemv"; }
  std::string description() const override {
    return "a language model's weights in f16 times one token's vector, a warp per row";
  }
  std::string source() const override { return kSource; }
  std::string ptx() const override { return embedded::decode_ptx; }
  std::string ptx_name() const override { return "decode.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [rows, columns] = shape_of(size);
    const std::vector<Half> w = random_matrix(160, rows, columns);
    const std::vector<float> x = random_vector(161, columns);
    const auto d_w = device.upload(w, "weights");
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.allocate(static_cast<uint64_t>(rows) * sizeof(float), "y");
    device.launch(module, "decode_gemv", blocks_for(uint64_t(rows) * kLanes, kBlock), {kBlock}, 0,
                  runtime::KernelArgs(d_w, d_x, runtime::DevicePtr{}, d_y, rows, columns));
    if (device.limit_reached()) return skipped_by_limit();
    return check_close("y", device.download<float>(d_y, size_t(rows)), product(w, x, rows), 1e-4,
                       1.0);
  }
};

/// Weights of 4 bits, each less 8 times its group's scale.
struct Int4Matrix {
  std::vector<uint32_t> words;  ///< eight weights each
  std::vector<Half> scales;     ///< [row * groups + group]
};
Int4Matrix random_int4(uint64_t stream, int rows, int columns) {
  Int4Matrix m;
  const size_t weights = size_t(rows) * size_t(columns);
  m.words.resize(weights / 8);
  m.scales.resize(weights / kGroup);
  for (size_t i = 0; i < m.words.size(); ++i)
    m.words[i] = static_cast<uint32_t>(random_bits(stream, i) >> 32);
  for (size_t i = 0; i < m.scales.size(); ++i)
    m.scales[i] = to_half((0.5f + random_unit(stream + 1, i)) * 0.01f);
  return m;
}
std::vector<float> product(const Int4Matrix& m, const std::vector<float>& x, int rows) {
  std::vector<float> y(static_cast<size_t>(rows));
  for (size_t row = 0; row < y.size(); ++row) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t at = row * x.size() + i;
      const int weight = static_cast<int>(m.words[at / 8] >> (at % 8 * 4) & 15) - 8;
      sum += double{from_half(m.scales[at / kGroup])} * weight * x[i];
    }
    y[row] = static_cast<float>(sum);
  }
  return y;
}

class DecodeGemvInt4 final : public Workload {
 public:
  std::string name() const override { return "decode-gemv-int4"; }
  std::string description() const override {
    return "the same with weights of 4 bits, and a scale for each 128 of them";
  }
  std::string source() const override { return kSource; }
  std::string ptx() const override { return embedded::decode_ptx; }
  std::string ptx_name() const override { return "decode.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [rows, columns] = shape_of(size);
    const Int4Matrix w = random_int4(162, rows, columns);
    const std::vector<float> x = random_vector(164, columns);
    const auto d_w = device.upload(w.words, "weights");
    const auto d_scales = device.upload(w.scales, "scales");
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.allocate(static_cast<uint64_t>(rows) * sizeof(float), "y");
    device.launch(module, "decode_gemv_int4", blocks_for(uint64_t(rows) * kLanes, kBlock), {kBlock},
                  0, runtime::KernelArgs(d_w, d_scales, d_x, d_y, rows, columns));
    if (device.limit_reached()) return skipped_by_limit();
    return check_close("y", device.download<float>(d_y, size_t(rows)), product(w, x, rows), 1e-4,
                       1.0);
  }
};

}  // namespace

std::unique_ptr<Workload> make_decode_gemv() { return std::make_unique<DecodeGemv>(); }
std::unique_ptr<Workload> make_decode_gemv_int4() { return std::make_unique<DecodeGemvInt4>(); }

}  // namespace nearwarp::workloads
