#include <algorithm>
#include <utility>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/embedded.h"
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

class Reduction final : public Workload {
 public:
  std::string name() const override { return "reduction"; }
  std::string description() const override {
    return "sum of integers by blocks through shared memory and shuffles, launched until one is "
           "left";
  }
  std::string source() const override { return "CUDA SDK, reduction"; }
  std::string ptx() const override { return embedded::reduction_ptx; }
  std::string ptx_name() const override { return "reduction.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const uint32_t count = elements(size);
    std::vector<int32_t> values(count);
    uint32_t expected = 0;  // wraps around, as the device's additions do
    for (uint32_t i = 0; i < count; ++i) {
      values[i] = static_cast<int32_t>(random_bits(5, i) >> 32);
      expected += static_cast<uint32_t>(values[i]);
    }
    const auto grid_for = [](uint32_t n) {
      return std::clamp(n / (kBlockThreads * kElementsPerThread), 1u, kMaxBlocks);
    };
    auto in = device.upload(values, "input");
    auto out = device.allocate(grid_for(count) * sizeof(int32_t), "partial sums");
    auto spare = device.allocate(grid_for(count) * sizeof(int32_t), "partial sums 2");
    for (uint32_t n = count; n > 1; n = grid_for(n)) {
      device.launch(module, "reduction_sum", {grid_for(n)}, {kBlockThreads}, 0,
                    runtime::KernelArgs(in, out, n));
      if (device.limit_reached()) return skipped_by_limit();
      if (n == count) in = spare;
      std::swap(in, out);
    }
    return check_equal("sum", device.download<int32_t>(in, 1), {static_cast<int32_t>(expected)});
  }
};

}  // namespace

std::unique_ptr<Workload> make_reduction() { return std::make_unique<Reduction>(); }

}  // namespace nearwarp::workloads
