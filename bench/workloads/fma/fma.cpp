#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;

struct Shape {
  int threads;
  int iterations;  ///< iterations, each of four fused multiply-adds
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {640 * 256 / 8, 128};
    case Size::kMedium:
      return {640 * 256, 256};
    case Size::kLarge:
      return {640 * 256, 2048};
    case Size::kPaper:
      return {640 * 256, 4096};
  }
  return {};
}

class Fma final : public Workload {
 public:
  std::string name() const override { return "fma"; }
  std::string description() const override {
    return "four chains of fused multiply-adds per thread; registers only";
  }
  std::string source() const override { return "synthetic"; }
  std::string ptx_name() const override { return "fma.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [threads, iterations] = shape_of(size);
    const float x = 0.75f, y = 0.125f;
    const auto d_out = device.allocate(threads * sizeof(float), "out");
    device.launch(module, "fma_loop", blocks_for(threads, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_out, x, y, iterations));
    if (device.limit_reached()) return skipped_by_limit();

    // Every 97th thread is computed again, so that the check does not outlast the run.
    const std::vector<float> all = device.download<float>(d_out, threads);
    std::vector<float> sampled, expected;
    for (int thread = 0; thread < threads; thread += 97) {
      float chain[4];
      for (int k = 0; k < 4; ++k) chain[k] = static_cast<float>(thread) + static_cast<float>(k);
      for (int i = 0; i < iterations; ++i) {
        for (float& c : chain) c = std::fma(c, x, y);
      }
      sampled.push_back(all[thread]);
      expected.push_back((chain[0] + chain[1]) + (chain[2] + chain[3]));
    }
    return check_bits("out (every 97th)", sampled, expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_fma() { return std::make_unique<Fma>(); }

}  // namespace nearwarp::workloads
