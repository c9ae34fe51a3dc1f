#include "bench/workloads/graphs/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/workloads/common/random.h"
#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

constexpr uint64_t kPartnerStream = 100, kOrderStream = 101;

/// The coefficient of variation: standard deviation over mean.
double variation(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size())) / mean;
}

/// Block number r of the busiest ones has weight 1 / (r + shift)^2: few busy blocks and many idle
/// ones for a small shift, nearly equal ones for a large shift. (Only operations that IEEE 754
/// rounds correctly: the same graph on every machine.)
std::vector<double> weights_of(int blocks, double shift) {
  std::vector<double> weights(blocks);
  for (int r = 0; r < blocks; ++r) weights[r] = 1.0 / ((r + shift) * (r + shift));
  return weights;
}

/// Weights with the given variation, by bisection over the shift.
std::vector<double> weights_of_variation(int blocks, double wanted) {
  double low = 1e-6, high = 1e6;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (variation(weights_of(blocks, middle)) > wanted ? low : high) = middle;
  }
  return weights_of(blocks, high);
}

/// Sorts all rows and leaves one edge of each kind.
void make_simple(Graph& graph) {
  int32_t kept = 0;
  for (int v = 0; v < graph.num_vertices; ++v) {
    const auto begin = graph.edges.begin() + graph.row_start[v];
    const auto end = graph.edges.begin() + graph.row_start[v + 1];
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    graph.row_start[v] = kept;  // the old value is not needed any more
    kept = static_cast<int32_t>(std::copy(begin, last, graph.edges.begin() + kept) -
                                graph.edges.begin());
  }
  graph.row_start[graph.num_vertices] = kept;
  graph.edges.resize(kept);
}

}  // namespace

Graph graph_of_variation(int num_vertices, int pairs_per_vertex, int cv_percent) {
  const int blocks = num_vertices / kGraphBlockVertices;
  // Owners make half of the edges uneven; their partners are spread evenly.
  const double of_owners = 2.0 * cv_percent / 100;
  if (num_vertices % kGraphBlockVertices != 0 || of_owners * of_owners > blocks - 1) {
    throw Error(fmt::format(
        "no graph of {} vertices has a variation of {} % - take a multiple of {} and at least {}",
        num_vertices, cv_percent, kGraphBlockVertices,
        static_cast<int>(of_owners * of_owners + 2) * kGraphBlockVertices));
  }
  const std::vector<double> weights = weights_of_variation(blocks, of_owners);
  double all_weights = 0;
  for (double weight : weights) all_weights += weight;
  // The busy blocks are not the first.
  std::vector<int> order(blocks);
  for (int b = 0; b < blocks; ++b) {
    order[b] = b;
    std::swap(order[b], order[random_below(kOrderStream, b, b + 1)]);
  }

  const auto num_pairs = static_cast<double>(num_vertices) * pairs_per_vertex;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  pairs.reserve(static_cast<size_t>(num_pairs));
  double weight_so_far = 0;
  for (int r = 0; r < blocks; ++r) {
    weight_so_far += weights[r];
    const auto until = static_cast<size_t>(num_pairs * (weight_so_far / all_weights));
    for (int i = 0; pairs.size() < until; ++i) {
      const int owner = order[r] * kGraphBlockVertices + i % kGraphBlockVertices;
      // A partner is any vertex but the owner.
      const auto other =
          static_cast<int>(random_below(kPartnerStream, pairs.size(), num_vertices - 1));
      pairs.emplace_back(owner, other + (other >= owner));
    }
  }
  Graph graph = graph_from_pairs(num_vertices, pairs);
  make_simple(graph);
  return graph;
}

double variation_of_blocks(const Graph& graph) {
  std::vector<double> edges;
  for (int v = 0; v < graph.num_vertices; v += kGraphBlockVertices)
    edges.push_back(graph.row_start[v + kGraphBlockVertices] - graph.row_start[v]);
  return variation(edges);
}

}  // namespace nearwarp::workloads
