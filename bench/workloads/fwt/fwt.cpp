#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // kBlock in fwt.cu
constexpr int kLog2MaxSegment = 11;      // of kMaxSegment there
constexpr int kKernelLength = 128;       // taps of the dyadic convolution

int log2_elements(Size size) {
  switch (size) {
    case Size::kSmall:
      return 16;
    case Size::kMedium:
      return 19;
    case Size::kLarge:
      return 22;
    case Size::kPaper:
      return 24;
  }
  return 0;
}

/// Radix-2 steps from the largest stride down; the device does two of them at a time.
void transform(std::vector<float>& data) {
  for (size_t stride = data.size() / 2; stride > 0; stride /= 2) {
    for (size_t i = 0; i < data.size(); ++i) {
      if (i & stride) continue;
      const float x = data[i], y = data[i + stride];
      data[i] = x + y;
      data[i + stride] = x - y;
    }
  }
}

struct Inputs {
  std::vector<float> data, kernel;
  explicit Inputs(int n) : data(n), kernel(n, 0.0f) {
    for (int i = 0; i < n; ++i) data[i] = random_unit(62, i);
    for (int i = 0; i < kKernelLength; ++i) kernel[i] = random_unit(63, i);
  }
  std::vector<float> convolved() const {
    std::vector<float> x = data, y = kernel;
    const float scale = 1.0f / static_cast<float>(x.size());
    transform(x);
    transform(y);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= y[i] * scale;
    transform(x);
    return x;
  }
};

class Fwt final : public Workload {
 public:
  explicit Fwt(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "fwt-restructured" : "fwt"; }
  std::string variant_of() const override { return restructured_ ? "fwt" : ""; }
  std::string description() const override {
    return restructured_ ? "fwt that multiplies consecutive elements in a warp"
                         : "dyadic convolution by fast Walsh transforms, global radix-4 steps and "
                           "a shared-memory kernel";
  }
  std::string source() const override {
    return restructured_ ? "CUDA SDK, fastWalshTransform; Wu et al. (ICS 2020)"
                         : "CUDA SDK, fastWalshTransform";
  }
  std::string ptx_name() const override {
    return restructured_ ? "fwt_restructured.ptx" : "fwt.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int log2_n = log2_elements(size), n = 1 << log2_n;
    const Inputs inputs(n);
    const float scale = 1.0f / static_cast<float>(n);

    const auto d_data = device.upload(inputs.data, "data");
    const auto d_kernel = device.upload(inputs.kernel, "kernel");
    const auto on_device = [&](runtime::DevicePtr values) {
      int log2_segment = log2_n;
      for (; log2_segment > kLog2MaxSegment; log2_segment -= 2) {
        device.launch(module, "fwt_global", blocks_for(n / 4, kBlockThreads), {kBlockThreads}, 0,
                      runtime::KernelArgs(values, 1 << (log2_segment - 2), n / 4));
      }
      device.launch(module, "fwt_shared", {static_cast<uint32_t>(n >> log2_segment)},
                    {kBlockThreads}, 0, runtime::KernelArgs(values, log2_segment));
    };
    on_device(d_data);
    if (device.limit_reached()) return skipped_by_limit();
    on_device(d_kernel);
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, restructured_ ? "fwt_modulate_consecutive" : "fwt_modulate", {128},
                  {kBlockThreads}, 0, runtime::KernelArgs(d_data, d_kernel, n, scale));
    on_device(d_data);
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("convolution", device.download<float>(d_data, n), inputs.convolved());
  }

 private:
  bool restructured_;
};

int original_log2_elements(Size size) {  // odd, as the sample's: segments of 2^11 in the end
  switch (size) {
    case Size::kSmall:
      return 15;
    case Size::kMedium:
      return 17;
    case Size::kLarge:
      return 21;
    case Size::kPaper:
      return 23;
  }
  return 0;
}

class FwtOriginal final : public Workload {
 public:
  std::string name() const override { return "fwt-original"; }
  std::string variant_of() const override { return "fwt"; }
  std::string description() const override {
    return "fwt with the sample's launches: 2^23 elements, segments of 2048 by 512 threads";
  }
  std::string source() const override { return "CUDA SDK, fastWalshTransform"; }
  std::string ptx_name() const override { return "fwt_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int log2_n = original_log2_elements(size), n = 1 << log2_n;
    const Inputs inputs(n);
    const auto d_kernel = device.upload(inputs.kernel, "kernel");
    const auto d_data = device.upload(inputs.data, "data");
    const auto on_device = [&](runtime::DevicePtr values) {
      int log2_segment = log2_n;
      for (; log2_segment > kLog2MaxSegment; log2_segment -= 2) {
        device.launch(module, "fwt_original_global", blocks_for(n / 4, kBlockThreads),
                      {kBlockThreads}, 0,
                      runtime::KernelArgs(values, values, 1 << (log2_segment - 2)));
      }
      const uint32_t segment = 1u << log2_segment;
      device.launch(module, "fwt_original_shared", {static_cast<uint32_t>(n) / segment},
                    {segment / 4}, segment * sizeof(float),
                    runtime::KernelArgs(values, values, log2_segment));
    };
    on_device(d_data);
    if (device.limit_reached()) return skipped_by_limit();
    on_device(d_kernel);
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "fwt_original_modulate", {128}, {kBlockThreads}, 0,
                  runtime::KernelArgs(d_data, d_kernel, n));
    on_device(d_data);
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("convolution", device.download<float>(d_data, n), inputs.convolved());
  }
};

}  // namespace

std::unique_ptr<Workload> make_fwt() { return std::make_unique<Fwt>(false); }
std::unique_ptr<Workload> make_fwt_restructured() { return std::make_unique<Fwt>(true); }
std::unique_ptr<Workload> make_fwt_original() { return std::make_unique<FwtOriginal>(); }

}  // namespace nearwarp::workloads
