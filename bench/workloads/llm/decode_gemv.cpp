// Products of a weight matrix and the vectors of a batch of tokens, with weights of 16 to 4 bits.
#include "bench/workloads/common/check.h"
#include "bench/workloads/llm/gemv.h"
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
  DecodeGemv(std::string name, std::string description, const Values& values,
             const std::string& usual)
      : name_(std::move(name)),
        description_(std::move(description)),
        usual_(usual),
        format_(format_named(values.word("weights", usual))),
        batch_(values.number("batch", 1)) {}
  std::string name() const override { return name_; }
  std::string description() const override { return description_; }
  std::string source() const override { return kSource; }
  std::string ptx_name() const override { return "decode.ptx"; }
  std::vector<Parameter> parameters() const override {
    return {batch_parameter(), {"weights", "their format", 0, 0, format_names()}};
  }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    return std::make_unique<DecodeGemv>(std::move(name), description_, values, usual_);
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [rows, columns] = shape_of(size);
    const Weights w = random_weights(format_ == Format::kInt4 ? 162 : 160, format_, rows, columns);
    const std::vector<float> x =
        random_vector(format_ == Format::kInt4 ? 164 : 161, columns * batch_);
    const DeviceWeights on_device = upload(device, w, "weights");
    const auto d_x = device.upload(x, "x");
    const size_t results = size_t(rows) * size_t(batch_);
    const auto d_y = device.allocate(results * sizeof(float), "y");
    launch_gemv(device, module, on_device, d_x, {}, d_y, batch_);
    if (device.limit_reached()) return skipped_by_limit();
    return check_close("y", device.download<float>(d_y, results), product(w, x), 1e-4, 1.0);
  }

 private:
  std::string name_, description_, usual_;
  Format format_;
  int batch_;
};

}  // namespace

std::unique_ptr<Workload> make_decode_gemv() {
  return std::make_unique<DecodeGemv>(
      "decode-gemv", "a language model's weights in f16 times one token's vector, a warp per row",
      Values{}, "f16");
}
std::unique_ptr<Workload> make_decode_gemv_int4() {
  return std::make_unique<DecodeGemv>(
      "decode-gemv-int4", "the same with weights of 4 bits, and a scale for each 128 of them",
      Values{}, "int4");
}

}  // namespace nearwarp::workloads
