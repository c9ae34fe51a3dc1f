#include "bench/workloads/common/check.h"
#include "bench/workloads/kmeans/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;

KmeansProblem problem_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return kmeans_problem(4'000, 3);
    case Size::kMedium:
      return kmeans_problem(30'000, 4);
    case Size::kLarge:
      return kmeans_problem(250'000, 4);
    case Size::kPaper:
      return kmeans_problem(494'020, 20);  // points of Rodinia's kdd_cup
  }
  return {};
}

/// The suite's generated inputs have 204,800 and 819,200 points: the rows of `features` lie a
/// multiple of a power of two apart (8 KB, 32 KB), which those of 494,020 points do not. Small ones
/// alike.
KmeansProblem even_problem_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return kmeans_problem(4'096, 3);
    case Size::kMedium:
      return kmeans_problem(32'768, 4);
    case Size::kLarge:
      return kmeans_problem(204'800, 4);
    case Size::kPaper:
      return kmeans_problem(819'200, 20);
  }
  return {};
}

class Kmeans : public Workload {
 public:
  explicit Kmeans(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "kmeans-restructured" : "kmeans"; }
  std::string variant_of() const override { return restructured_ ? "kmeans" : ""; }
  std::string description() const override {
    return restructured_
               ? "kmeans with features in panels of 32 points"
               : "k-means clustering with all data in global memory, three launches per iteration";
  }
  std::string source() const override {
    return restructured_
               ? "Rodinia, kmeans; Wu et al. (ICS 2020)"
               : "Rodinia, kmeans; global-memory variant after Rogers et al. (MICRO 2012)";
  }
  std::string ptx_name() const override {
    return restructured_ ? "kmeans_restructured.ptx" : "kmeans.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const KmeansProblem problem = problem_for(size);
    const int n = problem.num_points, features = problem.num_features;
    const int clusters = problem.num_clusters, slices = problem.num_slices;
    KmeansState state = kmeans_start(problem);

    // Panels have whole warps.
    const size_t laid_out =
        restructured_ ? (size_t(n) + 31) / 32 * 32 * features : problem.points.size();
    const auto d_points = device.upload(problem.points, "points");
    const auto d_features = device.allocate(laid_out * sizeof(float), "features");
    const auto d_centers = device.upload(state.centers, "centers");
    const auto d_membership = device.upload(state.membership, "membership");
    const auto d_changed = device.allocate(sizeof(int32_t), "changed");
    const auto d_partial =
        device.allocate(uint64_t(slices) * clusters * (features + 1) * sizeof(float), "partial");

    device.launch(module, restructured_ ? "kmeans_panels" : "kmeans_transpose",
                  blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_points, d_features, n, features));
    while (state.iterations < problem.max_iterations) {
      if (device.limit_reached()) return skipped_by_limit();
      ++state.iterations;
      int32_t changed = 0;
      device.copy_to_device(d_changed, &changed, sizeof(changed));
      device.launch(module, restructured_ ? "kmeans_assign_panels" : "kmeans_assign",
                    blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                    runtime::KernelArgs(d_features, d_centers, d_membership, d_changed, n, features,
                                        clusters));
      device.copy_to_host(&changed, d_changed, sizeof(changed));
      if (changed == 0) break;
      device.launch(
          module, restructured_ ? "kmeans_sum_panels" : "kmeans_sum",
          {static_cast<uint32_t>(features + 1), static_cast<uint32_t>(slices)}, {kKmeansSumThreads},
          0, runtime::KernelArgs(d_features, d_membership, d_partial, n, features, clusters));
      device.launch(module, "kmeans_update", blocks_for(uint64_t(clusters) * features, 64), {64}, 0,
                    runtime::KernelArgs(d_partial, d_centers, slices, features, clusters));
    }
    if (device.limit_reached()) return skipped_by_limit();

    // Every addition of the device has its place in a fixed order, so results are equal bit by bit.
    const KmeansState expected = kmeans_reference(problem);
    return both(
        check_equal("membership", device.download<int32_t>(d_membership, n), expected.membership),
        check_bits("centers", device.download<float>(d_centers, state.centers.size()),
                   expected.centers));
  }

 private:
  virtual KmeansProblem problem_for(Size size) const { return problem_of(size); }

  bool restructured_;
};

class EvenKmeans final : public Kmeans {
 public:
  EvenKmeans() : Kmeans(false) {}
  std::string name() const override { return "kmeans-819200"; }
  std::string variant_of() const override { return "kmeans"; }
  bool other_input() const override { return true; }
  std::string description() const override {
    return "kmeans on 819,200 points (size paper), so that rows lie a multiple of 32 KB apart";
  }

 private:
  KmeansProblem problem_for(Size size) const override { return even_problem_of(size); }
};

}  // namespace

std::unique_ptr<Workload> make_kmeans() { return std::make_unique<Kmeans>(false); }
std::unique_ptr<Workload> make_even_kmeans() { return std::make_unique<EvenKmeans>(); }
std::unique_ptr<Workload> make_kmeans_restructured() { return std::make_unique<Kmeans>(true); }

}  // namespace nearwarp::workloads
