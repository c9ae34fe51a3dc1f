#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // kBlock in scalarprod.cu
constexpr int kSums = 1024;              // the same there
constexpr int kLength = 4096;            // as in the SDK

struct Shape {
  int vectors, blocks;
};

/// More blocks than the sample has, for a machine of 68 SMs; from 1024 on a block takes several
/// pairs.
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {160, 160};
    case Size::kMedium:
      return {1024, 1024};
    case Size::kLarge:
      return {8192, 1024};
    case Size::kPaper:
      return {16384, 1024};
  }
  return {};
}

/// The sample's own shape, or a fourth of it with as many pairs for each block.
Shape original_shape_of(Size size) {
  return size == Size::kSmall ? Shape{64, 32} : Shape{256, 128};
}

/// The scalar product in the device's order: kSums running sums, then a tree.
float product(const float* a, const float* b) {
  float sums[kSums] = {};
  for (int i = 0; i < kLength; ++i) sums[i % kSums] += a[i] * b[i];
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int s = 0; s < half; ++s) sums[s] += sums[s + half];
  }
  return sums[0];
}

/// The scalar product in the restructured kernel's order: consecutive elements for each warp, then
/// a tree.
float product_consecutive(const float* a, const float* b, int vector) {
  constexpr int kRounds = kLength / static_cast<int>(kBlockThreads);
  float sums[kBlockThreads] = {};
  for (unsigned t = 0; t < kBlockThreads; ++t) {
    const unsigned warp = t / 32;
    unsigned at = first_round(vector * (kBlockThreads / 32) + warp, kRounds);
    for (int round = 0; round < kRounds; ++round) {
      const unsigned i = (warp * kRounds + at) * 32 + t % 32;
      sums[t] += a[i] * b[i];
      at = at + 1 < kRounds ? at + 1 : 0;
    }
  }
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    for (unsigned t = 0; t < half; ++t) sums[t] += sums[t + half];
  }
  return sums[0];
}

enum class Kind { kScalarProd, kOriginal, kRestructured };

class ScalarProd final : public Workload {
 public:
  explicit ScalarProd(Kind kind) : kind_(kind) {}
  std::string name() const override {
    if (kind_ == Kind::kOriginal) return "scalarprod-original";
    return restructured() ? "scalarprod-restructured" : "scalarprod";
  }
  std::string variant_of() const override { return kind_ == Kind::kScalarProd ? "" : "scalarprod"; }
  std::string description() const override {
    if (kind_ == Kind::kOriginal)
      return "scalarprod with the sample's launch: 256 pairs of vectors, 128 blocks";
    return restructured() ? "scalarprod with consecutive elements for each warp"
                          : "scalar products of many pairs of vectors, reduced in shared memory";
  }
  std::string source() const override {
    return restructured() ? "CUDA SDK, scalarProd; Wu et al. (ICS 2020)" : "CUDA SDK, scalarProd";
  }
  std::string ptx_name() const override {
    return restructured() ? "scalarprod_restructured.ptx" : "scalarprod.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [num_vectors, blocks] =
        kind_ == Kind::kOriginal ? original_shape_of(size) : shape_of(size);
    const int length = kLength;
    std::vector<float> a(size_t(num_vectors) * length), b(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = random_unit(60, i);
      b[i] = random_unit(61, i);
    }
    const auto d_a = device.upload(a, "a");
    const auto d_b = device.upload(b, "b");
    const auto d_products = device.allocate(num_vectors * sizeof(float), "products");
    device.launch(module, restructured() ? "scalarprod_consecutive" : "scalarprod",
                  {static_cast<uint32_t>(blocks)}, {kBlockThreads}, 0,
                  runtime::KernelArgs(d_a, d_b, d_products, num_vectors, length));
    if (device.limit_reached()) return skipped_by_limit();

    std::vector<float> expected(num_vectors);
    for (int v = 0; v < num_vectors; ++v) {
      const float *x = &a[size_t(v) * length], *y = &b[size_t(v) * length];
      expected[v] = restructured() ? product_consecutive(x, y, v) : product(x, y);
    }
    return check_bits("products", device.download<float>(d_products, num_vectors), expected);
  }

 private:
  bool restructured() const { return kind_ == Kind::kRestructured; }
  Kind kind_;
};

}  // namespace

std::unique_ptr<Workload> make_scalarprod() {
  return std::make_unique<ScalarProd>(Kind::kScalarProd);
}
std::unique_ptr<Workload> make_scalarprod_original() {
  return std::make_unique<ScalarProd>(Kind::kOriginal);
}
std::unique_ptr<Workload> make_scalarprod_restructured() {
  return std::make_unique<ScalarProd>(Kind::kRestructured);
}

}  // namespace nearwarp::workloads
