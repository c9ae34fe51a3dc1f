// K-means on the CPU, with the device's order of additions.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

struct KmeansProblem {
  int num_points = 0;
  int num_features = 0;
  int num_clusters = 0;
  int num_slices = 0;  ///< slices of the points in the partial sums
  int max_iterations = 0;
  std::vector<float> points;  ///< [point][feature]
};

struct KmeansState {
  std::vector<float> centers;       ///< [cluster][feature]
  std::vector<int32_t> membership;  ///< cluster of each point, -1 before the first assignment
  int iterations = 0;
};

/// Threads per block of the device's partial sums (kSumThreads in kmeans.cu).
inline constexpr int kKmeansSumThreads = 128;

/// Points around random centres, in [0, 1.4): the clouds overlap, so that iterations go on.
KmeansProblem kmeans_problem(int num_points, int max_iterations);
/// The state before the first iteration: the first points are the centres.
KmeansState kmeans_start(const KmeansProblem& problem);
/// Iterate until no point changes its cluster, or up to max_iterations.
KmeansState kmeans_reference(const KmeansProblem& problem);

/// A step of a host that moves the centres itself, point by point; returns how many points moved.
int kmeans_host_step(const KmeansProblem& problem, const std::vector<int32_t>& nearest,
                     KmeansState& state);
/// Runs with those centres. Ends after an iteration in which no point moved.
KmeansState kmeans_host_reference(const KmeansProblem& problem);

}  // namespace nearwarp::workloads
