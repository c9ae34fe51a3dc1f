// Rodinia's kmeans on data of the shape of its kdd_cup input: 494,020 points with 34 features.
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/kmeans/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;

KmeansProblem problem_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return kmeans_problem(6'000, 2);
    case Size::kMedium:
      return kmeans_problem(30'000, 3);
    case Size::kLarge:
      return kmeans_problem(494'020, 2);
    case Size::kPaper:
      return kmeans_problem(494'020, 500);  // the suite's limit
  }
  return {};
}

class KmeansOriginal final : public Workload {
 public:
  std::string name() const override { return "kmeans-original"; }
  std::string variant_of() const override { return "kmeans"; }
  std::string description() const override {
    return "kmeans with the original's launches: the host moves the centres; 494,020 points";
  }
  std::string source() const override {
    return "Rodinia, kmeans; global-memory variant after Rogers et al. (MICRO 2012)";
  }
  std::string ptx_name() const override { return "kmeans_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const KmeansProblem problem = problem_of(size);
    const int n = problem.num_points, features = problem.num_features;
    KmeansState state = kmeans_start(problem);
    const auto d_points = device.upload(problem.points, "points");
    const auto d_features = device.allocate(problem.points.size() * sizeof(float), "features");
    const auto blocks = static_cast<uint32_t>((n + kBlockThreads - 1) / kBlockThreads);
    auto side = static_cast<uint32_t>(std::sqrt(static_cast<double>(blocks)));
    while (side * side < blocks) ++side;
    device.launch(module, "kmeans_original_invert", {side * side}, {kBlockThreads}, 0,
                  runtime::KernelArgs(d_points, d_features, n, features));
    const auto d_membership = device.allocate(n * sizeof(int32_t), "membership");
    const auto d_centers = device.allocate(state.centers.size() * sizeof(float), "centers");
    std::vector<int32_t> nearest = state.membership;
    int changed = n;
    while (changed > 0 && state.iterations < problem.max_iterations) {
      if (device.limit_reached()) return skipped_by_limit();
      device.copy_to_device(d_membership, nearest.data(), nearest.size() * sizeof(int32_t));
      device.copy_to_device(d_centers, state.centers.data(), state.centers.size() * sizeof(float));
      device.launch(module, "kmeans_original_point", {side, side}, {kBlockThreads}, 0,
                    runtime::KernelArgs(d_features, features, n, problem.num_clusters, d_membership,
                                        d_centers));
      nearest = device.download<int32_t>(d_membership, n);
      if (device.limit_reached()) return skipped_by_limit();
      changed = kmeans_host_step(problem, nearest, state);
    }
    const KmeansState expected = kmeans_host_reference(problem);
    return both(check_equal("membership", state.membership, expected.membership),
                check_bits("centers", state.centers, expected.centers));
  }
};

}  // namespace

std::unique_ptr<Workload> make_kmeans_original() { return std::make_unique<KmeansOriginal>(); }

}  // namespace nearwarp::workloads
