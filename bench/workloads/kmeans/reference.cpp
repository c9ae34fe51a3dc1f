#include "bench/workloads/kmeans/reference.h"

#include <algorithm>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

/// Assign every point to its nearest centre; returns how many moved.
int assign(const KmeansProblem& problem, KmeansState& state) {
  int changed = 0;
  for (int p = 0; p < problem.num_points; ++p) {
    int best = -1;
    float best_distance = 3.0e38f;
    for (int c = 0; c < problem.num_clusters; ++c) {
      float distance = 0.0f;
      for (int f = 0; f < problem.num_features; ++f) {
        const float d = problem.points[size_t(p) * problem.num_features + f] -
                        state.centers[c * problem.num_features + f];
        distance += d * d;
      }
      if (distance < best_distance) {
        best_distance = distance;
        best = c;
      }
    }
    if (state.membership[p] != best) ++changed;
    state.membership[p] = best;
  }
  return changed;
}

/// Adds the sums that the device's blocks make of a slice of points, for all clusters and features,
/// and the number of points as one feature more: a running sum per thread ...
void add_slice(const KmeansProblem& problem, const KmeansState& state, int slice,
               std::vector<float>& lanes) {
  const int features = problem.num_features;
  const int step = problem.num_slices * kKmeansSumThreads;
  for (int begin = slice * kKmeansSumThreads; begin < problem.num_points; begin += step) {
    const int threads = std::min(kKmeansSumThreads, problem.num_points - begin);
    for (int t = 0; t < threads; ++t) {
      const float* point = &problem.points[size_t(begin + t) * features];
      const int cluster = state.membership[begin + t];
      if (cluster < 0) continue;  // no centre is near: its coordinates are no numbers
      float* sums = &lanes[(size_t(t) * problem.num_clusters + cluster) * (features + 1)];
      for (int f = 0; f < features; ++f) sums[f] += point[f];
      sums[features] += 1.0f;
    }
  }
}
/// ... then a tree, which leaves the sums in the first thread's.
void add_lanes(std::vector<float>& lanes) {
  for (size_t half = lanes.size() / 2; half >= lanes.size() / kKmeansSumThreads; half /= 2)
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
}

void update(const KmeansProblem& problem, KmeansState& state) {
  const int features = problem.num_features;
  const size_t num_sums = size_t(problem.num_clusters) * (features + 1);
  std::vector<float> sums(num_sums), lanes;
  for (int s = 0; s < problem.num_slices; ++s) {
    lanes.assign(num_sums * kKmeansSumThreads, 0.0f);
    add_slice(problem, state, s, lanes);
    add_lanes(lanes);
    for (size_t i = 0; i < num_sums; ++i) sums[i] += lanes[i];
  }
  for (int c = 0; c < problem.num_clusters; ++c) {
    const float* of_cluster = &sums[size_t(c) * (features + 1)];
    const float count = of_cluster[features];
    if (count == 0.0f) continue;
    for (int f = 0; f < features; ++f) state.centers[c * features + f] = of_cluster[f] / count;
  }
}

}  // namespace

KmeansProblem kmeans_problem(int num_points, int max_iterations) {
  constexpr uint64_t kCenterStream = 20, kPointStream = 21, kChoiceStream = 22;
  KmeansProblem problem;
  problem.num_points = num_points;
  problem.num_features = 34;  // as Rodinia's kdd_cup input
  problem.num_clusters = 5;   // Rodinia's default
  problem.num_slices = std::clamp(num_points / (kKmeansSumThreads * 16), 1, 64);
  problem.max_iterations = max_iterations;
  problem.points.resize(size_t(num_points) * problem.num_features);
  for (int p = 0; p < num_points; ++p) {
    const uint64_t blob = random_below(kChoiceStream, p, 8);  // more blobs than clusters
    for (int f = 0; f < problem.num_features; ++f) {
      const size_t i = size_t(p) * problem.num_features + f;
      problem.points[i] = 0.4f * random_unit(kCenterStream, blob * problem.num_features + f) +
                          random_unit(kPointStream, i);
    }
  }
  return problem;
}

KmeansState kmeans_start(const KmeansProblem& problem) {
  KmeansState state;
  const size_t centers = size_t(problem.num_clusters) * problem.num_features;
  state.centers.assign(problem.points.begin(), problem.points.begin() + centers);
  state.membership.assign(problem.num_points, -1);
  return state;
}

KmeansState kmeans_reference(const KmeansProblem& problem) {
  KmeansState state = kmeans_start(problem);
  while (state.iterations < problem.max_iterations) {
    ++state.iterations;
    if (assign(problem, state) == 0) break;
    update(problem, state);
  }
  return state;
}

int kmeans_host_step(const KmeansProblem& problem, const std::vector<int32_t>& nearest,
                     KmeansState& state) {
  const int features = problem.num_features;
  std::vector<float> sums(state.centers.size(), 0.0f);
  std::vector<int> sizes(problem.num_clusters, 0);
  int changed = 0;
  for (int p = 0; p < problem.num_points; ++p) {
    if (state.membership[p] != nearest[p]) ++changed;
    state.membership[p] = nearest[p];
    ++sizes[nearest[p]];
    for (int f = 0; f < features; ++f)
      sums[nearest[p] * features + f] += problem.points[size_t(p) * features + f];
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const int size = sizes[i / features];
    if (size > 0) state.centers[i] = sums[i] / static_cast<float>(size);
  }
  ++state.iterations;
  return changed;
}

KmeansState kmeans_host_reference(const KmeansProblem& problem) {
  KmeansState state = kmeans_start(problem);
  int changed = 1;
  while (changed > 0 && state.iterations < problem.max_iterations) {
    KmeansState nearest = state;
    assign(problem, nearest);
    changed = kmeans_host_step(problem, nearest.membership, state);
  }
  return state;
}

}  // namespace nearwarp::workloads
