#include <algorithm>
#include <utility>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;     // kBlock in reduction.cu
constexpr uint32_t kElementsPerThread = 2;  // at least: one trip of the kernel's loop
constexpr uint32_t kMaxBlocks = 64;         // the sample's default; more elements make longer loops

uint32_t elements(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1u << 20;
    case Size::kMedium:
      return 1u << 23;
    case Size::kLarge:
      return 1u << 26;
    case Size::kPaper:
      return 1u << 27;
  }
  return 0;
}

struct Numbers {
  std::vector<int32_t> values;
  int32_t sum = 0;
  explicit Numbers(uint32_t count) : values(count) {
    uint32_t all = 0;  // wraps around, as the device's additions do
    for (uint32_t i = 0; i < count; ++i) {
      values[i] = static_cast<int32_t>(random_bits(5, i) >> 32);
      all += static_cast<uint32_t>(values[i]);
    }
    sum = static_cast<int32_t>(all);
  }
};

class Reduction final : public Workload {
 public:
  explicit Reduction(bool restructured) : restructured_(restructured) {}
  std::string name() const override {
    return restructured_ ? "reduction-restructured" : "reduction";
  }
  std::string variant_of() const override { return restructured_ ? "reduction" : ""; }
  std::string description() const override {
    return restructured_ ? "reduction with consecutive elements for each warp"
                         : "sum of integers by blocks through shared memory and shuffles, launched "
                           "until one is left";
  }
  std::string source() const override {
    return restructured_ ? "CUDA SDK, reduction; Wu et al. (ICS 2020)" : "CUDA SDK, reduction";
  }
  std::string ptx_name() const override {
    return restructured_ ? "reduction_restructured.ptx" : "reduction.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const uint32_t count = elements(size);
    const Numbers numbers(count);
    const auto grid_for = [](uint32_t n) {
      return std::clamp(n / (kBlockThreads * kElementsPerThread), 1u, kMaxBlocks);
    };
    auto in = device.upload(numbers.values, "input");
    auto out = device.allocate(grid_for(count) * sizeof(int32_t), "partial sums");
    auto spare = device.allocate(grid_for(count) * sizeof(int32_t), "partial sums 2");
    for (uint32_t n = count; n > 1; n = grid_for(n)) {
      const uint32_t blocks = grid_for(n);
      if (restructured_) {
        const uint32_t of_round = blocks * kBlockThreads * kElementsPerThread;
        device.launch(module, "reduction_sum_consecutive", {blocks}, {kBlockThreads}, 0,
                      runtime::KernelArgs(in, out, n, (n + of_round - 1) / of_round));
      } else {
        device.launch(module, "reduction_sum", {blocks}, {kBlockThreads}, 0,
                      runtime::KernelArgs(in, out, n));
      }
      if (device.limit_reached()) return skipped_by_limit();
      if (n == count) in = spare;
      std::swap(in, out);
    }
    return check_equal("sum", device.download<int32_t>(in, 1), {numbers.sum});
  }

 private:
  bool restructured_;
};

struct OriginalShape {
  uint32_t elements;
  int repeats;
};

OriginalShape original_shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1u << 19, 2};
    case Size::kMedium:
      return {1u << 22, 4};
    case Size::kLarge:
      return {1u << 24, 4};
    case Size::kPaper:
      return {1u << 24, 101};  // one to warm up
  }
  return {};
}

class ReductionOriginal final : public Workload {
 public:
  std::string name() const override { return "reduction-original"; }
  std::string variant_of() const override { return "reduction"; }
  std::string description() const override {
    return "reduction with the sample's launches: kernel 6 on 2^24 integers, 64 blocks, 100 times";
  }
  std::string source() const override { return "CUDA SDK, reduction"; }
  std::string ptx_name() const override { return "reduction_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [count, repeats] = original_shape_of(size);
    const Numbers numbers(count);
    const auto in = device.upload(numbers.values, "input");
    const auto out = device.allocate(kMaxBlocks * sizeof(int32_t), "partial sums");
    for (int i = 0; i < repeats; ++i) {
      device.launch(module, "reduction_original_256", {kMaxBlocks}, {kBlockThreads}, 0,
                    runtime::KernelArgs(in, out, count));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "reduction_original_32", {1}, {kMaxBlocks / 2}, 0,
                    runtime::KernelArgs(out, out, kMaxBlocks));
      if (device.limit_reached()) return skipped_by_limit();
    }
    return check_equal("sum", device.download<int32_t>(out, 1), {numbers.sum});
  }
};

}  // namespace

std::unique_ptr<Workload> make_reduction() { return std::make_unique<Reduction>(false); }
std::unique_ptr<Workload> make_reduction_restructured() {
  return std::make_unique<Reduction>(true);
}
std::unique_ptr<Workload> make_reduction_original() {
  return std::make_unique<ReductionOriginal>();
}

}  // namespace nearwarp::workloads
