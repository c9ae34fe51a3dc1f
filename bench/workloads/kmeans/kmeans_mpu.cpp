#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kFeatures = 4, kCentres = 4, kIterations = 3;

/// The number of points, 1,048,576 at most.
int num_points(Size size) { return std::min(mpu_values(size) / kFeatures, 1 << 20); }

std::vector<int32_t> nearest(const std::vector<float>& features, const std::vector<float>& centres,
                             int n) {
  std::vector<int32_t> membership(n);
  for (int i = 0; i < n; ++i) {
    float least = 3.0e38f;
    for (int k = 0; k < kCentres; ++k) {
      float distance = 0.0f;
      for (int f = 0; f < kFeatures; ++f) {
        const float d = features[size_t(f) * n + i] - centres[k * kFeatures + f];
        distance += d * d;
      }
      if (distance >= least) continue;
      membership[i] = k;
      least = distance;
    }
  }
  return membership;
}

/// Moves each centre to the mean of its points; a centre without points stays.
void move_centres(const std::vector<float>& features, const std::vector<int32_t>& membership,
                  std::vector<float>& centres) {
  const size_t n = membership.size();
  for (int k = 0; k < kCentres; ++k) {
    double sums[kFeatures] = {}, count = 0;
    for (size_t i = 0; i < n; ++i) {
      if (membership[i] != k) continue;
      count += 1;
      for (int f = 0; f < kFeatures; ++f) sums[f] += features[f * n + i];
    }
    for (int f = 0; f < kFeatures; ++f)
      if (count > 0) centres[k * kFeatures + f] = static_cast<float>(sums[f] / count);
  }
}

class KmeansMpu final : public Workload {
 public:
  std::string name() const override { return "kmeans-mpu"; }
  std::string variant_of() const override { return "kmeans"; }
  std::string description() const override {
    return "k-means clustering of four features and four centres, which the host moves";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "kmeans_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = num_points(size);
    std::vector<float> features(size_t(n) * kFeatures), centres(kCentres * kFeatures);
    for (size_t i = 0; i < features.size(); ++i) features[i] = random_unit(151, i);
    for (size_t i = 0; i < centres.size(); ++i) centres[i] = random_unit(152, i);
    const auto d_features = device.upload(features, "features");
    const auto d_centres = device.upload(centres, "centres");
    const auto d_membership = device.allocate(n * sizeof(int32_t), "membership");
    for (int iteration = 0;; ++iteration) {
      device.launch(module, "kmeans_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                    runtime::KernelArgs(d_features, d_centres, d_membership, n));
      if (device.limit_reached()) return skipped_by_limit();
      const auto membership = device.download<int32_t>(d_membership, n);
      const CheckResult result =
          check_equal("membership", membership, nearest(features, centres, n));
      if (!result.passed || iteration + 1 == kIterations) return result;
      move_centres(features, membership, centres);
      device.copy_to_device(d_centres, centres.data(), centres.size() * sizeof(float));
    }
  }
};

}  // namespace

std::unique_ptr<Workload> make_kmeans_mpu() { return std::make_unique<KmeansMpu>(); }

}  // namespace nearwarp::workloads
